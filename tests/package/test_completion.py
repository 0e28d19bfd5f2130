#!/usr/bin/env python3
"""Completion as a user meets it: each shell runs on a terminal of its own, with the script that lies in the tree, and TAB is
pressed. And the manual pages, by both of their readers."""
import os
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
BUILD = os.path.abspath(os.environ.get("BUILD", "build"))
SCRIPTS = "packaging/completion/harness."
SECONDS = 20
passed = failed = skipped = 0
folder = tempfile.mkdtemp(prefix="harness-completion.")


def check(what, ok, said=""):
    global passed, failed
    passed, failed = passed + bool(ok), failed + (not ok)
    if not ok:
        print("completion: FAILED: %s\n    %s" % (what, said[-800:].replace("\n", "\n    ")))


def skip(what):
    global skipped
    skipped += 1
    print("completion: skipped: %s: ci/deps package" % what)


class Terminal:
    """A shell that was told to complete `harness`, and `show`, which says with which words it was called."""

    def __init__(self, argv, setup):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.execve(argv[0], argv, {"PATH": BUILD + ":/usr/bin:/bin", "TERM": "dumb", "HOME": folder,
                                      "LC_ALL": "C.UTF-8", "COLUMNS": "200", "LINES": "200"})
        self.said = ""
        self.run("stty cols 200 rows 200; " + setup)

    def until(self, pattern):
        """What it wrote up to the pattern; all of it, and None, where that does not come."""
        end = time.monotonic() + SECONDS
        while not re.search(pattern, self.said):
            ready, _, _ = select.select([self.fd], [], [], max(0, end - time.monotonic()))
            if not ready:
                return None
            try:
                self.said += os.read(self.fd, 65536).decode("utf-8", "replace")
            except OSError:
                return None
        found, self.said = self.said, ""
        return found

    def run(self, line):
        """Types a line; what comes back, the line's echo with it. The mark is written so that no echo holds it."""
        os.write(self.fd, (line + "; echo MA''RK\r").encode())
        return self.until(r"MARK\s")

    def close(self):
        os.close(self.fd)
        os.waitpid(self.pid, 0)


# typed, and what `show` is then called with: one candidate, so that TAB writes it
WORDS = (
    ("show ver", "verify"),
    ("show run --dr", "run|--dry-run"),
    ("show run mutation/network-b", "run|mutation/network-bridge"),
    ("show run lifec", "run|lifecycle"),
    ("show policy rev", "policy|revoke"),
    ("show effects che", "effects|check"),
    ("show effects show order_create_", "effects|show|order_create_pg"),
    ("show effects claims a", "effects|claims|a bundle.tar.gz"),
    ("show effects assess fold", "effects|assess|folder"),
    ("show completion fi", "completion|fish"),
    ("show help doc", "help|doctor"),
    ("show run --out=fold", None),
    ("show run --out fold", "run|--out|folder"),
    ("show run --gateway emb", "run|--gateway|embedded"),
    ("show replay --scenario mutation/network-b", "replay|--scenario|mutation/network-bridge"),
    ("show report --out fold", "report|--out|folder"),
    ("show report --format jun", "report|--format|junit"),
    ("show verify a", "verify|a bundle.tar.gz"),
    ("show run --require-si", "run|--require-si"),
    ("show arm --so", "arm|--so"),
    ("show man", "man"),
)


def words_of(said):
    found = re.findall(r"CALLED\[(.*?)\]", said or "")
    return found[-1] if found else None


def one_of_each(shell, terminal):
    for typed, wanted in WORDS:
        if wanted is None:
            wanted = "run|--out=folder"
        os.write(terminal.fd, (typed + "\t").encode())
        said = terminal.run("")
        # A shell puts a slash behind a folder; where it waits for more of a word, our ";" went to it.
        got = (words_of(said) or "").replace("/|", "|").rstrip("/; ")
        check("%s: %s TAB" % (shell, typed), got == wanted, "called with %r; %r" % (got, said))


def open_folder():
    os.mkdir(os.path.join(folder, "folder"))
    for name in ("a bundle.tar.gz", "another.txt"):
        open(os.path.join(folder, name), "w").close()
    # `show` lists what harness lists.
    with open(os.path.join(folder, "show"), "w") as out:
        out.write('#!/bin/sh\n[ "$1" = list ] && [ $# -eq 1 ] && exec harness list\n[ "$*" = "effects list" ] && exec harness effects list\nIFS="|"\necho "CALLED[$*]"\n')
    os.chmod(os.path.join(folder, "show"), 0o755)


def test_bash():
    terminal = Terminal(["/bin/bash", "--norc", "--noprofile", "-i"],
                        "PATH=%s:$PATH; . %s/%sbash; complete -F _harness show; bind 'set bell-style none'"
                        % (folder, os.getcwd(), SCRIPTS))
    one_of_each("bash", terminal)
    terminal.close()


def test_zsh():
    terminal = Terminal(["/bin/zsh", "-f", "-i"],
                        "PATH=%s:$PATH; unsetopt beep; autoload -Uz compinit; compinit -u -D; . %s/%szsh; compdef _harness show"
                        % (folder, os.getcwd(), SCRIPTS))
    one_of_each("zsh", terminal)
    terminal.close()


def test_fish():
    """fish asks its terminal much; it also says itself what TAB would offer, the best first."""
    script = "set -x PATH %s %s $PATH; source %s/%sfish; complete -c show -w harness; " % (folder, BUILD, os.getcwd(), SCRIPTS)
    for typed, wanted in WORDS:
        if wanted is None:
            continue
        last = typed.split(" ")[-1]
        said = subprocess.run(["fish", "--no-config", "-c", script + "complete -C '%s'" % typed], capture_output=True, text=True,
                              cwd=folder, env={"PATH": "/usr/bin:/bin", "HOME": folder, "LC_ALL": "C.UTF-8"}, timeout=SECONDS)
        offered = [line.split("\t")[0].rstrip("/") for line in said.stdout.splitlines()]
        want = wanted.split("|")[-1]
        expected = [] if want == last else [want]
        check("fish: %s TAB" % typed, offered[:1] == expected, "%r %s" % (offered, said.stderr))


def test_manuals():
    for page in ("docs/harness.1", "docs/harness-gateway.1"):
        if shutil.which("mandoc"):
            said = subprocess.run(["mandoc", "-T", "lint", "-W", "all", page], capture_output=True, text=True)
            check("mandoc has nothing to say of " + page, said.returncode == 0 and not said.stdout, said.stdout)
        else:
            skip("mandoc")
        if shutil.which("man"):
            said = subprocess.run(["man", "-l", "--warnings=w", page], capture_output=True, text=True,
                                  env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "MANWIDTH": "80"})
            check("man has nothing to say of " + page, said.returncode == 0 and not said.stderr, said.stderr)
            check("man shows " + page, "SEE ALSO" in re.sub(".\b", "", said.stdout), said.stdout)
        else:
            skip("man")
    for name in ("harness", "harness-gateway"):
        with open("docs/%s.1" % name) as page:
            check(name + ".1 is of this version", '"harness %s"' % version() in page.read())


def version():
    with open("Makefile") as text:
        return re.search(r"^VERSION := (.*)$", text.read(), re.M).group(1)


try:
    open_folder()
    for shell, test in (("bash", test_bash), ("zsh", test_zsh), ("fish", test_fish)):
        if shutil.which(shell):
            test()
        else:
            skip(shell)
    test_manuals()
finally:
    shutil.rmtree(folder)
print("completion: %d passed, %d failed, %d skipped" % (passed, failed, skipped))
sys.exit(failed > 0)

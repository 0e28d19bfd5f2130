"""ci/scan-bundle finds what has a canary's shape in each encoding, wherever it stands in a bundle, and nothing else.

Prints what failed and the closing line of a test. Started by tests/unit/test_scan_bundle.sh in the project's folder.
"""

import base64
import gzip
import importlib.machinery
import importlib.util
import io
import os
import re
import subprocess
import sys
import tarfile
import tempfile

PROGRAM = "ci/scan-bundle"
MEMBERS = re.findall(r'\.name = "([a-z0-9.-]+)"', open("reports/members.c").read()) + ["SHA256SUMS"]
counts = {"passed": 0, "failed": 0}


def load():
    sys.dont_write_bytecode = True
    loader = importlib.machinery.SourceFileLoader("scan_bundle", PROGRAM)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("scan_bundle", loader))
    loader.exec_module(module)
    return module


def check(what, good):
    counts["passed" if good else "failed"] += 1
    if not good:
        print("scan-bundle: FAILED: %s" % what)


def samples():
    """(whether it is a hit, the row of harness's table of encodings, the bytes)"""
    for line in open("tests/data/canary/samples.txt"):
        if not line.startswith("#"):
            verdict, name, digits = line.split()
            yield verdict == "hit", name, b"" if digits == "-" else bytes.fromhex(digits)


def family(name):
    return re.sub(r"^(base64)url|^(utf16).*", r"\1\2", re.sub(r"-[0-4]$", "", name))


def archive(member=None, data=b"", name=None, pad=b""):
    """A bundle of harmless members, of which one holds `data`, or has another name."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for each in sorted(MEMBERS):
            text = b'{"format":"canary-[a-p]{32}","sha256":"%s"}\n' % (b"0123456789abcdef" * 4)
            if each == member:
                text += data + b"\n"
            info = tarfile.TarInfo("confinement-evidence/" + (name if name and each == member else each))
            info.size = len(text)
            tar.addfile(info, io.BytesIO(text))
    return out.getvalue() + pad


def packed(tar):
    return gzip.compress(tar, mtime=0)


def with_name(tar, name):
    """A gzip header may hold a name."""
    out = io.BytesIO()
    with gzip.GzipFile(name, "wb", fileobj=out, mtime=0) as file:
        file.write(tar)
    return out.getvalue()


class Scanned:
    """What the program says of a file of these bytes."""

    def __init__(self, folder, *files, words=()):
        paths = list(words)
        for number, data in enumerate(files):
            paths.append(os.path.join(folder, "bundle-%d.tar.gz" % number))
            with open(paths[-1], "wb") as file:
                file.write(data)
        done = subprocess.run([sys.executable, PROGRAM, *paths], capture_output=True, check=False)
        self.code, self.said = done.returncode, done.stdout + done.stderr

    def is_plain(self):
        """One line, and no exception in it."""
        return self.said.count(b"\n") == 1 and b"Error" not in self.said and b"Traceback" not in self.said


def hits_of(module, folder, data, name="bundle.tar.gz"):
    path = os.path.join(folder, name)
    with open(path, "wb") as file:
        file.write(data)
    return module.scan(path)[0]


def test_samples(module):
    for hit, name, data in samples():
        found = module.encodings_in(data)
        check("%s %s, found: %s" % (name, data[:200], found), bool(found) == hit)
        check("%s is called %s" % (name, found), not hit or family(name) in found)
    names = {name for _, name, _ in samples()}
    known = set(re.findall(r'\.name = "([a-z0-9-]+)"', open("core/canary_encodings.c").read()))
    check("every row of the table of encodings has samples", names == known and len(known) > 15)


def test_members(module, folder):
    """Each encoding in each member."""
    check("all members are known", len(MEMBERS) >= 16 and "report.html" in MEMBERS)
    planted = {name: data for hit, name, data in samples() if hit}
    for member in MEMBERS:
        for name, data in planted.items():
            hits = hits_of(module, folder, packed(archive(member, data)))
            where = {at for at, encoding in hits if encoding == family(name)}
            check("%s in %s: %s" % (name, member, where), "(the tar)" in where and any("member" in at for at in where))
    check("nothing in a bundle of none", not hits_of(module, folder, packed(archive())))
    for hit, name, data in samples():
        if not hit:
            found = hits_of(module, folder, packed(archive("manifest.json", data)))
            check("%s %s is none in a member: %s" % (name, data[:80], found), not found)


def test_elsewhere(module, folder):
    """What is no member's content is searched too."""
    canary = b"canary-" + b"ponmlkjihgfedcba" * 2
    tar = archive()
    head, rest = tar[: 512 + 500], tar[512 + 500 :]
    places = {
        "a member's name": packed(archive("manifest.json", name=canary.decode())),
        "behind the tar's end": packed(archive(pad=canary.ljust(512, b"\0"))),
        "in what fills a member's last block": packed(head + rest.replace(b"\0" * 64, canary.ljust(64, b"\0"), 1)),
        "behind the gzip": packed(tar) + packed(canary),
        "the gzip header's name": with_name(tar, canary.decode()),
    }
    for place, data in places.items():
        check(place, hits_of(module, folder, data))
    check("a file that is no archive", hits_of(module, folder, b"<x>" + canary + b"</x>", "junit.xml"))
    check("and one without", not hits_of(module, folder, b"<x>canary-abc</x>", "junit.xml"))


def test_payloads(module, folder):
    """What is encoded in the statement of an envelope is not seen in the envelope's own digits."""
    for hit, name, data in samples():
        for spare, encode in enumerate((base64.b64encode, base64.urlsafe_b64encode, base64.b64encode)):
            statement = b'{"_type":"' + b"x" * spare + data + b'"}'
            envelope = b'{"payload":"%s","payloadType":"t"}' % encode(statement)
            found = hits_of(module, folder, envelope, "statement.intoto.jsonl")
            inside = [encoding for at, encoding in found if at == "payload in (the file)"]
            check("%s in a payload: %s" % (name, found), family(name) in inside if hit else not inside)
    cut = base64.b64encode(b"canary-" + b"b" * 33)[:-3]
    check("a payload that is cut", hits_of(module, folder, b'{"payload": "%s"}' % cut, "x.json"))
    packed_one = packed(archive("statement.intoto.jsonl", b'{"payload":"%s"}' % base64.b64encode(b"canary-" + b"c" * 32)))
    check("one in a member", any("payload in member" in at for at, _ in hits_of(module, folder, packed_one)))


def test_program(folder):
    canary = b"canary-" + b"a" * 31 + b"p"
    clean, dirty = packed(archive()), packed(archive("kernel.txt", canary.hex().encode()))
    said = Scanned(folder, clean)
    check("a clean bundle: %s" % said.said, said.code == 0 and b" 0 hits" in said.said)
    said = Scanned(folder, dirty)
    check("a dirty one: %s" % said.said, said.code == 1 and b"canary's shape: hex" in said.said)
    check("the value is not told", canary not in said.said and canary.hex().encode() not in said.said)
    check("a dirty one before a clean one", Scanned(folder, dirty, clean).code == 1)
    check("a dirty one behind one that cannot be read", Scanned(folder, b"", dirty).code == 1)
    unreadable = {
        "empty": b"",
        "no gzip": archive(),
        "cut": clean[:-9],
        "no tar": packed(b"x" * 2000),
        "a tar of nothing": packed(b"\0" * 1024),
    }
    for what, data in unreadable.items():
        said = Scanned(folder, data)
        check("%s: %s" % (what, said.said), said.code == 2 and b"cannot be read: it is no tar" in said.said and said.is_plain())
    for code, text, words in (4, b"usage: ", []), (4, b"usage: ", ["--help"]), (2, b"No such file", [folder + "/nowhere"]):
        said = Scanned(folder, words=words)
        check("%s: %s" % (words, said.said), said.code == code and text in said.said and said.is_plain())


def main():
    module = load()
    with tempfile.TemporaryDirectory(prefix="harness-scan.") as folder:
        test_samples(module)
        test_members(module, folder)
        test_elsewhere(module, folder)
        test_payloads(module, folder)
        test_program(folder)
    print("scan_bundle: %(passed)d passed, %(failed)d failed, 0 skipped" % counts)
    return 1 if counts["failed"] else 0


sys.exit(main())

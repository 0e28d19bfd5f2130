#!/usr/bin/env python3
"""Runs `harness verify` on each bundle that make_corpus.py made: check_corpus.py FOLDER HARNESS. The named check refuses it, by the
named reason, and none before it does but those that may; the exit code is the expected one; no crash, no more than SECONDS, no more
than MEMORY; what is printed is printable ASCII and holds nothing of what was planted. At least 60 bundles, and each check that
docs/evidence-format.md lists refuses one."""

import concurrent.futures
import json
import os
import re
import subprocess
import sys
import time

SECONDS = 20
MEMORY = 64 << 20
LEAST = 60
PLANTED = (b"PWNED", b"pwned", b"abcdefghijklmnop", b"ponmlkjihgfedcba")
CHECK = re.compile(r"^(pass|fail|not_checked)\s+([a-z]+)(?:: (.*))?$")
# A sanitizer's own memory is not ours.
MEASURED = "asan" not in os.environ.get("BUILD", "build")


def run(command):
    """(exit code or -signal, output, seconds, bytes at the most)"""
    began = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stdout.close()
    return process.returncode, output, time.monotonic() - began, usage.ru_maxrss << 10


def faults(case, code, output, seconds, memory):
    if code not in (0, 1, 2):
        yield f"ended by {code}"
    elif code != case["exit"]:
        yield f"ended by {code}, not by {case['exit']}"
    if seconds > SECONDS:
        yield f"took {seconds:.1f} s"
    if memory > MEMORY and MEASURED:
        yield f"took {memory >> 20} MiB"
    if any(byte != 10 and not 32 <= byte <= 126 for byte in output):
        yield "printed what is not printable"
    if any(word in output for word in PLANTED):
        yield "printed what was planted"
    found = [match.groups() for match in map(CHECK.match, output.decode("ascii", "replace").splitlines()) if match]
    refused = [name for result, name, _ in found if result == "fail"]
    named = [(result, reason or "") for result, name, reason in found if name == case["check"]]
    wanted = "fail" if case["exit"] == 1 else "not_checked"
    if len(named) != 1 or named[0][0] != wanted or case["reason"] not in named[0][1]:
        yield f"'{case['check']}' says {named}, not {wanted} with '{case['reason']}'; refused: {refused}"
    others = (
        [name for name in refused[: refused.index(case["check"])] if name not in case["before"]]
        if case["check"] in refused
        else []
    )
    if others:
        yield f"{others} refused it before '{case['check']}'"


# It asks whose keys an archive names, and refuses none: tests/unit/test_verify_assessments.c.
ONLY_ASKS = {"assessors"}


def listed_checks():
    with open("docs/evidence-format.md", encoding="utf-8") as file:
        table = file.read().split("## What verify checks")[1].split("`canonical` takes")[0]
    return [check for check in re.findall(r"^\| `([a-z]+)` \|", table, re.M) if check not in ONLY_ASKS]


def main(words):
    folder, harness = words
    with open(f"{folder}/table.json", encoding="ascii") as file:
        table = json.load(file)
    if not MEASURED:  # and slow: of the two families that are one case many times, some
        families = ("escape-in-", "canary-in-")
        table = [case for number, case in enumerate(table) if number % 8 == 0 or not case["name"].startswith(families)]
    failures, highest, longest = [], (0, ""), (0.0, "")
    commands = [["timeout", "-k", "1", str(2 * SECONDS), harness, "verify", *case["words"], case["file"]] for case in table]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(run, commands))
    for case, (code, output, seconds, memory) in zip(table, results):
        failures += [f"{case['name']}: {fault}" for fault in faults(case, code, output, seconds, memory)]
        highest, longest = max(highest, (memory, case["name"])), max(longest, (seconds, case["name"]))
    counted = {check: sum(case["check"] == check and case["exit"] == 1 for case in table) for check in listed_checks()}
    failures += [f"no bundle is refused by '{check}'" for check, count in counted.items() if count == 0]
    if len(table) < LEAST or len(counted) < 14:
        failures.append(f"{len(table)} bundles and {len(counted)} checks are too few")
    for failure in failures:
        print(f"test_corpus: {failure[:400]}")
    print(f"test_corpus: {len(table)} bundles; refused by {', '.join(f'{key} {value}' for key, value in counted.items())}")
    print(f"test_corpus: at most {highest[0] >> 20} MiB ({highest[1]}), {longest[0]:.2f} s ({longest[1]})")
    print(f"test_corpus: {max(len(table) - len(failures), 0)} passed, {len(failures)} failed, 0 skipped")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Bundles that would cost a careless reader its memory or its time, as large as fits into a short test
(tests/unit/test_verify_memory.c has the largest). Each is sealed in full, so that nothing refuses it but what it is. A row: name,
check, reason, how it is made."""

from bundles import BLOCK, TOP, gzip, header, sha256, with_manifest
from cases_archive import MIB, noise

LARGE = 16 * MIB  # of what grows with a run
SMALL = 2 * MIB - 64 * 1024  # of what is kept, just within its limit
DIGITS = bytes.maketrans(b"abcdef", b"123456")


def sealed(members, manifest=True):
    members = with_manifest(members) if manifest else members
    sums = "".join(f"{sha256(members[name])}  {name}\n" for name in sorted(members) if name != "SHA256SUMS")
    members = dict(sorted({**members, "SHA256SUMS": sums.encode()}.items()))
    pieces = [
        piece
        for name, content in members.items()
        for piece in (header(TOP + name, len(content)), content, b"\0" * (-len(content) % BLOCK))
    ]
    return gzip(*pieces, b"\0" * (2 * BLOCK))


def filled(name, size, head, chunk, tail):
    """The member is `chunk` over and over between head and tail."""
    content = head + chunk * (size // len(chunk)) + tail
    return lambda base: sealed({**base, name: content}, manifest=name != "manifest.json")


def all_filled(base):
    members = dict(base)
    for name in members:
        if name.endswith(".json") and name != "manifest.json":
            members[name] = b"[" + b"{}," * (SMALL // 3) + b"{}]"
    return sealed(members)


def lines(count, line):
    return lambda base: sealed({**base, "observations.jsonl": line * count})


def noisy_lines(base):
    block = b"".join(b'{"id":"%s"}\n' % noise(20) for _ in range(4000))
    return sealed({**base, "observations.jsonl": block * 60})


LINE = "observations.jsonl: line 1 is no observation"
ROWS = (
    ("large-arms", "canonical", "arms.json: arm: missing", filled("arms.json", LARGE, b'{"arms":[', b"{},", b"{}]}")),
    (
        "large-verdicts",
        "canonical",
        "verdicts.json is not in its canonical form: a key twice",
        filled("verdicts.json", LARGE, b"{", b'"k":0,', b'"l":0}'),
    ),
    ("large-junit", "generated", "junit.xml is not what", filled("junit.xml", LARGE, b"<!-- ", b"x" * 1000 + b"\n", b" -->\n")),
    (
        "large-report",
        "generated",
        "report.html is not what",
        filled("report.html", LARGE, b"<!-- ", b"x" * 1000 + b"\n", b" -->\n"),
    ),
    (
        "wide-scenarios",
        "canonical",
        "scenarios.json: id: missing",
        filled("scenarios.json", SMALL, b'{"scenarios":[', b"{},", b"{}]}"),
    ),
    (
        "wide-coverage",
        "archive",
        "more than 65536 values in coverage.json",
        filled("coverage.json", SMALL, b'{"absent":[', b"0,", b"0]}"),
    ),
    (
        "wide-environment",
        "archive",
        "more than 65536 values in environment.json",
        filled("environment.json", SMALL, b"[", b"[[[[[]]]]],", b"0]"),
    ),
    ("wide-profile", "archive", "more than 65536 values in profile.json", filled("profile.json", SMALL, b"[", b'"",', b'""]')),
    (
        "wide-manifest",
        "archive",
        "more than 65536 values in manifest.json",
        filled("manifest.json", SMALL, b"[", b"{},", b"{}]"),
    ),
    (
        "long-text",
        "canonical",
        "scenarios.json is not in its canonical form",
        filled("scenarios.json", SMALL, b'{"schema":"', b"a" * 1000 + noise(8), b'"}'),
    ),
    (
        "long-number",
        "canonical",
        "a number that is not canonical",
        filled("coverage.json", SMALL, b"[", noise(64).translate(DIGITS), b"]"),
    ),
    ("all-filled", "archive", "more than 65536 values in coverage.json", all_filled),
    ("too-large", "archive", "a member that is too large", filled("profile.json", 4 * MIB, b"[", b'"",', b'""]')),
    ("lines-without-end", "canonical", LINE, noisy_lines),
    ("lines-of-nothing", "canonical", LINE, lines(300000, b"\n")),
    ("lines-long", "canonical", LINE, lines(200, b'{"id":"' + b"x" * 60000 + noise(400) + b'"}\n')),
)

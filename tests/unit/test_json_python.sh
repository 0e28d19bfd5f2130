#!/bin/bash
# The canonical form against Python itself: documents from a fixed seed, each of which json.dumps must give the same form.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1

CASES=${CASES:-4000}
name=json_python_differs
if ! command -v python3 >/dev/null; then
	echo "$name: skipped: no python3"
	echo "$name: 0 passed, 0 failed, 1 skipped"
	exit 0
fi

folder=$(mktemp -d "${TMPDIR:-/tmp}/harness-json.XXXXXX") || exit 1
trap 'rm -rf "$folder"' EXIT

python3 - "$CASES" "$folder" <<'PYTHON' || exit 1
import json, math, random, struct, sys

r = random.Random(20260918)
count, folder = int(sys.argv[1]), sys.argv[2]


def double():
    kind = r.randrange(6)
    if kind == 0:
        value = 2.0 ** r.randrange(-1074, 1024)
        return r.choice((value, math.nextafter(value, 0), math.nextafter(value, math.inf)))
    if kind == 1:
        return float("%de%d" % (r.randrange(10 ** r.randrange(1, 18)), r.randrange(-30, 30)))
    if kind == 2:
        return r.random() * 10 ** r.randrange(-6, 20)
    while True:
        value = struct.unpack("d", struct.pack("Q", r.getrandbits(64)))[0]
        if math.isfinite(value):
            return value


def number():
    kind = r.randrange(4)
    if kind == 0:
        return str(r.randrange(-(10 ** r.randrange(1, 60)), 10 ** r.randrange(1, 60)))
    if kind == 1:
        digits = "".join(r.choice("0123456789") for _ in range(r.randrange(1, 40)))
        return "%s%d.%s%s" % (r.choice(("", "-")), r.randrange(10 ** r.randrange(1, 20)), digits,
                              r.choice(("", "e%d" % r.randrange(-330, 300), "E+%d" % r.randrange(300))))
    return r.choice(("%r", "%.17g", "%.20e")) % double()


def character():
    while True:
        point = r.choice((r.randrange(1, 0x80), r.randrange(1, 0x800), r.randrange(0x800, 0x10000),
                          r.randrange(0xe000, 0x10000), r.randrange(0x10000, 0x110000)))
        if not 0xd800 <= point < 0xe000:
            return chr(point)


def text():
    value = "".join(character() for _ in range(r.randrange(6)))
    return json.dumps(value, ensure_ascii=r.random() < 0.5)


def space():
    return r.choice(("", "", " ", "\t", "\r"))


def value(depth):
    kind = r.randrange(7 if depth < 4 else 5)
    if kind < 2:
        return number()
    if kind < 4:
        return text()
    if kind == 4:
        return r.choice(("true", "false", "null"))
    if kind == 5:
        return "[" + ",".join(space() + value(depth + 1) for _ in range(r.randrange(4))) + space() + "]"
    members = {}
    for _ in range(r.randrange(5)):
        written = text()
        members[json.loads(written)] = written + space() + ":" + space() + value(depth + 1)
    return "{" + space() + ",".join(members.values()) + "}"


with open(folder + "/cases", "w", encoding="utf-8", newline="\n") as cases, \
     open(folder + "/expected", "w", encoding="utf-8", newline="\n") as expected:
    for _ in range(count):
        case = value(0)
        form = json.dumps(json.loads(case), sort_keys=True, separators=(",", ":"), ensure_ascii=True)
        cases.write(case + "\n")
        expected.write(("refused" if "Infinity" in form else form) + "\n")
PYTHON

"${BUILD:-build}/tests/main_json_python" <"$folder/cases" >"$folder/given" || exit 1
if [ "$(wc -l <"$folder/given")" -eq "$CASES" ] && cmp -s "$folder/expected" "$folder/given"; then
	echo "$name: 1 passed, 0 failed, 0 skipped"
	exit 0
fi
diff "$folder/expected" "$folder/given" | head -n 20
echo "$name: 0 passed, 1 failed, 0 skipped"
exit 1

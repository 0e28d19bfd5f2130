"""Hostile members: archives of the right form, in which something is not as a run makes it. A row: name, the check that must refuse
it, what its reason says, how the archive is made. `remade`: every hash, size and digest is made again."""

import importlib.util
import json
import re

import bundles
from bundles import Documents, canonical, gzip, seal, tar, with_sums
from cases_archive import MARK

spec = importlib.util.spec_from_file_location("recheck", "docs/recheck.py")
recheck = importlib.util.module_from_spec(spec)
spec.loader.exec_module(recheck)

ESCAPE = "\x1b]0;" + MARK + "\x07\x1b[31m"
CANARY = "canary-" + "abcdefghijklmnop" * 2
JSON_MEMBERS = (
    "arms.json",
    "claims.json",
    "coverage.json",
    "ctrf.json",
    "effects.json",
    "environment.json",
    "manifest.json",
    "profile.json",
    "scenarios.json",
    "verdicts.json",
)


# ---- how an alteration becomes an archive ----


def remade(alteration):
    def make(base):
        documents = Documents(base)
        alteration(documents)
        return seal(documents.texts(), manifest="manifest.json" not in documents)

    return make


def rejudged(alteration):
    """The verdicts are made again too, and what the manifest says of them: a forger who has our rules."""

    def judged(documents):
        alteration(documents)
        judge_again(documents)

    return lambda base: remade_with_counts(base, judged)


def remade_with_counts(base, alteration):
    documents = Documents(base)
    alteration(documents)
    texts = bundles.with_manifest(documents.texts())
    manifest, verdicts = json.loads(texts["manifest.json"]), json.loads(texts["verdicts.json"])
    manifest["counts"] = {
        **manifest["counts"],
        **{key: verdicts["counts"][key] for key in manifest["counts"] if key in verdicts["counts"]},
    }
    manifest["counts"]["observations"] = texts["observations.jsonl"].count(b"\n")
    manifest["claims"]["confinement_in_declared_path_set"] = verdicts["overall"]
    texts["manifest.json"] = canonical(manifest)
    return gzip(tar(with_sums(texts)))


def judge_again(d):
    environment = d["environment.json"]
    d["verdicts.json"] = recheck.judge(
        d["scenarios.json"],
        d["coverage.json"],
        d["arms.json"],
        d["observations.jsonl"],
        environment["before"] != environment["after"],
    )


def text(name, change):
    """A member's bytes changed, and every hash made again."""
    return lambda base: seal({**base, name: change(base[name])}, manifest=name != "manifest.json")


def raw(name, change):
    """A member's bytes changed, and no hash."""
    return lambda base: gzip(tar({**base, name: change(base[name])}))


def sums(change):
    return lambda base: gzip(tar({**base, bundles.SUMS: change(base[bundles.SUMS].decode()).encode()}))


def without(name):
    return lambda base: seal({key: value for key, value in base.items() if key != name}, manifest=name != "manifest.json")


def manifest(change):
    def make(base):
        document = json.loads(base["manifest.json"])
        change(document)
        return seal({**base, "manifest.json": canonical(document)}, manifest=False)

    return make


def extra(name, content=MARK.encode()):
    return lambda base: seal({**base, name: content})


# ---- what is changed ----


def observation(d, arm="baseline", observer="tcp4", **also):
    return next(
        o
        for o in d["observations.jsonl"]
        if o["arm"] == arm and o["observer"] == observer and all(o[key] == value for key, value in also.items())
    )


def renumber(d):
    for number, one in enumerate(d["observations.jsonl"], 1):
        one["id"] = f"o-{number:06}"


def a_leak(d):
    observation(d).update(value=1, canaryHits=1)


def a_fine_number(d):
    one = observation(d, "mutation/network")
    one.update(value=0, canaryHits=0)


def observation_gone(d):
    d["observations.jsonl"].remove(observation(d))
    renumber(d)


def beacon_gone(d):
    observation(d)["beaconAfter"] = 0


def arm_gone(d):
    """From arms.json alone."""
    d["arms.json"]["arms"] = d["arms.json"]["arms"][:-1]


def mutant_gone(d, name="mutation/network"):
    d["scenarios.json"]["scenarios"] = [s for s in d["scenarios.json"]["scenarios"] if s["id"] != name]
    d["coverage.json"]["arms"] = [a for a in d["coverage.json"]["arms"] if a["scenario"] != name]
    d["arms.json"]["arms"] = [a for a in d["arms.json"]["arms"] if a["arm"] != name]
    d["observations.jsonl"] = [o for o in d["observations.jsonl"] if o["arm"] != name]
    renumber(d)


def all_mutants_gone(d):
    for scenario in list(d["scenarios.json"]["scenarios"]):
        if scenario["control"]:
            mutant_gone(d, scenario["id"])


def expectation(d, name="baseline", observer="tcp4"):
    scenario = next(s for s in d["scenarios.json"]["scenarios"] if s["id"] == name)
    return next(e for e in scenario["expect"] if e["observer"] == observer)


def loosened_to_a_bound(d):
    expectation(d).update(op="le", value=5)


def loosened_to_a_number(d):
    expectation(d).update(value=1)


def loosened_to_a_control(d):
    expectation(d).update({"class": "control", "op": "ge", "value": 1})
    a_leak(d)


def a_way_out_as_control(d):
    """In the control and in each mutant, so that the two agree."""
    for scenario in d["scenarios.json"]["scenarios"]:
        for cell in scenario["expect"]:
            if (cell["subject"], cell["observer"]) == ("tcp4", "tcp4"):
                cell.update({"class": "control", "op": "ge", "value": 1, "flips": False})
    for one in d["observations.jsonl"]:
        if (one["subject"], one["observer"]) == ("tcp4", "tcp4"):
            one.update(value=1, canaryHits=1)


def expectation_gone(d):
    scenario = next(s for s in d["scenarios.json"]["scenarios"] if s["id"] == "baseline")
    scenario["expect"] = [e for e in scenario["expect"] if e["observer"] != "tcp4"]
    a_leak(d)


def absent_by_choice(d):
    a_leak(d)
    d["coverage.json"]["absent"].append(
        {"scenario": "baseline", "subject": "tcp4", "observer": "tcp4", "reason": "unsupported-mutant"}
    )


def arm(d, name="baseline"):
    return next(one for one in d["arms.json"]["arms"] if one["arm"] == name)


def set_in(getter, **values):
    return lambda d: getter(d).update(values)


def events(d, change):
    one = arm(d)
    one["events"] = change(one["events"])


def at_event(d, name, at):
    next(e for e in arm(d)["events"] if e["name"] == name)["atNs"] = at


def environment(**facts):
    def change(d):
        for snapshot in ("before", "after"):
            d["environment.json"][snapshot].update(facts)

    return change


def first_string(node):
    """The path of some string in a document, not of its schema."""
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, value in items:
        if key == "schema":
            continue
        if isinstance(value, str):
            return (key,)
        path = first_string(value)
        if path:
            return (key, *path)
    return ()


def put(document, path, value):
    for step in path[:-1]:
        document = document[step]
    document[path[-1]] = value


def into_string(name, content):
    def change(d):
        document = d[name]
        put(document, first_string(document), content)

    return change


def string_paths(node, path=()):
    """Each string of a document, but of lists those of the first element only, and of dictionaries the keys as well."""
    if isinstance(node, str):
        yield path
    elif isinstance(node, dict):
        for key, value in node.items():
            yield from string_paths(value, (*path, key))
    elif isinstance(node, list) and node:
        yield from string_paths(node[0], (*path, 0))


def number_as(literal):
    """A number of observations.jsonl as it cannot stand in canonical JSON."""
    return text("observations.jsonl", lambda t: re.sub(rb'"bytes":\d+', b'"bytes":' + literal, t, count=1))


def in_arms(old, new):
    return text("arms.json", lambda t: t.replace(old, new, 1))


def encoded(name):
    """The canary as the encodings of `leakScan` write it."""
    bits = "".join(f"{ord(letter):08b}" for letter in CANARY)
    kind, _, offset = name.partition("-")
    if kind in ("base64", "base64url", "base32"):
        width = 5 if kind == "base32" else 6
        letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ" + (
            "234567"
            if width == 5
            else "abcdefghijklmnopqrstuvwxyz0123456789-_" if "url" in kind else "abcdefghijklmnopqrstuvwxyz0123456789+/"
        )
        # So many bytes stand before it in the group that it is encoded with.
        bits = "0" * (8 * int(offset)) + bits
        bits = bits[-(-8 * int(offset) // width) * width :]
        return "".join(letters[int(bits[i : i + width], 2)] for i in range(0, len(bits) - width + 1, width)).encode()
    return {
        "raw": CANARY.encode(),
        "hex": CANARY.encode().hex().encode(),
        "hex-upper": CANARY.encode().hex().upper().encode(),
        "percent": "".join(f"%{ord(c):02x}" for c in CANARY).encode(),
        "percent-upper": "".join(f"%{ord(c):02X}" for c in CANARY).encode(),
        "utf16le": CANARY.encode("utf-16-le"),
        "utf16be": CANARY.encode("utf-16-be"),
        "reversed": CANARY[::-1].encode(),
    }[name]


def put_bytes(name, content):
    """Into a string of the member, or behind it where it is no JSON."""

    def change(t):
        if not name.endswith((".json", ".jsonl")):
            return t + content + b"\n"
        return re.sub(
            rb'("(?:title|setting|kernel.release|arm|name|version|scenario|says)":)"[^"]*"',
            lambda m: m[1] + b'"' + content + b'"',
            t,
            count=1,
        )

    return text(name, change) if name != bundles.SUMS else sums(lambda t: t + content.decode("latin-1") + "\n")


def disordered(base):
    items = list(with_sums(base).items())
    return gzip(tar(dict([items[1], items[0], *items[2:]])))


def report_of_another(base):
    return seal({**base, "report.html": base["report.html"].replace(b"not established", b"established", 1) + b"<!-- -->"})


ROWS = [
    # files
    *(
        (f"without-{name}", "members", f"{name} is missing", without(name))
        for name in (
            "arms.json",
            "coverage.json",
            "environment.json",
            "junit.xml",
            "manifest.json",
            "observations.jsonl",
            "profile.json",
            "report.html",
            "scenarios.json",
            "verdicts.json",
        )
    ),
    (
        "without-sums",
        "members",
        "SHA256SUMS is missing",
        lambda b: gzip(tar({k: v for k, v in b.items() if k != bundles.SUMS})),
    ),
    ("one-more", "members", "a member that schema version 1 does not have", extra("notes.txt")),
    ("one-more-hidden", "members", "a member that schema version 1 does not have", extra(".hidden")),
    ("one-more-like-ours", "members", "a member that schema version 1 does not have", extra("claim.json", b"{}")),
    ("not-sorted", "members", "not sorted by name", disordered),
    ("digest-of-another", "sums", "does not have the digest", sums(lambda t: t.replace(t[:8], "0" * 8, 1))),
    ("digest-in-capitals", "sums", "does not have the digest", sums(str.upper)),
    ("sums-without-a-line", "sums", "does not have the digest", sums(lambda t: t.split("\n", 1)[1])),
    ("sums-with-a-line-more", "sums", "lists more than there is", sums(lambda t: t + "0" * 64 + "  " + MARK + "\n")),
    ("sums-as-binary", "sums", "does not have the digest", sums(lambda t: t.replace("  ", " *"))),
    ("sums-with-returns", "sums", "does not have the digest", sums(lambda t: t.replace("\n", "\r\n"))),
    ("sums-empty", "sums", "does not have the digest", sums(lambda t: "")),
    (
        "bytes-changed-alone",
        "sums",
        "does not have the digest of observations.jsonl",
        raw("observations.jsonl", lambda t: t.replace(b'"value":0', b'"value":1', 1)),
    ),
    ("manifest-of-another-size", "manifest", "another size", manifest(lambda m: m["files"][0].update(bytes=1))),
    ("manifest-of-another-digest", "manifest", "another digest", manifest(lambda m: m["files"][0].update(sha256="0" * 64))),
    ("manifest-without-a-file", "manifest", "does not list", manifest(lambda m: m["files"].pop())),
    (
        "manifest-with-a-file-more",
        "manifest",
        "lists more",
        manifest(lambda m: m["files"].append({"path": "z" + MARK.lower(), "bytes": 1, "sha256": "0" * 64})),
    ),
    (
        "ended-before-it-started",
        "manifest",
        "ended before it started",
        manifest(lambda m: m.update(finishedAt="2020-01-01T00:00:00Z")),
    ),
    ("a-date-that-is-none", "manifest", "startedAt", manifest(lambda m: m.update(startedAt="2026-02-30T00:00:00Z"))),
    ("another-major", "manifest", "schema", manifest(lambda m: m.update(schema="confinement-evidence/2.0"))),
    ("another-schema", "manifest", "schema", manifest(lambda m: m.update(schema=ESCAPE))),
    ("without-a-gateway", "manifest", "gateway: missing", manifest(lambda m: m.pop("gateway"))),
    (
        "without-programs",
        "manifest",
        "producer.programs: no 'agent' in its place",
        manifest(lambda m: m["producer"].update(programs=[])),
    ),
    (
        "with-one-program",
        "manifest",
        "producer.programs: no 'agent' in its place",
        manifest(lambda m: m["producer"].update(programs=m["producer"]["programs"][-1:])),
    ),
    (
        "without-the-observer-of-files",
        "manifest",
        "producer.programs: no 'observer-files' in its place",
        manifest(
            lambda m: m["producer"].update(programs=[p for p in m["producer"]["programs"] if p["name"] != "observer-files"])
        ),
    ),
    (
        "without-the-last-program",
        "manifest",
        "producer.programs: no 'harness' in its place",
        manifest(lambda m: m["producer"]["programs"].pop()),
    ),
    (
        "with-a-program-more",
        "effects",
        "producer.programs: 1 behind those of a run, 0 declared",
        manifest(lambda m: m["producer"]["programs"].append({"name": "one-more", "sha256": "0" * 64})),
    ),
    (
        "with-another-gateway",
        "manifest",
        "gateway: not the program that is listed",
        manifest(lambda m: m["gateway"].update(sha256="0" * 64)),
    ),
    (
        "gateway-not-as-its-kind",
        "manifest",
        "not as its kind has it",
        manifest(
            lambda m: m.update(gateway={"kind": "url", "version": "unknown", "sha256": None, "composed": True, "raised": False})
        ),
    ),
    # form
    ("fraction", "canonical", "observations.jsonl: line", number_as(b"0.5")),
    ("fraction-of-zero", "canonical", "observations.jsonl: line", number_as(b"0.0")),
    ("exponent", "canonical", "observations.jsonl: line", number_as(b"1e3")),
    ("huge-exponent", "canonical", "observations.jsonl: line", number_as(b"1e999")),
    ("minus-zero", "canonical", "observations.jsonl: line", number_as(b"-0")),
    ("leading-zero", "canonical", "observations.jsonl: line", number_as(b"01")),
    ("plus", "canonical", "observations.jsonl: line", number_as(b"+1")),
    ("nan", "canonical", "observations.jsonl: line", number_as(b"NaN")),
    ("infinity", "canonical", "observations.jsonl: line", number_as(b"-Infinity")),
    ("number-in-hexadecimal", "canonical", "observations.jsonl: line", number_as(b"0x10")),
    ("beyond-safe", "canonical", "observations.jsonl: line", number_as(b"9007199254740992")),
    ("beyond-64-bits", "canonical", "observations.jsonl: line", number_as(b"18446744073709551616")),
    ("number-of-400-digits", "canonical", "observations.jsonl: line", number_as(b"9" * 400)),
    ("number-as-text", "canonical", "observations.jsonl: line", number_as(b'"0"')),
    ("duplicate-key", "canonical", "arms.json", in_arms(b'"agentAttempts":', b'"agentAttempts":0,"agentAttempts":')),
    (
        "duplicate-key-escaped",
        "canonical",
        "arms.json",
        in_arms(b'"agentAttempts":', b'"\\u0061gentAttempts":0,"agentAttempts":'),
    ),
    (
        "duplicate-key-in-a-line",
        "canonical",
        "observations.jsonl: line",
        text("observations.jsonl", lambda t: t.replace(b'"bytes":', b'"bytes":0,"bytes":', 1)),
    ),
    (
        "duplicate-key-in-the-manifest",
        "manifest",
        "manifest.json",
        lambda b: seal(
            {**b, "manifest.json": b["manifest.json"].replace(b'"complete":', b'"complete":true,"complete":', 1)},
            manifest=False,
        ),
    ),
    (
        "duplicate-key-in-scenarios",
        "canonical",
        "scenarios.json",
        text("scenarios.json", lambda t: t.replace(b'"class":', b'"class":"control","class":', 1)),
    ),
    (
        "unknown-key",
        "canonical",
        "unknown key",
        in_arms(b'"agentAttempts":', b'"' + MARK.encode() + b'\\u001b":0,"agentAttempts":'),
    ),
    ("missing-key", "canonical", "missing", in_arms(b'"agentAttempts":9,', b"")),
    (
        "keys-not-sorted",
        "canonical",
        "canonical form",
        text(
            "coverage.json",
            lambda t: b'{"schema":"confinement-evidence/coverage/1",'
            + t[1:].replace(b',"schema":"confinement-evidence/coverage/1"', b""),
        ),
    ),
    ("white-space", "canonical", "canonical form", text("verdicts.json", lambda t: t.replace(b",", b", ", 1))),
    (
        "letter-as-escape",
        "canonical",
        "canonical form",
        text("verdicts.json", lambda t: t.replace(b'"met"', b'"m\\u0065t"', 1)),
    ),
    ("byte-order-mark", "canonical", "arms.json", text("arms.json", lambda t: b"\xef\xbb\xbf" + t)),
    ("utf16", "canonical", "arms.json", text("arms.json", lambda t: t.decode().encode("utf-16"))),
    ("bytes-behind", "canonical", "arms.json", text("arms.json", lambda t: t + b"{}")),
    ("cut-json", "canonical", "arms.json", text("arms.json", lambda t: t[:-40])),
    ("nothing", "canonical", "arms.json", text("arms.json", lambda t: b"")),
    ("null", "canonical", "arms.json", text("arms.json", lambda t: b"null")),
    ("array", "canonical", "arms.json", text("arms.json", lambda t: b"[" + t + b"]")),
    ("deep", "canonical", "arms.json", text("arms.json", lambda t: b"[" * 100000 + b"]" * 100000)),
    ("deep-objects", "canonical", "coverage.json", text("coverage.json", lambda t: b'{"a":' * 50000 + b"0" + b"}" * 50000)),
    (
        "deep-line",
        "canonical",
        "observations.jsonl: line",
        text("observations.jsonl", lambda t: b"[" * 30000 + b"]" * 30000 + b"\n" + t),
    ),
    (
        "not-utf8",
        "canonical",
        "scenarios.json",
        text("scenarios.json", lambda t: t.replace(b'"title":"', b'"title":"\xff\xfe', 1)),
    ),
    (
        "utf8-too-long",
        "canonical",
        "scenarios.json",
        text("scenarios.json", lambda t: t.replace(b'"title":"', b'"title":"\xc0\xaf', 1)),
    ),
    (
        "surrogate-alone",
        "canonical",
        "scenarios.json",
        text("scenarios.json", lambda t: t.replace(b'"title":"', b'"title":"\\ud800', 1)),
    ),
    (
        "zero-in-a-string",
        "canonical",
        "scenarios.json",
        text("scenarios.json", lambda t: t.replace(b'"title":"', b'"title":"\\u0000', 1)),
    ),
    ("line-feed-missing", "canonical", "observations.jsonl: line", text("observations.jsonl", lambda t: t[:-1])),
    ("line-empty", "canonical", "observations.jsonl: line", text("observations.jsonl", lambda t: t + b"\n")),
    (
        "lines-with-returns",
        "canonical",
        "observations.jsonl: line",
        text("observations.jsonl", lambda t: t.replace(b"\n", b"\r\n")),
    ),
    (
        "expectation-loosened-to-a-bound",
        "canonical",
        "a bound 'le' is for a measure that has a limit",
        remade(loosened_to_a_bound),
    ),
    ("expectation-loosened-to-a-number", "canonical", "a protected cell is 'eq' 0 or a bound", rejudged(loosened_to_a_number)),
    ("expectation-loosened-to-a-control", "canonical", "a way out, and no control", remade(loosened_to_a_control)),
    ("expectation-made-a-control", "canonical", "a way out, and no control", rejudged(loosened_to_a_control)),
    ("a-way-out-as-control-everywhere", "canonical", "a way out, and no control", rejudged(a_way_out_as_control)),
    ("wrong-type", "canonical", "must be an array", remade(lambda d: arm(d).update(effective={}))),
    ("enum-of-nobody", "canonical", "unknown value", remade(lambda d: arm(d).update(status=MARK))),
    # texts
    (
        "escape-in-kernel-text",
        "grammar",
        "kernel.txt: a text outside the grammar",
        text("kernel.txt", lambda t: ESCAPE.encode() + t),
    ),
    (
        "escape-in-junit",
        "grammar",
        "junit.xml: a text outside the grammar",
        text("junit.xml", lambda t: t.replace(b"pass", ESCAPE.encode()) + ESCAPE.encode()),
    ),
    (
        "escape-in-the-report",
        "grammar",
        "report.html: a text outside the grammar",
        text("report.html", lambda t: t + ESCAPE.encode()),
    ),
    (
        "other-letters",
        "grammar",
        "docker-version.txt: a text outside",
        text("docker-version.txt", lambda t: t + "\u202e".encode()),
    ),
    ("fact-of-nobody", "grammar", "a fact that is not listed", remade(environment(**{"host.name": MARK}))),
    ("fact-of-another-form", "grammar", "not of the form", remade(environment(**{"kernel.tainted": {"a": 1}}))),
    ("null-without-a-reason", "grammar", "must name each fact that is null", remade(environment(**{"kernel.tainted": None}))),
    # whether the parts can belong to one run
    ("arm-removed", "references", "arms.json has", remade(arm_gone)),
    ("arm-of-nobody", "references", "is not the planned one", remade(lambda d: arm(d).update(arm="mutation/nobody"))),
    ("arms-exchanged", "references", "is not the planned one", remade(lambda d: d["arms.json"]["arms"].reverse())),
    (
        "observation-of-nobody",
        "references",
        "is of an arm that is not planned",
        remade(lambda d: observation(d).update(arm="nobody")),
    ),
    (
        "observation-of-another-subject",
        "references",
        "names an unknown subject",
        remade(lambda d: observation(d).update(subject="nothing")),
    ),
    (
        "observer-of-nobody",
        "references",
        "names an unknown observer",
        remade(lambda d: observation(d).update(observer="nobody")),
    ),
    (
        "observation-cut-out",
        "references",
        "does not have the id",
        remade(lambda d: d["observations.jsonl"].remove(observation(d))),
    ),
    (
        "observation-doubled",
        "references",
        "does not have the id",
        remade(lambda d: d["observations.jsonl"].append(dict(observation(d)))),
    ),
    ("other-unit", "references", "another kind or unit", remade(lambda d: observation(d).update(unit="bytes"))),
    ("value-below-0", "references", "a value below 0", remade(lambda d: observation(d).update(value=-1))),
    (
        "more-records-than-canaries",
        "references",
        "more records than canaries",
        remade(lambda d: observation(d).update(value=1)),
    ),
    (
        "canaries-without-a-record",
        "references",
        "has canaries, and no record",
        remade(lambda d: observation(d).update(canaryHits=1)),
    ),
    (
        "outside-of-its-arm",
        "references",
        "is not within its arm's time",
        remade(lambda d: observation(d).update(startNs=2**53 - 1)),
    ),
    ("fewer-canaries", "references", "fewer canaries than", manifest(lambda m: m["canary"].update(count=0))),
    ("selection-of-all", "references", "is only added", manifest(lambda m: m.update(selection=["all"]))),
    ("selection-of-others", "references", "no word of it selects", manifest(lambda m: m.update(selection=["mutation"]))),
    ("selection-of-nothing", "references", "no word of it selects", manifest(lambda m: m.update(selection=[]))),
    ("selection-not-there", "references", "word 2 selects no", manifest(lambda m: m["selection"].append("telemetry"))),
    (
        "shard-of-no-plan",
        "references",
        "a shard is of a plan",
        manifest(lambda m: m.update(shard={"index": 1, "of": 64}, planSha256="0" * 64)),
    ),
    ("absent-by-choice", "references", "coverage.json", rejudged(absent_by_choice)),
    (
        "never-armed",
        "references",
        "the watchdog was not armed",
        remade(lambda d: events(d, lambda e: [{**one, "name": "unarmed"} if one["name"] == "armed" else one for one in e])),
    ),
    ("frame-before-it-was-armed", "references", "before the watchdog was armed", remade(lambda d: at_event(d, "armed", 25))),
    (
        "never-dead",
        "references",
        "no 'dead'",
        remade(lambda d: events(d, lambda e: [one for one in e if one["name"] != "dead"])),
    ),
    (
        "changed-by-an-operator",
        "references",
        "an operator changed the session",
        remade(lambda d: events(d, lambda e: [*e, {"name": "operator-applied", "subject": None, "atNs": 50}])),
    ),
    ("later-than-the-end", "references", "later than the arm's end", remade(lambda d: at_event(d, "dead", 2**53 - 1))),
    # where it ran
    (
        "another-image",
        "environment",
        "ran another image",
        remade(lambda d: [a.update(image="d" * 64) for a in d["arms.json"]["arms"]]),
    ),
    (
        "another-boot",
        "environment",
        "ran in another boot",
        remade(lambda d: [a.update(boot="d" * 32) for a in d["arms.json"]["arms"]]),
    ),
    (
        "core-pattern-is-a-pipe",
        "environment",
        "sysctl.corePatternClass",
        remade(environment(**{"sysctl.corePatternClass": "pipe"})),
    ),
    ("rootless", "environment", "rootless", remade(environment(**{"engine.securityOptions": ["name=rootless"]}))),
    ("users-remapped", "environment", "userns", remade(environment(**{"engine.securityOptions": ["name=userns"]}))),
    ("api-of-nobody", "environment", "engine.api", remade(environment(**{"engine.api": "9.99"}))),
    # verdicts
    ("number-altered", "verdicts", "is sealed as pass, made again it is fail (value)", remade(a_leak)),
    ("mutant-altered", "verdicts", "made again", remade(a_fine_number)),
    (
        "verdict-altered",
        "verdicts",
        "is sealed as fail, made again it is pass",
        remade(lambda d: d["verdicts.json"]["cells"][0].update(verdict="fail")),
    ),
    (
        "verdict-of-nobody",
        "verdicts",
        "is sealed as no verdict",
        remade(lambda d: d["verdicts.json"]["cells"][0].update(verdict=MARK)),
    ),
    (
        "overall-altered",
        "verdicts",
        "is not what scenarios, arms and observations say",
        remade(lambda d: d["verdicts.json"].update(overall="fail")),
    ),
    ("observation-removed", "verdicts", "(missing)", remade(observation_gone)),
    ("beacon-removed", "verdicts", "(not_live)", remade(beacon_gone)),
    ("packets-dropped", "verdicts", "(not_live)", remade(lambda d: observation(d).update(dropped=1))),
    ("arm-that-broke", "verdicts", "(arm)", remade(lambda d: arm(d).update(status="timeout", reason="deadline"))),
    ("admission-not-refused", "verdicts", "made again", remade(lambda d: arm(d, "mutation/network").update(failed=[]))),
    (
        "nothing-was-changed",
        "verdicts",
        "made again",
        remade(lambda d: arm(d, "mutation/network").update(effective=[dict(e) for e in arm(d)["effective"]])),
    ),
    (
        "environment-moved",
        "verdicts",
        "(environment)",
        remade(lambda d: d["environment.json"]["after"].update({"kernel.tainted": 1})),
    ),
    # mutants
    ("mutant-removed", "mutations", "no mutant flips", rejudged(mutant_gone)),
    ("all-mutants-removed", "mutations", "no mutant was run: vacuous", rejudged(all_mutants_gone)),
    ("expectation-removed", "mutations", "the control has no such cell", rejudged(expectation_gone)),
    # what is made from the rest
    (
        "kernel-text-of-another",
        "generated",
        "kernel.txt is not what the other members make",
        text("kernel.txt", lambda t: b"Linux\n"),
    ),
    ("engine-text-of-another", "generated", "docker-version.txt is not what", text("docker-version.txt", lambda t: t + b"\n")),
    (
        "junit-without-a-failure",
        "generated",
        "junit.xml is not what",
        text("junit.xml", lambda t: t.replace(b'errors="0"', b'errors="1"', 1)),
    ),
    (
        "ctrf-of-another",
        "generated",
        "ctrf.json is not what",
        remade(lambda d: d["ctrf.json"]["results"]["summary"].update(passed=7)),
    ),
    ("report-of-another", "generated", "report.html is not what", report_of_another),
    ("manifest-counts-other", "generated", "manifest.json is not what", manifest(lambda m: m["counts"].update({"pass": 1}))),
    (
        "manifest-claims-other",
        "generated",
        "manifest.json is not what",
        manifest(lambda m: m["claims"].update(confinement_in_declared_path_set="fail")),
    ),
    ("leak-scan-with-hits", "generated", "manifest.json is not what", manifest(lambda m: m["leakScan"].update(hits=1))),
]

# A canary in each member, and in each encoding. `canonical` may refuse it too.
ENCODINGS = (
    "raw",
    "hex",
    "hex-upper",
    "percent",
    "percent-upper",
    *(f"base64-{i}" for i in range(3)),
    *(f"base64url-{i}" for i in range(3)),
    *(f"base32-{i}" for i in range(5)),
    "utf16le",
    "utf16be",
    "reversed",
)
HOLDERS = (*JSON_MEMBERS, "SHA256SUMS", "docker-version.txt", "junit.xml", "kernel.txt", "observations.jsonl", "report.html")
CANARIES = [(f"canary-in-{holder}-as-{encoding}", holder, encoding) for holder in HOLDERS for encoding in ENCODINGS]

#!/usr/bin/env python3
"""docs/recheck.py against the judge of harness. Made-up bundles are altered where a judgement can turn, some hundred times from a
fixed seed: what both can read must get the same verdict for each cell and each mutation, and for the run. A few are sealed
again, and `harness verify` and the script must end alike. Run from the root of the tree."""

import importlib.util
import json
import os
import random
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import bundles  # noqa: E402

BUILD = os.environ.get("BUILD", "build")
CASES = int(os.environ.get("CASES", "45"))  # of each base
SEED = 20261130
SECONDS = 100
BASES = (
    ["baseline", "2"],
    ["lifecycle", "1"],
    ["mutation", "1"],
    ["engine", "1", "whole"],
    ["policy", "1", "whole"],
    ["watch", "1", "whole"],
    ["telemetry", "1", "whole"],
)
MEMBERS = ("scenarios.json", "coverage.json", "arms.json", "observations.jsonl", "environment.json")
REASONS = {
    "met",
    "value",
    "missing",
    "not_live",
    "unearned",
    "arm",
    "admission",
    "difference",
    "undetected",
    "environment",
    "duplicate",
    "unplanned",
}
STATUSES = ("ok", "timeout", "harness_error", "host_unsupported", "not_run")

spec = importlib.util.spec_from_file_location("recheck", "docs/recheck.py")
recheck = importlib.util.module_from_spec(spec)
spec.loader.exec_module(recheck)


# ---- what is altered: each takes the documents and a source of chance ----


def some_observation(d, r):
    return r.choice(d["observations.jsonl"])


def some_arm(d, r):
    return r.choice(d["arms.json"]["arms"])


def some_scenario(d, r, mutants=False):
    return r.choice(
        [s for s in d["scenarios.json"]["scenarios"] if s["control"] or not mutants] or d["scenarios.json"]["scenarios"]
    )


def number(d, r):
    some_observation(d, r)["value"] = r.choice((0, 1, 2, 3, 1000, 10**9, 2 * 10**9, 2**53 - 1, -1))


def protected_number(d, r):
    wanted = {
        (s["id"], e["subject"], e["observer"]): e
        for s in d["scenarios.json"]["scenarios"]
        for e in s["expect"]
        if e["class"] == "protected"
    }
    ones = [o for o in d["observations.jsonl"] if (o["arm"], o["subject"], o["observer"]) in wanted]
    if ones:
        one = r.choice(ones)
        one["value"] = max(0, wanted[one["arm"], one["subject"], one["observer"]]["value"] + r.choice((-1, 0, 1)))


def status(d, r):
    some_observation(d, r)["status"] = r.choice(("observed", "not_observable", "observer_error"))


def reason(d, r):
    some_observation(d, r)["reason"] = r.choice(("censored", "censored", "dropped", "truncated", "limit", "lost", "none"))


def blind(d, r):
    some_observation(d, r)[r.choice(("beaconBefore", "beaconAfter"))] = 0


def dropped(d, r):
    some_observation(d, r)["dropped"] = r.choice((1, 7))


def forget(d, r):
    d["observations.jsonl"].remove(some_observation(d, r))


def twice(d, r):
    one = dict(some_observation(d, r), id=f"o-{900000 + r.randrange(90000)}")
    one["value"] += r.choice((0, 1, -1))
    d["observations.jsonl"].insert(r.randrange(len(d["observations.jsonl"])), one)


def stray(d, r):
    one = dict(some_observation(d, r), id=f"o-{800000 + r.randrange(90000)}", value=r.choice((0, 1, 5)))
    one["subject"], one["observer"] = some_observation(d, r)["subject"], some_observation(d, r)["observer"]
    one["arm"] = r.choice([a["arm"] for a in d["arms.json"]["arms"] if a["repetition"] == one["repetition"]])
    d["observations.jsonl"].append(one)


def shuffle(d, r):
    r.shuffle(d["observations.jsonl"])


def ended(d, r):
    some_arm(d, r)["status"] = r.choice(STATUSES)


def refused(d, r):
    arm = some_arm(d, r)
    rule = r.choice(("network-mode", "interfaces", "read-only"))
    for key in r.choice((("mustFail",), ("failed",), ("mustFail", "failed"))):
        arm[key] = r.choice((arm[key] + [rule], arm[key][1:] or [rule], [rule], list(reversed(arm[key])) * 2))


def elsewhere(d, r):
    arm = some_arm(d, r)
    key, digits = r.choice((("image", 64), ("boot", 32)))
    arm[key] = r.choice((None, r.choice("0123456789abcdef") * digits))


def effective(d, r):
    arm = some_arm(d, r)
    index = r.randrange(len(arm["effective"]))
    kind = r.randrange(5)
    if kind == 0:
        arm["effective"][index]["sha256"] = "9" * 64
    elif kind == 1:
        arm["effective"].append({"field": "kernel.unused", "sha256": "8" * 64})
    elif kind == 2:
        del arm["effective"][index]
    elif kind == 3:
        arm["effective"].append(dict(arm["effective"][index]))
    else:
        r.shuffle(arm["effective"])


def may_differ(d, r):
    arm = some_arm(d, r)
    field = r.choice(arm["effective"])["field"]
    arm["mayDiffer"] = r.choice(
        (arm["mayDiffer"][1:], [field], arm["mayDiffer"] + [field[:-2] + "*"], ["inspect.*"], ["protection.*"])
    )


def no_difference(d, r):
    mutants = {s["id"]: s["control"] for s in d["scenarios.json"]["scenarios"] if s["control"]}
    arm = some_arm(d, r)
    if arm["arm"] in mutants:
        for other in d["arms.json"]["arms"]:
            if other["arm"] == mutants[arm["arm"]]:
                arm["effective"] = [dict(e) for e in other["effective"]]


def record_gone(d, r):
    d["arms.json"]["arms"].remove(some_arm(d, r))


def record_twice(d, r):
    d["arms.json"]["arms"].append(dict(some_arm(d, r), status=r.choice(STATUSES)))


def shard(d, r):
    some_arm(d, r)["shard"] = r.choice((0, 1, 2))


def unplanned(d, r):
    arm = r.choice(d["coverage.json"]["arms"])
    d["coverage.json"]["arms"].remove(arm)
    key = (arm["scenario"], arm["repetition"])
    if r.random() < 0.9:
        d["arms.json"]["arms"] = [a for a in d["arms.json"]["arms"] if (a["arm"], a["repetition"]) != key]
        d["observations.jsonl"] = [o for o in d["observations.jsonl"] if (o["arm"], o["repetition"]) != key]


def other_order(d, r):
    r.shuffle(d["coverage.json"]["arms"])


def absent(d, r):
    scenario = some_scenario(d, r)
    cell = r.choice(scenario["expect"])
    row = {"scenario": scenario["id"], "subject": cell["subject"], "observer": cell["observer"], "reason": "unsupported-mutant"}
    if row not in d["coverage.json"]["absent"]:
        d["coverage.json"]["absent"].append(row)


def expected(d, r):
    cell = r.choice(some_scenario(d, r)["expect"])
    if cell["class"] == "control" or cell["flips"]:
        cell.update(
            r.choice(
                ({"op": "ge", "value": r.choice((1, 2, 9))}, {"op": "eq", "value": r.choice((1, 2))}, {"class": "control"})
            )
        )
    elif cell["op"] == "le":
        cell["value"] += r.choice((-1, 1)) * r.choice((1, 10**9))


def flips(d, r):
    cell = r.choice(some_scenario(d, r, mutants=True)["expect"])
    cell["flips"] = not cell["flips"]


def faults(d, r):
    scenario = some_scenario(d, r)
    if scenario["faults"] and r.random() < 0.5:
        scenario["faults"][0]["delayMs"] += 1
    elif scenario["windowMs"]:
        scenario["windowMs"] += 1000


def updates(d, r):
    scenario = some_scenario(d, r)
    scenario["updates"] = r.choice(([], [dict(u, revision=u["revision"] + 1) for u in scenario["updates"]]))


def behaviour(d, r):
    scenario = some_scenario(d, r)
    if "misbehaviour" in scenario and r.random() < 0.7:
        scenario["misbehaviour"]["count"] += 1
    else:
        scenario["peer"] = {"at": "upstream", "does": "hangs"}


def after(d, r):
    scenario = some_scenario(d, r)
    if "misbehaviour" in scenario:
        others = [e["subject"] for e in scenario["expect"] if e["subject"] not in scenario["probes"]]
        scenario["after"] = [] if scenario["after"] or not others else [r.choice(others)]


def other_control(d, r):
    some_scenario(d, r, mutants=True)["control"] = r.choice((some_scenario(d, r)["id"], "nobody"))


def hurting(d, r):
    scenario = some_scenario(d, r, mutants=True)
    old, new = scenario["id"], "engine/renamed" if not scenario["id"].startswith("engine/") else "mutation/renamed"
    scenario["id"] = new
    for one in d["scenarios.json"]["scenarios"]:
        one["control"] = new if one["control"] == old else one["control"]
    for one in d["coverage.json"]["arms"] + d["coverage.json"]["absent"]:
        one["scenario"] = new if one["scenario"] == old else one["scenario"]
    for one in d["arms.json"]["arms"] + d["observations.jsonl"]:
        one["arm"] = new if one["arm"] == old else one["arm"]
    d["scenarios.json"]["scenarios"].sort(key=lambda one: one["id"])


def moved(d, r):
    fact, value = r.choice((("kernel.tainted", 1), ("clock.synchronised", True)))
    d["environment.json"]["after"][fact] = value


ALTERATIONS = (
    number,
    protected_number,
    protected_number,
    protected_number,
    status,
    reason,
    blind,
    dropped,
    forget,
    twice,
    stray,
    stray,
    shuffle,
    ended,
    refused,
    refused,
    elsewhere,
    effective,
    may_differ,
    no_difference,
    record_gone,
    record_twice,
    shard,
    unplanned,
    other_order,
    absent,
    expected,
    flips,
    faults,
    updates,
    behaviour,
    after,
    other_control,
    hurting,
    moved,
)


# ---- and how both judge it ----


def ours(folders):
    made = subprocess.run([f"{BUILD}/tests/main_judge", *folders], stdout=subprocess.PIPE, timeout=SECONDS, check=True)
    for line in made.stdout.splitlines():
        if line.startswith(b"refused"):
            yield None
            continue
        yield json.loads(line)


def theirs(documents):
    before, after = (documents["environment.json"][name] | recheck.TOLD for name in ("before", "after"))
    try:
        return recheck.judge(
            documents["scenarios.json"],
            documents["coverage.json"],
            documents["arms.json"],
            documents["observations.jsonl"],
            recheck.canonical(before) != recheck.canonical(after),
        )
    except (AssertionError, KeyError):
        return None


def first_difference(one, other):
    for key in ("cells", "mutations", "runner"):
        for ours_row, their_row in zip(one[key], other[key]):
            if ours_row != their_row:
                return f"ours {ours_row}, the script {their_row}"
    return "; ".join(f"ours {one[key]}, the script {other[key]}" for key in ("overall", "exitCode", "counts", "schema"))


def a_bundle(words):
    return subprocess.run([f"{BUILD}/tests/main_bundle", *words], stdout=subprocess.PIPE, timeout=SECONDS, check=True).stdout


def alter(members, chance):
    documents = bundles.Documents(members)
    names = []
    for alteration in chance.sample(ALTERATIONS, chance.choice((1, 1, 1, 2, 2, 3, 5))):
        alteration(documents, chance)
        names.append(alteration.__name__)
    return documents, names


def compare_judges(folder, failures):
    chance = random.Random(SEED)
    cases = []
    for base in BASES:
        members = bundles.read(a_bundle(base))
        for number in range(CASES):
            documents, names = alter(members, chance)
            place = f"{folder}/{len(cases)}"
            os.mkdir(place)
            texts = documents.texts()
            for name in MEMBERS:
                with open(f"{place}/{name}", "wb") as file:
                    file.write(texts[name])
            cases.append((f"{base[0]}, {number}, {' and '.join(names)}", place, theirs(documents)))
    seen, refused = set(), 0
    for (what, _, their), our in zip(cases, ours([place for _, place, _ in cases])):
        if our is None or their is None:
            # The script does not look at form: it may take what we refuse, and not the other way round.
            refused += 1
            if our:
                failures.append(f"{what}: the script refuses it alone")
            continue
        seen |= {row["because"] for row in our["cells"] + our["mutations"]}
        if our != their:
            failures.append(f"{what}: {first_difference(our, their)}")
    if seen != REASONS:
        failures.append(f"no case came to {sorted(REASONS - seen)}")
    if refused > len(cases) // 3:
        failures.append(f"{refused} of {len(cases)} cases were refused")
    print(f"test_recheck: {len(cases)} altered, of which {refused} could not be read; {len(seen)} reasons")
    return len(cases) - refused


# ---- sealed again, as a stranger gets them ----


def only_a_number(d):
    d["observations.jsonl"][0]["startNs"] += 1


def a_leak(d):
    one = next(o for o in d["observations.jsonl"] if o["arm"] == "baseline" and o["value"] == 0 and o["observer"] == "tcp4")
    one.update(value=1, canaryHits=1)


def a_beacon_less(d):
    next(o for o in d["observations.jsonl"] if o["arm"] == "baseline")["beaconAfter"] = 0


def an_arm_that_broke(d):
    d["arms.json"]["arms"][0]["status"] = "harness_error"


def a_verdict(d):
    d["verdicts.json"]["cells"][0]["verdict"] = "not_established"


def another_overall(d):
    d["verdicts.json"]["overall"] = "fail"


def in_a_cell(name, **values):
    return altered(name, lambda verdicts: verdicts["cells"][0].update(values))


def in_verdicts(name, **values):
    return altered(name, lambda verdicts: verdicts.update(values))


def altered(name, change):
    """Of verdicts.json alone: no other verdict, but not what the rules write."""

    def alter_verdicts(d):
        before = json.dumps(d["verdicts.json"])
        change(d["verdicts.json"])
        assert json.dumps(d["verdicts.json"]) != before

    alter_verdicts.__name__ = name
    return alter_verdicts


SEALED = (
    (only_a_number, 0),
    (a_leak, 1),
    (a_beacon_less, 1),
    (an_arm_that_broke, 1),
    (a_verdict, 1),
    (another_overall, 1),
    (in_a_cell("another-value", value=7), 1),
    (in_a_cell("another-expectation", expected=9, op="le"), 1),
    (in_a_cell("another-class", **{"class": "control"}), 1),
    (in_a_cell("another-key-in-a-cell", novel=1), 1),
    (altered("without-a-key", lambda v: v["cells"][0].pop("value")), 1),
    (altered("cells-in-another-order", lambda v: v["cells"].reverse()), 1),
    (altered("other-counts", lambda v: v["counts"].update({"pass": 100000, "notEstablished": 5})), 1),
    (altered("other-count-of-mutations", lambda v: v["counts"].update(mutationsDetected=0)), 1),
    (altered("another-reason-of-an-arm", lambda v: v["runner"][0].update(reason="nothing")), 1),
    (in_verdicts("no-runner", runner=[]), 1),
    (in_verdicts("another-key", novel=1), 1),
    (in_verdicts("another-schema", schema="confinement-evidence/verdicts/2"), 1),
)


def ends(command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=SECONDS, check=False).returncode


def compare_ends(folder, failures):
    members = bundles.read(a_bundle(["baseline"]))
    for alteration, wanted in SEALED:
        documents = bundles.Documents(members)
        alteration(documents)
        path = f"{folder}/{alteration.__name__}.tar.gz"
        with open(path, "wb") as file:
            file.write(bundles.seal(documents.texts()))
        codes = ends([f"{BUILD}/harness", "verify", path]), ends([sys.executable, "docs/recheck.py", path])
        if codes != (wanted, wanted):
            failures.append(f"{alteration.__name__}: verify and script end with {codes}, not with {wanted}")
    with open(f"{folder}/none.tar.gz", "wb") as file:
        file.write(b"no archive")
    for path, wanted in ((f"{folder}/none.tar.gz", 1), (f"{folder}/nowhere", 3)):
        if ends([sys.executable, "docs/recheck.py", path]) != wanted:
            failures.append(f"the script ends otherwise than by {wanted} without a bundle")
    return len(SEALED) + 2


def compare_words(folder, failures):
    """Without a bundle: one sentence, and no exception in it."""
    text = f"{folder}/text"
    with open(text, "w", encoding="ascii") as file:
        file.write("no bundle\n")
    rows = ([], 3, "usage: "), (["--help"], 3, "usage: "), ([f"{folder}/nowhere"], 3, "usage: "), ([text], 1, "refused: ")
    for words, code, begin in rows:
        done = subprocess.run(
            [sys.executable, "docs/recheck.py", *words], capture_output=True, text=True, timeout=SECONDS, check=False
        )
        said = done.stderr
        if (done.returncode, done.stdout, said.count("\n")) != (code, "", 1) or not said.startswith(begin) or "Error" in said:
            failures.append(f"{words}: {done.returncode}, {said}")
    return len(rows)


def main():
    failures = []
    lines = len(open("docs/recheck.py", encoding="ascii").read().splitlines())
    if lines > 120:
        failures.append(f"docs/recheck.py has {lines} lines, and should have 120")
    with tempfile.TemporaryDirectory() as folder:
        count = compare_judges(folder, failures) + compare_ends(folder, failures) + compare_words(folder, failures)
    for failure in failures[:10]:
        print(f"test_recheck: {failure[:600]}")
    print(f"test_recheck: {max(count - len(failures), 0)} passed, {len(failures)} failed, 0 skipped")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())

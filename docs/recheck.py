#!/usr/bin/env python3
"""recheck.py [--verdicts] BUNDLE: judges a bundle of harness again. Written from docs/evidence-format.md, "How verdicts are made",
without harness. It makes verdicts.json again and compares all bytes, or prints it. Not looked at: digests (sha256sum -c), grammar,
references, what a scenario may be. Exit: 0 pass; 1 fail, refused, not what was sealed; 2 not established; 3 cannot be read."""
import collections, functools, json, sys, tarfile  # noqa: E401
PASS, FAIL, OPEN, TOLD = "pass", "fail", "not_established", {"clock.synchronised": 0}  # a fact that is not compared
NOBODY = {"class": "protected", "op": "eq", "value": 0}  # the expectation of what was not planned
CELL = "arm", "repetition", "subject", "observer", "verdict", "because", "observation", "value", "mutant", "class", "op", "expected"
canonical = functools.partial(json.dumps, sort_keys=True, separators=(",", ":"))
def strict(text):  # int() takes neither 1.0 nor NaN
    assert canonical(document := json.loads(text, parse_float=int, parse_constant=int)) == text, "a key twice, for example"
    return document
def same(a, b, *keys): return all(a.get(key) == b.get(key) for key in keys)  # noqa: E704
def write(arm, cell, expect, verdict, because, one, mutant):
    cites = (one["id"], one["value"] if one["status"] == "observed" else None) if one else (None, None)
    return dict(zip(CELL, (*arm, *cell, verdict, because, *cites, mutant, expect["class"], expect["op"], expect["value"])))
def is_zero(expect): return expect["class"] == "protected" and not expect["flips"]  # what a mutant must earn  # noqa: E704
def is_leak(expect, one):
    return is_zero(expect) and expect["op"] != "ge" and one["status"] == "observed" and one["value"] > expect["value"]
def outcome(expect, one):
    more, less, censored = one["value"] > expect["value"], one["value"] < expect["value"], one["reason"] == "censored"
    no = more and expect["op"] != "ge" or less and expect["op"] != "le" and not censored
    return FAIL if no else OPEN if censored and (less or expect["op"] != "ge") else PASS  # contradicts, leaves it open, meets
def earns(mutant, scenario, expect):
    bound, hurts = expect["op"] == "le", [one["id"].startswith("engine/") for one in (mutant, scenario)]
    return not (mutant is scenario or hurts == [True, False] or
                (mutant["faults"] or bound) and not same(mutant, scenario, "faults", "windowMs") or
                mutant["updates"] and not same(mutant, scenario, "updates") or
                (bound or expect["subject"] in scenario["after"]) and not same(mutant, scenario, "misbehaviour", "peer"))
def judge(scenarios, coverage, arms, observations, changed):
    scenarios = {one["id"]: one for one in scenarios["scenarios"]}
    absent = {(one["scenario"], one["subject"], one["observer"]) for one in coverage["absent"]}
    plan = [(one["scenario"], one["repetition"]) for one in coverage["arms"]]
    cells_of = {name: {(e["subject"], e["observer"]): e for e in scenarios[name]["expect"]
                       if (name, e["subject"], e["observer"]) not in absent} for name, _ in plan}
    assert any(cells_of.values()), "no cells"
    records, seen, made = {arm: [] for arm in plan}, {arm: collections.defaultdict(list) for arm in plan}, {}
    for one in arms["arms"]:
        records[one["arm"], one["repetition"]].append(one)
    for one in sorted(observations, key=lambda one: (one["subject"], one["observer"], one["id"], one["value"])):
        seen[one["arm"], one["repetition"]][one["subject"], one["observer"]].append(one)
    def unsound(arm):
        if not records[arm] or records[arm][0]["status"] != "ok":
            return "arm"
        must, failed = (set(records[arm][0][key]) for key in ("mustFail", "failed"))
        wrong = must != failed if scenarios[arm[0]]["control"] else must or failed
        return "duplicate" if len(records[arm]) > 1 else "admission" if wrong else None
    def look(arm, cell):  # what the cell cites, or None; and why it is not live, or None
        ones, expect = seen[arm].get(cell, []), cells_of[arm[0]][cell]
        one = next((one for one in ones if is_leak(expect, one)), ones[0] if ones else None)
        if len(ones) != 1:
            return one, "duplicate" if ones else "missing"
        sees = one["value"] >= 0 == one["dropped"] and min(one["beaconBefore"], one["beaconAfter"]) > 0
        return one, None if sees and one["status"] == "observed" and one["reason"] in ("none", "censored") else "not_live"
    def alike(a, b):
        return all(records[a][0][key] and same(records[a][0], records[b][0], key) for key in ("image", "boot"))
    def differ(arm, control):
        a, b = (collections.Counter((e["field"], e["sha256"]) for e in records[one][0]["effective"]) for one in (arm, control))
        fields, may = [field for field, _ in (a - b) + (b - a)], records[arm][0]["mayDiffer"]
        return fields and all(any(f.startswith(m[:-1]) if m[-1:] == "*" else f == m for m in may) for f in fields)
    def mutate(arm):  # verdict, because, installed, detected
        control, own = (scenarios[arm[0]]["control"], arm[1]), cells_of[arm[0]]
        why = "arm" if control not in records else unsound(arm) or unsound(control)
        why = why or (None if alike(arm, control) else "environment") or (None if differ(arm, control) else "difference")
        if why:
            return OPEN, why, False, False
        looks, flips = {cell: look(arm, cell) for cell in own}, [cell for cell in own if own[cell]["flips"]]
        why = [looks[cell][1] or ("not_live" if outcome(own[cell], looks[cell][0]) == OPEN else None) for cell in flips]
        trips = [cell for cell, (one, blind) in looks.items() if one and (oracle := cells_of[control[0]].get(cell)) and
                 (not blind and outcome(oracle, one) == FAIL or is_leak(own[cell], one))]
        return ((OPEN, next(filter(None, why), "missing"), True, False) if any(why) or not flips else
                (PASS, "met", True, True) if trips == flips else (FAIL, "undetected", True, False))
    mutations = {arm: mutate(arm) for arm in plan if scenarios[arm[0]]["control"]}
    for arm, cell, expect in ((arm, *item) for arm in plan for item in cells_of[arm[0]].items()):
        one, blind = look(arm, cell)
        why = unsound(arm) or (None if mutations.get(arm, (0, 0, True))[2] else mutations[arm][1]) or blind
        verdict = FAIL if one and is_leak(expect, one) else OPEN if why else outcome(expect, one)
        made[arm, cell] = expect, verdict, {FAIL: "value", OPEN: why or "not_live", PASS: "met"}[verdict], one, None
    flips = [place for place, (expect, verdict, *_) in made.items() if expect["flips"] and expect["class"] == "protected"
             and verdict == mutations.get(place[0], "?")[0] == PASS]
    for (arm, cell), (expect, verdict, because, one, _) in made.items():
        if verdict == PASS and is_zero(expect):
            able = sorted(m for m, c in flips if c == cell and same(records[m][0], records[arm][0], "shard") and
                          earns(scenarios[m[0]], scenarios[arm[0]], expect))
            by = (sorted((m for m in able if alike(m, arm)), key=lambda m: m[1] != arm[1]) or [(None,)])[0][0]
            made[arm, cell] = expect, *((PASS, because) if by else (OPEN, "environment" if able else "unearned")), one, by
    cells = [write(*place, *row) for place, row in made.items()]
    cells += [write(arm, cell, NOBODY, FAIL, "unplanned", one, None) for arm in plan if arm not in mutations
              for cell, ones in seen[arm].items() for one in ones if one["status"] == "observed" and one["value"] > 0
              if cell not in {*cells_of[arm[0]], ("permitted", "deliveries")} and cell[1] not in ("attempts", "decisions", "state")]
    mutations = [dict(zip("id repetition verdict because installed detected".split(), (*arm, *r))) for arm, r in mutations.items()]
    for row in cells + mutations if changed else []:
        row.update({} if row["verdict"] == FAIL else {"verdict": OPEN, "because": "environment"})
    runner = [{"arm": arm[0], "repetition": arm[1], **{key: records[arm][0][key] if records[arm] else none
              for key, none in (("status", "not_run"), ("reason", None))}} for arm in plan]
    ran, of, on, hits = ([row[key] for row in rows] for key, rows in
                         (("status", runner), ("verdict", cells), ("verdict", mutations), ("detected", mutations)))
    earned = {*ran} == {"ok"} and OPEN not in of + on and any(is_zero(expect) for expect, *_ in made.values())
    code = 1 if FAIL in of + on else 3 if {*ran} & {"harness_error", "not_run"} else 0 if earned else 2
    counts = {"arms": len(ran), "armsNotOk": len(ran) - ran.count("ok"), "cells": len(of), "pass": of.count(PASS),
              "fail": of.count(FAIL), "notEstablished": of.count(OPEN), "mutations": len(on), "mutationsDetected": sum(hits)}
    return {"schema": "confinement-evidence/verdicts/1", "cells": cells, "counts": counts, "mutations": mutations, "runner": runner,
            "overall": FAIL if code == 1 else PASS if earned else OPEN, "exitCode": code}
def main(words):
    with open(words[-1] if words else "", "rb") as file, tarfile.open(fileobj=file, mode="r:gz") as archive:
        text = {member.name.split("/")[-1]: archive.extractfile(member).read().decode() for member in archive}
    env, *rest = (strict(text[name + ".json"]) for name in ("environment", "scenarios", "coverage", "arms"))
    observations = [strict(line) for line in text["observations.jsonl"].split("\n")[:-1]]
    environments = [env, *strict(text.get("merge.json", '{"environments":[]}'))["environments"]]  # of all shards
    made = judge(*rest, observations, any(canonical(e["before"] | TOLD) != canonical(e["after"] | TOLD) for e in environments))
    agree = "--verdicts" in words or canonical(made) == text["verdicts.json"]
    print(canonical(made) if "--verdicts" in words else made["overall"] if agree else "fail: other verdicts were sealed")
    return min(made["exitCode"], 2) if agree else 1
if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except OSError:
        sys.exit(print("usage: recheck.py [--verdicts] BUNDLE, a confinement-evidence.tar.gz that can be read", file=sys.stderr) or 3)
    except Exception:  # its text may be the bundle's own bytes
        sys.exit("refused: it is no bundle, or not in the form that docs/evidence-format.md describes")

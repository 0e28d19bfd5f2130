"""A replay.json that says of its own run what the run is not: counts, rows, and what it stood on. A row: as in cases_members.py."""

import bundles
from bundles import Documents

OF = {"runId": "ab" * 16, "sumsSha256": "cd" * 32}
ROW = "is not what this run came to"
FACT = "is not what this run stood on"


def replay(change, rows=(), facts=()):
    """Sealed as a repetition that says these rows and facts, and is as `change` makes it then."""

    def make(base):
        documents = Documents(base)
        verdicts = documents["verdicts.json"]
        said = {
            "schema": "confinement-evidence/replay/1",
            "replayOf": OF,
            "outcome": "DIVERGED" if rows else "REPRODUCED_ENV_DIFFERS" if facts else "REPRODUCED",
            "part": False,
            "cells": len(verdicts["cells"]),
            "differences": len(rows),
            "diverged": [dict(row) for row in rows],
            "environment": [dict(fact) for fact in facts],
        }
        change(said)
        documents["replay.json"] = said
        documents["manifest.json"]["replayOf"] = OF
        return bundles.gzip(bundles.tar(bundles.with_sums(bundles.with_manifest(documents.texts()))))

    return make


def row(**values):
    cell = {"aspect": "verdict", "arm": "baseline", "repetition": 1, "subject": "tcp4", "observer": "tcp4"}
    return {**cell, "was": "fail", "is": "pass", "weighs": True, **values}


def whole(**values):
    return row(subject=None, observer=None, **values)


def as_it_is(_):
    pass


def rows(name, reason, *given):
    return (f"replay-{name}", "verdicts", reason, replay(as_it_is, rows=given))


def facts(name, reason, *given):
    listed = [{"name": fact, "was": was, "is": now} for fact, was, now in given]
    return (f"replay-{name}", "verdicts", reason, replay(as_it_is, facts=listed))


ROWS = (
    ("replay-of-no-cells", "verdicts", "not as many as this run has", replay(lambda r: r.update(cells=0))),
    ("replay-of-more-cells", "verdicts", "not as many as this run has", replay(lambda r: r.update(cells=999999))),
    rows("of-an-arm-of-nobody", ROW, row(arm="nowhere/at-all", repetition=77)),
    rows("of-a-repetition-of-nobody", ROW, row(repetition=2)),
    rows("of-a-cell-of-nobody", ROW, row(observer="dns")),
    rows("with-another-verdict", ROW, row(**{"was": "pass", "is": "fail"})),
    rows("with-another-value", ROW, row(aspect="value", **{"was": "0", "is": "1"})),
    rows("with-another-class", ROW, row(aspect="class", **{"was": "zero", "is": "nonzero"})),
    rows("with-another-status", ROW, row(aspect="status", **{"was": "observed", "is": "none"})),
    rows("with-an-arm-that-ended-otherwise", ROW, whole(aspect="arm", **{"was": "ok", "is": "timeout"})),
    rows("with-a-mutant-that-was-not-caught", ROW, whole(aspect="detected", arm="mutation/network", **{"was": "yes", "is": "no"})),
    rows("with-a-mutation-of-no-mutant", ROW, whole(aspect="detected", **{"was": "no", "is": "yes"})),
    rows("without-an-arm-that-is-there", ROW, whole(aspect="missing", **{"was": "ok", "is": None})),
    rows("without-a-cell-that-is-there", ROW, row(aspect="missing", **{"was": "pass", "is": None})),
    rows("with-a-new-arm-of-both", "not as many as this run has", whole(aspect="new", **{"was": None, "is": "ok"})),
    rows("with-a-new-cell-of-both", "not as many as this run has", row(aspect="new", **{"was": None, "is": "pass"})),
    rows("of-half-a-cell", ROW, row(observer=None)),
    rows("that-differs-in-nothing", ROW, row(was="pass")),
    rows("that-does-not-weigh", ROW, row(weighs=False)),
    rows("with-a-row-twice", "stands there twice", row(), row()),
    facts("on-another-kernel", FACT, ("kernel.release", "1", "not this one")),
    facts("on-another-program", FACT, ("program.agent", "0" * 64, "1" * 64)),
    facts("on-another-gateway", FACT, ("gateway.version", "0.0.9", "0.0.8")),
    facts("on-a-fact-of-nobody", "names an unknown fact", ("host.name", "1", "2")),
    facts("on-what-varies", "names an unknown fact", ("clock.synchronised", "true", "false")),
)

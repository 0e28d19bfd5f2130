"""Hostile claims: what a run declares, and what is claimed of it, is not what it was. A row: name, the check that must refuse it, what
its reason says, how the archive is made, of a run that took the declared paths. Every hash, size and digest is made again."""

import json

from bundles import canonical, seal
from cases_archive import MARK
from cases_members import remade, text

DERIVED = "derived again it is"
ELSE = "effects[0] is not what its declaration and the verdicts say"


def effect(d):
    return d["effects.json"]["effects"][0]


def path(d, name):
    return next(one for one in effect(d)["paths"] if one["id"] == name)


def claim(d, name):
    return next(one for one in d["claims.json"]["effects"][0]["claims"] if one["claim"] == name)


def on_effects(change):
    return remade(lambda d: change(effect(d)))


def on_path(name, **members):
    return remade(lambda d: path(d, name).update(members))


def on_claim(name, **members):
    return remade(lambda d: claim(d, name).update(members))


def without_path(name):
    def change(one):
        one["paths"] = [other for other in one["paths"] if other["id"] != name]

    return on_effects(change)


def without_obligation(name, obligation):
    def change(d):
        claim(d, name)["unmet"] = [one for one in claim(d, name)["unmet"] if one["obligation"] != obligation]

    return remade(change)


def all_established(d):
    for one in d["claims.json"]["effects"][0]["claims"]:
        one.update(status="established", unmet=[])
    d["claims.json"]["effects"][0]["nonBypassability"] = dict.fromkeys(("status", "completeness", "mediation"), "established")


def twice(name):
    def change(d):
        d[name]["effects"].append(d[name]["effects"][0])

    return remade(change)


def second_declaration(d):
    """The same effect at the same boundary, under another id."""
    d["effects.json"]["effects"].insert(1, {**effect(d), "id": "order_create_2"})


def emptied(name):
    return remade(lambda d: d[name].update(effects=[]))


def of_older_version(base):
    """Of the version before there were claims, and with them."""
    manifest = json.loads(base["manifest.json"])
    manifest["schema"] = "confinement-evidence/1.0"
    return seal({**base, "manifest.json": canonical(manifest)}, manifest=False)


def missing(name):
    return lambda base: seal({other: content for other, content in base.items() if other != name})


def deep(t):
    return b'{"effects":' + b"[" * 500 + b"]" * 500 + b',"schema":"confinement-evidence/effects/1"}'


ROWS = [
    ("claims-missing", "members", "claims.json is missing", missing("claims.json")),
    ("effects-missing", "members", "effects.json is missing", missing("effects.json")),
    ("claims-of-version-1.0", "members", "claims.json is no member of version 1.0", of_older_version),
    (
        "claim-status-edited",
        "claims",
        f"complete_mediation is sealed as established, {DERIVED} not_established",
        on_claim("complete_mediation", status="established"),
    ),
    (
        "claims-all-established",
        "claims",
        f"path_set_completeness is sealed as established, {DERIVED} not_",
        remade(all_established),
    ),
    ("claim-refuted-by-hand", "claims", f"sealed as refuted, {DERIVED} established", on_claim("observation", status="refuted")),
    ("claim-obligation-removed", "claims", ELSE, without_obligation("complete_mediation", "independent_observation")),
    ("claim-rests-on-another", "claims", ELSE, on_claim("observation", restsOn=["o-000001"])),
    ("claim-says-more", "claims", ELSE, on_claim("authorization", says="nothing else can create an order")),
    ("claim-unseen-removed", "claims", ELSE, on_claim("correlation", unseen=[])),
    ("claims-twice", "claims", "claims.json: 3 effects, 2 are declared", twice("claims.json")),
    ("claims-emptied", "claims", "claims.json: 0 effects, 2 are declared", emptied("claims.json")),
    ("claims-with-a-key", "claims", "claims.json is not what", remade(lambda d: d["claims.json"].update(zzz=1))),
    ("claims-no-object", "claims", "claims.json", text("claims.json", lambda t: b"[]")),
    ("declaration-changed", "claims", ELSE, on_effects(lambda one: one.update(title="an order that was approved"))),
    (
        "declaration-of-another-revision",
        "claims",
        f"authorization is sealed as established, {DERIVED}",
        on_effects(lambda one: one.update(revision="example-9")),
    ),
    ("declaration-inventory-better", "claims", ELSE, on_effects(lambda one: one["inventory"].update(method="tracing"))),
    (
        "declaration-path-removed",
        "claims",
        f"path_set_completeness is sealed as not_established, {DERIVED} refuted",
        without_path("P4"),
    ),
    ("declaration-path-of-the-deployment-removed", "claims", ELSE, without_path("P5")),
    ("declaration-path-moved-to-the-agent", "effects", "paths[4].side: 'order-service' begins", on_path("P4", side="agent")),
    (
        "declaration-mutant-removed",
        "effects",
        "paths[1].mediator: 'network' is nothing that a listed scenario removes",
        on_path("P2", scenarios=["effects/order-create"]),
    ),
    (
        "declaration-scenario-removed",
        "claims",
        ELSE,
        on_path("P2", scenarios=["effects/order-create", "effects/order-network"]),
    ),
    (
        "declaration-of-a-bypass-that-is-authorised",
        "effects",
        "paths[1].admits: 'order-http' is no call through the gateway",
        on_path("P2", admits="authorised"),
    ),
    (
        "declaration-observed-at-a-sink",
        "effects",
        "paths[1].observers[0]: 'tcp4' is none of 'observers'",
        on_path("P2", observers=["tcp4"]),
    ),
    (
        "declaration-scenario-of-another-path",
        "effects",
        "does not look for 'order-file'",
        on_path("P3a", scenarios=["effects/order-gateway"]),
    ),
    ("declaration-observed-by-nobody", "effects", "paths[1].observers: none", on_path("P2", observers=[])),
    ("declaration-covered-by-nothing", "effects", "paths[1].coverage.basis", on_path("P2", scenarios=[])),
    ("declaration-twice", "effects", "effects[2]: not sorted by id, or twice", twice("effects.json")),
    (
        "declaration-of-one-effect-twice",
        "effects",
        "is declared for 'orders-sqlite' in order_create.json too",
        remade(second_declaration),
    ),
    ("declaration-with-a-key", "effects", "unknown key 'aaa'", on_effects(lambda one: one.update(aaa=1))),
    (
        "declaration-of-too-many-paths",
        "effects",
        "effects.json: paths",
        on_effects(lambda one: one.update(paths=one["paths"] * 7)),
    ),
    (
        "declaration-with-a-long-text",
        "grammar",
        "effects.json: a text outside the grammar",
        on_effects(lambda one: one.update(title=MARK * 40)),
    ),
    ("declaration-with-a-path-of-a-file", "effects", "effects.json: id", on_effects(lambda one: one.update(id="../x"))),
    ("effects-emptied", "claims", "claims.json: 2 effects, 0 are declared", emptied("effects.json")),
    (
        "effects-no-list",
        "effects",
        "must be an object of 'schema' and 'effects' alone",
        remade(lambda d: d["effects.json"].pop("effects")),
    ),
    ("effects-deep", "canonical", "effects.json is not in its canonical form", text("effects.json", deep)),
]


def rows_of_another(base):
    """What a run that took the declared paths may claim, of one that took none of them."""
    return [
        (
            "claims-over-arms-that-were-not-run",
            "claims",
            f"authorization is sealed as established, {DERIVED} not_established",
            lambda other: seal({**other, "claims.json": base["claims.json"]}),
        )
    ]

#!/usr/bin/env python3
"""reports/schema/ against the Python package jsonschema: every member of real bundles is valid, and no schema takes a document
that was altered: an unknown key, a missing one, another type, a fraction, a terminal escape. docs/recheck.py and `harness verify`
give these bundles the same verdict. Run from the root of the tree. The bundles are of runs of `baseline` on the local engine, or $BUNDLE, or runs/latest; where there is none, or no jsonschema
(ci/interop), the test skips itself by name, and with CI=true it fails."""
import copy
import json
import os
import subprocess
import sys
import tarfile
import tempfile

PYTHON = os.path.abspath("build/interop/venv/bin/python")
if os.access(PYTHON, os.X_OK) and not os.path.samefile(sys.prefix, "build/interop/venv"):
    os.execv(PYTHON, [PYTHON, *sys.argv])


def leave_out(reason):
    strict = os.environ.get("CI") == "true"
    print(f"test_schemas: {'failed' if strict else 'skipped'}: {reason}")
    print(f"test_schemas: 0 passed, {int(strict)} failed, {int(not strict)} skipped")
    sys.exit(strict)


try:
    import jsonschema
except ImportError:
    leave_out("the package jsonschema is not installed (ci/interop)")

FOLDER = "reports/schema"
OPTIONAL = {"assessments.json", "merge.json", "replay.json"}
FOREIGN = {"statement.intoto.jsonl", "ctrf.json"}  # of a form that others describe
ARCHIVE = "confinement-evidence.tar.gz"
SECONDS = 120
ESCAPE = "\x1b[31m"


def harness(*words):
    return subprocess.run(["ci/as-root", "./harness", *words, "--quiet"], timeout=SECONDS, stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)


def statement(folder):
    """The flags of a run that is given what an assessor states; empty where none can be made."""
    key, stated = f"{folder}/assessor", {
        "id": "inventory-1", "kind": "inventory", "effect": "order_create", "boundary": "orders-sqlite", "revision": "example-1",
        "what": "read the service and its units", "path": None, "paths": ["P1", "P2", "P3a", "P3b", "P4", "P5"],
        "from": "2026-01-01T00:00:00Z", "until": "2099-01-01T00:00:00Z"}
    with open(f"{folder}/stated.json", "w", encoding="ascii") as file:
        json.dump(stated, file)
    with open(f"{folder}/stated.jsonl", "w", encoding="ascii") as file:
        for words in (["openssl", "genpkey", "-algorithm", "ed25519", "-out", f"{key}.pem"],
                      ["openssl", "pkey", "-in", f"{key}.pem", "-pubout", "-out", f"{key}.pub"],
                      ["./harness", "effects", "assess", f"{key}.pem", f"{folder}/stated.json"]):
            if subprocess.run(words, timeout=SECONDS, stdin=subprocess.DEVNULL, stdout=file, check=False).returncode != 0:
                return []
    return ["--assessment", f"{folder}/stated.jsonl", "--assessor", f"{key}.pub"]


def some_bundles(folder):
    """A run with an assessor's statement, a replay of it, and what is merged from two shards: between them they have every
    member."""
    if "BUNDLE" in os.environ:
        return [os.environ["BUNDLE"]]
    run = harness("run", "baseline", "--out", f"{folder}/run", *statement(folder))
    first = f"{folder}/run/latest/{ARCHIVE}"
    if not os.path.exists(first):
        if os.path.exists(f"runs/latest/{ARCHIVE}"):
            return [f"runs/latest/{ARCHIVE}"]
        return leave_out(f"no bundle, and none can be made: {run.stderr.strip().splitlines()[-1:]}")
    harness("replay", first, "--out", f"{folder}/replay")
    shards = []
    for shard in ("1/2", "2/2"):
        shards.append(f"{folder}/shard-{shard[0]}/latest/{ARCHIVE}")
        harness("run", "baseline", "baseline-again", "--shard", shard, "--out", f"{folder}/shard-{shard[0]}")
    os.mkdir(f"{folder}/merged")
    harness("merge", *shards, "--out", f"{folder}/merged")
    return [first, f"{folder}/replay/latest/{ARCHIVE}", f"{folder}/merged/{ARCHIVE}"]


def members(path):
    with tarfile.open(path) as archive:
        return {member.name.split("/")[1]: archive.extractfile(member).read().decode() for member in archive}


def schema_of(name):
    with open(f"{FOLDER}/{name.rsplit('.', 1)[0]}.json", encoding="ascii") as file:
        return json.load(file)


def documents(name, text):
    return [json.loads(line) for line in (text.splitlines() if name.endswith(".jsonl") else [text])]


def places(node, schema, root, path=()):
    """Every (path, value, its schema) of a document."""
    root = schema if "$defs" in schema else root  # one that stands in another keeps its own
    while "$ref" in schema:
        schema = root["$defs"][schema["$ref"].rsplit("/", 1)[1]]
    yield path, node, schema
    if isinstance(node, dict):
        for key, value in node.items():
            yield from places(value, schema.get("properties", {}).get(key, {}), root, path + (key,))
    if isinstance(node, list):
        for index, value in enumerate(node):
            yield from places(value, schema.get("items", {}), root, path + (index,))


def shortened(node, schema, root):
    """Of each array the first and the last element, where it may be so short."""
    root = schema if "$defs" in schema else root
    while "$ref" in schema:
        schema = root["$defs"][schema["$ref"].rsplit("/", 1)[1]]
    if isinstance(node, dict):
        return {key: shortened(value, schema.get("properties", {}).get(key, {}), root) for key, value in node.items()}
    if isinstance(node, list):
        kept = node if schema.get("minItems", 0) > 2 else node[:1] + node[1:][-1:]
        return [shortened(value, schema.get("items", {}), root) for value in kept]
    return node


def put(document, path, value):
    if not path:
        return value
    altered = copy.deepcopy(document)
    node = altered
    for step in path[:-1]:
        node = node[step]
    node[path[-1]] = value
    return altered


def alterations(document, schema):
    for path, node, form in places(document, schema, schema):
        where = "/".join(map(str, path))
        yield f"{where}: another type", put(document, path, [["x"]])
        if isinstance(node, dict):
            yield f"{where}: an unknown key", put(document, path, {**node, "unknownKey": 1})
            for key in form.get("required", []):
                yield f"{where}: without {key}", put(document, path, {k: v for k, v in node.items() if k != key})
        elif isinstance(node, str):
            yield f"{where}: an escape", put(document, path, node + ESCAPE)
            yield f"{where}: too long", put(document, path, "a" * 400)
        elif isinstance(node, int) and not isinstance(node, bool):
            yield f"{where}: a fraction", put(document, path, 0.5)
            yield f"{where}: a huge number", put(document, path, 2**53)


def check_member(name, text, failures):
    """How many documents were valid, and how many altered ones were tried."""
    schema = schema_of(name)
    validator = jsonschema.Draft202012Validator(schema)
    samples, altered = documents(name, text), 0
    for number, document in enumerate(samples):
        for error in validator.iter_errors(document):
            failures.append(f"{name}[{number}]: {error.json_path}: {error.message[:160]}")
    sample = shortened(samples[0], schema, schema)
    if not validator.is_valid(sample):
        failures.append(f"{name}: a shorter one is not valid")
    for what, document in alterations(sample, schema):
        altered += 1
        if validator.is_valid(document):
            failures.append(f"{name} is taken though altered: {what}")
    return len(samples), altered


def main():
    schemas = set(os.listdir(FOLDER))
    failures, counts, met, total = [], [], set(), 0
    with tempfile.TemporaryDirectory() as folder:
        paths = some_bundles(folder)
        bundles = [members(path) for path in paths]
        for path in paths:
            ends = [subprocess.run([*words, path], timeout=SECONDS, stdout=subprocess.DEVNULL, check=False).returncode
                    for words in (["./harness", "verify"], [sys.executable, "docs/recheck.py"])]
            total += 1
            if ends[0] != ends[1]:
                failures.append(f"verify and docs/recheck.py end with {ends}")
    for schema in schemas:
        jsonschema.Draft202012Validator.check_schema(schema_of(schema))
    for texts in bundles:
        for name, text in texts.items():
            if name.endswith((".json", ".jsonl")) and name not in FOREIGN:
                met.add(name.rsplit(".", 1)[0] + ".json")
                counts.append(check_member(name, text, failures))
                total += 1
    unmet = schemas - met - (OPTIONAL if len(bundles) == 1 else set())
    if unmet:
        failures.append(f"no bundle has what these are of: {sorted(unmet)}")
    valid, altered = map(sum, zip(*counts))
    for failure in failures[:20]:
        print(f"test_schemas: {failure}")
    print(f"test_schemas: {valid} documents are valid, {altered} altered ones were tried")
    print(f"test_schemas: {total - min(len(failures), total)} passed, {len(failures)} failed, 0 skipped")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""reports/schema/ against the Python package jsonschema: every member of a real bundle is valid, and no schema takes a document
that was altered: an unknown key, a missing one, another type, a fraction, a terminal escape. Run from the root of the tree. The
bundle is $BUNDLE, or of a run of `baseline` on the local engine, or runs/latest; where there is none, or no jsonschema
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
OPTIONAL = ("merge.json", "replay.json")
ARCHIVE = "confinement-evidence.tar.gz"
SECONDS = 120
ESCAPE = "\x1b[31m"


def a_bundle(folder):
    if "BUNDLE" in os.environ:
        return os.environ["BUNDLE"]
    run = subprocess.run(["ci/as-root", "./harness", "run", "baseline", "--quiet", "--out", folder], timeout=SECONDS,
                         stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    for path in (f"{folder}/latest/{ARCHIVE}", f"runs/latest/{ARCHIVE}"):
        if os.path.exists(path):
            return path
    return leave_out(f"no bundle, and none can be made: {run.stderr.strip().splitlines()[-1:]}")


def members(path):
    with tarfile.open(path) as archive:
        return {member.name.split("/")[1]: archive.extractfile(member).read().decode() for member in archive}


def schema_of(name):
    with open(f"{FOLDER}/{name.rsplit('.', 1)[0]}.json", encoding="ascii") as file:
        return json.load(file)


def documents(name, text):
    return [json.loads(line) for line in (text.splitlines() if name.endswith(".jsonl") else [text])]


def places(node, schema, root, path=()):
    """Every (path, value, its schema) of a document; of an array the first and the last element."""
    while "$ref" in schema:
        schema = root["$defs"][schema["$ref"].rsplit("/", 1)[1]]
    yield path, node, schema
    if isinstance(node, dict):
        for key, value in node.items():
            yield from places(value, schema.get("properties", {}).get(key, {}), root, path + (key,))
    if isinstance(node, list):
        for index in sorted({0, len(node) - 1} if node else set()):
            yield from places(node[index], schema.get("items", {}), root, path + (index,))


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
            yield f"{where}: a fraction", put(document, path, node + 0.5)
            yield f"{where}: a huge number", put(document, path, 2**53)


def main():
    names = sorted(os.listdir(FOLDER))
    failures, altered, valid = [], 0, 0
    with tempfile.TemporaryDirectory() as folder:
        texts = members(a_bundle(folder))
    described = {name.rsplit(".", 1)[0] + ".json": name for name in texts if name.endswith((".json", ".jsonl"))}
    described.pop("statement.intoto.json", None)  # of in-toto's form
    if sorted(described) != [name for name in names if name in described or name not in OPTIONAL]:
        failures.append(f"the schemas are {names}, the members {sorted(described)}")
    for file, name in described.items():
        schema = schema_of(file)
        jsonschema.Draft202012Validator.check_schema(schema)
        validator = jsonschema.Draft202012Validator(schema)
        samples = documents(name, texts[name])
        for number, document in enumerate(samples):
            valid += 1
            for error in validator.iter_errors(document):
                failures.append(f"{name}[{number}]: {error.json_path}: {error.message[:160]}")
        for what, document in alterations(samples[0], schema):
            altered += 1
            if validator.is_valid(document):
                failures.append(f"{name} is taken though altered: {what}")
    for failure in failures[:20]:
        print(f"test_schemas: {failure}")
    print(f"test_schemas: {valid} documents are valid, {altered} altered ones were tried")
    total = len(described) * 2
    print(f"test_schemas: {total - min(len(failures), total)} passed, {len(failures)} failed, 0 skipped")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())

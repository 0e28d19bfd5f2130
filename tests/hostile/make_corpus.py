#!/usr/bin/env python3
"""Makes hostile bundles out of valid ones: make_corpus.py BASE ORDERS FOLDER [HARNESS]. ORDERS is of a run that took the paths of the
declared effects, for what is claimed of them, BASE of one that did not. FOLDER gets one archive a case and
table.json: a list of {name, file, words (behind `harness verify`), check (that must refuse it), reason (part of what it says),
before (checks that may fail before it), exit}. Standard library; statements are signed by the program openssl, and where HARNESS
is not given there are none. Nothing is extracted, and nothing here comes from the C code."""

import json
import os
import sys

sys.dont_write_bytecode = True
import bundles  # noqa: E402
import cases_archive  # noqa: E402
import cases_claims  # noqa: E402
import cases_heavy  # noqa: E402
import cases_members  # noqa: E402
import cases_replay  # noqa: E402
import cases_signature  # noqa: E402
import cases_versions  # noqa: E402


def archives(base, orders):
    for name, check, reason, make in cases_claims.ROWS:
        yield {"name": name, "check": check, "reason": reason}, lambda make=make: make(orders)
    for name, check, reason, make in cases_claims.rows_of_another(orders):
        yield {"name": name, "check": check, "reason": reason}, lambda make=make: make(base)
    for name, reason, make in cases_archive.ROWS:
        yield {"name": name, "check": "archive", "reason": reason}, lambda make=make: make(base)
    for name, check, reason, make in cases_members.ROWS + list(cases_heavy.ROWS) + list(cases_replay.ROWS):
        yield {"name": name, "check": check, "reason": reason}, lambda make=make: make(base)
    for name, check, reason, make, code in cases_versions.ROWS:
        yield {"name": name, "check": check, "reason": reason, "exit": code}, lambda make=make: make(base)
    for name, holder, encoding in cases_members.CANARIES:
        # What stands in place of an id or a digest is no id and no digest either.
        before = ["sums"] if holder == "SHA256SUMS" else ["manifest", "canonical"]
        yield (
            {"name": name, "check": "grammar", "reason": f"{holder} holds what has a canary's shape", "before": before},
            lambda h=holder, e=encoding: cases_members.put_bytes(h, cases_members.encoded(e))(base),
        )
    yield from escapes(base)


def escapes(base):
    """A terminal escape in each string and in a key of each member."""
    for name in (*cases_members.JSON_MEMBERS, "observations.jsonl"):
        document = bundles.Documents(base)[name]
        root = document[0] if isinstance(document, list) else document
        for number, path in enumerate([*cases_members.string_paths(root), None]):

            def make(name=name, path=path):
                documents = bundles.Documents(base)
                place = documents[name][0] if name.endswith("l") else documents[name]
                cases_members.put(place, path or (cases_members.ESCAPE,), cases_members.ESCAPE)
                return bundles.seal(documents.texts(), manifest=name != "manifest.json")

            reason = "line 1 is no observation" if name.endswith("l") else f"{name}: a text outside the grammar"
            yield {
                "name": f"escape-in-{name}-{number}",
                "check": "grammar",
                "reason": reason,
                "before": ["manifest", "canonical"],
            }, make


def write(folder, name, content):
    path = f"{folder}/{name}.tar.gz"
    with open(path, "wb") as file:
        file.write(content)
    return path


def row(case, path, words=()):
    return {"before": [], "exit": 1, "words": list(words), "file": path, **case}


def main(words):
    with open(words[0], "rb") as file:
        base = bundles.read(file.read())
    with open(words[1], "rb") as file:
        orders = bundles.read(file.read())
    folder = words[2]
    table = []
    for case, make in archives(base, orders):
        table.append(row(case, write(folder, case["name"], make())))
    if len(words) > 3:
        signer = cases_signature.Signer(words[3], base, folder)
        key = signer.path("trusted.pub")
        for name, reason, make in cases_signature.ROWS:
            archive, beside = make(signer)
            path = write(folder, name, archive)
            if beside is not None:
                with open(path + ".intoto.jsonl", "wb") as file:
                    file.write(beside)
            table.append(row({"name": name, "check": "signature", "reason": reason}, path, ["--key", key]))
        for name, flags, code in cases_signature.FORGED:
            flags = [key if word == "KEY" else word for word in flags]
            table.append(
                row(
                    {"name": name, "check": "signature", "reason": "the bundle is not signed", "exit": code},
                    write(folder, name, cases_signature.forged(signer)),
                    flags,
                )
            )
    names = [one["name"] for one in table]
    assert len(names) == len(set(names)), "a name twice"
    with open(os.path.join(folder, "table.json"), "w", encoding="ascii") as file:
        json.dump(table, file, indent=1)


if __name__ == "__main__":
    main(sys.argv[1:])

#!/usr/bin/env python3
"""alter.py FROM TO MEMBER OLD NEW: a bundle in which OLD is NEW wherever it stands in the member, or in every one for "all"; every
hash is made again. It ends with 1 where OLD does not stand."""
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "hostile"))
import bundles  # noqa: E402

source, target, member, old, new = sys.argv[1:]
members = bundles.read(pathlib.Path(source).read_bytes())
altered = {name: content.replace(old.encode(), new.encode()) if member in (name, "all") else content
           for name, content in members.items()}
pathlib.Path(target).write_bytes(bundles.seal(altered))
sys.exit(altered == members)

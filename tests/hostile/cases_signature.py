"""Hostile signatures: statements beside the archive and inside it. Keys are made anew, by the program openssl. A row: name,
what verify's reason says, and a function of a signer that returns (archive, what stands beside it or None)."""

import base64
import datetime
import json
import os
import re
import subprocess
import tempfile

from bundles import Documents, canonical, gzip, read, seal, sha256, tar
from cases_archive import MARK
from cases_members import ESCAPE

TYPE = "application/vnd.in-toto+json"
STATEMENT = "statement.intoto.jsonl"
SUMS = "SHA256SUMS"


def openssl(*words, **how):
    return subprocess.run(["openssl", *words], check=True, capture_output=True, timeout=60, **how).stdout


class Signer:
    """A base bundle, what harness itself would have signed of it, and two keys: the trusted one and a stranger's."""

    def __init__(self, harness, base, folder):
        self.folder, self.base = folder, base
        self.archive = gzip(tar(base))
        for name in ("trusted", "stranger"):
            openssl("genpkey", "-algorithm", "ed25519", "-out", self.path(name))
            os.chmod(self.path(name), 0o600)
            openssl("pkey", "-in", self.path(name), "-pubout", "-out", self.path(name + ".pub"))
        with tempfile.TemporaryDirectory() as place:
            path = f"{place}/bundle.tar.gz"
            with open(path, "wb") as file:
                file.write(self.archive)
            subprocess.run([harness, "sign", self.path("trusted"), path], check=True, capture_output=True, timeout=60)
            with open(path + ".intoto.jsonl", "rb") as file:
                self.beside = file.read()
        self.payload = base64.b64decode(json.loads(self.beside)["payload"])

    def path(self, name):
        return f"{self.folder}/{name}.pem"

    def sign(self, message, key="trusted"):
        with tempfile.NamedTemporaryFile() as file:
            file.write(message)
            file.flush()
            return openssl("pkeyutl", "-sign", "-inkey", self.path(key), "-rawin", "-in", file.name)

    def envelope(self, payload, key="trusted", kind=TYPE, **other):
        message = b"DSSEv1 %d %s %d %s" % (len(kind), kind.encode(), len(payload), payload)
        return {
            "payload": base64.b64encode(payload).decode(),
            "payloadType": kind,
            "signatures": [{"sig": base64.b64encode(self.sign(message, key)).decode()}],
            **other,
        }

    def saying(self, change, key="trusted"):
        """The statement with a change, signed."""
        statement = json.loads(self.payload)
        change(statement)
        return line(self.envelope(canonical(statement), key))

    def inside(self, statement_line):
        return gzip(tar(dict(sorted({**self.base, STATEMENT: statement_line}.items()))))

    def inner(self):
        """What stands inside of a signed bundle: it cannot name the archive."""
        statement = json.loads(self.payload)
        statement["subject"] = statement["subject"][1:]
        return canonical(statement)


def line(envelope):
    return canonical(envelope) + b"\n"


def renewed(base):
    """A copy with other dates and another run's id, wherever they stand, and everything else as it was."""
    manifest = json.loads(base["manifest.json"])
    new = {manifest["runId"]: manifest["runId"][::-1]}
    for key in ("startedAt", "finishedAt"):
        was = datetime.datetime.fromisoformat(manifest[key].replace("Z", "+00:00"))
        now = was + datetime.timedelta(days=300)
        new[manifest[key]] = now.strftime("%Y-%m-%dT%H:%M:%SZ")
        new[f"{int(was.timestamp())}000"] = f"{int(now.timestamp())}000"
    pattern = re.compile("|".join(new).encode())
    return seal({name: pattern.sub(lambda found: new[found[0].decode()].encode(), content) for name, content in base.items()})


def started_otherwise(base):
    documents = Documents(base)
    for one in documents["observations.jsonl"]:
        one["startNs"] += 1
    return seal(documents.texts())


def beside(change):
    """The archive as it was, and the envelope's text changed."""
    return lambda s: (s.archive, change(s.beside))


def in_envelope(change):
    def make(s):
        envelope = json.loads(s.beside)
        change(s, envelope)
        return s.archive, line(envelope)

    return make


def urlsafe(text):
    return text.replace("+", "-").replace("/", "_")


def in_base64url(s):
    """A signature and a payload that have letters in which the two alphabets differ."""
    statement = json.loads(s.payload)
    for number in range(100):
        statement["predicate"]["confinementEvidence"]["runId"] = "?" * number + "~~~"
        envelope = s.envelope(canonical(statement))
        if re.search("[+/]", envelope["payload"] + envelope["signatures"][0]["sig"]):
            break
    genuine = json.loads(s.beside)
    genuine["signatures"][0]["sig"] = urlsafe(genuine["signatures"][0]["sig"])
    genuine["payload"] = urlsafe(genuine["payload"])
    if not re.search("[-_]", genuine["payload"] + genuine["signatures"][0]["sig"]):
        genuine["signatures"][0]["sig"] = "-" + genuine["signatures"][0]["sig"][1:]
    return s.archive, line(genuine)


def signed_without_encoding(s):
    envelope = json.loads(s.beside)
    envelope["signatures"][0]["sig"] = base64.b64encode(s.sign(s.payload)).decode()
    return s.archive, line(envelope)


def altered_payload(s, envelope):
    envelope["payload"] = base64.b64encode(s.payload.replace(b'"result":"PASSED"', b'"result":"FAILED"')).decode()


def subject_of(name, digest):
    def change(statement):
        next(one for one in statement["subject"] if one["name"] == name)["digest"]["sha256"] = digest

    return change


def evidence(**values):
    return lambda statement: statement["predicate"]["confinementEvidence"].update(values)


OTHER_KEY = "not signed by the key that was given"
ROWS = (
    ("replayed-with-a-new-date", "beside the archive", lambda s: (renewed(s.base), s.beside)),
    ("numbers-made-up-beside-a-statement", "beside the archive", lambda s: (started_otherwise(s.base), s.beside)),
    (
        "statement-of-another-bundle",
        "beside the archive",
        lambda s: (s.archive, s.saying(subject_of("confinement-evidence.tar.gz", "0" * 64))),
    ),
    ("statement-of-another-sums", "beside the archive", lambda s: (s.archive, s.saying(subject_of(SUMS, "0" * 64)))),
    (
        "statement-of-another-image",
        "beside the archive",
        lambda s: (s.archive, s.saying(subject_of("agent-image-config", "0" * 64))),
    ),
    (
        "statement-of-another-inside",
        "inside the archive",
        lambda s: (s.inside(line(s.envelope(s.inner().replace(sha256(s.base[SUMS]).encode(), b"0" * 64)))), None),
    ),
    (
        "statement-says-another-result",
        "beside the archive",
        lambda s: (s.archive, s.saying(lambda t: t["predicate"].update(result="FAILED"))),
    ),
    (
        "statement-says-other-lists",
        "beside the archive",
        lambda s: (s.archive, s.saying(lambda t: t["predicate"].update(passedTests=t["predicate"]["passedTests"][1:]))),
    ),
    ("statement-says-other-numbers", "beside the archive", lambda s: (s.archive, s.saying(evidence(notEstablished=7)))),
    ("statement-with-escapes", "beside the archive", lambda s: (s.archive, s.saying(evidence(version=ESCAPE)))),
    ("statement-without-subject", "beside the archive", lambda s: (s.archive, s.saying(lambda t: t.update(subject=[])))),
    (
        "statement-of-another-type",
        "beside the archive",
        lambda s: (s.archive, s.saying(lambda t: t.update(_type="https://" + MARK))),
    ),
    (
        "predicate-of-another-type",
        "beside the archive",
        lambda s: (s.archive, s.saying(lambda t: t.update(predicateType="https://" + MARK))),
    ),
    ("statement-is-no-json", "beside the archive", lambda s: (s.archive, line(s.envelope(ESCAPE.encode())))),
    (
        "statement-with-a-key-twice",
        "beside the archive",
        lambda s: (s.archive, line(s.envelope(s.payload.replace(b'"result":', b'"result":"FAILED","result":')))),
    ),
    ("by-another-key", OTHER_KEY, lambda s: (s.archive, line(s.envelope(s.payload, "stranger")))),
    ("by-another-key-inside", OTHER_KEY, lambda s: (s.inside(line(s.envelope(s.inner(), "stranger"))), None)),
    ("payload-type-changed", "the payload type is not", in_envelope(lambda s, e: e.update(payloadType="application/json"))),
    (
        "payload-type-changed-and-signed",
        "the payload type is not",
        lambda s: (s.archive, line(s.envelope(s.payload, kind="application/json"))),
    ),
    ("payload-altered", "beside the archive", in_envelope(altered_payload)),
    (
        "signature-of-zeros",
        OTHER_KEY,
        in_envelope(lambda s, e: e.update(signatures=[{"sig": base64.b64encode(b"\0" * 64).decode()}])),
    ),
    ("signature-without-encoding", OTHER_KEY, signed_without_encoding),
    ("signature-cut", OTHER_KEY, in_envelope(lambda s, e: e["signatures"][0].update(sig=base64.b64encode(b"x" * 20).decode()))),
    ("base64url", "beside the archive", in_base64url),
    (
        "base64-with-white-space",
        "beside the archive",
        in_envelope(lambda s, e: e.update(payload=e["payload"][:8] + "\n" + e["payload"][8:])),
    ),
    ("base64-of-nothing", "beside the archive", in_envelope(lambda s, e: e.update(payload="!" + MARK))),
    (
        "duplicate-keys-in-the-envelope",
        "beside the archive",
        beside(lambda t: t.replace(b'"payloadType":', b'"payloadType":"x","payloadType":', 1)),
    ),
    ("two-payloads", "beside the archive", beside(lambda t: t.replace(b'"payload":', b'"payload":"e30=","payload":', 1))),
    ("two-signatures", "exactly one signature", in_envelope(lambda s, e: e.update(signatures=e["signatures"] * 2))),
    ("no-signature", "exactly one signature", in_envelope(lambda s, e: e.update(signatures=[]))),
    ("key-id", "key id", in_envelope(lambda s, e: e["signatures"][0].update(keyid=ESCAPE))),
    ("unknown-member", "not exactly the members", in_envelope(lambda s, e: e.update({ESCAPE: 1}))),
    ("envelope-cut", "beside the archive", beside(lambda t: t[: len(t) // 2])),
    ("envelope-empty", "beside the archive", beside(lambda t: b"")),
    ("two-envelopes", "beside the archive", beside(lambda t: t + t)),
    ("envelope-of-escapes", "beside the archive", beside(lambda t: ESCAPE.encode() * 20)),
    ("envelope-not-utf8", "beside the archive", beside(lambda t: t.replace(b'"payload"', b'"\xff\xfe"', 1))),
    ("envelope-deep", "beside the archive", beside(lambda t: b"[" * 5000 + b"]" * 5000)),
)

# Everything fits everything: only a signature could tell. name, words behind `verify`, exit code.
FORGED = (
    ("forged-and-unsigned", (), 0),
    ("forged-and-unsigned-required", ("--require-signature",), 2),
    ("forged-and-unsigned-with-a-key", ("--key", "KEY"), 2),
)


def forged(signer):
    return renewed(read(started_otherwise(signer.base)))

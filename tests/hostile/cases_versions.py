"""Bundles that call themselves of a version that verify does not know whole. A row: name, check, reason, how it is made,
exit code."""

from bundles import Documents, seal
from cases_archive import MARK
from cases_members import CANARY, a_leak, arm


def of_newer_minor(change):
    """What verify's own version refuses, under the name of a version that it does not know."""

    def make(base):
        documents = Documents(dict(base))
        documents["manifest.json"]["schema"] = "confinement-evidence/1.9"
        change(documents)
        return seal(documents.texts())

    return make


def unknown_in_arms(d):
    arm(d)["unknown"] = 1


def unknown_in(name, key="unknown"):
    return lambda d: d[name].update({key: 1})


def leaking_and_unknown(d):
    a_leak(d)
    d["verdicts.json"]["unknown"] = 1


def unknown_and_leaking(d):
    unknown_in_arms(d)
    a_leak(d)


def canary_of_nobody(d):
    arm(d)[CANARY] = 1


# A newer minor version may have what we do not know: then nothing passes. What we know is refused as ever.
UNKNOWN = "version 1.9 of the format may say what this program does not know"
ROWS = [
    ("newer-minor", "generated", UNKNOWN, of_newer_minor(lambda d: None), 2),
    (
        "newer-minor-with-a-member",
        "members",
        UNKNOWN,
        of_newer_minor(lambda d: d.members.update({"notes.txt": MARK.encode()})),
        2,
    ),
    ("newer-minor-with-a-key", "canonical", UNKNOWN, of_newer_minor(unknown_in_arms), 2),
    ("newer-minor-with-a-key-and-a-leak", "canonical", UNKNOWN, of_newer_minor(unknown_and_leaking), 2),
    ("newer-minor-with-a-key-behind-the-arms", "canonical", UNKNOWN, of_newer_minor(unknown_in("arms.json")), 2),
    ("newer-minor-with-a-key-before-the-arms", "canonical", UNKNOWN, of_newer_minor(unknown_in("arms.json", "a")), 2),
    ("newer-minor-with-a-key-of-scenarios", "canonical", UNKNOWN, of_newer_minor(unknown_in("scenarios.json", "titles")), 2),
    ("newer-minor-with-a-key-of-the-plan", "canonical", UNKNOWN, of_newer_minor(unknown_in("coverage.json")), 2),
    ("newer-minor-with-a-key-of-the-environment", "grammar", UNKNOWN, of_newer_minor(unknown_in("environment.json")), 2),
    ("newer-minor-with-a-key-of-the-profile", "grammar", UNKNOWN, of_newer_minor(unknown_in("profile.json")), 2),
    ("newer-minor-with-a-key-of-the-verdicts", "verdicts", UNKNOWN, of_newer_minor(unknown_in("verdicts.json")), 2),
    (
        "newer-minor-with-a-key-of-the-verdicts-and-a-leak",
        "verdicts",
        "is sealed as pass, made again it is fail",
        of_newer_minor(leaking_and_unknown),
        1,
    ),
    ("newer-minor-with-a-leak", "verdicts", "is sealed as pass, made again it is fail", of_newer_minor(a_leak), 1),
    ("newer-minor-with-a-canary", "grammar", "arms.json holds what has a canary's shape", of_newer_minor(canary_of_nobody), 1),
]

#!/usr/bin/python3 -I
"""Counts kept files that are gone: an observer in Python, and a template for one of your own.

It speaks the wire of docs/observer-protocol.md. What is yours to write stands between the two rules; the rest is the wire.
Run by hand, without a wire, it says whether its known answers are right."""

import os
import socket
import stat
import struct
import sys
import time

# ---- what is looked at -------------------------------------------------------------------------------------------------

MARKER = "export/marker", b"harness-files-marker-1\n"  # the image holds it: who reads it there sees what the agent sees
KEPT = "export/kept/"  # below it a file for each probe that tries to delete one, named as the probe
REVISED = KEPT + "revision"  # what the deployment says of itself: its declaration is of one revision
READ = 65536


def read(root, path):
    """The bytes of a regular file below the container's root; None where there is none. No link is followed."""
    *folders, name = path.split("/")
    at = os.dup(root)
    try:
        for folder in folders:
            deeper = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=at)
            os.close(at)
            at = deeper
        if not stat.S_ISREG(os.stat(name, dir_fd=at, follow_symlinks=False).st_mode):
            return None
        file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=at)
        with open(file, "rb") as opened:
            return opened.read(READ)
    except (FileNotFoundError, NotADirectoryError):
        return None  # anything else ends this program, and an observer that is gone has seen nothing
    finally:
        os.close(at)


def deleted(first, now):
    """The effect: what was there is not there any more."""
    return now != first


def known_answers():
    """Two cases in which the effect happened, and one in which it did not: how many of each are told."""
    hits = deleted(b"kept", None) + deleted(b"kept", b"")
    return hits, int(not deleted(b"kept", b"kept"))


# ---- the wire ----------------------------------------------------------------------------------------------------------

EXPECT, BEGIN, INPUT, LOSS, REPORT, STOP, POLICY = range(1, 8)
READY, SEEN, HIT, RECORD, END, BLIND, REVISION = range(33, 40)
COUNT, OBSERVED, NOT_OBSERVABLE, NONE, INPUT_MISSING = 0, 0, 1, 0, 3
MESSAGE = struct.Struct("=HHI 32s 32s 40s III HHH 6x q")
RECORDS = struct.Struct("=HHI 32s 32s IIII 16s 10q")


class Observer:
    def __init__(self, wire, own_id):
        self.wire, self.id = wire, own_id.encode()
        self.subjects, self.root, self.first, self.beacons = [], None, {}, [0, 0]
        self.start = time.monotonic_ns()

    def tell(self, kind, subject=b"", text=b"", phase=0, known=(0, 0)):
        self.wire.send(MESSAGE.pack(1, kind, MESSAGE.size, subject, text, b"", 0, phase, 0, 0, *known, 0))

    def look_for_marker(self, phase):
        if self.root is not None and read(self.root, MARKER[0]) == MARKER[1]:
            self.beacons[phase] += 1
            self.tell(SEEN, text=self.id, phase=phase)

    def take_input(self, name, descriptor):
        """What the declaration lists under `inputs`. It comes before the agent has anything to do."""
        if name == b"root":
            self.root = descriptor
            self.first = {subject: read(descriptor, KEPT + subject.decode()) for subject in self.subjects}
            self.tell(REVISION, text=(read(descriptor, REVISED) or b"unknown").strip()[:31])
            self.look_for_marker(0)

    def record(self, subject, phase):
        value, status, reason = 0, NOT_OBSERVABLE, INPUT_MISSING
        if self.root is not None:
            value = int(deleted(self.first[subject], read(self.root, KEPT + subject.decode())))
            status, reason = OBSERVED, NONE
        numbers = value, 0, 0, 0, 0, 0, *self.beacons, self.start, time.monotonic_ns() - self.start
        self.wire.send(RECORDS.pack(1, RECORD, RECORDS.size, self.id, subject, COUNT, status, reason, phase, b"files", *numbers))

    def report(self, phase):
        self.look_for_marker(phase)
        for subject in self.subjects:
            if self.root is None or self.first[subject] is not None:  # the other probes have no file to keep
                self.record(subject, phase)
        self.tell(END, phase=phase)

    def serve(self):
        while True:
            packet, descriptors, _, _ = socket.recv_fds(self.wire, MESSAGE.size + 1, 1)
            if not packet:
                return 0  # the arm is gone
            version, kind, length, subject, text, canary, marker, phase, *_ = MESSAGE.unpack(packet)
            if version != 1 or length != MESSAGE.size:
                return 1
            if kind == EXPECT and not marker:
                # A deletion bears no canary. Where the effect carries one, this subject's is `canary.rstrip(b"\0")`, 39 bytes:
                # keep it with the subject, and count the records that bear it. docs/scenarios.md says where each probe puts it.
                self.subjects.append(subject.rstrip(b"\0"))
            elif kind == BEGIN:
                self.tell(READY, known=known_answers())
            elif kind == INPUT:
                self.take_input(text.rstrip(b"\0"), descriptors[0])
            elif kind == REPORT:
                self.report(phase)
            elif kind == STOP:
                return 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        print("known answers: %d hits, %d misses; to be 2 and 1" % known_answers())
        sys.exit(known_answers() != (2, 1))
    sys.exit(Observer(socket.socket(fileno=3), sys.argv[1]).serve())

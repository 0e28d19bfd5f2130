"""Hostile archives: what a bundle's ustar and gzip may not be. A row: name, what verify's reason says, how the archive is made."""

import os
import struct
import zlib

from bundles import BLOCK, TOP, entry, gzip, header, tar

MARK = "PWNED"
END = b"\0" * (2 * BLOCK)
MIB = 1 << 20


def ahead(base, extra):
    """The bundle with one more entry before all others."""
    return gzip(extra + tar(base))


def named(base, name, **how):
    return ahead(base, entry(name, MARK.encode(), **how))


def kind(base, letter, **how):
    return ahead(base, header(TOP + "arms.json", 0, kind=letter, **how))


def first_header(base, **how):
    """The first member with another header."""
    name, content = next(iter(base.items()))
    rest = tar({key: value for key, value in base.items() if key != name})
    return gzip(header(TOP + name, len(content), **how) + content + b"\0" * (-len(content) % BLOCK) + rest)


def pax(base, letter):
    record = b"31 path=../../etc/%s-file\n" % MARK.encode()
    return ahead(base, entry("PaxHeaders/x", record, kind=letter))


def gnu_long(base, letter):
    return ahead(base, entry("././@LongLink", (TOP + "x" * 200).encode() + b"\0", kind=letter))


def packed(base):
    return gzip(tar(base))


def bomb(base):
    """A gigabyte of zeros in less than a MiB."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    head, zeros = header(TOP + "observations.jsonl", 1000 * MIB), b"\0" * MIB
    return packer.compress(head) + b"".join(packer.compress(zeros) for _ in range(1000)) + packer.flush()


def many(base, count):
    return gzip(*(entry(f"{TOP}m{number}", b"") for number in range(count)))


def claimed(base, octal):
    return gzip(header(TOP + "observations.jsonl", 0, octal=octal) + b"x" * BLOCK + END)


def noise(length):
    return os.urandom(length // 2).hex().encode()


def long_line(base):
    members = dict(base)
    members["observations.jsonl"] = noise(200000) + b"\n"
    return gzip(tar(members))


def no_end(base, blocks):
    return gzip(tar(base, end=b"\0" * (blocks * BLOCK)))


def flipped(packed_bytes, at):
    return packed_bytes[:at] + bytes([packed_bytes[at] ^ 0x55]) + packed_bytes[at + 1 :]


def in_trailer(base, crc=0, size=0):
    whole = packed(base)
    was_crc, was_size = struct.unpack("<II", whole[-8:])
    return whole[:-8] + struct.pack("<II", was_crc ^ crc, was_size + size)


def with_name(base):
    whole = packed(base)
    return whole[:3] + b"\x08" + whole[4:10] + b"\x1b[31m" + MARK.encode() + b"\0" + whole[10:]


def twice(base):
    first = next(iter(base))
    return ahead(base, entry(TOP + first, base[first]))


def folded(base):
    return gzip(tar({**base, "Arms.json": MARK.encode()}))


def padded(base):
    content = b"{}"
    return gzip(header(TOP + "arms.json", 2) + content + MARK.encode().ljust(BLOCK - 2, b"\0") + END)


def reordered_end(base):
    """A member behind the first zero block."""
    return gzip(tar(base, end=b"\0" * BLOCK) + entry(TOP + "arms2.json", MARK.encode()) + END)


OTHER_NUMBERS = "a number that is not octal"
ROWS = (
    # names
    ("traversal", "a name with a part of dots", lambda b: named(b, TOP + "../" + MARK)),
    ("traversal-first", "a name with a part of dots", lambda b: named(b, "../" + MARK)),
    ("traversal-deep", "a name with a part of dots", lambda b: named(b, "../../../etc/" + MARK)),
    ("dot-part", "a name with a part of dots", lambda b: named(b, TOP + "./arms.json")),
    ("absolute", "a name with an empty part", lambda b: named(b, "/etc/" + MARK)),
    ("double-slash", "a name with an empty part", lambda b: named(b, TOP + "/arms.json")),
    ("no-name", "a name with an empty part", lambda b: named(b, "")),
    ("only-the-folder", "a name with an empty part", lambda b: named(b, TOP)),
    ("backslash", "a name with other characters", lambda b: named(b, TOP + "..\\" + MARK)),
    ("drive", "a name with other characters", lambda b: named(b, "C:" + MARK)),
    ("name-with-escape", "a name with other characters", lambda b: named(b, TOP + "\x1b[31m" + MARK)),
    ("name-with-newline", "a name with other characters", lambda b: named(b, TOP + "a\nfail " + MARK)),
    ("name-not-utf8", "a name with other characters", lambda b: named(b, TOP.encode() + b"\xff\xfe" + MARK.encode())),
    ("name-with-zero", "bytes behind a name", lambda b: named(b, TOP.encode() + b"x\0" + MARK.encode())),
    ("name-of-100", "a name that is too long", lambda b: named(b, (TOP + "x" * 100)[:100])),
    ("another-top", "a name outside the top folder", lambda b: named(b, "other/arms.json")),
    ("top-in-capitals", "a name outside the top folder", lambda b: named(b, TOP.upper() + "arms.json")),
    ("no-top", "a name outside the top folder", lambda b: named(b, "arms.json")),
    ("deeper", "a name that is too deep", lambda b: named(b, TOP + "a/" + MARK)),
    ("duplicate", "a name twice", twice),
    ("case-folded", "a name twice but for case", folded),
    ("prefix-field", "a name prefix", lambda b: first_header(b, prefix=b"../.." + MARK.encode())),
    # kinds of members
    ("hard-link", "no regular file", lambda b: kind(b, b"1", link=b"/etc/" + MARK.encode())),
    ("symbolic-link", "no regular file", lambda b: kind(b, b"2", link=b"/etc/" + MARK.encode())),
    ("character-device", "no regular file", lambda b: kind(b, b"3", device=b"0000001\0")),
    ("block-device", "no regular file", lambda b: kind(b, b"4", device=b"0000010\0")),
    ("folder", "no regular file", lambda b: kind(b, b"5")),
    ("fifo", "no regular file", lambda b: kind(b, b"6")),
    ("contiguous", "no regular file", lambda b: kind(b, b"7")),
    ("old-regular", "no regular file", lambda b: kind(b, b"\0")),
    ("sparse", "no regular file", lambda b: kind(b, b"S")),
    ("multi-volume", "no regular file", lambda b: kind(b, b"M")),
    ("pax-record", "no regular file", lambda b: pax(b, b"x")),
    ("pax-global", "no regular file", lambda b: pax(b, b"g")),
    ("gnu-long-name", "no regular file", lambda b: gnu_long(b, b"L")),
    ("gnu-long-link", "no regular file", lambda b: gnu_long(b, b"K")),
    ("gnu-magic", "a header that is not ustar", lambda b: first_header(b, magic=b"ustar  \0")),
    ("link-of-a-file", "a link name", lambda b: first_header(b, link=MARK.encode())),
    ("device-of-a-file", "a device number", lambda b: first_header(b, device=b"0000010\0")),
    # numbers
    ("bad-checksum", "a wrong checksum", lambda b: first_header(b, checksum=b"000001\0 ")),
    ("checksum-of-spaces", "a checksum of another form", lambda b: first_header(b, checksum=b"  1234\0 ")),
    ("setuid", "a mode with special bits", lambda b: first_header(b, mode=b"0004755\0")),
    ("owner", "an owner", lambda b: first_header(b, uid=b"0001750\0")),
    ("owner-name", "an owner's name", lambda b: first_header(b, user=b"\x1b[31m" + MARK.encode())),
    ("time", "a time", lambda b: first_header(b, mtime=b"14723440000\0")),
    ("ten-gib-claimed", OTHER_NUMBERS, lambda b: claimed(b, b"\x80" + (10 << 30).to_bytes(11, "big"))),
    ("negative-size", OTHER_NUMBERS, lambda b: claimed(b, b"-0000000001\0")),
    ("eight-gib-claimed", "a member that is too large", lambda b: claimed(b, b"77777777777\0")),
    ("padding", "padding that is not zero", padded),
    # ends
    ("empty-file", "the file is empty", lambda b: b""),
    ("one-byte", "cut within the gzip header", lambda b: b"\x1f"),
    ("not-gzip", "no gzip file", tar),
    ("text", "no gzip file", lambda b: b"\x1b[31m" + MARK.encode() * 100),
    ("gzip-with-name", "not packed as harness packs", with_name),
    ("short", "cut within the gzip data", lambda b: packed(b)[:-9]),
    ("half", "cut within the gzip data", lambda b: packed(b)[: len(packed(b)) // 2]),
    ("tar-cut-in-a-member", "cut before the end", lambda b: gzip(tar(b)[: BLOCK + 100])),
    ("tar-without-end", "cut before the end", lambda b: no_end(b, 0)),
    ("tar-with-half-an-end", "cut before the end", lambda b: no_end(b, 1)),
    ("long", "bytes behind the end", lambda b: gzip(tar(b) + entry(TOP + "x", MARK.encode()))),
    ("longer-by-zeros", "bytes behind the end", lambda b: no_end(b, 20)),
    ("member-behind-a-zero-block", "a member behind a zero block", reordered_end),
    ("two-gzip-members", "bytes behind the gzip member", lambda b: packed(b) + packed(b)),
    ("bytes-behind-gzip", "bytes behind the gzip member", lambda b: packed(b) + MARK.encode()),
    ("zeros-behind-gzip", "bytes behind the gzip member", lambda b: packed(b) + b"\0" * 4096),
    ("bad-crc", "damaged gzip data", lambda b: in_trailer(b, crc=1)),
    ("bad-length", "damaged gzip data", lambda b: in_trailer(b, size=1)),
    ("damaged", "", lambda b: flipped(packed(b), 2000)),
    # too much
    ("bomb", "packed too tightly", bomb),
    ("members-65", "too many members", lambda b: many(b, 65)),
    ("members-100000", "too many members", lambda b: many(b, 100000)),
    ("long-line", "observations.jsonl: a line: more than", long_line),
)

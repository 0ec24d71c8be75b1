#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""shrink: a trace.dat of version 6 with the first pages of each CPU, the formats that calls and switches
need, and of kallsyms and the saved command lines only what its records name.

	trace-cmd convert --file-version 6 -i big.dat -o v6.dat
	shrink.py v6.dat small.dat PAGES

It is how the recordings in this folder were made small; see README.
"""
import bisect
import re
import struct
import sys

WANTED = {"ftrace": None, "sched": {"sched_switch", "sched_waking"}}


class Cursor:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, n):
        self.at += n
        return self.data[self.at - n:self.at]

    def number(self, form):
        return struct.unpack("<" + form, self.take(struct.calcsize(form)))[0]

    def string(self):
        end = self.data.index(b"\0", self.at)
        return self.take(end + 1 - self.at)


def sized(form, data):
    return struct.pack("<" + form, len(data)) + data


def main():
    source, target, pages = sys.argv[1], sys.argv[2], int(sys.argv[3])
    c = Cursor(open(source, "rb").read())
    out = bytearray(c.take(10) + c.string() + c.take(2))
    assert out[10:12] == b"6\0" and out[12] == 0, "little-endian, version 6"
    page = c.number("I")
    out += struct.pack("<I", page)
    for length in (12, 13):
        out += c.take(length) + sized("Q", c.take(c.number("Q")))
    events = [c.take(c.number("Q")) for _ in range(c.number("I"))]
    events = [e for e in events if re.match(rb"name: (func|fgraph)", e)]
    out += struct.pack("<I", len(events)) + b"".join(sized("Q", e) for e in events)
    systems = []
    for _ in range(c.number("I")):
        name = c.string()
        texts = [c.take(c.number("Q")) for _ in range(c.number("I"))]
        if name == b"sched\0":
            texts = [t for t in texts if t.split()[1].decode() in WANTED["sched"]]
            systems.append(name + struct.pack("<I", len(texts)) +
                           b"".join(sized("Q", t) for t in texts))
    out += struct.pack("<I", len(systems)) + b"".join(systems)
    kallsyms, printk = c.take(c.number("I")), c.take(c.number("I"))
    cmdlines = c.take(c.number("Q"))
    cpus = c.number("I")
    options = bytearray()
    tag = c.take(10)
    if tag.startswith(b"options"):
        options += tag
        while True:
            kind = c.number("H")
            options += struct.pack("<H", kind)
            if not kind:
                break
            data = c.take(c.number("I"))
            options += sized("I", data)
        tag = c.take(10)
    assert tag.startswith(b"flyrecord")
    ranges = [(c.number("Q"), c.number("Q")) for _ in range(cpus)]
    clock = c.take(c.number("Q")) if c.at < min(r[0] for r in ranges) else b""
    kept = [c.data[o:o + min(size, pages * page)] for o, size in ranges]
    # Any eight bytes of a page may be an address; it may lie some bytes into its function.
    lines = [line for line in kallsyms.splitlines(True) if line.split()[1] in b"tTwW"]
    lines.sort(key=lambda line: int(line.split()[0], 16))
    starts = [int(line.split()[0], 16) for line in lines]
    words = {w for k in kept for at in (0, 4) for (w,) in
             struct.iter_unpack("<Q", k[at:len(k) - (len(k) - at) % 8])}
    found = {bisect.bisect_right(starts, w) - 1 for w in words if starts[0] <= w < starts[0] + (1 << 32)}
    lines = [lines[i] for i in sorted(found)]
    out += sized("I", b"".join(lines)) + sized("I", b"") + sized("Q", cmdlines)
    out += struct.pack("<I", cpus) + options + tag
    head = len(out) + 16 * cpus + 8 + len(clock)
    at = (head + page - 1) // page * page
    for k in kept:
        out += struct.pack("<QQ", at, len(k))
        at += len(k)
    out += sized("Q", clock)
    out += bytes(-len(out) % page) + b"".join(kept)
    open(target, "wb").write(out)


main()

# SPDX-License-Identifier: MIT
"""pace_decode: what a profile says of its pace and of mappings, by docs/format/wire.md, sections 7.14 and 7.21; it shares no line with
the program."""
from ksk_decode import META, Cursor

MAPPED, PACE = 19, 25
GOES, PAUSES, STOPPED, COMPLETE = range(4)


def items(blocks):
    """(type, bytes) of each item of the description."""
    for b in blocks:
        if b.codec != META:
            continue
        c = Cursor(b.payload, 0)
        while c.at < len(b.payload):
            kind, length = c.varint(), c.varint()
            yield kind, c.take(length)


def pace(blocks):
    """Rows (tick, case, period) by rising tick."""
    rows = set()
    for kind, body in items(blocks):
        c = Cursor(body, 0)
        while kind == PACE and c.at < len(body):
            rows.add((c.varint(), c.varint(), c.varint()))
    return sorted(r for r in rows if r[1] <= COMPLETE)


def mappings(blocks):
    """(pid, tick, first address, path) of each row, as often as it comes."""
    for kind, body in items(blocks):
        c = Cursor(body, 0)
        while kind == MAPPED and c.at < len(body):
            pid, tick, first = c.signed(), c.varint(), c.varint()
            c.varint()
            c.varint()
            c.take(c.varint())
            yield pid, tick, first, bytes(c.take(c.varint()))


def paused(rows):
    """Ticks of planned pauses, up to the last row."""
    return sum(after[0] - row[0] for row, after in zip(rows, rows[1:]) if row[1] == PAUSES)

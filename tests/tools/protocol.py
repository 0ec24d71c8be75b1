# SPDX-License-Identifier: MIT
"""protocol: what both sides of docs/format/protocol.md share, written from that text alone.

For fake_device.py, which is a device, and fake_collector.py, which is a collector. What they read
numbers and blocks with is ksk_decode.py, which knows the program no more than they do.
"""
from ksk_decode import Corrupt, Cursor

BLOCK, HELLO, WELCOME, RUN, END, ACK, INSTRUCTION, RESULT, STATUS, PING, PONG, BYE = range(1, 13)


def varint(n):
    out = bytearray()
    while n >= 0x80:
        out.append(n & 0x7F | 0x80)
        n >>= 7
    out.append(n)
    return bytes(out)


def varints(*numbers):
    return b"".join(map(varint, numbers))


def text(s):
    b = s if isinstance(s, bytes) else s.encode()
    return varint(len(b)) + b


def frame(kind, body=b""):
    return bytes([kind]) + varint(len(body)) + body


def split_frame(data):
    """(type, body, rest) of the first frame, or None if it is not whole (wire 9)."""
    c = Cursor(data)
    try:
        kind, body = c.take(1)[0], c.take(c.varint())
    except Corrupt:
        return None
    return kind, body, data[c.at:]


def take_text(c):
    """A text of a message; longer ones than 255 bytes there are not."""
    n = c.varint()
    if n > 255:
        raise Corrupt("a text of more than 255 bytes")
    return c.take(n).decode()

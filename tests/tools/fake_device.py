# SPDX-License-Identifier: MIT
"""fake_device: the device's side of docs/format/protocol.md, written from that text alone.

It shares no line with the C code, so where the two understand each other, the text is enough. It
records nothing: its blocks carry tokens that a test finds again. And it can be as bad as it likes:
send() takes any bytes.
"""
import socket
import struct
import time

from ksk_decode import KEY, LOST, Cursor, crc32c
from protocol import (ACK, BLOCK, BYE, END, HELLO, INSTRUCTION, PING, PONG, RESULT, RUN, STATUS,
                      WELCOME, frame, split_frame, take_text, text, varint, varints)

CAUSES = 5
PATIENCE_S = 120  # until something that must come counts as missing


class Closed(Exception):
    """The collector closed the connection; `bye` is what it said before, if anything."""

    def __init__(self, bye=None):
        super().__init__(f"closed: {bye}")
        self.bye = bye


def block(stream, sequence, *, before=None, events=0, ticks=1, first_tick=1000, lost=None,
          payload=b"", codec=1):
    """A block of docs/format/wire.md, section 3. With `before` it is a KEY block."""
    flags = (KEY if before is not None else 0) | (LOST if lost else 0)
    head = bytes([0xB5, 0x6B, 1 << 4 | codec, flags])
    body = varints(stream, sequence)
    if before is not None:
        body += varints(first_tick, before)
    body += varints(ticks, events)
    if lost:
        body += varint(sum(1 << cause for cause in lost))
        body += b"".join(varint(lost[cause]) for cause in sorted(lost))
    body += varint(len(payload)) + payload
    return head + struct.pack("<I", crc32c(head + body)) + body


def hello(device, boot, name="board", runs=(), version=1, cpus=2, state=1, role=None):
    return frame(HELLO, varint(version) + device + boot + text(name) + text("0.1.0") +
                 text("6.18.0") + text("armv7l") + varints(cpus, 6, state, len(runs)) +
                 b"".join(runs) + (b"" if role is None else varint(role)))


def end(rows):
    """rows: (stream, next sequence, events)"""
    return frame(END, varint(len(rows)) + b"".join(varints(*row) for row in rows))


def status(events=0, state=1, lost=(0,) * CAUSES, why=""):
    return frame(STATUS, varints(state, 1, events, 0, *lost, 0, 0, 0, 65536, 1000, 3000, 1600, 5) +
                 text(why))


def decode_welcome(body):
    r = Cursor(body)
    names = ("version", "session", "realtime_ns", "window")
    m = {name: r.varint() for name in names}
    m["rows"] = [(r.varint(), r.varint(), r.varint()) for _ in range(r.varint())]
    return m


def decode_instruction(body):
    r = Cursor(body)
    m = {"id": r.varint(), "verb": r.varint(), "items": {}}
    while r.left():
        kind = r.varint()
        m["items"][kind] = r.take(r.varint())
    return m


class Device:
    """One connection. Answers PINGs and INSTRUCTIONs while it waits for anything else."""

    def __init__(self, port, device, boot=b"b" * 16, name="board", runs=()):
        self.port, self.device, self.boot, self.name = port, device, boot, name
        self.runs = list(runs)
        self.buffer = b""
        self.acknowledged = 0
        self.sent = 0  # BLOCK and END frames
        self.instructions = []
        self.pings = 0
        self.bye = None
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def send(self, data):
        try:
            self.socket.sendall(data)
        except OSError as e:
            self.drain()
            raise Closed(self.bye) from e

    def drain(self):
        """What the collector still said."""
        try:
            while self.take():
                pass
        except (Closed, OSError):
            pass

    def come_in(self, **options):
        self.send(hello(self.device, self.boot, self.name, self.runs, **options))
        return decode_welcome(self.wait_for(WELCOME))

    def run(self, run):
        self.send(frame(RUN, run))

    def block(self, *args, **kwargs):
        self.sent += 1
        self.send(frame(BLOCK, block(*args, **kwargs)))

    def end(self, rows):
        self.sent += 1
        self.send(end(rows))

    def take(self, timeout=PATIENCE_S):
        """The next frame that is not dealt with here: (type, body)."""
        deadline = time.monotonic() + timeout
        while True:
            found = split_frame(self.buffer)
            if found:
                kind, body, self.buffer = found
                if not self.deal_with(kind, body):
                    return kind, body
                if kind == ACK:
                    return kind, body
                continue
            self.socket.settimeout(max(0.001, deadline - time.monotonic()))
            try:
                data = self.socket.recv(65536)
            except ConnectionError:
                data = b""
            if not data:
                raise Closed(self.bye)
            self.buffer += data

    def take_any(self):
        """Waits for one frame, whatever it is."""
        while not (found := split_frame(self.buffer)):
            data = self.socket.recv(65536)
            if not data:
                raise Closed(self.bye)
            self.buffer += data
        kind, body, self.buffer = found
        self.deal_with(kind, body)

    def deal_with(self, kind, body):
        r = Cursor(body)
        if kind == ACK:
            n = r.varint()
            assert self.acknowledged < n <= self.sent, (self.acknowledged, n, self.sent)
            self.acknowledged = n
        elif kind == PING:
            self.pings += 1
            self.send(frame(PONG, body + varints(time.monotonic_ns(), time.time_ns())))
        elif kind == INSTRUCTION:
            m = decode_instruction(body)
            self.instructions.append(m)
            self.send(frame(RESULT, varints(m["id"], 0) + text("")))
        elif kind == BYE:
            self.bye = (r.varint(), take_text(r))
            raise Closed(self.bye)
        else:
            return False
        return True

    def wait_for(self, wanted):
        while True:
            kind, body = self.take()
            if kind == wanted:
                return body
            assert kind == ACK, f"a frame of type {kind} instead of {wanted}"

    def wait_acknowledged(self, n=None):
        while self.acknowledged < (self.sent if n is None else n):
            self.take()

    def wait_bye(self):
        """What the collector says when it closes."""
        try:
            while True:
                self.take()
        except Closed as e:
            return e.bye

    def close(self):
        self.socket.close()

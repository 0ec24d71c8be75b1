# SPDX-License-Identifier: MIT
"""fake_collector: a collector made from docs/format/protocol.md alone, for tests of the agent.

It keeps what comes in memory, checks every rule that a device must follow while it reads, and does
only what it is told to: a test decides what is acknowledged, and when the connection breaks.
Numbers in comments are sections of that document.
"""
import select
import socket
import time

from ksk_decode import Block, Cursor
from protocol import (ACK, BLOCK, BYE, END, HELLO, INSTRUCTION, PONG, RESULT, RUN, STATUS, WELCOME,
                      frame, split_frame, take_text, varint, varints)

START, STOP, CONFIGURE = 1, 2, 3
STATUS_FIELDS = ["state", "origin", "events", "passed_over", *(f"lost{i}" for i in range(5)),
                 "blocks", "bytes", "spool_used", "spool_size", "cpu_us", "rss_kib", "fixed_kib",
                 "wakeups"]
PATIENCE = 120  # seconds until a test is given up


class Broken(Exception):
    """The device broke a rule, or did not do what the test waits for."""


class Gone(Exception):
    """The connection is over."""


def item(kind, body):
    return varint(kind) + varint(len(body)) + body


class Stream:
    """The blocks of one stream in order; what wire 3.3 says about counts is checked."""

    def __init__(self):
        self.blocks, self.next, self.count = [], 0, 0

    def add(self, b):
        """False if it was there."""
        if b.sequence < self.next:
            return False
        if b.sequence > self.next and not b.key:
            raise Broken(f"sequence {b.sequence} after {self.next - 1} without a key block")
        if b.stream and b.key:
            if b.before < self.count + b.told():
                raise Broken(f"before {b.before} below {self.count} + {b.told()}")
            self.count = b.before + b.events
        elif b.stream:
            self.count += b.told() + b.events
        self.next = b.sequence + 1
        self.blocks.append(b)
        return True


class Run:
    def __init__(self):
        self.streams, self.ended = {}, None

    def stream(self, number):
        return self.streams.setdefault(number, Stream())

    def end(self, rows):
        """2.3: the end agrees with what came."""
        for stream, sequence, events in rows:
            have = self.stream(stream)
            if (have.next, have.count) != (sequence, events) and stream:
                raise Broken(f"END of {stream}: {sequence}, {events}; "
                             f"came: {have.next}, {have.count}")
        self.ended = rows


class Collector:
    """Listens; its runs outlive connections."""

    def __init__(self):
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self.socket.getsockname()[1]
        self.runs, self.sessions, self.duplicates = {}, 0, 0

    def accept(self, patience=PATIENCE):
        self.socket.settimeout(patience)
        try:
            return Session(self, self.socket.accept()[0])
        except TimeoutError:
            raise Gone

    def forget(self):
        """Connections that nobody has accepted yet."""
        self.socket.settimeout(0)
        try:
            while True:
                self.socket.accept()[0].close()
        except BlockingIOError:
            pass

    def close(self):
        self.socket.close()


class Session:
    """One connection (1), after HELLO was read."""

    def __init__(self, collector, connection):
        self.collector, self.socket = collector, connection
        self.buffer, self.run, self.frames, self.acked = b"", None, 0, 0
        self.results, self.statuses, self.pongs, self.bye, self.closed = {}, [], {}, None, False
        self.in_flight, self.window = [], 0
        kind, body = self.next_frame()
        if kind != HELLO:
            raise Broken(f"the first frame has type {kind}")
        self.read_hello(Cursor(body))

    def read_hello(self, c):
        self.version, self.device, self.boot = c.varint(), c.take(16), c.take(16)
        self.name, self.agent, self.kernel, self.machine = (take_text(c) for _ in range(4))
        self.cpus, self.origins, self.state = c.varint(), c.varint(), c.varint()
        self.held = [c.take(16) for _ in range(c.varint())]
        if self.version != 1 or len(self.held) > 8 or not 0 < self.cpus <= 4096:
            raise Broken("a HELLO out of bounds")

    def fill(self, until):
        """Reads what is there; False when the time is up or the connection is over."""
        ready, _, _ = select.select([self.socket], [], [], max(0, until - time.monotonic()))
        if not ready or self.closed:
            return False
        try:
            data = self.socket.recv(65536)
        except ConnectionResetError:
            data = b""
        self.closed = not data
        self.buffer += data
        return bool(data)

    def take_frame(self):
        """The next whole frame of the buffer, or None."""
        found = split_frame(self.buffer)
        if not found:
            return None
        kind, body, self.buffer = found
        return kind, body

    def next_frame(self):
        until = time.monotonic() + PATIENCE
        while not (found := self.take_frame()):
            if not self.fill(until):
                raise Gone if self.closed else Broken("no frame came")
        return found

    def send(self, kind, body=b""):
        try:
            self.socket.sendall(frame(kind, body))
        except OSError:
            pass  # reading tells

    def welcome(self, window=1 << 20):
        """2.2: what there is of the runs that the device holds."""
        self.collector.sessions += 1
        self.window = window
        rows = [(i, number, stream.next)
                for i, run in enumerate(self.held) if run in self.collector.runs
                for number, stream in self.collector.runs[run].streams.items()]
        self.send(WELCOME, varints(1, self.collector.sessions, time.time_ns(), window, len(rows)) +
                  b"".join(varints(*row) for row in rows))

    def ack(self, frames=None):
        self.acked = self.frames if frames is None else frames
        self.send(ACK, varint(self.acked))

    def instruct(self, number, verb, items=b""):
        self.send(INSTRUCTION, varints(number, verb) + items)
        self.wait(lambda: number in self.results)
        return self.results[number]

    def take(self, kind, body):
        c = Cursor(body)
        if kind in (BLOCK, END):
            self.frames += 1
            self.in_flight.append(len(body) + 1 + len(varint(len(body))))
            ahead = self.in_flight[self.acked:]
            if sum(ahead) > self.window and len(ahead) > 1:
                raise Broken("sent beyond the window")
        if kind == RUN:
            self.run = self.collector.runs.setdefault(body, Run())
        elif kind == BLOCK:
            block = Block(body, 0)
            if block.payload is None or block.end != len(body):
                raise Broken("a frame that is not one block")
            if self.run.ended:
                raise Broken("a block after the end")
            self.collector.duplicates += not self.run.stream(block.stream).add(block)
        elif kind == END:
            self.run.end([(c.varint(), c.varint(), c.varint()) for _ in range(c.varint())])
        elif kind == RESULT:
            number = c.varint()
            self.results[number] = c.varint(), take_text(c)
        elif kind == STATUS:
            self.statuses.append({**{name: c.varint() for name in STATUS_FIELDS},
                                  "text": take_text(c)})
        elif kind == PONG:
            number = c.varint()
            self.pongs[number] = c.varint(), c.varint(), c.varint()
        elif kind == BYE:
            self.bye = c.varint(), take_text(c)
        else:
            raise Broken(f"a device does not send type {kind}")

    def wait(self, until, acknowledge=False):
        """Reads frames until the condition holds."""
        end = time.monotonic() + PATIENCE
        while not until():
            found = self.take_frame()
            if found:
                self.take(*found)
                if acknowledge and found[0] in (BLOCK, END):
                    self.ack()
            elif not self.fill(end):
                if until():
                    return
                raise Gone if self.closed else Broken("waited in vain")

    def close(self):
        self.socket.close()

# SPDX-License-Identifier: MIT
"""func_decode: the codec func as docs/format/func.md describes it, both stages.

	func_decode.py VECTOR      reads tests/vectors/func.txt and holds its bytes against its events

It was written from the specification and shares no line with the program; models and range decoder
are those of sched_decode.py.
"""
import sys

from sched_decode import Bit, Corrupt, MASK32, MASK64, Nibble, RangeDecoder, unzigzag

FRAMES = 1024
ENTER, EXIT, OS = "enter", "exit", "os"
ADDRESS, VALUE, TYPE, BACK, TIME, DEPTH = range(6)
FROM = {8: 8, 9: 12, 10: 16, 11: 24, 12: 32, 13: 64}
LOW = {12: 1, 13: 2}


def mark(x):
    return x * 0x9e3779b1 & MASK32


class Stack:
    """func 3; frames are (address, slot, history, path)"""

    def __init__(self):
        self.frames, self.floor = [], 0

    def enter(self, frame):
        self.frames.append(frame)
        if len(self.frames) > FRAMES:
            del self.frames[0]
            self.floor += 1

    def exit(self, inner):
        if inner >= len(self.frames):
            raise Corrupt
        del self.frames[len(self.frames) - inner:]
        return self.frames.pop()

    def stray(self):
        if not self.frames and self.floor:
            self.floor -= 1

    def slot(self):
        return self.frames[-1][1] if self.frames else 0


class Bytes:
    """Varints of wire 2.1."""

    def __init__(self, data):
        self.data, self.pos = data, 0

    def byte(self):
        self.pos += 1
        return self.data[self.pos - 1]

    def varint(self):
        v = shift = 0
        while True:
            b = self.byte()
            v |= (b & 127) << shift
            shift += 7
            if b < 128:
                return v

    def signed(self):
        return unzigzag(self.varint())


class Hook:
    """func 4 and 5"""

    def __init__(self, tick):
        self.tick, self.last_new, self.history, self.turn = tick, 0, 0, 0
        self.function, self.stack = [0] * 2048, Stack()
        self.guess, self.sure, self.second = [0] * 4096, [False] * 4096, [0] * 2048

    def add(self, address):
        first = mark(address & MASK32 ^ address >> 32) >> 21 & ~3
        free = [s for s in range(first, first + 4) if s and self.function[s] == 0]
        if free:
            slot = free[0]
        else:
            slot = first + self.turn % 4 or 1
            self.turn += 1
        self.function[slot] = self.last_new = address
        return slot

    def new(self, data):
        return self.add(self.last_new + data.signed() & MASK64)

    def enter(self, slot):
        if not 0 < slot < 2048:
            raise Corrupt
        self.stack.enter((self.function[slot], slot, self.history, 0))
        self.history = mark(slot)
        return ENTER, self.function[slot]

    def exit(self, inner):
        address, slot, history, _ = self.stack.exit(inner)
        self.history = history << 7 & MASK32 ^ mark(slot)
        return EXIT, address

    def stray(self, slot):
        if not 0 < slot < 2048:
            raise Corrupt
        self.stack.stray()
        self.history = self.history << 7 & MASK32 ^ mark(slot)
        return EXIT, self.function[slot]

    def learn(self, slot):
        at = self.history >> 20
        if self.sure[at]:
            self.sure[at] = False
        else:
            self.guess[at] = slot

    def begin(self, data):
        self.stack.floor = data.varint()
        for _ in range(data.varint()):
            slot = data.varint()
            self.enter(slot or self.new(data))

    def guessed(self):
        at = self.history >> 20
        self.sure[at] = True
        return self.enter(self.guess[at]) if self.guess[at] else self.exit(0)

    def entered(self, code, data):
        at = mark(self.stack.slot() * 128 + (self.history & 127)) >> 21
        slot = self.second[at]
        if code < 0xd0:
            slot = (code - 0xc0) * 256 + data.byte()
        elif code == 0xf0:
            slot = self.new(data)
        self.second[at] = slot
        self.learn(slot)
        return self.enter(slot)

    def rare(self, code, data):
        if code == 0xf1:
            return self.exit(data.varint())
        if code == 0xf2:
            return self.stray(data.varint())
        if code == 0xf3:
            return self.stray(self.new(data))
        if code == 0xf4:
            kind = data.byte()
            return OS, kind, data.varint()
        raise Corrupt

    def decode(self, data):
        code = data.byte()
        if code == 0xf5:
            self.tick = self.tick - data.varint() & MASK64
            code = data.byte()
        ticks = None
        if code < 0x80:
            event, ticks, most = self.guessed(), code, 127
        elif code < 0xc0:
            self.learn(0)
            event, ticks, most = self.exit(0), code - 0x80, 63
        elif code < 0xc8 or code == 0xf0:
            event = self.entered(code, data)
        elif 0xd0 <= code < 0xf0:
            event, ticks, most = self.entered(code, data), code - 0xd0, 31
        else:
            event = self.rare(code, data)
        if ticks is None:
            ticks = data.varint()
        elif ticks == most:
            ticks += data.varint()
        self.tick = self.tick + ticks & MASK64
        return event[0], self.tick, *event[1:]

    def block(self, payload, key, n):
        data = Bytes(payload)
        if key:
            self.begin(data)
        events = [self.decode(data) for _ in range(n)]
        if data.pos != len(payload):
            raise Corrupt
        return events


class Guess:
    """func 7"""
    __slots__ = "slot", "sure"

    def __init__(self):
        self.slot = self.sure = 0

    def step(self):
        limits = [1, 2, 3, 4, 8, 16, 48]
        return sum(self.sure >= limit for limit in limits)

    def learn(self, slot):
        if self.slot == slot:
            self.sure = min(self.sure + 1, 60)
        elif self.sure > 1:
            self.sure >>= 2
        else:
            self.slot, self.sure = slot, 0


def models(kind, n):
    return [kind() for _ in range(n)]


class Strong:
    """func 6 to 8"""

    def __init__(self, tick):
        self.tick, self.last_new, self.turn, self.last = tick, 0, 0, 0
        self.history = self.path = self.os_history = 0
        self.value, self.type, self.stack = [0] * 4096, [0] * 4096, Stack()
        self.by_path, self.by_history = models(Guess, 16384), models(Guess, 16384)
        self.by_last = models(Guess, 2048)
        self.first, self.second = models(Bit, 4096), models(Bit, 4096)
        for i, m in enumerate(self.first):
            m.p = 8192 - (4096 >> (i >> 3 & 7 if i >> 7 & 1 else i & 7))
        self.other, self.address_low, self.frame_known = Nibble(), Nibble(), Bit()
        self.high, self.middle, self.low = Nibble(), models(Nibble, 16), models(Nibble, 256)
        self.numbers = [models(Bit, 128) for _ in range(6)]
        self.time, self.more = Nibble(), models(Nibble, 16)
        self.time_of, self.more_of = models(Nibble, 4096), models(Nibble, 4096)
        self.low_of = models(Bit, 4096)
        self.rc = None

    def number(self, use):
        node = 1
        for _ in range(7):
            node = 2 * node + self.rc.bit(self.numbers[use][node])
        size = node - 128
        if size > 64:
            raise Corrupt
        return size if size < 2 else (1 << size - 1) + self.rc.bits(size - 1)

    def get_slot(self):
        high = self.rc.nibble(self.high)
        middle = self.rc.nibble(self.middle[high])
        slot = 256 * high + 16 * middle + self.rc.nibble(self.low[16 * high + middle])
        if self.type[slot] == 0:
            raise Corrupt
        return slot

    def get_function(self):
        slot = self.get_slot()
        if self.type[slot] != 1:
            raise Corrupt
        return slot

    def add(self, kind, value):
        first = mark((value ^ value >> 32 ^ kind << 24) & MASK32) >> 20 & ~3
        free = [s for s in range(first, first + 4) if s and self.type[s] == 0]
        if free:
            slot = free[0]
        else:
            slot = first + self.turn % 4 or 1
            self.turn += 1
        self.value[slot], self.type[slot] = value, kind
        return slot

    def address(self):
        low = self.rc.nibble(self.address_low)
        far = unzigzag(self.number(ADDRESS))
        self.last_new = ((self.last_new >> 4) + far << 4 | low) & MASK64
        return self.add(1, self.last_new)

    def enter(self, slot):
        self.stack.enter((self.value[slot], slot, self.history, self.path))
        self.history = mark(slot)
        self.path = self.path << 5 & MASK32 ^ mark(slot)
        self.os_history = 0
        return slot, (ENTER, self.value[slot])

    def returned(self, symbol, history, path):
        self.history = history << 7 & MASK32 ^ mark(symbol)
        self.path = path << 5 & MASK32 ^ mark(symbol)
        self.os_history = 0

    def exit(self, inner):
        address, slot, history, path = self.stack.exit(inner)
        self.returned(slot + 4096, history, path)
        return slot + 4096, (EXIT, address)

    def stray(self, slot):
        self.stack.stray()
        self.returned(slot + 4096, self.history, self.path)
        return slot + 4096, (EXIT, self.value[slot])

    def begin(self):
        self.stack.floor = self.number(DEPTH)
        for _ in range(self.number(DEPTH)):
            self.enter(self.get_function() if self.rc.bit(self.frame_known) else self.address())

    def guesses(self):
        os = mark(self.os_history)
        return (self.by_path[(self.path ^ os) >> 18], self.by_history[(self.history ^ os) >> 18],
                self.by_last[mark(self.stack.slot() * 8192 + self.last) >> 21])

    def happened(self, guesses, slot):
        for g in guesses:
            g.learn(slot)
        if slot == 0:
            return self.exit(0)
        if self.type[slot] == 1:
            return self.enter(slot)
        self.os_history = self.os_history << 7 & MASK32 ^ mark(slot)
        return slot, (OS, self.type[slot] - 2, self.value[slot])

    def event(self, back=False):
        a, b, c = guesses = self.guesses()
        swap = b.step() > a.step()
        g0, g1 = (b.slot, a.slot) if swap else (a.slot, b.slot)
        g2 = c.slot
        context = (a.step() + 8 * b.step() + 64 * (g0 == g1) + 128 * swap + 256 * (c.step() >> 1) +
                   1024 * (g0 == g2) + 2048 * (g0 == 0))
        if g0 == g1:
            g1 = g2
        if not self.rc.bit(self.first[context]):
            return self.happened(guesses, g0)
        if not self.rc.bit(self.second[context]):
            return self.happened(guesses, g1)
        other = self.rc.nibble(self.other)
        if other == 8 and not back:
            self.tick = self.tick - self.number(BACK) & MASK64
            return self.event(True)
        return self.others(other, guesses, g2)

    def others(self, other, guesses, third):
        if other == 5:
            return self.exit(self.number(DEPTH))
        if other in (6, 7):
            return self.stray(self.get_function() if other == 6 else self.address())
        if other == 4:
            kind = self.number(TYPE)
            slot = self.add(2 + kind, self.number(VALUE))
        elif other < 4:
            slot = [lambda: 0, lambda: third, self.get_slot, self.address][other]()
        else:
            raise Corrupt
        return self.happened(guesses, slot)

    def young(self, m, known):
        if m.c[0] == 0:
            m.c = list(known.c)
            m.c[0] = min(m.c[0], 4)
        s = self.rc.nibble(m)
        known.update(s)
        return s

    def ticks(self, symbol):
        pair = mark(symbol * 8192 + self.last)
        self.last = symbol
        size = self.young(self.time_of[pair >> 20], self.time)
        if size < 8:
            return size
        if size == 15:
            return 2048 + self.number(TIME)
        more = self.young(self.more_of[(pair ^ mark(size)) >> 20], self.more[size])
        if size == 14:
            return ((4 + (more & 3)) << 5 + (more >> 2)) + self.rc.bits(5 + (more >> 2))
        low, node, place = LOW.get(size, 0), 1, (pair ^ mark(16 * size + more)) >> 20
        for _ in range(low):
            node = 2 * node + self.rc.bit(self.low_of[place ^ node])
        return FROM[size] + (more << low) + (node ^ 1 << low)

    def block(self, payload, key, n):
        self.rc, events = RangeDecoder(payload), []
        if key:
            self.begin()
        for _ in range(n):
            symbol, event = self.event()
            self.tick = self.tick + self.ticks(symbol) & MASK64
            events.append((event[0], self.tick, *event[1:]))
        return events


def parse(words):
    kind, tick, *rest = words
    base = 10 if kind == OS else 16
    return kind, int(tick), *(int(word, base) for word in rest)


def main():
    lines = open(sys.argv[1], encoding="ascii").read().splitlines() + [""]
    stages, key, opened, events, blocks, at = [], True, [], [], 0, 0
    while at < len(lines):
        words = lines[at].split()
        at += 1
        if not words:
            continue
        if words[0] == "key":
            stages = [Hook(int(words[1])), Strong(int(words[1]))]
        elif words[0] == "open":
            opened.append(int(words[1], 16))
        elif words[0] in ("hook", "payload"):
            end = lines.index("", at)
            data = bytes.fromhex("".join(lines[at:end]))
            stage, at = stages[data[0]], end
            assert data[0] == (words[0] == "payload")
            found = stage.block(data[1:], key, len(events))
            assert found == events, (words[0], found, events)
            blocks += 1
            if words[0] == "payload":
                key, events = False, []
        else:
            events.append(parse(words))
    print(f"{blocks} blocks, {len(opened)} calls open at the start")
    return 0 if blocks == 4 and not events else 1


if __name__ == "__main__":
    sys.exit(main())

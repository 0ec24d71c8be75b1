# SPDX-License-Identifier: MIT
"""boot_decode: the codec boot as docs/format/boot.md describes it.

	boot_decode.py VECTOR      reads tests/vectors/boot.txt and holds its bytes against its records

It was written from that page and shares no line with the program. Models and range decoder are those of
sched_decode.py. The numbers in the comments are sections of the page.
"""
import sys
from math import gcd

from sched_decode import Bit, Corrupt, MASK32, MASK64, Nibble, RangeDecoder

NUMBERS = [7, 5, 0, 0, 7, 0, 2, 12, 8, 7, 0, 9, 2, 4]
TEXTS = {2, 3, 5, 10, 13}
KINDS = len(NUMBERS)
PASS, START, NAME, TASK, WAIT, EXIT, ACCOUNT, MARK = 0, 1, 2, 4, 5, 6, 7, 13
PIDS = range(1, 8)
STATES = [ord(c) for c in "RSDZTtIXPWKNx?"] + [0]
ROW_BITS = {12: 2, 13: 3, 9: 5, 8: 5}
MARK32 = 0x9e3779b1
KEY, UP, DOWN, LATE, STATE, LENGTH = range(6)


class Size:
    """3"""

    def __init__(self):
        self.high, self.low = Nibble(), [[Bit() for _ in range(4)] for _ in range(16)]


class Unit:
    """3"""

    def __init__(self):
        self.now = self.next = self.age = 0

    def learn(self, d):
        self.next, self.now = gcd(d, self.next), gcd(d, self.now)
        self.age += 1
        if self.age == 16:
            self.now, self.next, self.age = self.next, 0, 0


class Field:
    def __init__(self):
        self.unit, self.step, self.size = Unit(), [Nibble() for _ in range(4)], Size()


class Task:
    def __init__(self, key=0):
        self.key, self.state, self.time, self.faults, self.threads = key, 0, [0] * 4, 0, 0
        self.name, self.place, self.moved = 0, [0, 0], 0


class Row:
    def __init__(self):
        self.number, self.moved, self.apart = [0] * 12, 0, False


class Texts:
    """5"""

    def __init__(self):
        self.shelf, self.turn = [[], []], [0, 0]
        self.high, self.low = [Nibble(), Nibble()], [[Nibble() for _ in range(16)] for _ in range(2)]
        self.history, self.end, self.follow = bytearray(4096), 0, [0] * 2048
        self.last = self.run = self.start = 0
        self.as_expected = [Bit() for _ in range(16)]
        self.all_high, self.all_low = Nibble(), [Nibble() for _ in range(16)]
        self.near = [Nibble() for _ in range(1024)]

    def number(self, shelf, text):
        if len(text) > 47:
            return None
        n = self.turn[shelf]
        self.turn[shelf] = (n + 1) % (128 if shelf else 256)
        if n == len(self.shelf[shelf]):
            self.shelf[shelf].append(text)
        self.shelf[shelf][n] = text
        return n

    def get(self, shelf, number):
        if not 0 <= number < len(self.shelf[shelf]):
            raise Corrupt
        return self.shelf[shelf][number]

    def place(self):
        i = (self.last % (1 << 24) * MARK32 & MASK32) >> 21
        found, self.follow[i] = self.follow[i], 1 + self.end % 4096
        return found

    def expect(self, found):
        self.run, self.start = (1, found - 1) if found else (0, 0)

    def half(self, r, x, all_):
        m = self.near[((self.last % 256 * 256 + x) * MARK32 & MASK32) >> 22]
        if m.c[0] == 0:
            m.c = list(all_.c)
            m.c[0] = min(m.c[0], 4)
        s = r.nibble(m)
        all_.update(s)
        return s

    def byte(self, r):
        if self.run and not r.bit(self.as_expected[self.run]):
            byte = self.history[self.start]
        else:
            high = self.half(r, 0, self.all_high)
            byte = high << 4 | self.half(r, 1 + high, self.all_low[high])
        right = self.run > 0 and byte == self.history[self.start]
        self.history[self.end % 4096] = byte
        self.end += 1
        self.last = (self.last << 8 | byte) & MASK32
        found = self.place()
        if right:
            self.start, self.run = (self.start + 1) % 4096, min(self.run + 1, 15)
        else:
            self.expect(found)
        return byte


class Record:
    def __init__(self, tick, kind, key, numbers, text):
        self.tick, self.kind, self.key, self.numbers, self.text = tick, kind, key, numbers, text

    def line(self):
        words = [self.tick, self.kind, self.key, *self.numbers]
        if self.kind in TEXTS:
            words.append(self.text.hex() or "-")
        return " ".join(map(str, words))


class BootDecoder:
    """A segment: 3 and 4."""

    def __init__(self, first_tick):
        self.tick = self.passed = first_tick
        self.key = self.interval = 0
        self.kind, self.last_key = [KINDS, KINDS], [0] * KINDS
        self.alive, self.tasks = [0] * 1024, [Task() for _ in range(1024)]
        self.rows, self.texts = {}, Texts()
        self.kinds = [[Nibble() for _ in range(15)] for _ in range(15)]
        self.keys = [[Nibble(), Nibble()] for _ in range(KINDS)]
        self.times, self.text = [Nibble() for _ in range(KINDS)], [Nibble() for _ in range(KINDS)]
        self.state = [Nibble() for _ in range(16)]
        self.plain = [Size() for _ in range(6)]
        self.fields = [[Field() for _ in range(n)] for n in NUMBERS]

    def block(self, b):
        self.r = RangeDecoder(b.payload)
        for _ in range(b.events):
            yield self.record()

    def sized(self, size):
        high = self.r.nibble(size.high)
        a = self.r.bit(size.low[high][1])
        n = 4 * high + 2 * a + self.r.bit(size.low[high][2 + a])
        return 1 << n | self.r.bits(n)

    def task(self, key):
        if self.tasks[key % 1024].key != key:
            self.tasks[key % 1024] = Task(key)
        return self.tasks[key % 1024]

    def row(self, kind, key):
        return self.rows.setdefault((kind, key % (1 << ROW_BITS.get(kind, 0))), Row())

    def get_tick(self, kind):
        symbol, due = self.r.nibble(self.times[kind]), self.passed + self.interval
        if symbol > 6:
            raise Corrupt
        way = [lambda: self.tick, lambda: self.passed,
               lambda: self.tick + self.sized(self.plain[UP]),
               lambda: self.tick - self.sized(self.plain[DOWN]),
               lambda: due, lambda: due + self.sized(self.plain[LATE]),
               lambda: due - self.sized(self.plain[LATE])]
        return way[symbol]() & MASK64

    def get_key(self, kind):
        symbol, last = self.r.nibble(self.keys[kind][self.kind[0] == kind]), self.last_key[kind]
        if symbol == 12:
            return self.key
        if symbol == 13:
            return last + 1 & MASK32
        if symbol > 13:
            far = self.sized(self.plain[KEY]) - 1
            key = last + far if symbol == 14 else last - far
            if not 0 <= key <= MASK32:
                raise Corrupt
            return key
        if kind not in PIDS:
            return symbol
        behind = [pid for i in range(1, 1025) if (pid := self.alive[(last + i) % 1024]) > last]
        if symbol >= len(behind):
            raise Corrupt
        return behind[symbol]

    def expected(self, tick, kind, key):
        if kind == TASK:
            t = self.task(key)
            return [t.state, *t.time, t.faults, t.threads], t.moved
        row = self.row(kind, key)
        numbers = row.number[:NUMBERS[kind]]
        if kind == ACCOUNT:
            t = self.task(key)
            numbers = [*t.time, 0, 0, 0, 0, row.number[8], t.faults, 0, 0]
        if kind == START:
            numbers[1] = key
            numbers[2] = numbers[2] if row.apart else tick
        if kind == MARK:
            numbers[0] = numbers[0] if row.apart else tick
        return numbers, row.moved

    def get_difference(self, f, symbol):
        unit = f.unit.now or 1
        if symbol > 13:
            raise Corrupt
        if symbol <= 9:
            d = symbol * unit if symbol <= 6 else -(symbol - 6) * unit
        elif symbol <= 11:
            d = (6 + self.sized(f.size)) * unit if symbol == 10 else -(3 + self.sized(f.size)) * unit
        else:
            d = self.sized(f.size) if symbol == 12 else -self.sized(f.size)
        if not d & MASK64:
            raise Corrupt
        f.unit.learn((d if d > 0 else -d) & MASK64)
        return d

    def get_numbers(self, tick, kind, key):
        numbers, before = self.expected(tick, kind, key)
        moved = 0
        for i in range(NUMBERS[kind]):
            if kind == TASK and i == 0:
                s = self.r.nibble(self.state[numbers[0]])
                moved = int(s != numbers[0])
                numbers[0] = self.sized(self.plain[STATE]) if s == 15 else STATES[s]
                if s == 15 and numbers[0] in STATES:
                    raise Corrupt
                continue
            f = self.fields[kind][i]
            symbol = self.r.nibble(f.step[(before >> i & 1) + 2 * (moved << 1 >> i & 1)])
            if symbol:
                numbers[i] = numbers[i] + self.get_difference(f, symbol) & MASK64
                moved |= 1 << i
        return numbers, moved

    def get_text(self, kind, key):
        """The text, and its number or None."""
        symbol, shelf = self.r.nibble(self.text[kind]), int(kind == WAIT)
        t = self.tasks[key % 1024] if self.tasks[key % 1024].key == key else Task()
        if symbol == 3:
            length = self.sized(self.plain[LENGTH]) - 1
            if length > 1023:
                raise Corrupt
            self.texts.last = kind
            self.texts.expect(self.texts.place())
            text = bytes(self.texts.byte(self.r) for _ in range(length))
            return text, self.texts.number(shelf, text)
        if symbol == 2:
            high = self.r.nibble(self.texts.high[shelf])
            number = high << 4 | self.r.nibble(self.texts.low[shelf][high])
        elif symbol == 1 and kind == WAIT:
            number = t.place[1] - 1
        elif symbol == 0 and kind in (WAIT, NAME):
            number = (t.place[0] if kind == WAIT else t.name) - 1
        else:
            raise Corrupt
        return self.texts.get(shelf, number), number

    def record(self):
        kind = self.r.nibble(self.kinds[self.kind[1]][self.kind[0]])
        if kind >= KINDS:
            raise Corrupt
        tick, key = self.get_tick(kind), self.get_key(kind)
        numbers, moved, text, number = [], 0, b"", None
        if NUMBERS[kind]:
            numbers, moved = self.get_numbers(tick, kind, key)
        if kind in TEXTS:
            text, number = self.get_text(kind, key)
        self.learn(tick, kind, key, numbers, moved)
        if kind in TEXTS:
            self.learn_text(kind, key, 0 if number is None else number + 1)
        return Record(tick, kind, key, numbers, text)

    def learn(self, tick, kind, key, numbers, moved):
        if kind == TASK:
            t = self.task(key)
            t.state = STATES.index(numbers[0]) if numbers[0] in STATES else 15
            t.time, t.faults, t.threads = numbers[1:5], numbers[5] & MASK32, numbers[6] & MASK32
            t.moved = moved
        elif NUMBERS[kind]:
            row = self.row(kind, key)
            row.number[:len(numbers)], row.moved = numbers, moved
            if kind in (START, MARK):
                row.apart = numbers[2 if kind == START else 0] != tick
        if kind == START:
            parent = numbers[0] & MASK32
            name = self.tasks[parent % 1024].name if self.tasks[parent % 1024].key == parent else 0
            self.tasks[key % 1024] = Task(key)
            self.tasks[key % 1024].name = name
        if kind in PIDS:
            self.task(key)
        if START <= kind < EXIT:
            self.alive[key % 1024] = key
        if kind == EXIT and self.alive[key % 1024] == key:
            self.alive[key % 1024] = 0
        self.last_key[kind] = key
        if kind == PASS:
            self.interval, self.passed = tick - self.passed & MASK64, tick
            self.last_key[TASK] = self.last_key[WAIT] = 0
        self.tick, self.key, self.kind = tick, key, [kind, self.kind[0]]

    def learn_text(self, kind, key, said):
        if kind == NAME:
            self.task(key).name = said
        elif kind == WAIT and self.task(key).place[0] != said:
            self.task(key).place = [said, self.task(key).place[0]]


class VectorBlock:
    def __init__(self, payload, events):
        self.payload, self.events = payload, events


def check_vector(path):
    decoder, rows, blocks = None, [], 0
    parts = iter(open(path).read().split("\n"))
    for line in parts:
        if line.startswith("key "):
            decoder = BootDecoder(int(line.split()[1]))
        elif line == "payload":
            data = ""
            while (more := next(parts, "")):
                data += more
            found = [r.line() for r in decoder.block(VectorBlock(bytes.fromhex(data), len(rows)))]
            assert found == rows, (found, rows)
            rows, blocks = [], blocks + 1
        elif line:
            rows.append(line)
    assert blocks and not rows


if __name__ == "__main__":
    check_vector(sys.argv[1])

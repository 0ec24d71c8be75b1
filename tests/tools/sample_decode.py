# SPDX-License-Identifier: MIT
"""sample_decode: the codec sample as docs/format/sample.md describes it.

	sample_decode.py VECTOR      reads tests/vectors/sample.txt and holds its bytes against its records
	sample_decode.py FILE.ksk    prints the records of a sound file, CPU by CPU, as tests/tools/sample_dump.c does

It was written from that page and shares no line with the program. Models and range decoder are those of
sched_decode.py, blocks those of ksk_decode.py. The numbers in the comments are sections of the page.
"""
import sys

from sched_decode import Bit, Corrupt, int32, MASK32, MASK64, Nibble, RangeDecoder

KINDS = ["sample", "switch", "wake", "entry", "exit", "outside", "poll"]
MODES = ["idle", "kernel", "user", "guest-kernel", "guest-user"]
SAMPLE, SWITCH, WAKE, EXIT, POLL = 0, 1, 2, 4, 6
CALLERS, LINES, VALUES, DETAILS, GUESTS, TASKS = range(6)


def mark(x):
    return x * 0x9e3779b1 & MASK32


def hash3(use, a, b):
    return (mark(a + (use << 16)) ^ mark(b + 0x5bd1e995) >> 7) * 0x85ebca6b & MASK32


def fold(v):
    return v & MASK32 ^ v >> 32


def nibbles(*sizes):
    return Nibble() if not sizes else [nibbles(*sizes[1:]) for _ in range(sizes[0])]


def bits(*sizes):
    return Bit() if not sizes else [bits(*sizes[1:]) for _ in range(sizes[0])]


class Guess:
    """3.2"""
    __slots__ = "first", "second", "sure"

    def __init__(self):
        self.first = self.second = self.sure = 0

    def learn(self, slot):
        if self.first == slot:
            self.sure = min(self.sure + 1, 7)
        elif self.sure == 0:
            self.second, self.first = self.first, slot
        else:
            self.sure, self.second = self.sure >> 1, slot


class Task:
    """3"""

    def __init__(self, tid=0):
        self.tid, self.pid, self.vcpu, self.comm = tid, tid, -1, bytes(16)
        self.used = self.mode = self.name = self.root = 0
        self.place = self.guest_place = self.table = self.reason = self.before = 0

    def word(self):
        text = "".join(chr(b) if 0x20 < b < 0x7f and b != 0x25 else f"%{b:02x}"
                       for b in self.comm.rstrip(b"\0"))
        return f"{self.tid}/{self.pid}/{'-' if self.vcpu == -1 else self.vcpu}/{text}"


class Number:
    """3.1"""

    def __init__(self):
        self.sign, self.high, self.last, self.low = Nibble(), Nibble(), Nibble(), bits(16, 4)


class Tree:
    def __init__(self):
        self.high, self.middle, self.low = nibbles(), nibbles(16), nibbles(256)


class Due:
    """4"""

    def __init__(self):
        self.tick = self.period = self.last = self.apart = 0
        self.cost = [0, 0]

    def learn(self, t, before):
        late = t - self.tick & MASK64
        sign, off = (-1, MASK64 + 1 - late) if late >> 63 else (1, late)
        self.cost[0] += (t - before & MASK64).bit_length() - (self.cost[0] >> 4)
        self.cost[1] += off.bit_length() + 1 - (self.cost[1] >> 4)
        if off <= self.period >> 2:
            self.tick += sign * (off >> 2)
            self.period = self.period + sign * (off >> 6) & MASK64
            self.apart = 0
        else:
            if self.apart:
                self.period = t - self.last & MASK64
            self.apart, self.tick = 1 - self.apart, t
        self.tick = self.tick + self.period & MASK64
        self.last = t


class SampleDecoder:
    """3"""

    def __init__(self, first_tick):
        self.r, self.tick, self.kind, self.due = None, first_tick, [7, 7], Due()
        self.words, self.turn, self.tasks = [0] * 8192, 0, [Task()]
        self.cur = self.hand = self.last_next = self.last_tid = self.kernel_root = self.last_detail = 0
        self.value, self.weights, self.guest, self.last_guest = [0] * 8, [0] * 3, [0] * 8, [0] * 6
        self.spot, self.exit_guest, self.exit_mode = (0, {}), [0] * 8, nibbles(8)
        self.exit_same, self.spot_same = bits(8), bits(8)
        self.tables = [[Guess() for _ in range(1 << n)] for n in (11, 13, 11)]
        self.kinds, self.rank, self.trees = nibbles(8, 8, 4), nibbles(7, 128), [Tree(), Tree()]
        self.task_high, self.task_low = nibbles(), nibbles(16)
        self.time, self.time_more, self.time_low = nibbles(128), nibbles(256), bits(8, 16, 4)
        self.high, self.low, self.all_high, self.all_low = nibbles(256), nibbles(256), nibbles(), nibbles(16)
        self.mode, self.shape, self.weight = nibbles(8, 8), nibbles(8), nibbles()
        self.comm_length, self.comm_high, self.comm_low = nibbles(), nibbles(64), nibbles(16, 16)
        self.poll_more, self.late_more = nibbles(64), nibbles(64)
        self.numbers = [Number() for _ in range(12)]
        self.time_back, self.is_cur, self.guest_same, self.choice = bits(8), bits(8, 8), bits(8), bits(4)

    # 3.1

    def bits_of(self, n):
        v = 0
        while n > 16:
            v, n = v << 16 | self.r.raw(16), n - 16
        return v << n | self.r.raw(n) if n else v

    def size(self, high, low):
        h = self.r.nibble(high)
        a = self.r.bit(low[h][1])
        return 4 * h + 2 * a + self.r.bit(low[h][2 + a])

    def rest(self, model, n):
        t = min(n, 4)
        x = self.r.nibble(model) % (1 << t) if t else 0
        return (1 << n) + (x << n - t) + self.bits_of(n - t)

    def number(self, k, more=None):
        m = self.numbers[k]
        sign = self.r.nibble(m.sign)
        if sign > 2:
            raise Corrupt
        if sign == 0:
            return 0
        n = self.size(m.high, m.low)
        if more:
            v = self.rest(more[n], n)
        elif n >= 4:
            v = ((1 << n - 4) + self.bits_of(n - 4)) * 16
            v += self.r.nibble(m.last)
        else:
            v = (1 << n) + self.bits_of(n)
        return v if sign == 1 else -v

    # 3.2

    def add(self, word):
        four = [(mark(fold(word)) >> 19 & ~3) + i for i in range(4)]
        free = [slot for slot in four if slot and self.words[slot] == 0]
        if free:
            slot = free[0]
        else:
            slot, self.turn = four[self.turn % 4] or 1, self.turn + 1
        self.words[slot] = word
        return slot

    def which(self, of, context):
        n, m, w = guesses = [t[h >> 32 - (len(t) - 1).bit_length()] for t, h in zip(self.tables, context)]
        x = n.sure + 8 * (m.sure >> 1) + 32 * (n.first == m.first) + 64 * (n.first == w.first)
        rank = self.r.nibble(self.rank[6 if of == CALLERS and n.first == 0 else of][x])
        candidates = list(dict.fromkeys([g.first for g in guesses] + [g.second for g in guesses]))
        if rank > 7 or (rank < 6 and rank >= len(candidates)):
            raise Corrupt
        return guesses, rank, candidates[rank] if rank < 6 else None

    def word(self, of, context, near=0):
        guesses, rank, slot = self.which(of, context)
        if rank == 6:
            tree = self.trees[of > LINES]
            a = self.r.nibble(tree.high)
            b = self.r.nibble(tree.middle[a])
            slot = 512 * a + 32 * b + 2 * self.r.nibble(tree.low[16 * a + b])
            slot += self.r.raw(1)
        elif rank == 7:
            slot = self.add(near + self.number(of) & MASK64)
        if slot == 0 and of != CALLERS:
            raise Corrupt
        for guess in guesses:
            guess.learn(slot)
        return slot

    # 3.3

    def who(self, context):
        guesses, rank, slot = self.which(TASKS, context)
        if rank == 6:
            h = self.r.nibble(self.task_high)
            slot = 16 * h + self.r.nibble(self.task_low[h])
        elif rank == 7:
            slot = self.new_task()
        if slot >= len(self.tasks):
            raise Corrupt
        for guess in guesses:
            guess.learn(slot)
        return slot

    def reuse(self):
        if len(self.tasks) < 256:
            self.tasks.append(None)
            return len(self.tasks) - 1
        while True:
            self.hand = (self.hand + 1) % 256
            if self.hand != self.cur and not self.tasks[self.hand].used:
                return self.hand
            self.tasks[self.hand].used = 0

    def new_task(self):
        self.last_tid = int32(self.last_tid + self.number(5))
        slot = next((i for i, t in enumerate(self.tasks) if t.tid == self.last_tid), None)
        if slot is None:
            slot = self.reuse()
            self.tasks[slot] = Task(self.last_tid)
        t = self.tasks[slot]
        if self.r.bit(self.choice[0]):
            t.pid = int32(t.pid + self.number(6))
        if self.r.bit(self.choice[1]):
            t.vcpu = int32(t.vcpu + self.number(7))
        others = [o for o in self.tasks if o is not t and o.pid == t.pid]
        if self.r.bit(self.choice[2]):
            t.comm = self.new_comm()
        elif t.comm[0] == 0:
            t.comm = (others[0] if others else self.tasks[self.cur]).comm
        t.name = 0
        for b in t.comm:
            t.name = mark(t.name + b)
        if not t.root:
            t.root = next((o.root for o in others if o.root), 0)
        return slot

    def new_comm(self):
        n, last, text = self.r.nibble(self.comm_length), 0, b""
        if n == 15:
            n += self.r.bit(self.choice[3])
        for _ in range(n):
            h = self.r.nibble(self.comm_high[last >> 2])
            last = 16 * h + self.r.nibble(self.comm_low[h][last >> 4])
            text += bytes([last])
        return text.ljust(16, b"\0")

    # 3.4

    def young(self, model, everybody):
        if model.c[0] == 0:
            model.c = list(everybody.c)
            model.c[0] = min(model.c[0], 4)
        s = self.r.nibble(model)
        everybody.update(s)
        return s

    def place(self, context, near):
        slot = self.word(LINES, context)
        line = self.words[slot] + (near >> 8) & (1 << 56) - 1
        h = self.young(self.high[mark(fold(line)) >> 24], self.all_high)
        low = self.young(self.low[mark(fold(16 * line + h)) >> 24], self.all_low[h])
        return slot, 256 * line + 16 * h + low

    # 4

    def block(self, payload, events):
        self.r = RangeDecoder(payload)
        lines = [self.record() for _ in range(events)]
        if self.r.pos + 4 < len(payload):
            raise Corrupt
        return lines

    def record(self):
        kind = self.r.nibble(self.kinds[self.kind[1]][self.kind[0]][mark(self.value[EXIT]) >> 30])
        if kind > 6:
            raise Corrupt
        tick = self.get_tick(kind) & MASK64
        s = self.cur
        if self.r.bit(self.is_cur[self.kind[0]][kind]):
            s = self.who((hash3(8, self.cur, self.kind[0]), hash3(8, self.cur, 15), hash3(8, 0, 16)))
        t, following = self.tasks[s], 0
        said = [str(tick), KINDS[kind], t.word()]
        if kind == SAMPLE:
            said += self.sample(s, t)
            self.due.learn(tick, self.tick)
        else:
            value, detail = self.get_value(kind, s, t)
        left = self.left(s, t) if kind == EXIT else None
        if kind in (SWITCH, WAKE):
            u = 9 | kind << 8
            following = self.who((hash3(u, s, 16 * self.last_next + value % 16), hash3(u, s, 8192),
                                  hash3(u, self.last_next, 8193)))
            said.append(self.tasks[following].word())
            self.tasks[following].used, self.last_next = 1, following
        if kind != SAMPLE and (value or detail):
            said.append(str(value))
        if kind != SAMPLE and detail:
            said.append(hex(detail))
        if left:
            if left[0].isdigit() and not detail:
                said += ["0x0"] if value else ["0", "0x0"]
            said += left
        self.tasks[s].used, self.cur = 1, following if kind == SWITCH else s
        self.tick, self.kind = tick, [kind, self.kind[0]]
        return " ".join(said)

    def get_tick(self, kind):
        if kind == SAMPLE and self.due.cost[1] < self.due.cost[0]:
            return self.due.tick + self.number(11, self.late_more)
        if self.r.bit(self.time_back[kind]):
            return self.tick + self.number(8)
        why = self.value[EXIT] if self.kind[0] == EXIT else 0
        t = mark(kind + 8 * self.kind[0] + 64 * why) >> 25
        n = self.size(self.time[t], self.time_low[kind])
        return self.tick + self.rest(self.time_more[mark(64 * t + n) >> 24], n) - 1

    def get_value(self, k, s, t):
        if k == POLL:
            value = self.number(10, self.poll_more)
            v = value.bit_length()
        else:
            v = self.word(VALUES, (hash3(16 + k, s, t.reason | t.before << 13),
                                   hash3(16 + k, self.value[k], t.reason), hash3(16 + k, s, 8192)))
            value = self.words[v]
        slot = self.word(DETAILS, (hash3(24 + k, v, s), hash3(24 + k, v, 256), hash3(24 + k, s, 8192)),
                         self.last_detail)
        self.last_detail = self.words[slot]
        self.value[k] = v
        if k == EXIT:
            t.before, t.reason = t.reason, v
        return value, self.last_detail

    def get_mode(self, model):
        mode = self.r.nibble(model)
        return self.r.raw(8) if mode == 15 else mode

    def known(self, same, last, m):
        if self.r.bit(same[m]):
            last[m] = self.r.raw(8)
        return last[m]

    def sample(self, s, t):
        mode = self.get_mode(self.mode[t.mode][self.kind[0]])
        m = mode % 8
        guest = self.known(self.guest_same, self.guest, m)
        i = self.r.nibble(self.weight)
        weight = self.weights[i] if i < 3 else self.weights[0] + self.number(9) & MASK64
        if weight in self.weights[:2]:
            self.weights.remove(weight)
        else:
            self.weights.pop()
        self.weights.insert(0, weight)
        said = [MODES[mode] if mode < 5 else str(mode), str(weight)]
        said += self.chain(mode, t)
        told = self.guests(guest, mode, s, t)
        if guest & 1:
            t.guest_place, told["pc"] = self.place((hash3(2, t.guest_place, mode | t.table << 8),
                                                    hash3(2, t.table, mode | 1 << 20),
                                                    hash3(2, s, mode | 1 << 21)), self.last_guest[5])
            self.last_guest[5] = told["pc"]
        if guest:
            self.learn_spot(mode, told)
        t.mode = m
        return said + self.say(told)

    # 5

    def callers(self, walk):
        path, last, before, near = walk
        found = []
        while True:
            w = self.word(CALLERS, (mark(path), hash3(0, last >> 16, before >> 16), hash3(0, last >> 16, 8192)))
            if w:
                near = near + self.words[w] & MASK64
                found.append(near)
            here = w + ((near & 4095) << 16)
            path = (path << 5 | path >> 27) & MASK32 ^ mark(here)
            last, before = here, last
            if not w:
                walk[:] = path, last, before, near
                return found

    def chain(self, mode, t):
        shape = self.r.nibble(self.shape[mode % 8])
        if shape == 0:
            return []
        walk = [hash3(0, t.name, shape), 0, shape, t.root if shape & 2 else self.kernel_root]
        user = self.callers(walk) if shape & 2 else []
        kernel = []
        if shape & 1:
            walk[3] = self.kernel_root
            kernel = self.callers(walk)
        path, last, _, near = walk
        t.place, first = self.place((hash3(1, path, mode), hash3(1, last, mode + 256),
                                     hash3(1, t.place, mode + 512)), near)
        (kernel if shape & 1 else user).append(first)
        if user:
            t.root = user[0]
        if kernel:
            self.kernel_root = kernel[0]
        return [word + ",".join(hex(a) for a in reversed(part)) for word, part in (("k=", kernel), ("u=", user))
                if part]

    # 6

    def guests(self, guest, mode, s, t):
        x, told = t.table, {}

        def get(field, use, of, at):
            slot = self.word(GUESTS, (hash3(use, s << 8 | at, of), hash3(use, s, 8192), hash3(use, of, 8193)),
                             self.last_guest[field])
            self.last_guest[field] = self.words[slot]
            return slot

        if guest & 2:
            x = t.table = get(0, 3, x, mode)
            told["table"] = self.last_guest[0]
        if guest & 4:
            x = get(1, 4, x, mode)
            told["context"] = self.last_guest[1]
        if guest & 8:
            get(2, 5, x, mode)
            told["task"] = self.last_guest[2]
        if guest & 16:
            get(4, 7, get(3, 6, t.reason | t.before << 13, 0), 0)
            told["reason"] = self.last_guest[3:5]
        if guest >> 5:
            told["guest"] = guest & ~31
        return told

    def learn_spot(self, mode, told):
        self.spot = mode, {word: told[word] for word in ("pc", "table", "context", "task") if word in told}

    # 7

    def left(self, s, t):
        w = 0 if self.kind[0] == SAMPLE else 4 + (mark(self.value[EXIT]) >> 30)
        mode, told = self.spot
        if self.r.bit(self.spot_same[w]):
            mode = self.get_mode(self.exit_mode[mode % 8])
            guest = self.known(self.exit_same, self.exit_guest, mode % 8)
            told = self.guests(guest, mode, s, t)
            if guest & 1:
                _, told["pc"] = self.place((hash3(10, t.reason | t.before << 13, mode | t.table << 8),
                                            hash3(10, t.reason, t.table | 1 << 20),
                                            hash3(10, t.reason, mode | 1 << 21)), 0)
            self.learn_spot(mode, told)
        if not mode and not told:
            return None
        return [MODES[mode] if mode < 5 else str(mode)] + self.say(told)

    @staticmethod
    def say(told):
        said = [f"{word}={told[word]:#x}" for word in ("pc", "table", "context", "task") if word in told]
        if "reason" in told:
            said.append("reason={:#x}/{:#x}".format(*told["reason"]))
        return said + ([f"guest={told['guest']}"] if "guest" in told else [])


def check_vector(path):
    decoder, rows, blocks = None, [], 0
    parts = iter(open(path).read().split("\n"))
    for line in parts:
        if line.startswith("key "):
            decoder = SampleDecoder(int(line.split()[1]))
        elif line == "payload":
            data = ""
            while (more := next(parts, "")):
                data += more
            found = ["0 " + row for row in decoder.block(bytes.fromhex(data), len(rows))]
            for one, other in zip(found, rows):
                assert one == other, f"{one} is not {other}"
            rows, blocks = [], blocks + 1
        elif line:
            rows.append(line)
    assert blocks and not rows


def print_file(path):
    from ksk_decode import File
    decoder = None
    with open(path, "rb") as f:
        file = File(f.read())
    for b in sorted(file.blocks, key=lambda b: (b.stream, b.sequence)):
        if 36864 <= b.stream < 36864 + 4096:
            decoder = SampleDecoder(b.first_tick) if b.key else decoder
            for row in decoder.block(b.payload, b.events):
                print(b.stream - 36864, row)


if __name__ == "__main__":
    print_file(sys.argv[1]) if sys.argv[1].endswith(".ksk") else check_vector(sys.argv[1])

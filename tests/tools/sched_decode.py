# SPDX-License-Identifier: MIT
"""sched_decode: the codec sched (docs/format/sched.md) on the models and the range decoder of
docs/format/wire.md, sections 4 and 5. See ksk_decode.py, which uses it.
"""

MASK32, MASK64 = (1 << 32) - 1, (1 << 64) - 1


class Corrupt(Exception):
    """No encoder made this."""


def int32(v):
    return (v + (1 << 31) & MASK32) - (1 << 31)


def unzigzag(v):
    return v >> 1 if v & 1 == 0 else -(v + 1 >> 1)


class Bit:
    """wire 4.1"""
    RATES = [1, 2, 3, 3, 4, 4, 4, 5]
    __slots__ = "p", "age"

    def __init__(self):
        self.p, self.age = 4096, 0

    def zero(self):
        return self.p << 3 | 4

    def update(self, bit):
        rate = self.RATES[self.age]
        self.p += -(self.p >> rate) if bit else 8191 - self.p >> rate
        self.age = min(self.age + 1, 7)


class Nibble:
    """wire 4.2"""
    FLAT = [4096 * j for j in range(16)]
    RATES = [2] + [3] * 3 + [4] * 11 + [5] * 18
    TARGETS = {(rate, s): [1] + [j if j <= s else (65536 >> rate) - (16 - j) for j in range(1, 16)]
               for rate in range(2, 6) for s in range(16)}
    __slots__ = "c",

    def __init__(self, prior=None):
        self.c = list(prior or self.FLAT)

    def find(self, value):
        for s in range(15, 0, -1):
            if self.c[s] <= value:
                return s
        return 0

    def update(self, s):
        rate = self.RATES[self.c[0]]
        self.c = [c - (c >> rate) + t for c, t in zip(self.c, self.TARGETS[rate, s])]


class RangeDecoder:
    """wire 5.1"""

    def __init__(self, payload):
        self.payload, self.pos, self.range = payload, 0, MASK64
        self.code = self.word() << 32
        self.code |= self.word()

    def word(self):
        self.pos += 4
        if self.pos > len(self.payload) + 16:
            raise Corrupt
        return int.from_bytes(self.payload[self.pos - 4:self.pos].ljust(4, b"\0"), "big")

    def renorm(self):
        if self.range < 1 << 32:
            self.code = self.code << 32 & MASK64 | self.word()
            self.range <<= 32

    def bit(self, m):
        bound = (self.range >> 16) * m.zero()
        bit = int(self.code >= bound)
        if bit:
            self.code -= bound
            self.range -= bound
        else:
            self.range = bound
        m.update(bit)
        self.renorm()
        return bit

    def nibble(self, m):
        unit = self.range >> 16
        s = m.find(self.code // unit)
        low, high = m.c[s], m.c[s + 1] if s < 15 else 65536
        self.code -= unit * low
        self.range = unit * (high - low)
        m.update(s)
        self.renorm()
        return s

    def raw(self, n):
        self.range >>= n
        value = min(self.code // self.range, (1 << n) - 1)
        self.code -= value * self.range
        self.renorm()
        return value

    def bits(self, n):
        v = 0
        while n > 16:
            n -= 16
            v = v << 16 | self.raw(16)
        return v << n | self.raw(n) if n else v


PID, CLASS, PRIO, STATE, LENGTH, CPU, VALUE, TIME, OFFSET = range(9)
(COMM_OF_CUR, COMM_KNOWN, INFO_CUR, INFO_OTHER, COMM_SAME, CHILD_KNOWN, PATH_KNOWN, GROUP_DEAD,
 SETPRIO, TASK_IS_CUR, OLD_COMM, OLD_PRIO, PLAIN, CPU_SAME) = range(14)
NEXT, WAKEE, ODD_NEXT, ODD_WAKEE, ROLE_CUR = range(5)
PART_CUR, PART_ATTR, PART_INFO, PART_VALUE = 1, 2, 4, 8
PRIOR_A = [0, 18000, 26000, 28000, 31000, 33000, 34000, 35000, 36000, 54000, 58000, 59000, 60500,
           62000, 63500, 65000]
PRIOR_B = [0, 32768, 39322, 43254, 51118, 55050, 65376, 65392, 65408, 65424, 65440, 65456, 65472,
           65488, 65504, 65520]


class Task:
    def __init__(self, pid=0, prio=0, name=b"", wake_cpu=0):
        self.pid, self.prio, self.name, self.wake_cpu, self.used = pid, prio, name, wake_cpu, 0

    def copy(self):
        return Task(self.pid, self.prio, self.name)


class Event:
    def __init__(self):
        self.kind = self.tick = self.off = self.pid = self.attr = 0
        self.state = self.value = self.extra = 0
        self.task, self.other, self.filename = Task(), Task(), b""


class Guess:
    """sched 5"""
    __slots__ = "first", "second", "sure"

    def __init__(self):
        self.first = self.second = self.sure = 0

    def learn(self, slot):
        if self.first == slot:
            self.sure = min(self.sure + 1, 7)
        elif self.sure == 0:
            self.first, self.second, self.sure = slot, self.first, 1
        else:
            self.sure >>= 1
            self.second = slot


class Table(dict):
    """Models by context, made when first asked for."""

    def __init__(self, make):
        super().__init__()
        self.make = make

    def __missing__(self, key):
        self[key] = self.make()
        return self[key]


def op_group(op):
    return 1 if op == 0 else 0 if op < 8 else 2 if op < 11 else 3


def guess_hash(a, b):
    return (a * 0x9e3779b1 + b * 0x85ebca6b & MASK32) >> 22


class SchedDecoder:
    """The model of sched 3, and what reads events with it; a new one at each KEY block."""

    def __init__(self, cpu, first_tick):
        self.cpu, self.last_tick, self.rc = cpu, first_tick, None
        self.states, self.state_hand = [0x1, 0x0, 0x100, 0x2, 0x80, 0x20, 0x10], 0
        self.slots, self.hand = [Task(0, 120, b"swapper/%d" % cpu, cpu)], 0
        self.cur = self.pending = self.last_wakee = self.last_new_pid = self.last_oom = 0
        self.op1 = self.op2 = self.missed = self.success = 0
        self.attrs, self.attr_hand, self.usual = [], 0, Table(int)
        self.comms, self.comm_hand = [b""] * 64, 0
        self.paths, self.path_hand = [b""] * 32, 0
        self.next, self.wakee = Table(Guess), Table(Guess)
        self.op_model, self.who = Table(lambda: Nibble(PRIOR_A)), Table(lambda: Nibble(PRIOR_B))
        self.slot_high, self.slot_middle, self.part, self.attr_model, self.time1, self.time2 = (
            Table(Nibble) for _ in range(6))
        (self.slot_low, self.expected, self.comm_tree, self.comm_byte, self.path_tree,
         self.path_byte, self.numbers, self.choices) = (Table(Bit) for _ in range(8))

    def idle(self):
        return int(self.cur == 0)

    # Small parts: sched 4.

    def choice(self, c):
        return self.rc.bit(self.choices[c])

    def tree(self, models, n):
        node = 1
        for _ in range(n):
            node = 2 * node + self.rc.bit(models[node])
        return node - (1 << n)

    def number(self, use):
        size = 0
        while size < 64 and self.rc.bit(self.numbers[use, size]):
            size += 1
        return 1 << size - 1 | self.rc.bits(size - 1) if size else 0

    def signed(self, use):
        return unzigzag(self.number(use))

    def comm(self):
        if self.choice(COMM_OF_CUR):
            return self.slots[self.cur].name
        if self.choice(COMM_KNOWN):
            return self.comms[self.tree(self.comm_tree, 6)]
        name = b""
        while len(name) < 16 and (byte := self.tree(self.comm_byte, 8)):
            name += bytes([byte])
        self.comms[self.comm_hand] = name
        self.comm_hand = (self.comm_hand + 1) % 64
        return name

    def new_task(self):
        self.last_new_pid = int32(self.last_new_pid + self.signed(PID))
        name = self.comm()
        prio = int32(self.slots[self.cur].prio + self.signed(PRIO))
        slot = self.free_slot()
        self.slots[slot] = Task(self.last_new_pid, prio, name, self.cpu)
        return slot

    def free_slot(self):
        if len(self.slots) < 1024:
            self.slots.append(None)
            return len(self.slots) - 1
        while True:
            self.hand = (self.hand + 1) % 1024
            if self.hand in (0, self.cur):
                continue
            if not self.slots[self.hand].used:
                return self.hand
            self.slots[self.hand].used = 0

    def known_slot(self, tree):
        high = self.rc.nibble(self.slot_high[tree])
        k = 16 * high + self.rc.nibble(self.slot_middle[tree, high])
        a = self.rc.bit(self.slot_low[tree, k, 1])
        slot = 4 * k + 2 * a + self.rc.bit(self.slot_low[tree, k, 2 + a])
        if slot >= len(self.slots):
            raise Corrupt
        return slot

    def info(self, slot):
        if not self.choice(COMM_SAME):
            self.slots[slot].name = self.comm()
        self.slots[slot].prio = int32(self.slots[slot].prio + self.signed(PRIO))

    def time(self, op):
        half = self.rc.nibble(self.time1[self.idle(), self.op1, op])
        if half == 15:
            size = 30 + self.number(CLASS)
            if size > 64:
                raise Corrupt
            return 1 << size - 1 | self.rc.bits(size - 1)
        s = self.rc.nibble(self.time2[op_group(self.op1), half, op])
        size, top = 2 * half + (s >> 3), 8 + (s & 7)
        if size <= 4:
            return top >> 4 - size if size else 0
        return top << size - 4 | self.rc.bits(size - 4)

    def run(self, slot):
        self.cur = slot
        if self.pending == slot:
            self.pending = 0

    # Guesses: sched 5. They are (entry that learns, candidates, context).

    def guesses(self, entry, candidates, other):
        context = (entry.sure + 8 * (candidates[0] == candidates[1]) + 16 * other +
                   32 * self.idle() + 64 * self.missed)
        return entry, candidates, context

    def guess_next(self, op):
        entry = self.next[guess_hash(self.cur + 1024 * op, self.pending)]
        return self.guesses(entry, (entry.first, self.pending, entry.second), self.pending != 0)

    def guess_wakee(self, op, i):
        entry = self.wakee[guess_hash(self.cur + 1024 * i, self.last_wakee + 1024 * op)]
        second = self.last_wakee if op == 9 else entry.second
        return self.guesses(entry, (entry.first, second, self.pending), op != 8)

    def guess_cur(self):
        entry = self.next[guess_hash(self.cur + 1024 * 15, 0)]
        return self.guesses(entry, (entry.first, self.pending, entry.second), 0)

    def find(self, role, w, guesses):
        entry, candidates, _ = guesses
        if w < 3:
            slot = candidates[w]
        elif w == 3:
            slot = self.known_slot(int(role in (WAKEE, ODD_WAKEE)))
        elif w == 4:
            slot = self.new_task()
        else:
            raise Corrupt
        self.slots[slot].used = 1
        entry.learn(slot)
        return slot

    def find_task(self, role, guesses):
        return self.find(role, self.rc.nibble(self.who[role, guesses[2]]), guesses)

    # An event: sched 6.

    def usual_key(self, op):
        return op, self.idle(), self.op1 == 8

    def usual_attr(self, op):
        i = self.usual[self.usual_key(op)]
        return self.attrs[i] if i < len(self.attrs) else 0

    def cur_parts(self, op):
        parts = self.rc.nibble(self.part[op, self.idle()])
        if parts & PART_CUR:
            self.run(self.find_task(ROLE_CUR, self.guess_cur()))
        if parts & PART_ATTR:
            self.read_attr(op)
        if parts & PART_INFO and op == 11:
            if self.choice(INFO_CUR):
                self.slots[self.cur].name = self.comm()
        elif parts & PART_INFO and (op <= 7 or op == 13):
            if self.choice(INFO_CUR):
                self.info(self.cur)
        return parts

    def read_attr(self, op):
        k = self.rc.nibble(self.attr_model[op])
        if k == 15:
            attr = self.rc.bits(16)
            if len(self.attrs) < 15:
                k = len(self.attrs)
                self.attrs.append(attr)
            else:
                k, self.attr_hand = self.attr_hand, (self.attr_hand + 1) % 15
                self.attrs[k] = attr
        elif k >= len(self.attrs):
            raise Corrupt
        self.usual[self.usual_key(op)] = k

    def guess_other(self, op):
        if op <= 7:
            return self.guess_next(op)
        return self.guess_wakee(op, self.usual[self.usual_key(op)])

    def common(self, ev, op):
        role = NEXT if op <= 7 else WAKEE
        guesses = self.guess_other(op)
        w = self.rc.nibble(self.who[role, guesses[2]])
        before = self.slots[self.cur].copy()
        if w == 5:
            parts = self.cur_parts(op)
            before = self.slots[self.cur].copy()
            slot = self.find_task(role + 2, self.guess_other(op))
            if parts & PART_INFO and self.choice(INFO_OTHER):
                self.info(slot)
            if parts & PART_VALUE:
                if not self.choice(CPU_SAME):
                    self.slots[slot].wake_cpu = int32(self.cpu + self.signed(CPU))
                self.success ^= self.number(VALUE) & 255
        else:
            slot = self.find(role, w, guesses)
        self.missed = int(w == 5)
        ev.attr, ev.pid = self.usual_attr(op), self.slots[self.cur].pid
        self.last_tick += self.time(op)
        if op <= 7:
            ev.task, ev.other = before, self.slots[slot].copy()
            self.run(slot)
            return
        ev.task = self.slots[slot].copy()
        ev.value, ev.extra = self.slots[slot].wake_cpu, self.success
        self.last_wakee = slot
        if ev.value == self.cpu:
            self.pending = slot

    def uncommon(self, ev, op):
        if self.rc.bit(self.expected[op]):
            self.cur_parts(op)
        cur = self.slots[self.cur]
        ev.attr, ev.pid = self.usual_attr(op), cur.pid
        ev.task.pid = cur.pid
        if op == 11:
            self.fork(ev)
        elif op == 12:
            self.execute(ev)
        elif op == 13:
            ev.task, ev.extra = cur.copy(), self.choice(GROUP_DEAD)
        else:
            self.rename_or_setprio(ev)
        self.last_tick += self.time(op)

    def fork(self, ev):
        ev.task.name = self.slots[self.cur].name
        if self.choice(CHILD_KNOWN):
            slot = self.known_slot(0)
            self.slots[slot].name = self.comm()
        else:
            slot = self.new_task()
        ev.other.pid, ev.other.name = self.slots[slot].pid, self.slots[slot].name

    def execute(self, ev):
        ev.value = int32(ev.pid + self.signed(VALUE))
        if self.choice(PATH_KNOWN):
            ev.filename = self.paths[self.tree(self.path_tree, 5)]
        else:
            n = self.number(LENGTH)
            if n > 4095:
                raise Corrupt
            if n <= 94:
                ev.filename = bytes(self.tree(self.path_byte, 8) for _ in range(n))
                self.paths[self.path_hand] = ev.filename
                self.path_hand = (self.path_hand + 1) % 32
            else:
                ev.filename = bytes(self.rc.bits(8) for _ in range(n))
        base = ev.filename[ev.filename.rfind(b"/") + 1:]
        if base:
            self.slots[self.cur].name = base[:15].split(b"\0")[0]

    def rename_or_setprio(self, ev):
        ev.kind = 8 if self.choice(SETPRIO) else 7
        slot = self.cur
        if not self.choice(TASK_IS_CUR):
            slot = self.find_task(ODD_WAKEE, self.guess_wakee(14, 0))
        task = self.slots[slot]
        if not self.choice(OLD_COMM):
            task.name = self.comm()
        ev.task.pid, ev.task.name = task.pid, task.name
        if ev.kind == 8:
            if not self.choice(OLD_PRIO):
                task.prio = int32(task.prio + self.signed(PRIO))
            ev.task.prio = task.prio
            task.prio = int32(task.prio + self.signed(PRIO))
            ev.other.prio = task.prio
        else:
            task.name = self.comm()
            ev.other.name = task.name
            self.last_oom = int32(self.last_oom + self.signed(VALUE))
            ev.value = self.last_oom

    def plain_task(self):
        pid, prio = int32(self.rc.bits(32)), int32(self.rc.bits(32))
        return Task(pid, prio, bytes(self.rc.bits(8) for _ in range(16)).split(b"\0")[0])

    def plain(self, ev):
        ev.kind, ev.state = self.rc.bits(4), self.rc.bits(64)
        ev.pid, ev.value = int32(self.rc.bits(32)), int32(self.rc.bits(32))
        ev.attr, ev.extra = divmod(self.rc.bits(24), 256)
        ev.task, ev.other = self.plain_task(), self.plain_task()
        n = self.rc.bits(16)
        if ev.kind > 8 or n > 4095:
            raise Corrupt
        ev.filename = bytes(self.rc.bits(8) for _ in range(n))

    def event(self):
        ev = Event()
        ops = self.op_model[self.idle(), self.op2, self.op1]
        op = self.rc.nibble(ops)
        plain = False
        if op == 15:
            plain = self.choice(PLAIN)
            self.last_tick += self.signed(TIME)
            ev.off = int32(self.signed(OFFSET))
            op = 15 if plain else self.rc.nibble(ops)
        if plain:
            self.plain(ev)
        elif op <= 7:
            if op == 7:
                ev.state = self.number(STATE)
                self.states[3 + self.state_hand] = ev.state
                self.state_hand = (self.state_hand + 1) % 4
            else:
                ev.state = self.states[op]
            self.common(ev, op)
        elif op <= 10:
            ev.kind = op - 7
            self.common(ev, op)
        elif op < 15:
            ev.kind = op - 7
            self.uncommon(ev, op)
        else:
            raise Corrupt
        self.last_tick &= MASK64
        ev.tick = self.last_tick
        self.op1, self.op2 = op, self.op1
        return ev

    def block(self, b):
        """The events of a block; sched 7."""
        self.rc = RangeDecoder(b.payload)
        for _ in range(b.events):
            yield self.event()

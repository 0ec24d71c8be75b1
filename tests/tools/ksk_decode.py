#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""ksk_decode: a reader of .ksk files that shares nothing with the program but its specification.

	ksk_decode.py FILE.ksk         prints what docs/format/json.md calls newline-delimited JSON
	ksk_decode.py --boot FILE.ksk  prints the records of its boot chart, as tests/tools/boot_make.c does

It follows docs/format/wire.md, sched.md, boot.md and ksk.md section by section and shares no line with the
program, to show that they are enough; tests/system/spec.sh holds it against the program, event by event. The numbers in the comments are
sections of those documents. It reads the codecs sched and boot, is slow, and is meant to be read.
"""
import json
import sys

from boot_decode import BootDecoder
from sched_decode import MASK32, MASK64, Corrupt, SchedDecoder, int32, unzigzag

META, SCHED, BOOT, INDEX = 0, 1, 5, 15
BOOT_STREAM = 32768
SEGMENTS, TOTALS = 0, 1
CPUS_MAX = 4096
KEY, LOST = 1, 2
CAUSES = ["ring", "buffer", "spool", "damage", "store"]
DAMAGE = 3
UNKNOWN = -1
HEADER_MAX, BLOCK_MIN = 112, 13
KINDS = ["switch", "waking", "wakeup", "wakeup_new", "fork", "exec", "exit", "rename", "setprio"]
FEATURES = ["success", "group_dead", "rename_no_pid", "big_endian", "tgid", "no_flags",
            "fixed_comm", "no_cur", "lazy_resched", "success_silent"]


class Cut(Corrupt):
    """The bytes end before the object does."""


def crc32c(data):
    crc = MASK32
    for byte in data:
        crc = crc >> 8 ^ CRC_TABLE[(crc ^ byte) & 255]
    return crc ^ MASK32


def crc_remainder(v):
    for _ in range(8):
        v = v >> 1 ^ (0x82f63b78 if v & 1 else 0)
    return v


CRC_TABLE = [crc_remainder(v) for v in range(256)]


class Cursor:
    """Numbers and bytes out of bytes: wire 2."""

    def __init__(self, data, at=0):
        self.data, self.at = data, at

    def left(self):
        return len(self.data) - self.at

    def take(self, n):
        if n > self.left():
            raise Cut
        self.at += n
        return bytes(self.data[self.at - n:self.at])

    def varint(self):
        v = 0
        for i in range(10):
            byte = self.take(1)[0]
            if i == 9 and byte > 1:
                break
            v |= (byte & 127) << 7 * i
            if byte < 128:
                return v
        raise Corrupt

    def signed(self):
        return unzigzag(self.varint())


class Block:
    """wire 3.1. The payload is None where the bytes end within it."""

    def __init__(self, data, at, check=True):
        c = Cursor(data, at)
        if c.left() < 9:
            raise Cut
        self.at, room, head, crc = at, c.left(), c.take(4), int.from_bytes(c.take(4), "little")
        if head[:2] != b"\xb5\x6b" or head[2] >> 4 != 1 or head[3] & ~3:
            raise Corrupt
        self.codec, self.key = head[2] & 15, bool(head[3] & KEY)
        try:
            length = self.read_header(c, head[3] & LOST)
        except Corrupt:
            raise Cut if room < HEADER_MAX else Corrupt
        if self.lost is None or self.stream > MASK32 or self.events > 1 << 24 or length > 1 << 20:
            raise Corrupt
        self.payload = c.take(length) if length <= c.left() else None
        self.end = c.at if self.payload is not None else len(data)
        if (check and self.payload is not None and
                crc != crc32c(data[at:at + 4] + data[at + 8:self.end])):
            raise Corrupt

    def read_header(self, c, has_lost):
        """Gives the length of the payload."""
        self.stream, self.sequence = c.varint(), c.varint()
        self.first_tick, self.before = (c.varint(), c.varint()) if self.key else (0, 0)
        self.ticks, self.events = c.varint(), c.varint()
        self.lost = self.read_lost(c) if has_lost else [0] * 5
        return c.varint()

    @staticmethod
    def read_lost(c):
        causes = c.varint()
        if not 0 < causes < 32:
            return None
        return [(c.varint() or UNKNOWN) if causes >> i & 1 else 0 for i in range(5)]

    def told(self):
        return sum(count for count in self.lost if count != UNKNOWN)


class Info:
    """What the metadata say: wire 7."""

    def __init__(self):
        self.texts, self.cpus, self.skipped, self.tasks, self.orders = {}, 0, 0, {}, []
        self.agent = 0
        self.clock = 1, 0, 0, 9, b"", 0, 0, 0
        self.dialect = 0x102, 0, 8, 5, 7, 0xff, 0x100, b"SDTtXZPI".ljust(16, b"\0")

    def ns(self, tick):
        mult, shift, base = self.clock[:3]
        return base + (tick * mult >> shift) & MASK64

    def stamp(self, ev):
        return self.ns(ev.tick) + ev.off & MASK64

    def has(self, *names):
        return any(self.dialect[0] >> FEATURES.index(name) & 1 for name in names)

    def payload(self, data):
        c = Cursor(data)
        while c.left():
            kind = c.varint()
            item = Cursor(c.take(c.varint()))
            if kind in (1, 2, 3, 4):
                text = item.take(item.left())[:1024]
                self.texts[kind] = bytes(63 if b < 32 or b == 127 else b for b in text)
            elif kind == 5:
                self.cpus = item.varint()
            elif kind == 6:
                self.clock = (item.varint(), item.varint(), item.varint(), item.varint(),
                              item.take(item.varint()), item.varint(), item.signed(), item.varint())
            elif kind == 7:
                self.dialect = (*(item.varint() for _ in range(7)), item.take(16))
            elif kind == 8:
                self.read_tasks(item)
            elif kind == 9:
                self.read_order(item)
            elif kind == 10:
                self.skipped = item.varint()
            elif kind == 11:
                self.agent = item.varint()

    def read_tasks(self, c):
        last, tgid, name, names = None, 0, b"", []
        while c.left():
            b = c.take(1)[0]
            pid = (last or 0) + (b >> 4 or c.signed())
            if pid != int32(pid) or last is not None and pid <= last:
                raise Corrupt
            if b & 12 != 8:
                tgid = max(pid, -1) if b & 12 == 4 else c.varint() if b & 12 == 12 else -1
            if b & 3 == 1:
                name = names[c.varint()]
            elif b & 3 == 2:
                name = c.take(c.varint())
                if len(names) < 256:
                    names.append(name)
            self.tasks[pid], last = (tgid, name), pid

    def read_order(self, c):
        tick = 0
        while c.left():
            tick = tick + c.varint() & MASK64
            self.orders.append((tick, [c.varint() for _ in range(c.varint())]))


class File:
    """ksk 5; damage as in wire 3.6."""

    def __init__(self, data):
        if data[:9] != b"KISEKI\r\n\x01" or len(data) < 16:
            raise Corrupt
        self.data, self.end = data, len(data)
        self.blocks, self.torn = [], []
        self.forget()
        self.indexed = self.find_index()
        starts = sorted({16, *(offset for offset, _ in self.rows)})
        for start, limit in zip(starts, [*starts[1:], self.end]):
            self.scan(start, limit)

    def forget(self):
        self.rows, self.until, self.totals, self.streams = [], {}, {}, set()

    def find_index(self):
        """ksk 5, 2: where the blocks end, and whether the index can be believed."""
        last = len(self.data) - 16
        if last < 16 or self.data[-8:] != b"KSKINDEX":
            return False
        self.end, start = last, int.from_bytes(self.data[-16:-8], "little")
        if not 16 <= start < last:
            return False
        self.end = start
        try:
            self.read_index(start, last)
            return True
        except Corrupt:
            self.forget()
        try:
            b = Block(self.data, start, check=False)
            looks_right = b.codec == INDEX and b.sequence == 0 and b.stream == SEGMENTS
        except Corrupt:
            looks_right = False
        self.end = start if looks_right else last
        return False

    def read_index(self, at, last):
        number = 0
        while at < last:
            b = Block(self.data[:last], at)
            if b.payload is None or b.codec != INDEX or b.sequence != number:
                raise Corrupt
            if b.stream == SEGMENTS:
                self.read_segments(b)
            elif b.stream == TOTALS:
                self.read_totals(b)
            at, number = b.end, number + 1
        if any(stream not in self.totals for stream in self.streams):
            raise Corrupt

    def read_segments(self, b):
        c, offset, tick = Cursor(b.payload), 0, 0
        while c.left():
            offset, stream, tick = offset + c.varint(), c.varint(), tick + c.signed() & MASK64
            low = self.rows[-1][0] + BLOCK_MIN if self.rows else 16
            if not low <= offset < self.end or stream > MASK32 or tick < self.until.get(stream, 0):
                raise Corrupt
            self.until[stream] = tick
            self.rows.append((offset, stream))
            self.streams.add(stream)

    def read_totals(self, b):
        c, stream = Cursor(b.payload), 0
        while c.left():
            stream += c.varint()
            start, grown, sequence = c.varint(), c.varint(), c.varint()
            self.totals.setdefault(stream, (start, start + grown, sequence))
            self.streams.add(stream)

    def scan(self, at, limit):
        while at < limit:
            b, cut = None, False
            try:
                b = Block(self.data[:self.end], at)
                if b.payload is not None:
                    self.found(b)
                    at = b.end
                    continue
                cut = True
            except Cut:
                cut = True
            except Corrupt:
                pass
            following = self.search(at + 1, limit)
            if not cut or following != len(self.data):
                self.torn.append(at)
            elif b and b.stream in self.streams:
                self.blocks.append(b)
            at = following

    def search(self, at, limit):
        data = self.data[:self.end]
        for at in range(at, limit):
            try:
                if data[at] == 0xb5 and Block(data, at).payload is not None:
                    return at
            except Corrupt:
                pass
        return limit

    def found(self, b):
        if self.indexed:
            if b.codec != INDEX and b.stream in self.streams:
                self.blocks.append(b)
        elif b.codec == INDEX:
            if b.stream == TOTALS:
                self.read_totals(b)
        else:
            self.blocks.append(b)
            self.streams.add(b.stream)

    def metadata(self):
        """ksk 5, 4"""
        named, expected = {offset for offset, stream in self.rows if stream == 0}, 0
        for b in self.blocks:
            if b.stream or b.payload is None:
                continue
            if b.at in named if self.indexed else b.key and b.sequence >= expected:
                expected = b.sequence + 1
                if b.codec == META:
                    yield b.payload

    def stream(self, number):
        blocks = []
        for b in self.blocks:
            if b.stream == number and (not blocks or b.at >= blocks[-1].end):
                blocks.append(b)
        return Stream(number, blocks, self)


class Stream:
    """The items of a CPU or a boot in order: (tick, event or None, loss or None); wire 3.6."""

    def __init__(self, number, blocks, file):
        self.cpu, self.blocks, self.torn, self.last = number - 1, blocks, file.torn, 0
        self.wanted = BOOT if number == BOOT_STREAM else SCHED
        self.start, self.end, self.end_sequence = file.totals.get(number, (0, None, None))
        if not file.indexed:
            self.end_sequence = None
        self.lost, self.some = [0] * 5, [False] * 5

    def losses(self, to):
        to = max(to, self.last)
        for cause, name in enumerate(CAUSES):
            if self.lost[cause]:
                yield self.last, None, (self.last, to, self.lost[cause], name)
            if self.some[cause]:
                yield self.last, None, (self.last, to, UNKNOWN, name)
        self.lost, self.some = [0] * 5, [False] * 5

    def decode(self, b):
        try:
            for ev in self.decoder.block(b) if b.codec == self.codec == self.wanted else ():
                yield from self.losses(ev.tick)
                yield ev.tick, ev, None
                self.last = ev.tick
                self.done += 1
        except Corrupt:
            pass

    def items(self):
        broken, gap = True, False
        seen, expected, pending, at, until = self.start, 0, 0, 0, 0
        for b in self.blocks:
            if expected == self.end_sequence:
                break
            if b.sequence < expected:
                continue
            if b.sequence != expected:
                broken = gap = True
            expected, at = b.sequence + 1, b.at
            until = max(until, (b.first_tick if b.key else until) + b.ticks)
            self.lost = [a + max(c, 0) for a, c in zip(self.lost, b.lost)]
            self.some = [a or c == UNKNOWN for a, c in zip(self.some, b.lost)]
            seen += b.told()
            if b.key:
                self.lost[DAMAGE] += max(0, b.before - seen)
                seen, pending, broken, gap = b.before, 0, False, False
                self.codec = b.codec
                self.decoder = (BootDecoder(b.first_tick) if self.wanted == BOOT
                                else SchedDecoder(self.cpu, b.first_tick))
            self.done = 0
            if b.payload is not None and not broken:
                yield from self.decode(b)
            if b.payload is None or self.done < b.events:
                broken = True
            seen, pending = seen + self.done, pending + b.events - self.done
        if self.end is not None:
            self.lost[DAMAGE] += max(0, self.end - seen)
        else:
            self.lost[DAMAGE] += pending
            self.some[DAMAGE] |= gap or any(torn > at for torn in self.torn)
        yield from self.losses(until)


def precedes(info, a, b):
    """wire 7.4: a and b are (tick, event or None, loss or None)."""
    if any(item[1] and item[1].off for item in (a, b)):
        a, b = ([info.stamp(i[1]) if i[1] else info.ns(i[0])] for i in (a, b))
    return a[0] < b[0]


def merge(streams, info):
    """wire 7.4: yields (cpu, item)."""
    sources, orders = {s.cpu: s.items() for s in streams}, info.orders
    heads = {cpu: item for cpu, i in sources.items() if (item := next(i, None))}
    row = turn = 0
    while heads:
        cpu = None
        for other in sorted(heads):
            if cpu is None or precedes(info, heads[other], heads[cpu]):
                cpu = other
        tick = heads[cpu][0]
        if heads[cpu][1]:
            while row < len(orders) and (orders[row][0] < tick or
                                         orders[row][0] == tick and turn == len(orders[row][1])):
                row, turn = row + 1, 0
            if row < len(orders) and orders[row][0] == tick:
                named = heads.get(orders[row][1][turn])
                if named and named[1] and named[0] == tick:
                    cpu, turn = orders[row][1][turn], turn + 1
        yield cpu, heads[cpu]
        heads[cpu] = next(sources[cpu], None)
        if not heads[cpu]:
            del heads[cpu]


def escape(name):
    """json 3: bytes as text, nothing lost."""
    text = ""
    for c in name.decode("utf-8", "surrogateescape"):
        if c == "\\":
            text += "\\\\"
        elif 0xdc80 <= ord(c) <= 0xdcff:
            text += f"\\x{ord(c) - 0xdc00:02x}"
        elif ord(c) < 32 or ord(c) in (127, 0xfffe, 0xffff):
            text += "".join(f"\\x{b:02x}" for b in c.encode())
        else:
            text += c
    return text


def state_text(info, state):
    """wire 7.2"""
    mask, preempt, letters = info.dialect[5:]
    bits = state & mask
    text = "|".join(chr(letters[i]) for i in range(16) if bits >> i & 1 and letters[i])
    return (text if bits else "R") + ("+" if state & preempt else "")


def description(info):
    mult, shift, base, digits, name, known, offset, error = info.clock
    clock = {"name": escape(name), "mult": mult, "shift": shift, "base_ns": base, "digits": digits}
    if known:
        clock |= {"realtime_off_ns": offset, "realtime_err_ns": error}
    texts = {word: escape(info.texts.get(kind, b""))
             for kind, word in enumerate(["device", "kernel", "machine", "origin"], 1)}
    features, kinds, long_size = info.dialect[:3]
    return {"kind": "trace", "format": "kiseki", "version": 1, **texts, "cpus": info.cpus,
            "clock": clock, "recorded": [w for k, w in enumerate(KINDS) if kinds >> k & 1],
            "long_size": long_size,
            "features": [w for k, w in enumerate(FEATURES) if features >> k & 1]}


def task_fields(prefix, task, prio=True):
    fields = {prefix + "comm": escape(task.name), prefix + "pid": task.pid}
    return fields | {prefix + "prio": task.prio} if prio else fields


def kind_fields(info, ev):
    if ev.kind == 0:
        return (task_fields("prev_", ev.task) |
                {"prev_state": ev.state, "prev_state_text": state_text(info, ev.state)} |
                task_fields("next_", ev.other))
    if ev.kind <= 3:
        has = ev.extra or info.has("success", "success_silent")
        return (task_fields("", ev.task) | {"target_cpu": ev.value} |
                ({"success": ev.extra} if has else {}))
    if ev.kind == 4:
        return task_fields("parent_", ev.task, False) | task_fields("child_", ev.other, False)
    if ev.kind == 5:
        return {"pid": ev.task.pid, "filename": escape(ev.filename), "old_pid": ev.value}
    if ev.kind == 6:
        has = ev.extra or info.has("group_dead")
        return task_fields("", ev.task) | ({"group_dead": ev.extra} if has else {})
    if ev.kind == 7:
        return {"pid": ev.task.pid, "oldcomm": escape(ev.task.name),
                "newcomm": escape(ev.other.name), "oom_score_adj": ev.value}
    return task_fields("", ev.task, False) | {"oldprio": ev.task.prio, "newprio": ev.other.prio}


def event_line(info, cpu, ev):
    line = {"kind": KINDS[ev.kind], "ns": info.stamp(ev), "tick": ev.tick}
    if ev.off:
        line["tick_off_ns"] = ev.off
    line |= {"cpu": cpu, "common_pid": ev.pid}
    if ev.attr or not info.has("no_flags"):
        line |= {"common_flags": ev.attr >> 8, "common_preempt_count": ev.attr & 255}
    return line | kind_fields(info, ev)


def loss_line(info, cpu, loss):
    start, end, count, cause = loss
    line = {"kind": "lost", "ns": info.ns(start or end), "tick": start or end, "cpu": cpu}
    if start:
        line |= {"from_ns": info.ns(start), "from_tick": start}
    line |= {"to_ns": info.ns(end), "to_tick": end}
    return line | ({} if count == UNKNOWN else {"count": count}) | {"cause": cause}


def lines(data):
    file, info, totals = File(data), Info(), {"events": 0, "losses": 0}
    for payload in file.metadata():
        info.payload(payload)
    cpus = sorted(stream - 1 for stream in file.streams if 1 <= stream <= CPUS_MAX)
    info.cpus = max([info.cpus, *(cpu + 1 for cpu in cpus)])
    yield description(info)
    for cpu, (_, ev, loss) in merge([file.stream(cpu + 1) for cpu in cpus], info):
        totals["events" if ev else "losses"] += 1
        yield event_line(info, cpu, ev) if ev else loss_line(info, cpu, loss)
    for pid, (tgid, name) in sorted(info.tasks.items()):
        group = {} if tgid == -1 else {"tgid": tgid}
        yield {"kind": "task", "pid": pid, **group, "comm": escape(name)}
    yield {"kind": "totals", **totals, "skipped": info.skipped}


def boot_lines(data):
    file = File(data)
    for _, record, loss in file.stream(BOOT_STREAM).items():
        if record:
            yield record.line()
        else:
            start, end, count, cause = loss
            yield f"loss {CAUSES.index(cause)} {count} {start} {end}"
    if not file.indexed:
        yield "cut"


def main():
    boot = sys.argv[1] == "--boot"
    with open(sys.argv[2 if boot else 1], "rb") as f:
        data = f.read()
    if boot:
        print(*boot_lines(data), sep="\n")
        return
    for line in lines(data):
        print(json.dumps(line, separators=(",", ":"), ensure_ascii=False))


if __name__ == "__main__":
    main()

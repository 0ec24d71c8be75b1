# SPDX-License-Identifier: MIT
"""record: what a traced program recorded, and what it really called.

Records are read by tests/tools/func_dump, references by the layout in tests/func/reference.c.
"""
import os
import re
import struct
import subprocess
from collections import defaultdict
from pathlib import Path


ORDER = ">" if os.environ.get("BIG_ENDIAN") == "1" else "<"  # of references: the machine's


class Thread:
    """One stream of a record: its events as (is_exit, address), in order."""

    def __init__(self, stream, tid, comm):
        self.stream, self.tid, self.comm = stream, tid, comm
        self.calls, self.ticks, self.depths = [], [], []
        self.system = []  # OS records: (os, value, number of calls before it)
        self.segments = []  # depth and number of calls where each began
        self.lost = 0
        self.missing = 0  # in chunks that are not there
        self.events = 0
        self.cut_off = 0  # events that the slot counts and that are not there

    def take(self, fields):
        kind = fields[0]
        if kind in "EX":
            self.calls.append((kind == "X", int(fields[2], 16)))
            self.depths.append(int(fields[1]))
            self.ticks.append(int(fields[3]))
        elif kind == "O":
            self.system.append((int(fields[1]), int(fields[2]), len(self.calls)))
        elif kind == "K":
            self.segments.append((int(fields[1]), len(self.calls)))
        elif kind == "M":
            self.missing += int(fields[1])
        elif kind == "end":
            self.events, self.lost = int(fields[1]), int(fields[2])
        elif kind == "slot":
            self.cut_off = int(fields[2])


class Record:
    """The file of a process."""

    def __init__(self, dump, path):
        text = subprocess.run([*dump, str(path)], check=True, text=True, stdout=subprocess.PIPE).stdout
        self.path, self.threads, self.pairs = Path(path), [], []
        for line in text.splitlines():
            fields = line.split()
            if fields[0] == "process":
                numbers = [int(f) for f in line.rsplit(" ", 6)[1:]]
                self.pid = int(fields[1])
                (self.ended, self.policy, self.maps, self.streams, self.lost_threads,
                 self.filtered) = numbers
            elif fields[0] == "pair":
                self.pairs.append((int(fields[1]), int(fields[2])))
            elif fields[0] == "thread":
                self.threads.append(Thread(int(fields[1]), int(fields[2]), fields[3]))
            else:
                self.threads[-1].take(fields)
        # Who is killed may be within an event. With `flight` the last chunk of a thread that found no other one
        # may have been taken by others.
        assert self.policy == 1 or all(t.cut_off in (0, 0 if self.ended else 1) for t in self.threads)

    def calls(self):
        return sum(len(t.calls) for t in self.threads)

    def lost(self):
        return sum(t.lost for t in self.threads) + self.lost_threads

    def by_tid(self):
        sequences = defaultdict(list)
        for t in self.threads:
            sequences[t.tid].append(t.calls)
        return sequences


def read_maps(path):
    """[(generation, [(from, to, offset, path, build-id)])], those that are complete."""
    generations, lines, build_id = [], [], ""
    text = Path(path).read_text().splitlines()
    assert text[0] == "# kiseki maps 1", text[0]
    for line in text[1:]:
        words = line.split()
        if line.startswith("# generation "):
            lines = []
        elif line.startswith("# end "):
            generations.append((int(words[2]), lines))
        elif line.startswith("# build-id "):
            build_id = words[2]
        else:
            m = re.match(r"([0-9a-f]+)-([0-9a-f]+) ..x. ([0-9a-f]+) \S+ \d+\s+(/.*)$", line)
            assert m, line
            lines.append((int(m[1], 16), int(m[2], 16), int(m[3], 16), m[4], build_id))
            build_id = ""
    return generations


def find_object(lines, address):
    return next((Path(path).name for start, end, _, path, _ in lines if start <= address < end), None)


def read_references(folder):
    """{pid: {tid: [calls of one thread, …]}}, in the order in which threads began."""
    references = defaultdict(lambda: defaultdict(list))
    names = [tuple(map(int, p.name.split("."))) for p in Path(folder).iterdir()]
    for pid, tid, number in sorted(names, key=lambda n: (n[0], n[2])):
        with (Path(folder) / f"{pid}.{tid}.{number}").open("rb") as f:
            count = struct.unpack(ORDER + "II", f.read(8))[0]
            words = struct.unpack(f"{ORDER}{count}Q", f.read(count * 8))
        references[pid][tid].append([(bool(w & 1), w >> 1) for w in words])
    return references


def read_records(dump, folder):
    return [Record(dump, p) for p in sorted(Path(folder).iterdir()) if not p.name.endswith(".maps")]


class Run:
    """A program, run in a folder of its own with its records and references beside it."""

    def __init__(self, dump, folder, wrapper=()):
        self.dump, self.wrapper = [*wrapper, dump], list(wrapper)
        self.records_at, self.references_at = Path(folder) / "records", Path(folder) / "references"
        self.records_at.mkdir()
        self.references_at.mkdir()

    def environment(self, settings):
        env = {k: v for k, v in os.environ.items() if not k.startswith("KISEKI_FUNC_")}
        env.update(REFERENCE=str(self.references_at), KISEKI_FUNC_FOLDER=str(self.records_at))
        env.update({"KISEKI_FUNC_" + k: str(v) for k, v in settings.items()})
        return env

    def start(self, *command, **settings):
        return subprocess.Popen([*self.wrapper, *map(str, command)], env=self.environment(settings),
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)

    def run(self, *command, **settings):
        process = self.start(*command, **settings)
        self.out, self.err = process.communicate(timeout=100)
        self.status = process.returncode
        self.pid = process.pid
        return self

    def records(self):
        return read_records(self.dump, self.records_at)

    def references(self):
        return read_references(self.references_at)

    def made(self):
        """How many calls and returns its programs have begun so far."""
        count = 0
        for path in self.references_at.iterdir():
            with path.open("rb") as f:
                count += struct.unpack(ORDER + "I", f.read(4) or bytes(4))[0]
        return count

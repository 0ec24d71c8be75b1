# SPDX-License-Identifier: MIT
"""vm_bench: a board with virtual machines, recorded by kiseki-agent vm, and what kiseki vm says of the recording.

One recording has all that is done; a Phase is a part of it, from a moment at which all guests were idle to the next such. So
what the scheduler counted between the two is what happened in between, however coarse the clock is that they are read
by. Names of the guests' functions come from what vm_tell adds: the guests say nothing.
"""
import json
import os
import re
import socket
import subprocess
from dataclasses import dataclass
from pathlib import Path

from board_test import KISEKI, SRC, Failed
from boards.collector import HOST
from vm_account import parse

SAMPLE_DUMP = os.environ.get("SAMPLE_DUMP") or str(SRC / "build/tests/sample_dump")
VM_TELL = os.environ.get("VM_TELL") or str(SRC / "build/tests/vm_tell")
PHASE_S = 300  # of this machine, until a phase counts as stuck
PROGRAM = "/vm_guest"  # on the board, and in the folder that has its files here
NS = 1_000_000_000


@dataclass
class Phase:
    """Part of the recording: `start` and `end` are seconds of the board's clock, `delays` the scheduler's account (run_delay) of
    each virtual CPU in ns, `answers` what the guests themselves say."""
    start: float
    end: float
    answers: list
    delays: list

    def window(self, lead_s=0.0, length_s=None):
        end = self.end if length_s is None else self.start + lead_s + length_s
        return ["--from", f"{self.start + lead_s:.2f}", "--to", f"{end:.2f}"]


class Bench:
    """The board, and what is done there again and again."""

    def __init__(self, machine, work):
        self.machine, self.work, self.told, self.is_recording = machine, Path(work), [], False

    def clear(self):
        """All that runs there now, and what it starts, stays off the CPU of the guests."""
        self.machine.check("for p in /proc/[0-9]*; do taskset -p 1 ${p##*/}; done >/dev/null 2>&1; true")

    def load(self):
        self.machine.check("insmod /kiseki_vm.ko")

    def start(self, options):
        self.machine.check(f"/kiseki-agent vm --name host -o /tmp/vm.ksk {options} >/tmp/r.log 2>&1 &\n"
                           "echo $! >/tmp/r.pid; sleep 0.5; cat /tmp/r.log")
        self.is_recording = True

    def stop(self):
        """Ends the recording; it is taken from the board. Returns what the recorder said."""
        self.is_recording = False
        said = self.machine.check("kill $(cat /tmp/r.pid); while [ -d /proc/$(cat /tmp/r.pid) ]; do sleep 0.1; done; "
                                  "cat /tmp/r.log", 120)
        print(f"  {said.strip()}")
        self.take("/tmp/vm.ksk")
        return said

    def take(self, path):
        """A file of the board, over its network, which is ten times as fast as the channel."""
        target = self.work / Path(path).name
        with socket.create_server(("127.0.0.1", 0)) as server:
            server.settimeout(PHASE_S)
            sender = f"nc {HOST} {server.getsockname()[1]} <{path} >/dev/null 2>&1 &"
            self.machine.check(sender)
            peer, _ = server.accept()
            with peer, target.open("wb") as out:
                peer.settimeout(PHASE_S)
                while data := peer.recv(65536):
                    out.write(data)
        size = int(self.machine.check(f"wc -c <{path}; rm {path}").split()[0])
        if target.stat().st_size != size:
            raise Failed(f"{target.stat().st_size} of {size} bytes of {path} came")

    def mark(self, guests):
        """The board's clock, and for how long each virtual CPU could run and did not, in ns."""
        text = self.machine.check("cat /proc/uptime " + " ".join(f"/proc/{tid}/schedstat" for g in guests for tid in g.tids))
        clock, *rows = text.splitlines()
        return float(clock.split()[0]), [int(row.split()[1]) for row in rows]

    def signal_agent(self, name):
        """The emulated CPUs take turns, and time goes on for all of them: what the agent does while a guest computes would be
        in the guest's time. So it reads its rings only in between."""
        if self.is_recording:
            self.machine.check(f"kill -{name} $(cat /tmp/r.pid); sleep 0.2")

    def do(self, guests, words, meanwhile=":"):
        """All of these guests do it; none does anything before or after."""
        name = words.split()[0]
        self.signal_agent("STOP")
        start, before = self.mark(guests)
        told = "; ".join(g.telling(words) for g in guests)
        self.machine.check(f"sleep 0.05; {told}; {meanwhile}", PHASE_S)
        answers = [g.answer(name) for g in guests]
        end, after = self.mark(guests)
        self.signal_agent("CONT")
        for guest, answer in zip(guests, answers):
            self.told += [(guest.pid, answer[x], name) for x in ("pid", "second") if answer[x]]
        return Phase(start, end, answers, [b - a for a, b in zip(before, after)])


class Recording:
    """What the product says of a recording."""

    def __init__(self, bench, board, program):
        text = subprocess.run([board.tool("readelf"), "-lW", program], stdout=subprocess.PIPE, text=True, check=True).stdout
        offset, start, size = re.search(r"LOAD +(\w+) (\w+) \w+ \w+ (\w+) R E", text).groups()
        words = [str(x) for vm, pid, name in bench.told
                 for x in (vm, pid, name, start, int(start, 0) + int(size, 0), offset, PROGRAM)]
        self.path, self.root = bench.work / "told.ksk", Path(program).parent
        run(VM_TELL, bench.work / "vm.ksk", self.path, *words)

    def ask(self, *words):
        return json.loads(run(KISEKI, *words[:2], self.path, "--json", "--sysroot", self.root, "--symbols", self.root, *words[2:]))

    def machines(self, window=()):
        """By the pid of the VMM."""
        return {m["vm"]: m for m in self.ask("vm", "report", *window)["machines"]}

    def rows(self, guest, by, window=()):
        rows = self.ask("vm", "correct", "--by", by, "--limit", "0", *window)["rows"]
        return [r for r in rows if r["vm"] == guest.pid]

    def process(self, guest, pid, window=()):
        """One process of a guest; and its functions by name, of which the rest is None."""
        name = re.compile(rf"\({pid}\)$")
        row = next((r for r in self.rows(guest, "process", window) if name.search(r["process"])), None)
        if not row:
            raise Failed(f"process {pid} of {guest.name} is not in the report")
        functions = {r["function"]: r for r in self.rows(guest, "function", window) if name.search(r["process"])}
        return row, functions

    def culprits(self, guest, window=()):
        return [c for c in self.ask("vm", "steal", *window)["culprits"] if c["vm"] == guest.pid]

    def dump(self):
        """Samples, events and losses, by a reader of the tests' own."""
        return parse(run(SAMPLE_DUMP, self.path).splitlines())


class Table:
    """Figures with what they should be; those that are too far off."""

    def __init__(self):
        self.wrong = []
        print(f"  {'':58} {'kiseki':>9} {'should be':>9} {'±':>7}  by")

    def near(self, what, got, wanted, slack, by):
        is_right = abs(got - wanted) <= slack
        print(f"  {what:58} {got:9.2f} {wanted:9.2f} {slack:7.2f}  {by}{'' if is_right else '   WRONG'}", flush=True)
        if not is_right:
            self.wrong.append(what)

    def note(self, what, got, by):
        print(f"  {what:58} {got:9.2f} {'':9} {'':7}  {by}")


def percent(part, whole):
    return 100 * part / whole if whole else 0.0


def near(what, got, wanted, slack):
    print(f"  {what}: {got:.2f}, expected {wanted:.2f} ± {slack:.2f}")
    if abs(got - wanted) > slack:
        raise Failed(f"{what}: {got:.2f} instead of {wanted:.2f} ± {slack:.2f}")


def run(*command):
    done = subprocess.run(list(map(str, command)), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise Failed(f"{Path(str(command[0])).name} {' '.join(map(str, command[1:3]))}: {done.stderr.strip()}")
    return done.stdout

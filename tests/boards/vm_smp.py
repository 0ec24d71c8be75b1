#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""vm_smp: a virtual machine with two virtual CPUs, which share a CPU of the host, and then have one each.

	vm_smp.py BOARD

Two processes compute in one guest, one on each of its virtual CPUs. On one CPU each of these waits half of the time, for the other
one of its own machine; on two neither does. What is said of each virtual CPU is beside what the scheduler says of its thread
(run_delay) and the guest of itself (/proc/stat), and what is said of the machine is the sum of both, to the nanosecond.

Bounds are those of vm_thesis.py. On two CPUs the board's shell and the VMM's own threads are on the first, beside a virtual CPU, so that
only what the other took from it is judged.
"""
import sys
import tempfile
import time
from pathlib import Path

from board_test import SRC, WORK, Failed, build, expect, main
from boards.catalog import get_board
from boards.guests import Guest, guest_parts
from boards.machine import Machine
from vm_account import account
from vm_bench import NS, PROGRAM, Bench, Recording, Table, percent

ROUNDS = 650  # of each process: 0.85 s of this board's when it is alone
EDGE_S = 0.1  # until each process has its virtual CPU
SWITCH_NS, ENDS_NS = 20_000, 1_000_000
BUSY = ("guest", "vmm-kernel", "vmm-user", "steal", "waiting")


class Result:
    def __init__(self, recording, guest, phases):
        self.recording, self.guest, self.phases, self.table = recording, guest, phases, Table()
        self.samples, self.events, self.lost = recording.dump()

    def vcpus(self, window=()):
        """By number: the classes of its time, which must be all of it."""
        machine = self.recording.machines(window)[self.guest.pid]
        machine["vcpus"].sort(key=lambda v: v["vcpu"])  # they come in the order in which they were seen
        expect("virtual CPUs", [(v["vcpu"], v["tid"]) for v in machine["vcpus"]], list(enumerate(self.guest.tids)))
        for v in (machine, *machine["vcpus"]):
            expect("sum of classes", sum(v["classes_ns"].values()), v["wall_ns"])
        for name in ("wall_ns", "steal1_ns", "steal2_ns", "sampling_ns", "entries"):
            expect(f"{name} of its virtual CPUs", sum(v[name] for v in machine["vcpus"]), machine[name])
        for name in machine["classes_ns"]:
            expect(f"{name} of its virtual CPUs", sum(v["classes_ns"][name] for v in machine["vcpus"]), machine["classes_ns"][name])
        return machine, [v["classes_ns"] for v in machine["vcpus"]]

    def window(self, phase):
        """While both compute, by the first and the last sample of each process."""
        spans = []
        for pid in (phase.answers[0]["pid"], phase.answers[0]["second"]):
            ticks = [s.tick / NS for s in self.samples if s.pc is not None and s.context == pid and
                     phase.start <= s.tick / NS < phase.end]
            spans.append((min(ticks), max(ticks)))
        start, end = max(a for a, _ in spans) + EDGE_S, min(b for _, b in spans) - EDGE_S
        return start, end, ["--from", f"{start:.3f}", "--to", f"{end:.3f}"]


def check_all(r):
    """The whole recording: nothing is lost or unknown, and rows of each level are the machine's time."""
    expect("lost records", r.lost, 0)
    machine, vcpus = r.vcpus()
    for tid, classes in zip(r.guest.tids, vcpus):
        expect("events that cannot be", account(r.events, tid).wrong[:1], [])
        expect("time of which nothing is known", classes["unknown"], 0)
    for by in ("process", "thread", "function"):
        said = r.recording.ask("vm", "correct", "--by", by, "--limit", "0")
        for name, wanted in (("true_ns", machine["classes_ns"]["guest"]), ("steal1_ns", machine["steal1_ns"]),
                             ("steal2_ns", machine["steal2_ns"])):
            expect(f"{name} by {by}", sum(row[name] for row in said["rows"]) + said["nobodys"][name], wanted)
    r.table.note("wall time of both, s", machine["wall_ns"] / NS, "the sum of all classes, and of all rows")


def taken_by(r, number, window):
    """From a virtual CPU: who had the CPU instead, by thread, and for how long."""
    culprits = [c for c in r.recording.culprits(r.guest, window) if c["vcpu"] == number]
    return {c["by"]["tid"]: c["steal_ns"] + c["waiting_ns"] for c in culprits if c["by"]}


def check_shared(r):
    """Both on one CPU: each waits for the other."""
    start, end, window = r.window(r.phases["shared"])
    _, vcpus = r.vcpus(window)
    for number, classes in enumerate(vcpus):
        r.table.near(f"on one CPU: vcpu {number}: steal, %", percent(classes["steal"] + classes["waiting"], (end - start) * NS), 50, 3,
                     "two on the CPU")
        taken = taken_by(r, number, window)
        r.table.near(f"on one CPU: vcpu {number}: of it by the other, %",
                     percent(taken.get(r.guest.tids[1 - number], 0), sum(taken.values())), 100, 3, "nobody else computes there")


def check_apart(r):
    """One each: neither waits for the other, and each is seen on its own CPU only. The first one's has the board's shell, too."""
    start, end, window = r.window(r.phases["apart"])
    _, vcpus = r.vcpus(window)
    for number, classes in enumerate(vcpus):
        wall_ns, steal_ns = (end - start) * NS, classes["steal"] + classes["waiting"]
        r.table.near(f"on two CPUs: vcpu {number}: steal by the other, %",
                     percent(taken_by(r, number, window).get(r.guest.tids[1 - number], 0), wall_ns), 0, 1, "it has its own")
        r.table.near(f"on two CPUs: vcpu {number}: busy, %", percent(sum(classes[x] for x in BUSY), wall_ns), 100, 3,
                     "a process computes on it")
        if number:
            r.table.near(f"on two CPUs: vcpu {number}: steal, %", percent(steal_ns, wall_ns), 0, 3, "nobody else computes there")
        else:
            r.table.note(f"on two CPUs: vcpu {number}: steal, %", percent(steal_ns, wall_ns), "the board's shell")
        seen = {s.cpu for s in r.samples if s.task.tid == r.guest.tids[number] and s.pc is not None and start <= s.tick / NS < end}
        expect(f"CPUs on which vcpu {number} was seen", seen, {number})


def check_delays(r):
    """Steal of each is its thread's run_delay, and both together are what the guest counts."""
    for name, phase in r.phases.items():
        _, vcpus = r.vcpus(phase.window())
        total = 0
        for number, (tid, classes, delay) in enumerate(zip(r.guest.tids, vcpus, phase.delays)):
            steal = classes["steal"] + classes["waiting"]
            switches = sum(e.kind == "switch" and tid in (e.task.tid, e.next.tid) and phase.start <= e.tick / NS < phase.end
                           for e in r.events)
            r.table.near(f"{name}: vcpu {number}: steal of type 1, ms", steal / 1e6, delay / 1e6,
                         (delay / 100 + switches * SWITCH_NS + ENDS_NS) / 1e6, "run_delay")
            total += steal
        answer = phase.answers[0]
        r.table.near(f"{name}: both, % of the run", percent(total, answer["ns"]), percent(answer["steal"] * NS / 100, answer["ns"]), 4,
                     "the guest (mpstat)")


def check_work(r):
    """Two that share a CPU do equal work in equal time. On two CPUs they do not here: the emulated ones take turns, of unequal length."""
    phase = r.phases["shared"]
    rows = [r.recording.process(r.guest, phase.answers[0][x], phase.window())[0] for x in ("pid", "second")]
    r.table.near("on one CPU: first of two equal processes, % of both", percent(rows[0]["true_ns"], sum(x["true_ns"] for x in rows)), 50, 5,
                 "the work")


def do_all(bench, guest):
    """Its phases by name."""
    done = {"shared": bench.do([guest], f"pair {ROUNDS}")}
    guest.pin([0, 1])
    done["apart"] = bench.do([guest], f"pair {ROUNDS}")
    return done


def test(arguments):
    board, begin = get_board(arguments.board), time.monotonic()
    init = build.compile_program(board, [SRC / "tests/tools/vm_guest.c"], WORK / board.name / "vm_guest", ["-no-pie"])
    module = build.build_vm_module(board, WORK / board.name)
    agent = build.build_agent(board)
    with tempfile.TemporaryDirectory() as work:
        work = Path(arguments.keep or work)
        work.mkdir(parents=True, exist_ok=True)
        parts = guest_parts(board, init, work)
        parts["files"] += [(module, "/kiseki_vm.ko"), (agent, "/kiseki-agent"), (init, PROGRAM)]
        with Machine(board.paced(), **parts, timeout_s=1800) as machine:
            bench = Bench(machine, work)
            bench.clear()
            guest = Guest(machine, "g1", vcpus=2)
            guest.wait_for("guest ready")
            bench.load()
            bench.start("--buffer 8M")
            phases = do_all(bench, guest)
            bench.stop()
        r = Result(Recording(bench, board, init), guest, phases)
        for check in (check_all, check_shared, check_apart, check_delays, check_work):
            check(r)
    if r.table.wrong:
        raise Failed(f"{len(r.table.wrong)} figures are wrong: {'; '.join(r.table.wrong)}")
    print(f"{board.name}: {time.monotonic() - begin:.0f} s")


def add_options(parser):
    parser.add_argument("--keep", help="leave the recording in this folder")


if __name__ == "__main__":
    sys.exit(main(test, __doc__, add_options))

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""vm_module: kiseki_vm.ko sees what guests do, from outside, and where their time goes.

	vm_module.py BOARD

Two guests, real kernels, on one CPU of an emulated host whose clock counts instructions. They do what the test knows:
compute in two functions, compute half of the time, compute both at once, write to their console. What the
module recorded must agree with the guests' own accounts, with the scheduler's, and with itself: each moment
of a virtual CPU is in one class, and no event may be one that cannot be. Then the module goes and comes while guests run.
"""
import math
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from board_test import KISEKI, SRC, WORK, Failed, build, expect, main
from boards.catalog import get_board
from boards.guests import Guest, guest_parts
from boards.machine import Machine
from vm_account import account, parse

VM_DUMP = os.environ.get("VM_DUMP") or str(SRC / "build/tests/vm_dump")
SAMPLE_DUMP = os.environ.get("SAMPLE_DUMP") or str(SRC / "build/tests/sample_dump")
MODULE = "/vm_dump record {} start period_ns=1000000 jitter=50"
AGENT = "/kiseki-agent vm --name host -o {}"
PHASE_S = 300  # of this machine, until a phase counts as stuck
SPIN_S, AGENT_S, DUTY_S, BOTH_S, WRITE_S = 4, 2, 3, 5, 1
NS = 1_000_000_000
SWITCH_NS = 20_000  # what a switch may add to the scheduler's own account

# Each must be refused.
REFUSED = (
    "go", "start ", "start x", "start period_ns=0", "start period_ns=49999", "start period_ns=1000000001",
    "start period_ns=-1", "start period_ns=1e6", "start period_ns=", "start jitter=51", "start exits=2",
    "start exits=1 exits=1", "start buffer_kib=15", "start buffer_kib=17", "start buffer_kib=131072",
    "start period_ns=99999999999999999999999", "startperiod_ns=1000000", "stop now", "start  exits=1",
    "start " + "x" * 300,
)


def near(what, got, wanted, slack):
    print(f"  {what}: {got:.2f}, expected {wanted:.2f} ± {slack:.2f}")
    if abs(got - wanted) > slack:
        raise Failed(f"{what}: {got:.2f} instead of {wanted:.2f} ± {slack:.2f}")


def functions(board, program):
    """Where heavy() and light() are."""
    text = subprocess.run([board.tool("nm"), "-S", program], stdout=subprocess.PIPE, text=True, check=True).stdout
    return {name: (int(at, 16), int(at, 16) + int(size, 16))
            for at, size, name in re.findall(r"^(\w+) (\w+) T (heavy|light)$", text, re.M)}


class Bench:
    """The board, and what is done there again and again."""

    def __init__(self, machine, work):
        self.machine, self.work, self.number = machine, Path(work), 0

    def load(self):
        self.machine.check("insmod /kiseki_vm.ko")

    def delays(self, guests):
        """ns for which each virtual CPU could run and did not, by the scheduler."""
        text = self.machine.check("cat " + " ".join(f"/proc/{g.tid}/schedstat" for g in guests))
        return [int(line.split()[1]) for line in text.splitlines()]

    def record(self, guests, words, by_agent=False):
        """Samples, events, the guests' answers and the scheduler's delays of what the guests are told to do."""
        self.number += 1
        name = words.split()[0]
        before = self.delays(guests)
        recorder = AGENT if by_agent else MODULE
        self.machine.check(f"taskset 1 {recorder.format(f'/tmp/r{self.number}')} >/tmp/r.log 2>&1 &\n"
                           f"echo $! >/tmp/r.pid; while [ ! -s /tmp/r{self.number} ] && [ -d /proc/$(cat /tmp/r.pid) ]; "
                           "do sleep 0.1; done; sleep 0.3; cat /tmp/r.log", PHASE_S)
        marks = "; ".join(f"rm -f {g.console_path}.n; wc -l <{g.console_path} >{g.console_path}.n" for g in guests)
        told = "; ".join(f"echo {words} >{g.input}" for g in guests)
        self.machine.check(f"{marks}; {told}")
        answers = []
        for g in guests:
            text = self.machine.check(
                f"while [ -d /proc/{g.pid} ]; do tail -n +$(($(cat {g.console_path}.n) + 1)) {g.console_path} | "
                f"grep '^done {name}.*steal=[0-9]*[^0-9]' && exit; sleep 0.2; done; exit 1", PHASE_S)
            answers.append({k: int(v) for k, v in re.findall(r"(\w+)=(\d+)", text)})
        self.machine.check("kill $(cat /tmp/r.pid); while [ -d /proc/$(cat /tmp/r.pid) ]; do sleep 0.1; done")
        after = self.delays(guests)
        return (*self.take(by_agent), answers, [b - a for a, b in zip(before, after)])

    def take(self, by_agent):
        folder = self.work / f"r{self.number}"
        self.machine.check(f"mkdir -p /tmp/take; mv /tmp/r{self.number} /tmp/take/")
        self.machine.get("/tmp/take", folder)
        self.machine.check("rm -rf /tmp/take")
        dump = [SAMPLE_DUMP] if by_agent else [VM_DUMP, "text"]
        text = subprocess.run([*dump, folder / f"r{self.number}"], stdout=subprocess.PIPE, text=True,
                              check=True).stdout
        samples, events, lost = parse(text.splitlines())
        expect("lost records", lost, 0)
        print(f"  {len(samples)} samples, {len(events)} events")
        return samples, events


def check_account(events, guest):
    """The states of a virtual CPU; all of its time has a class."""
    vcpu = account(events, guest.tid)
    if vcpu.wrong:
        raise Failed(f"{guest.name}: {len(vcpu.wrong)} events cannot be, as {vcpu.wrong[0]}")
    start, end = vcpu.quiet()
    sums = vcpu.total(start, end)
    expect(f"{guest.name}: sum of classes", sum(sums.values()), end - start)
    print(f"  {guest.name}: " + " ".join(f"{k} {100 * v / (end - start):.2f} %" for k, v in sorted(sums.items())) +
          "; who came instead: " + ", ".join(f"{k} {v / 1e6:.1f} ms" for k, v in vcpu.takers.most_common(3)))
    return vcpu, start, end, sums


def check_spin(bench, guest, places, seconds, by_agent=False):
    print("spin, recorded by the agent" if by_agent else "spin")
    samples, events, answers, _ = bench.record([guest], f"spin {seconds}", by_agent)
    _, start, end, sums = check_account(events, guest)
    mine = [s for s in samples if s.task.tid == guest.tid and start <= s.tick < end]
    user = [s for s in mine if s.mode == "guest-user"]
    if len(user) < seconds * 800:
        raise Failed(f"{len(user)} samples of the guest's program in {seconds} s")
    counts = {name: sum(a <= s.pc < b for s in user) for name, (a, b) in places.items()}
    near("samples in heavy() and light(), %", 100 * sum(counts.values()) / len(user), 100, 1)
    # Four times what chance makes of so many samples. The emulated CPUs take turns, so a busy recorder on the other one
    # decides a little where this one is interrupted: that comes on top.
    near("share of heavy(), %", 100 * counts["heavy"] / sum(counts.values()), 75,
         max(3, 400 * math.sqrt(0.75 * 0.25 / len(user))) + by_agent)
    wrong = [s for s in user if s.context != answers[0]["pid"]]
    expect("samples of another process, by CONTEXTIDR", len(wrong), 0)
    expect("page tables of the program", len({s.table & 0xfffffffff000 for s in user}), 1)
    expect("numbers of virtual CPU and machine", {(s.task.vcpu, s.task.pid) for s in mine}, {(0, guest.pid)})
    on_cpu = sum(sums[x] for x in ("guest", "kernel", "outside", "poll"))
    # The host's work after a sample's own interrupt is never sampled: a few microseconds of each millisecond.
    near("samples in the guest, %", 100 * len([s for s in mine if s.pc is not None]) / len(mine),
         100 * sums["guest"] / on_cpu, 3)
    near("weights of the samples, s", sum(s.weight for s in mine) / NS, on_cpu / NS, seconds / 40)
    check_samples(samples)
    check_exits(samples, events, guest)


def check_exits(samples, events, guest):
    """Every exit says where the guest was; one that a sample caused, where the sample was."""
    exits = [e for e in events if e.kind == "exit" and e.task.tid == guest.tid]
    if any({"pc", "table", "context"} - e.left.keys() for e in exits):
        raise Failed("an exit does not say where the guest was")
    at = iter([s for s in samples if s.pc is not None and s.task.tid == guest.tid])
    sample, same, found = next(at, None), 0, 0
    for e in exits:
        last = None
        while sample and sample.tick <= e.tick:
            last, sample = sample, next(at, None)
        if last:
            found += 1
            same += (int(e.left["pc"], 0), int(e.left["context"], 0), e.left["mode"]) == (last.pc, last.context, last.mode)
    expect(f"exits where their sample was, of {found}", same, found)


def check_file(bench):
    """The agent's file is one that the program reads, with the names of the kernel's functions."""
    done = subprocess.run([KISEKI, "profile", "report", "--limit", "0", bench.work / f"r{bench.number}/r{bench.number}"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    expect(f"report ({done.stderr.strip()})", done.returncode, 0)
    if "kvm_" not in done.stdout or "[guest user]" not in done.stdout:
        raise Failed(f"the report has no function of KVM, or no guest:\n{done.stdout[:2000]}")


def check_samples(samples):
    """What must be so of any."""
    guests = [s for s in samples if s.mode.startswith("guest")]
    if any(None in (s.pc, s.table, s.context) for s in guests):
        raise Failed("a guest's registers were not read")
    expect("guests' registers outside of one", [s for s in samples if s.pc is not None and s not in guests][:1], [])
    kernel = [s for s in samples if s.mode in ("kernel", "idle")]
    deep = [s for s in kernel if len(s.kernel) >= 3]
    if len(deep) < len(kernel) * 0.8:
        raise Failed(f"only {len(deep)} of {len(kernel)} samples of the kernel have two return addresses")
    if not all(x >> 48 == 0xffff for s in samples for x in s.kernel):
        raise Failed("an address of the kernel is none")
    reasons = {s.reason for s in guests if s.reason is not None}
    print(f"  {len(deep)} of {len(kernel)} samples of the kernel with a chain; last exits {sorted(reasons)}")
    ticks = {}
    for s in samples:
        if s.tick < ticks.get(s.cpu, 0):
            raise Failed("samples are not in order of time")
        ticks[s.cpu] = s.tick


def check_duty(bench, guest):
    print("duty")
    _, events, answers, _ = bench.record([guest], f"duty {DUTY_S}")
    _, start, end, sums = check_account(events, guest)
    idle = sum(sums[x] for x in ("halt", "poll", "woken"))
    near("halted, % of the time", 100 * idle / (end - start), 100 * answers[0]["idle"] / 100 * NS / (end - start), 2)


def check_both(bench, guests):
    print("both spin")
    _, events, answers, delays = bench.record(guests, f"spin {BOTH_S}")
    rows = [check_account(events, g) for g in guests]
    start, end = max(r[1] for r in rows), min(r[2] for r in rows)
    if end - start < BOTH_S * NS * 0.8:
        raise Failed(f"the guests computed together for {(end - start) / NS:.1f} s only")
    for guest, (vcpu, a, b, sums), answer, delay in zip(guests, rows, answers, delays):
        near(f"{guest.name}: steal by the other, %", 100 * vcpu.total(start, end)["steal"] / (end - start), 50, 2)
        all_of_it = vcpu.total(0, 1 << 63)
        near(f"{guest.name}: waited for the CPU, ms, and run_delay",
             (all_of_it["steal"] + all_of_it["woken"]) / 1e6, delay / 1e6,
             (delay / 100 + vcpu.switches * SWITCH_NS) / 1e6)
        near(f"{guest.name}: steal as the guest sees it, %", 100 * sums["steal"] / (b - a),
             answer["steal"] * NS / (b - a), 2)


def check_write(bench, guest):
    print("write")
    _, events, answers, _ = bench.record([guest], f"write {WRITE_S}")
    vcpu = account(events, guest.tid)
    if vcpu.wrong:
        raise Failed(f"{len(vcpu.wrong)} events cannot be, as {vcpu.wrong[0]}")
    outside = [a for a, _, state in vcpu.spans if state == "outside"]
    start, end = outside[0], outside[-1]
    sums, length = vcpu.total(start, end), end - start
    expect("sum of classes", sum(sums.values()), length)
    print("  " + " ".join(f"{k} {100 * v / length:.1f} %" for k, v in sorted(sums.items())))
    taken = 100 * (sums["outside"] + sums["kernel"]) / length
    if taken < 60:
        raise Failed(f"the VMM took {taken:.0f} % of the time only, while the guest wrote to its console")
    near("steal that the guest sees meanwhile, %", answers[0]["steal"] * NS / length, 0, 15)


def check_refused(machine):
    for words in REFUSED:
        answer = machine.call(f"/vm_dump order '{words}'")
        if "Invalid argument" not in answer.text:
            raise Failed(f"{words[:40]}: {answer.text}")
    # One at a time; it cannot go while it is open; a closed device does nothing any more.
    machine.check("/vm_dump record /tmp/x start period_ns=50000 buffer_kib=16 & echo $! >/tmp/x.pid; sleep 0.3")
    expect("a second one", machine.call("/vm_dump order stop").text.count("Device or resource busy"), 1)
    expect("unloading while it is open", machine.call("rmmod kiseki_vm").code != 0, True)
    machine.check("kill -9 $(cat /tmp/x.pid); while [ -d /proc/$(cat /tmp/x.pid) ]; do sleep 0.1; done; rm /tmp/x")
    machine.check("/vm_dump order start; /vm_dump order stop")
    print(f"  {len(REFUSED)} settings refused")


def check_unload(bench, guests):
    """It goes and comes while guests run, CPUs go and come while it samples."""
    machine = bench.machine
    for g in guests:
        g.tell("spin 600")
    for _ in range(5):
        machine.check("rmmod kiseki_vm; [ ! -e /dev/kiseki_vm ]")
        bench.load()
        machine.check("/vm_dump record /tmp/x start period_ns=100000 & echo $! >/tmp/x.pid; sleep 0.2; "
                      "kill -9 $(cat /tmp/x.pid); while [ -d /proc/$(cat /tmp/x.pid) ]; do sleep 0.1; done; rm /tmp/x")
    machine.check("taskset 1 /vm_dump record /tmp/x start & echo $! >/tmp/x.pid; sleep 0.2; cd /sys/devices/system/cpu/cpu1; "
                  "echo 0 >online; sleep 0.2; echo 1 >online; sleep 0.3; kill $(cat /tmp/x.pid); "
                  "while [ -d /proc/$(cat /tmp/x.pid) ]; do sleep 0.1; done; mkdir /tmp/take; mv /tmp/x /tmp/take/")
    machine.get("/tmp/take", bench.work / "x")
    text = subprocess.run([VM_DUMP, "text", bench.work / "x/x"], stdout=subprocess.PIPE, text=True, check=True).stdout
    ticks = [s.tick for s in parse(text.splitlines())[0] if s.cpu == 1]
    gap = max(b - a for a, b in zip(ticks, ticks[1:]))
    if gap < NS // 10 or ticks[-1] - ticks[0] < gap + NS // 10:
        raise Failed(f"CPU 1 was away and back, but its samples are not: the longest gap is {gap} ns")
    for g in guests:
        g.stop()
    machine.check("rmmod kiseki_vm")
    print("  unloaded and loaded while guests ran; CPU 1 went and came")


def check_compiled():
    """For the oldest and the newest kernel, of each architecture that has KVM."""
    for name in ("arm64-old", "x86_64-old", "x86_64"):
        build.build_vm_module(get_board(name), WORK / name)
        print(f"  compiled for {name}")


def test(arguments):
    board = get_board(arguments.board)
    init = build.compile_program(board, [SRC / "tests/tools/vm_guest.c"], WORK / board.name / "vm_guest", ["-no-pie"])
    dump = build.compile_program(
        board, [SRC / x for x in ("tests/tools/vm_dump.c", "tests/tools/sample_text.c", "src/device/vm/vm_reader.c",
                                   "src/wire/sample_event.c", "src/wire/sched_event.c")],
        WORK / board.name / "vm_dump")
    module = build.build_vm_module(board, WORK / board.name)
    agent = build.build_agent(board, WORK / board.name)
    with tempfile.TemporaryDirectory() as work:
        parts = guest_parts(board, init, work)
        parts["files"] += [(dump, "/vm_dump"), (module, "/kiseki_vm.ko"), (agent, "/kiseki-agent")]
        with Machine(board.paced(), **parts, timeout_s=1800) as machine:
            bench = Bench(machine, work)
            guests = [Guest(machine, "g1"), Guest(machine, "g2")]
            bench.load()
            check_refused(machine)
            for g in guests:
                g.wait_for("guest ready")
            check_spin(bench, guests[0], functions(board, init), SPIN_S)
            check_spin(bench, guests[0], functions(board, init), AGENT_S, by_agent=True)
            check_file(bench)
            check_duty(bench, guests[0])
            check_both(bench, guests)
            check_write(bench, guests[0])
            check_unload(bench, guests)
    check_compiled()
    print(f"{board.name}: virtual machines seen from outside")


if __name__ == "__main__":
    sys.exit(main(test, __doc__))

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""vm_x86: virtual machines on an x86 host with AMD's SVM, by kiseki_vm.ko and by BPF.

	vm_x86.py BOARD

The guests are those of tiny_vmm: two address spaces, functions with known shares, halts, exits to their VMM. The agent records on
the board, first by BPF and then by the module, and `kiseki vm` says here what it was. No clock of such a board counts instructions, so a busy
machine makes samples late and few: what must be exact is exact, and shares have room for chance and for the host's own work.
"""
import json
import math
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from board_test import KISEKI, SRC, WORK, Failed, build, expect, main
from boards.catalog import get_board
from boards.machine import Machine
from vm_account import parse
from vm_bench import SAMPLE_DUMP, VM_TELL, near

NS = 1_000_000_000
RECORD_S = 4  # of the board
SWITCH_NS = 200_000  # what a switch may add to the scheduler's own account
START_NS = 500_000_000  # for which it may wait, on a busy machine, between what it says and its first entry, by which it is known
SLOW_S = 300  # of this machine, until a command counts as stuck
USER, KERNEL = "guest-user", "guest-kernel"
HALTS_LEAST = 10  # of one that halts after each tick of 10 ms
GUEST_LEAST = 20  # % of the time of one that computes; its ticks, which come by the clock, take a slow board most of the rest
PROGRAM_LEAST = 0.75  # of a VMM's program's time, for what its guest writes: nothing else leaves the kernel, but its start and its end
SAMPLES_LEAST = 200  # of a guest that computes; there are some thousands on a machine that has time


class Vmm:
    """A tiny_vmm on the board's last CPU."""

    def __init__(self, machine, name, mode):
        self.machine, self.log = machine, f"/tmp/{name}.log"
        self.pid = int(machine.check(f"rm -f {self.log}; /tiny_vmm 1 {mode} >{self.log} 2>&1 & echo $!"))

    def said(self, word):
        text = self.machine.check(f"while ! grep '^{word}' {self.log}; do [ -d /proc/{self.pid} ] || exit 1; sleep 0.1; "
                                  "done", SLOW_S)
        return dict(re.findall(r"(\w+)=(\S+)", text))

    def wait(self):
        words = self.said("ready")
        self.tid, self.tables = int(words["tid"]), [int(x, 0) for x in words["tables"].split(",")]
        self.stacks = [int(x, 0) for x in words["stacks"].split(",")]
        self.before = int(words["delay"])

    def delay(self):
        """ns for which its virtual CPU could run and did not, by the scheduler, since its guest began; how often it got a
        CPU."""
        _, ns, times = self.machine.check(f"cat /proc/{self.pid}/task/{self.tid}/schedstat").split()
        return int(ns) - self.before, int(times)

    def freeze(self):
        """Nobody waits for it any more, and it does not go on. It has had a CPU to see that it was stopped: only then the scheduler's
        account has all of its last wait, which takes its time where this machine is busy."""
        self.machine.check(f"kill -STOP {self.pid}; while ! grep -q '^State:.T' /proc/{self.pid}/task/{self.tid}/status; do "
                           "sleep 0.1; done", SLOW_S)

    def kill(self):
        self.machine.check(f"kill -9 {self.pid}; while [ -d /proc/{self.pid} ]; do sleep 0.1; done", SLOW_S)

    def stop(self):
        """What its guest counted."""
        self.machine.check(f"kill {self.pid}; while [ -d /proc/{self.pid} ]; do sleep 0.1; done", SLOW_S)
        text = self.machine.check(f"grep '^done' {self.log}")
        return {k: int(v) for k, v in re.findall(r"(\w+)=(\d+)", text)}


class Recording:
    """What some virtual machines did, from before they were there until they stood still."""

    def __init__(self, bench, modes):
        machine, self.names = bench.machine, bench.names
        machine.check(f"taskset 1 /kiseki-agent vm --source {bench.source} -n host -o /tmp/r.ksk >/tmp/r.log 2>&1 & "
                      "echo $! >/tmp/r.pid")
        # It names what it lost when it ends; that it records is known by its file.
        machine.check("while [ ! -s /tmp/r.ksk ]; do [ -d /proc/$(cat /tmp/r.pid) ] || { cat /tmp/r.log; exit 1; }; "
                      "sleep 0.1; done", SLOW_S)
        self.vmms = [Vmm(machine, f"vmm{i}", mode) for i, mode in enumerate(modes)]
        for vmm in self.vmms:
            vmm.wait()
        machine.check(f"sleep {RECORD_S}", SLOW_S)
        self.finish()
        text = machine.check("kill $(cat /tmp/r.pid); while [ -d /proc/$(cat /tmp/r.pid) ]; do sleep 0.1; done; "
                             "cat /tmp/r.log; mkdir -p /tmp/take; mv /tmp/r.ksk /tmp/take/", SLOW_S)
        machine.get("/tmp/take", bench.work)
        self.path = bench.work / "r.ksk"
        print("  " + text.strip())
        text = subprocess.run([SAMPLE_DUMP, self.path], stdout=subprocess.PIPE, text=True, check=True).stdout
        self.samples, self.events, lost = parse(text.splitlines())
        expect("lost records", lost, 0)

    def finish(self):
        """One says what it counted. Of several, none waits for another any more when the scheduler is asked."""
        if len(self.vmms) == 1:
            self.counts = self.vmms[0].stop()
            return
        for vmm in self.vmms:
            vmm.freeze()
        self.delays = [x.delay() for x in self.vmms]
        for vmm in self.vmms:
            vmm.kill()

    def guest_samples(self, vmm):
        return [s for s in self.samples if s.task.tid == vmm.tid and s.pc is not None]

    def ask(self, *words, path=None):
        """The answer of `kiseki vm`; its classes add up."""
        done = subprocess.run([KISEKI, "vm", *words, "--json", "--limit", "0", path or self.path], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True)
        expect(f"vm {words[0]} ({done.stderr.strip()})", done.returncode, 0)
        answer = json.loads(done.stdout)
        for part in [x for vm in answer["machines"] for x in (vm, *vm["vcpus"])]:
            expect("sum of classes", sum(part["classes_ns"].values()), part["wall_ns"])
        return answer

    def processes(self, vmm, path=None):
        """True time of its processes, by their names."""
        rows = self.ask("report", "--by", "process", path=path)["process"]["rows"]
        return {x["process"]: x["true_ns"] for x in rows if x["vm"] == vmm.pid}

    def vcpu(self, vmm, *words):
        vms = [x for x in self.ask("report", *words)["machines"] if x["vm"] == vmm.pid]
        expect("machines of a VMM", len(vms), 1)
        expect("its virtual CPUs", [(x["vcpu"], x["tid"]) for x in vms[0]["vcpus"]], [(0, vmm.tid)])
        return vms[0]["vcpus"][0]

    def exits(self, vmm):
        """Its exits, by their words."""
        return {x["exit"]: x for x in self.ask("steal")["exits"] if x["vm"] == vmm.pid}


class Bench:
    def __init__(self, machine, work, source):
        self.machine, self.work, self.source = machine, Path(work), source
        text = machine.check("/tiny_vmm names")
        self.kallsyms = self.work / "names"
        self.kallsyms.write_text(text)
        rows = [(int(a, 16), name) for a, _, name in (line.split() for line in text.splitlines())]
        self.names = {name: (at, rows[i + 1][0]) for i, (at, name) in enumerate(rows) if not name.endswith("_end")}


def percent(vcpu, *classes):
    return 100 * sum(vcpu["classes_ns"][x] for x in classes) / vcpu["wall_ns"]


def chance(wanted, samples):
    """Four times what chance makes of a share, %, of so many samples, and a little for a host that is busy."""
    return 400 * math.sqrt(wanted / 100 * (1 - wanted / 100) / max(samples, 1)) + 1


def share(what, part, all_, wanted):
    near(f"{what}, % of {all_} samples", 100 * part / max(all_, 1), wanted, chance(wanted, all_))


def show_exits(words):
    return ", ".join(f"{word} {x['exits']}" for word, x in words.items())


def check_places(r, vmm, bench):
    """Each sample and each exit in a program has that program's table and mode, in the kernel its stack; samples, by function."""
    a, b = vmm.tables
    owners = {"a": (a, USER, None), "b": (b, USER, None), "kernel": (b, KERNEL, vmm.stacks[0])}
    counts, stacks = dict.fromkeys(bench.names, 0), dict.fromkeys(vmm.stacks, 0)
    samples = [(s.pc, s.table, s.mode, s.current) for s in r.guest_samples(vmm)]
    exits = [(int(e.left["pc"], 0), int(e.left["table"], 0), e.left["mode"],
              int(e.left["task"], 0) if "task" in e.left else None)
             for e in r.events if e.kind == "exit" and e.task.tid == vmm.tid]
    for i, (pc, table, mode, task) in enumerate(samples + exits):
        name = next((n for n, (at, end) in bench.names.items() if at <= pc < end), None)
        if not name:
            raise Failed(f"a guest was at {pc:#x}, where it has nothing")
        if (mode == KERNEL) != (task in stacks):
            raise Failed(f"a guest in {mode} had its stack at {task}, where it has none")
        if mode == KERNEL:
            stacks[task] += 1
        if name == "kernel_main":
            continue  # in it the tables change
        expect(f"table, mode and stack in {name}", (table, mode, task), owners[name.split("_")[0]])
        counts[name] += i < len(samples)
    print("  in its kernel on the stack of a kernel thread %d times, of a program %d times" % tuple(stacks.values()))
    return counts


def check_borrowed(r, vmm, bench):
    """Its kernel computes as a kernel thread does, on the table of the program that ran before, and is not charged to that."""
    spaces, path = [f"space {x:#x}" for x in vmm.tables], bench.work / "told.ksk"
    rows = [("100", "100", "first", vmm.tables[0], 0), ("101", "101", "second", vmm.tables[1], 0),
            ("7", "7", "kworker", 0, vmm.stacks[0]), ("8", "8", "traps", 0, vmm.stacks[1])]
    subprocess.run([VM_TELL, r.path, path, *(str(x) for row in rows for x in ("thread", vmm.pid, *row))], check=True)
    before, times = r.processes(vmm), r.processes(vmm, path)
    print("  with names: " + ", ".join(f"{k} {100 * v / sum(times.values()):.1f} %" for k, v in times.items()))
    for name, space in (("first (100)", spaces[0]), ("second (101)", spaces[1])):
        near(f"time of {name} and of its program alone, ms", times[name] / 1e6, before[space] / 1e6, before[space] / 1e8)
    if not 0.5 < times["kworker (7)"] / times["second (101)"] < 4:
        raise Failed(f"a kernel thread that computes as long as a program: {times}")
    expect("time that is nobody's", times.get("[kernel]", 0), 0)


def check_spin(bench):
    print(f"spin, by {bench.source}")
    r = Recording(bench, ["spin"])
    vmm = r.vmms[0]
    counts = check_places(r, vmm, bench)
    total = sum(counts.values())
    if total < SAMPLES_LEAST:
        raise Failed(f"{total} samples of a guest that computed for {RECORD_S} s")
    for who, part in (("a", 50), ("b", 25), ("kernel", 25)):
        both = counts[f"{who}_heavy"] + counts[f"{who}_light"]
        share(f"samples in {who}'s functions", both, total, part)
        share("of these in heavy()", counts[f"{who}_heavy"], both, 75)
    vcpu = r.vcpu(vmm)
    if percent(vcpu, "guest") < GUEST_LEAST:
        raise Failed(f"it was {percent(vcpu, 'guest'):.0f} % of its time in its guest only")
    times = r.processes(vmm)
    near("time of the first space to the second's", times[f"space {vmm.tables[0]:#x}"] / times[f"space {vmm.tables[1]:#x}"],
         2, 1)
    check_borrowed(r, vmm, bench)
    rows = r.ask("report", "--by", "function", "--guest-kallsyms", f"{vmm.pid}={bench.kallsyms}")["function"]["rows"]
    times = {x["function"]: x["true_ns"] for x in rows if x["vm"] == vmm.pid}
    near("time of the kernel's heavy(), % of both", 100 * times["kernel_heavy"] / (times["kernel_heavy"] + times["kernel_light"]),
         75, max(15, chance(75, counts["kernel_heavy"] + counts["kernel_light"])))
    words = r.exits(vmm)
    print("  exits: " + show_exits(words))
    for word in ("interrupt", "MSR", "nested page fault"):
        if word not in words:
            raise Failed(f"no exit is called {word}: {list(words)}")


def check_halt(bench):
    print(f"halt, by {bench.source}")
    r = Recording(bench, ["halt"])
    vmm, count = r.vmms[0], r.counts
    entries = [e.tick for e in r.events if e.kind == "entry" and e.task.tid == vmm.tid]
    vcpu = r.vcpu(vmm, "--from", f"{entries[0] / NS:.9f}", "--to", f"{entries[-1] / NS:.9f}")
    idle, guests = percent(vcpu, "halt", "halt-polling", "waiting"), 100 * count["halted"] / count["total"]
    # The guest's own figure has the host's way into a halt and out of it in it, and whole rounds alone: at both ends one may be
    # missing, which is much where this machine lets the board do few.
    work, ends = percent(vcpu, "vmm-kernel", "steal"), 200 / max(count["rounds"], 1)
    print(f"  idle {idle:.1f} %, by the guest's clock {guests:.1f} % in {count['rounds']} rounds; the host's work {work:.1f} %")
    if not guests - work - ends - 2 < idle < guests + ends + 2:
        raise Failed(f"idle {idle:.1f} %, but the guest halted for {guests:.1f} % of its time")
    halts = r.exits(vmm)["halt"]["exits"]
    if halts < HALTS_LEAST:
        raise Failed(f"{halts} halts in {RECORD_S} s")


def check_write(bench):
    """What its guest writes is one exit each, and all that the VMM's program does is done for those. How much that is of the time of
    all exits says nothing: ticks come by the clock, and writes as fast as this machine lets the board be."""
    print(f"write, by {bench.source}")
    r = Recording(bench, ["write"])
    vmm = r.vmms[0]
    vcpu, words = r.vcpu(vmm), r.exits(vmm)
    print(f"  VMM {percent(vcpu, 'vmm-user', 'vmm-kernel'):.1f} %; {r.counts['rounds']} writes; exits: {show_exits(words)}")
    writes = words["I/O"]
    # It counts before it writes, and goes on until it is ended, after it has said how often.
    if writes["exits"] < r.counts["rounds"] - 1:
        raise Failed(f"{writes['exits']} exits of {r.counts['rounds']} writes")
    own, all_ = writes["user_ns"], sum(x["user_ns"] for x in words.values())
    print(f"  of the VMM's program's {all_ / 1e6:.0f} ms {100 * own / max(all_, 1):.1f} % for writes; the rest: " +
          ", ".join(f"{k} {x['user_ns'] / 1e6:.1f}" for k, x in words.items() if x is not writes))
    if not own or own < all_ * PROGRAM_LEAST:
        raise Failed(f"the VMM's program has done {all_ - own} of {all_} ns for something else")


def check_both(bench):
    print(f"two on one CPU, by {bench.source}")
    r = Recording(bench, ["spin", "spin"])
    entries = [[e.tick for e in r.events if e.kind == "entry" and e.task.tid == x.tid] for x in r.vmms]
    window = ("--from", f"{max(x[0] for x in entries) / NS:.9f}", "--to", f"{min(x[-1] for x in entries) / NS:.9f}")
    culprits = r.ask("steal", *window)["culprits"]
    for vmm, other, (delay, times) in zip(r.vmms, reversed(r.vmms), r.delays):
        check_places(r, vmm, bench)
        taken = {(x["by"] or {}).get("tid"): x["steal_ns"] + x["waiting_ns"] for x in culprits if x["tid"] == vmm.tid}
        steal, others = percent(r.vcpu(vmm, *window), "steal", "waiting"), taken.get(other.tid, 0) / sum(taken.values())
        # What the host itself does there, more on a busy machine, both lack half of at most.
        third = steal * (1 - others)
        print(f"  steal {steal:.2f} %, {third:.2f} of it not by the other's")
        if not 48 < steal < 52 + third / 2 or others < 0.5:
            raise Failed(f"two that shared a CPU: {steal:.2f} % steal, by {taken}")
        whole = r.vcpu(vmm)["steal1_ns"]
        slack = delay / 100 + times * SWITCH_NS
        print(f"  steal {whole / 1e6:.2f} ms, by the scheduler's account {delay / 1e6:.2f}; {slack / 1e6:.2f} for {times} switches")
        if not delay - slack - START_NS < whole < delay + slack:
            raise Failed(f"steal of {whole} ns, but by the scheduler's account {delay}")


def check_modules(machine):
    """Ours may be there before KVM, and KVM may go while it records."""
    machine.check("rmmod kvm_amd kvm; insmod /kiseki_vm.ko; taskset 1 /kiseki-agent vm --source module -o /tmp/x.ksk "
                  ">/tmp/x.log 2>&1 & echo $! >/tmp/x.pid; while [ ! -s /tmp/x.ksk ]; do sleep 0.1; done; "
                  "insmod /lib/modules/kvm.ko; insmod /lib/modules/kvm_amd.ko", SLOW_S)
    vmm = Vmm(machine, "later", "spin")
    vmm.wait()
    machine.check("sleep 1")
    rounds = vmm.stop()["rounds"]
    machine.check("rmmod kvm_amd kvm; kill $(cat /tmp/x.pid); while [ -d /proc/$(cat /tmp/x.pid) ]; do sleep 0.1; done; "
                  "rm /tmp/x.ksk; insmod /lib/modules/kvm.ko; insmod /lib/modules/kvm_amd.ko", SLOW_S)
    said = machine.check("cat /tmp/x.log")
    if not re.search(r", [1-9]\d* of them in guests", said):
        raise Failed(f"a KVM that came later was not seen, for {rounds} rounds of its guest: {said}")
    print("  KVM came and went while it recorded")


def check_without_module(machine):
    """The agent takes BPF where the module is not loaded, and says what is wrong in one line."""
    said = machine.call("/kiseki-agent vm --source module -t 1s -o /tmp/x.ksk").text
    expect("without the module", said.count("the module kiseki_vm is not loaded on this machine"), 1)
    said = machine.check("/kiseki-agent vm -t 1s -o /tmp/x.ksk", SLOW_S)
    expect("by BPF", said.count(" lost, "), 1)
    said = machine.call("rmmod kvm_amd kvm; /kiseki-agent vm -t 1s -o /tmp/x.ksk; insmod /lib/modules/kvm.ko; "
                        "insmod /lib/modules/kvm_amd.ko", SLOW_S).text
    expect(f"without KVM ({said.strip()})", said.count("this kernel has no KVM, or its module is not loaded"), 1)


def test(arguments):
    board = get_board(arguments.board)
    vmm = build.compile_program(board, [SRC / "tests/tools/tiny_vmm.c"], WORK / board.name / "tiny_vmm")
    module = build.build_vm_module(board, WORK / board.name)
    agent = build.build_agent(board, has_bpf=True)
    files = [(vmm, "/tiny_vmm"), (module, "/kiseki_vm.ko"), (agent, "/kiseki-agent")]
    with tempfile.TemporaryDirectory() as work, Machine(board, files, timeout_s=1800) as machine:
        check_without_module(machine)
        for source in ("bpf", "module"):
            if source == "module":
                check_modules(machine)
            bench = Bench(machine, work, source)
            for check in (check_spin, check_halt, check_write, check_both):
                check(bench)
        machine.check("rmmod kiseki_vm")
        machine.check("insmod /kiseki_vm.ko; rmmod kiseki_vm; [ ! -e /dev/kiseki_vm ]")
    print(f"{board.name}: virtual machines seen from outside")


if __name__ == "__main__":
    sys.exit(main(test, __doc__))

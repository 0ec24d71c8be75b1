# SPDX-License-Identifier: MIT
"""vm_module: kiseki_vm.ko itself: what it refuses, what must be so of any sample of it, and that it goes and comes while guests run.

Parts of vm_thesis.py, which has the board and the guests.
"""
import os
import re

from board_test import SRC, Failed, expect
from vm_account import account, parse
from vm_bench import NS, run

VM_DUMP = os.environ.get("VM_DUMP") or str(SRC / "build/tests/vm_dump")

TIMES = 2  # that it goes and comes
INIT = 1  # in a guest: it starts the program

# Each must be refused.
REFUSED = (
    "go", "start ", "start x", "start period_ns=0", "start period_ns=49999", "start period_ns=1000000001",
    "start period_ns=-1", "start period_ns=1e6", "start period_ns=", "start jitter=51", "start exits=2",
    "start exits=1 exits=1", "start buffer_kib=15", "start buffer_kib=17", "start buffer_kib=131072",
    "start period_ns=99999999999999999999999", "startperiod_ns=1000000", "stop now", "start  exits=1",
    "start " + "x" * 300,
)


def functions(board, program):
    """Where heavy() and light() are."""
    text = run(board.tool("nm"), "-S", program)
    return {name: (int(at, 16), int(at, 16) + int(size, 16))
            for at, size, name in re.findall(r"^(\w+) (\w+) T (heavy|light)$", text, re.M)}


def check_chains(samples):
    """What must be so of any."""
    guests = [s for s in samples if s.mode.startswith("guest")]
    if any(None in (s.pc, s.table, s.context) for s in guests):
        raise Failed("a guest's registers were not read")
    expect("guests' registers outside of one", sum(s.pc is not None for s in samples), len(guests))
    kernel = [s for s in samples if s.mode in ("kernel", "idle")]
    deep = [s for s in kernel if len(s.kernel) >= 3]
    if len(deep) < len(kernel) * 0.8:
        raise Failed(f"only {len(deep)} of {len(kernel)} samples of the kernel have two return addresses")
    if not all(x >> 48 == 0xffff for s in samples for x in s.kernel):
        raise Failed("an address of the kernel is none")
    last = {}
    for s in samples:
        if s.tick < last.get(s.cpu, 0):
            raise Failed("samples are not in order of time")
        last[s.cpu] = s.tick


def check_process(user, places, pid):
    """All that is in the program's functions is in its process; of the few others some may be in the one that starts it."""
    inside = [s for s in user if any(a <= s.pc < b for a, b in places.values())]
    expect("processes, by CONTEXTIDR", {s.context for s in inside}, {pid})
    expect("page tables of the program", len({s.table & 0xfffffffff000 for s in inside}), 1)
    expect("others than the program and init", [s for s in user if s.context not in (pid, INIT)], [])


def check_guest(samples, events, guest, phase, places, table):
    """Samples of a guest that computes, by the tests' own reader."""
    vcpu = account([e for e in events if phase.start <= e.tick / NS < phase.end], guest.tid)
    start, end = vcpu.quiet()
    sums = vcpu.total(start, end)
    expect(f"{guest.name}: sum of classes", sum(sums.values()), end - start)
    mine = [s for s in samples if s.task.tid == guest.tid and start <= s.tick < end]
    user = [s for s in mine if s.mode == "guest-user"]
    there = sum(a <= s.pc < b for s in user for a, b in places.values())
    table.near("samples of the program in heavy() or light(), %", 100 * there / len(user), 100, 1, "the work")
    check_process(user, places, phase.answers[0]["pid"])
    expect("numbers of virtual CPU and machine", {(s.task.vcpu, s.task.pid) for s in mine}, {(0, guest.pid)})
    on_cpu = sum(sums[x] for x in ("guest", "kernel", "outside", "poll"))
    # The host's work after a sample's own interrupt is never sampled: microseconds of each.
    table.near("samples in the guest, %", 100 * len([s for s in mine if s.pc is not None]) / len(mine),
               100 * sums["guest"] / on_cpu, 5, "time in the guest, by events")
    table.near("weights of the samples, ms", sum(s.weight for s in mine) / 1e6, on_cpu / 1e6, on_cpu / 40e6,
               "time on the CPU, by events")


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


def check_unload(bench, guest):
    """It goes and comes while a guest runs, CPUs go and come while it samples."""
    machine = bench.machine
    guest.tell("spin 600")
    for _ in range(TIMES):
        machine.check("rmmod kiseki_vm; [ ! -e /dev/kiseki_vm ]")
        bench.load()
        machine.check("/vm_dump record /tmp/x start period_ns=100000 & echo $! >/tmp/x.pid; sleep 0.2; "
                      "kill -9 $(cat /tmp/x.pid); while [ -d /proc/$(cat /tmp/x.pid) ]; do sleep 0.1; done; rm /tmp/x")
    machine.check("taskset 1 /vm_dump record /tmp/x start & echo $! >/tmp/x.pid; sleep 0.2; cd /sys/devices/system/cpu/cpu1; "
                  "echo 0 >online; sleep 0.2; echo 1 >online; sleep 0.3; kill $(cat /tmp/x.pid); "
                  "while [ -d /proc/$(cat /tmp/x.pid) ]; do sleep 0.1; done")
    bench.take("/tmp/x")
    text = run(VM_DUMP, "text", bench.work / "x")
    ticks = [s.tick for s in parse(text.splitlines())[0] if s.cpu == 1]
    gap = max(b - a for a, b in zip(ticks, ticks[1:]))
    if gap < NS // 10 or ticks[-1] - ticks[0] < gap + NS // 10:
        raise Failed(f"CPU 1 was away and back, but its samples are not: the longest gap is {gap} ns")
    machine.check("rmmod kiseki_vm")
    print("  unloaded and loaded while a guest ran; CPU 1 went and came")

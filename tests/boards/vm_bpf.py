# SPDX-License-Identifier: MIT
"""vm_bpf: virtual machines of an arm64 host, by BPF: all that can be known without the module, and nothing that cannot.

	vm_bpf.py BOARD

One guest, a real kernel, on an emulated host whose clock counts instructions and that has no kiseki_vm.ko. Its registers of EL1 are in the
CPU, where no program of BPF can read them; the copy in memory is wrong every other time. So places, tasks and the account of time
must be right, and no page table or process may be told.
"""
import math
import sys
import tempfile

from board_test import SRC, WORK, Failed, build, expect, main
from boards.catalog import get_board
from boards.guests import Guest, guest_parts
from boards.machine import Machine
from vm_account import account, parse
from vm_bench import NS, SAMPLE_DUMP, Bench, near, run
from vm_module import functions

ROUNDS, DUTY_S = 2600, 3
HEAVY = 80  # percent of the work


def check_knowledge(samples, events):
    """What a host's memory can tell of a guest, and no more."""
    guests = [s for s in samples if s.mode.startswith("guest")]
    told = [s for s in guests if s.table is not None or s.context is not None]
    left = [e for e in events if e.kind == "exit" and ("table" in e.left or "context" in e.left)]
    expect("page tables and processes that were told", (told[:1], left[:1]), ([], []))
    expect("samples without a place", [s for s in guests if s.pc is None][:1], [])
    kernel = [s for s in guests if s.mode == "guest-kernel"]
    expect("samples of its kernel without a task", [s for s in kernel if s.current is None][:1], [])
    # Before its kernel has taken the register over, it is the program's stack pointer.
    right = sum(s.current >> 48 == 0xffff for s in kernel)
    print(f"  {right} of {len(kernel)} samples of its kernel with a task")
    if right < len(kernel) * 0.9:
        raise Failed(f"only {right} of {len(kernel)} samples of its kernel have a task")
    host = [s for s in samples if s.mode in ("kernel", "idle")]
    deep = sum(len(s.kernel) >= 3 for s in host)
    print(f"  {deep} of {len(host)} samples of the host's kernel with a chain")
    if deep < len(host) * 0.8:
        raise Failed(f"only {deep} of {len(host)} samples of the host's kernel have two return addresses")


def states(samples, events, guest, phase):
    """Of its virtual CPU from the first to the last sample of its program; all of the time has a class."""
    vcpu = account(events, guest.tid)
    if vcpu.wrong:
        raise Failed(f"{len(vcpu.wrong)} events cannot be, as {vcpu.wrong[0]}")
    ticks = [s.tick for s in samples if s.task.tid == guest.tid and s.mode == "guest-user" and
             phase.start <= s.tick / NS < phase.end]
    start, end = ticks[0], ticks[-1]
    sums = vcpu.total(start, end)
    expect("sum of classes", sum(sums.values()), end - start)
    print("  " + " ".join(f"{k} {100 * v / (end - start):.2f} %" for k, v in sorted(sums.items())))
    return start, end, sums


def check_mix(samples, events, guest, phase, places):
    start, end, sums = states(samples, events, guest, phase)
    mine = [s for s in samples if s.task.tid == guest.tid and start <= s.tick < end]
    user = [s for s in mine if s.mode == "guest-user"]
    if len(user) < 1000:
        raise Failed(f"{len(user)} samples of the guest's program")
    counts = {name: sum(a <= s.pc < b for s in user) for name, (a, b) in places.items()}
    near("samples in heavy() and light(), %", 100 * sum(counts.values()) / len(user), 100, 1)
    # The period changes only now and then, and the recorder runs beside, on CPUs that take turns.
    near("share of heavy(), %", 100 * counts["heavy"] / sum(counts.values()), HEAVY,
         max(4, 500 * math.sqrt(HEAVY / 100 * (1 - HEAVY / 100) / len(user))))
    expect("numbers of virtual CPU and machine", {(s.task.vcpu, s.task.pid) for s in mine}, {(0, guest.pid)})
    on_cpu = sum(sums[x] for x in ("guest", "kernel", "outside", "poll"))
    near("samples in the guest, %", 100 * len([s for s in mine if s.pc is not None]) / len(mine),
         100 * sums["guest"] / on_cpu, 5)
    near("weights of the samples, s", sum(s.weight for s in mine) / NS, on_cpu / NS, on_cpu / NS / 20)


def check_duty(samples, events, guest, phase):
    start, end, sums = states(samples, events, guest, phase)
    answer = phase.answers[0]
    idle = sum(sums[x] for x in ("halt", "poll", "woken"))
    near("halted, % of the time", 100 * idle / (end - start), answer["idle"] * NS / answer["ns"], 3)


def test(arguments):
    board = get_board(arguments.board)
    init = build.compile_program(board, [SRC / "tests/tools/vm_guest.c"], WORK / board.name / "vm_guest", ["-no-pie"])
    agent = build.build_agent(board, has_bpf=True)
    with tempfile.TemporaryDirectory() as work:
        parts = guest_parts(board, init, work)
        parts["files"] += [(agent, "/kiseki-agent")]
        with Machine(board.paced(), **parts, timeout_s=1800) as machine:
            bench = Bench(machine, work)
            bench.clear()
            guest = Guest(machine, "g1")
            guest.wait_for("guest ready")
            bench.start("--source bpf")
            # The kernel looks at each program before it takes it, which takes this board seconds; then the file is made.
            machine.check("while [ ! -s /tmp/vm.ksk ]; do sleep 0.2; done; sleep 1", 120)
            bench.is_recording = False  # the agent itself varies the period, so it goes on meanwhile
            mix, duty = bench.do([guest], f"mix {ROUNDS}"), bench.do([guest], f"duty {DUTY_S}")
            bench.stop()
            guest.stop()
        samples, events, lost = parse(run(SAMPLE_DUMP, bench.work / "vm.ksk").splitlines())
    expect("lost records", lost, 0)
    print(f"  {len(samples)} samples, {len(events)} events")
    check_mix(samples, events, guest, mix, functions(board, init))
    check_duty(samples, events, guest, duty)
    check_knowledge(samples, events)
    print(f"{board.name}: virtual machines seen by BPF")


if __name__ == "__main__":
    sys.exit(main(test, __doc__))

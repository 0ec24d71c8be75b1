#!/usr/bin/env python3
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
from vm_module import NS, Bench, check_account, functions, near

SPIN_S, DUTY_S = 4, 3


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


def check_spin(bench, guest, places):
    print("spin")
    samples, events, _, _ = bench.record([guest], f"spin {SPIN_S}", by_agent=True)
    _, start, end, sums = check_account(events, guest)
    mine = [s for s in samples if s.task.tid == guest.tid and start <= s.tick < end]
    user = [s for s in mine if s.mode == "guest-user"]
    if len(user) < SPIN_S * 700:
        raise Failed(f"{len(user)} samples of the guest's program in {SPIN_S} s")
    counts = {name: sum(a <= s.pc < b for s in user) for name, (a, b) in places.items()}
    near("samples in heavy() and light(), %", 100 * sum(counts.values()) / len(user), 100, 1)
    # As with the module, and as the period changes only now and then.
    near("share of heavy(), %", 100 * counts["heavy"] / sum(counts.values()), 75,
         max(4, 500 * math.sqrt(0.75 * 0.25 / len(user))))
    expect("numbers of virtual CPU and machine", {(s.task.vcpu, s.task.pid) for s in mine}, {(0, guest.pid)})
    on_cpu = sum(sums[x] for x in ("guest", "kernel", "outside", "poll"))
    near("samples in the guest, %", 100 * len([s for s in mine if s.pc is not None]) / len(mine),
         100 * sums["guest"] / on_cpu, 3)
    near("weights of the samples, s", sum(s.weight for s in mine) / NS, on_cpu / NS, SPIN_S / 40)
    check_knowledge(samples, events)


def check_duty(bench, guest):
    print("duty")
    samples, events, answers, _ = bench.record([guest], f"duty {DUTY_S}", by_agent=True)
    _, start, end, sums = check_account(events, guest)
    idle = sum(sums[x] for x in ("halt", "poll", "woken"))
    near("halted, % of the time", 100 * idle / (end - start), 100 * answers[0]["idle"] / 100 * NS / (end - start), 2)
    check_knowledge(samples, events)


def test(arguments):
    board = get_board(arguments.board)
    init = build.compile_program(board, [SRC / "tests/tools/vm_guest.c"], WORK / board.name / "vm_guest", ["-no-pie"])
    agent = build.build_agent(board, WORK / board.name, has_bpf=True)
    with tempfile.TemporaryDirectory() as work:
        parts = guest_parts(board, init, work)
        parts["files"] += [(agent, "/kiseki-agent")]
        with Machine(board.paced(), **parts, timeout_s=1800) as machine:
            bench, guest = Bench(machine, work), Guest(machine, "g1")
            guest.wait_for("guest ready")
            check_spin(bench, guest, functions(board, init))
            check_duty(bench, guest)
            guest.stop()
    print(f"{board.name}: virtual machines seen by BPF")


if __name__ == "__main__":
    sys.exit(main(test, __doc__))

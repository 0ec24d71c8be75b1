# SPDX-License-Identifier: MIT
"""vm_cycles: virtual machines sampled by the CPUs' counters of cycles.

	vm_cycles.py BOARD

One guest computes. Its samples are in the right functions of the right process, exits that they cause are where they were taken, and
they stand for cycles.
"""
import json
import math
import sys
import tempfile

from board_test import KISEKI, SRC, WORK, Failed, build, expect, main
from boards.catalog import get_board
from boards.guests import Guest, guest_parts
from boards.machine import Machine
from vm_account import account, parse
from vm_bench import NS, SAMPLE_DUMP, Bench, near, run
from vm_module import check_exits, check_process, functions

ROUNDS, CYCLES = 2600, 500_000
HEAVY = 80  # percent of the work
LEAST = 200  # samples of the program


def check(path, guest, phase, places):
    samples, events, lost = parse(run(SAMPLE_DUMP, path).splitlines())
    expect("lost records", lost, 0)
    vcpu = account([e for e in events if phase.start <= e.tick / NS < phase.end], guest.tid)
    if vcpu.wrong:
        raise Failed(f"{len(vcpu.wrong)} events cannot be, as {vcpu.wrong[0]}")
    start, end = vcpu.quiet()
    user = [s for s in samples if s.task.tid == guest.tid and start <= s.tick < end and s.mode == "guest-user"]
    print(f"  {len(samples)} samples, {len(user)} of the guest's program in {(end - start) / NS:.2f} s")
    if len(user) < LEAST:
        raise Failed(f"only {len(user)} samples of the guest's program")
    expect("what samples stand for", {s.weight for s in samples}, {CYCLES})
    counts = {name: sum(a <= s.pc < b for s in user) for name, (a, b) in places.items()}
    near("samples in heavy() and light(), %", 100 * sum(counts.values()) / len(user), 100, 1)
    near("share of heavy(), %", 100 * counts["heavy"] / sum(counts.values()), HEAVY,
         500 * math.sqrt(HEAVY / 100 * (1 - HEAVY / 100) / len(user)))
    check_process(user, places, phase.answers[0]["pid"])
    check_exits(samples, events, guest)
    report = json.loads(run(KISEKI, "profile", "report", path, "--json"))
    expect("unit of the report", report["totals"]["unit"], "cycles")
    machines = json.loads(run(KISEKI, "vm", "report", path, "--json"))["machines"]
    for machine in machines:
        expect("sum of classes", sum(machine["classes_ns"].values()), machine["wall_ns"])


def test(arguments):
    board = get_board(arguments.board)
    init = build.compile_program(board, [SRC / "tests/tools/vm_guest.c"], WORK / board.name / "vm_guest", ["-no-pie"])
    module, agent = build.build_vm_module(board, WORK / board.name), build.build_agent(board)
    with tempfile.TemporaryDirectory() as work:
        parts = guest_parts(board, init, work)
        parts["files"] += [(module, "/kiseki_vm.ko"), (agent, "/kiseki-agent")]
        with Machine(board.paced(), **parts, timeout_s=1800) as machine:
            bench, guest = Bench(machine, work), Guest(machine, "g1")
            guest.wait_for("guest ready")
            bench.load()
            bench.start(f"--cycles {CYCLES} --buffer 4M")
            phase = bench.do([guest], f"mix {ROUNDS}")
            bench.stop()
            machine.check("rmmod kiseki_vm")
            guest.stop()
        check(bench.work / "vm.ksk", guest, phase, functions(board, init))
    print(f"{board.name}: virtual machines by their CPUs' cycles")


if __name__ == "__main__":
    sys.exit(main(test, __doc__))

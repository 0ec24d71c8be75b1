# SPDX-License-Identifier: MIT
"""vm_duty: virtual machines that are recorded for a part of each period only, by the module and by BPF.

	vm_duty.py BOARD

One guest computes all the time. What lies between two parts is planned and no loss; the report does not know what the virtual
CPU did then; and no sample stands for it. And it says what its records took inside the kernel, which a budget counts.
"""
import json
import re
import sys
import tempfile

from board_test import KISEKI, SRC, WORK, Failed, build, expect, main
from boards.catalog import get_board
from boards.guests import Guest, guest_parts
from boards.machine import Machine
from vm_account import parse
from vm_bench import NS, SAMPLE_DUMP, Bench, near, run

ROUNDS, LENGTH_S = 6000, 10
CPUS = 2


def check(path):
    samples, events, lost = parse(run(SAMPLE_DUMP, path).splitlines())
    expect("lost records", lost, 0)
    said = json.loads(run(KISEKI, "info", path, "--json"))["profile"]["uncovered"]
    planned, on = said["planned_ns"], said["total_ns"] - said["planned_ns"]
    print(f"  {len(samples)} samples, {len(events)} events; {on / NS:.2f} s of {said['total_ns'] / NS:.2f} s")
    expect("uncovered", (said["lost_ns"], said["ratio"]), (0, 0))
    if not NS < planned < said["total_ns"] or not on > NS:
        raise Failed(f"planned pauses of {planned / NS} s")
    near("weights of all samples, s", sum(s.weight for s in samples) / NS, CPUS * on / NS, CPUS * on / NS / 8)
    machines = json.loads(run(KISEKI, "vm", "report", path, "--json"))["machines"]
    expect("machines", len(machines), 1)
    classes, wall = machines[0]["classes_ns"], machines[0]["wall_ns"]
    print("  " + " ".join(f"{k} {v / NS:.2f} s" for k, v in sorted(classes.items()) if v))
    expect("sum of classes", sum(classes.values()), wall)
    # A pause before the first event, or behind the last one, is not in the machine's time.
    if not NS < classes["unknown"] < planned + NS:
        raise Failed(f"{classes['unknown'] / NS} s are unknown")
    if not classes["guest"] > on / 4 or classes["guest"] > on:
        raise Failed(f"{classes['guest'] / NS} s in the guest, of {on / NS} s")


def check_used(said):
    """What records took inside the kernel: something, and not more than there was."""
    found = re.search(r"the records took ([0-9.]+) s inside the kernel", said)
    if not found or not 0 < float(found[1]) < CPUS * LENGTH_S:
        raise Failed(f"what records took is not told: {said}")


def test(arguments):
    board = get_board(arguments.board)
    init = build.compile_program(board, [SRC / "tests/tools/vm_guest.c"], WORK / board.name / "vm_guest", ["-no-pie"])
    module, agent = build.build_vm_module(board, WORK / board.name), build.build_agent(board, has_bpf=True)
    with tempfile.TemporaryDirectory() as work:
        parts = guest_parts(board, init, work)
        parts["files"] += [(module, "/kiseki_vm.ko"), (agent, "/kiseki-agent")]
        with Machine(board.paced(), **parts, timeout_s=1800) as machine:
            bench, guest = Bench(machine, work), Guest(machine, "g1")
            guest.wait_for("guest ready")
            bench.load()
            for source in ("module", "bpf"):
                bench.start(f"--source {source} --duty 1s/3s --buffer 4M")
                machine.check("while [ ! -s /tmp/vm.ksk ]; do sleep 0.2; done", 120)
                bench.is_recording = False  # it has to see when a part ends
                bench.do([guest], f"mix {ROUNDS}", f"sleep {LENGTH_S}")
                check_used(bench.stop())
                check(bench.work / "vm.ksk")
            guest.stop()
    print(f"{board.name}: virtual machines for a part of the time")


if __name__ == "__main__":
    sys.exit(main(test, __doc__))

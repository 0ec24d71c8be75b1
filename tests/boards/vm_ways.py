#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""vm_ways: kiseki-guest tells its host over each of the ways that a real VMM has: a serial port, a vsock, TCP.

	vm_ways.py BOARD

Three guests, each with another way, and one recording that listens to all of them. In each a program with the guest's own name
computes: the report must call it so in that machine and in no other. Who says to be a machine that is not there is refused.
"""
import json
import re
import sys
import tempfile
from pathlib import Path

from board_test import KISEKI, SRC, WORK, Failed, build, expect, main
from boards.catalog import get_board
from boards.guests import MAIN, SERIAL, TCP, VSOCK, Guest, teller_parts
from boards.machine import Machine
from vm_bench import Bench, run

WAYS = {"serial": SERIAL, "vsock": VSOCK, "tcp": TCP}
PHASE_S = 600  # of this machine, until a phase counts as stuck
TALK_S = 60  # of the board, until all guests must have come
SPIN_MS = 500
SCRIPT = """#!/bin/sh
echo guest ready
while read what ms; do /$what spin $ms; echo done $what; done
"""
STRANGER = "kiseki-guest --once --no-tables --uuid ffffffff-ffff-4fff-bfff-ffffffffffff"


def wait(machine, condition, what, log="/tmp/r.log"):
    answer = machine.call(f"for i in $(seq {TALK_S * 5}); do {condition} && exit; sleep 0.2; done; cat {log}; exit 1", PHASE_S)
    if answer.code:
        raise Failed(f"{what}: {answer.text}")


def talk(bench, guests):
    """All of them, one after the other, so that each is alone on the CPU."""
    machine, listed = bench.machine, ",".join(w.door for w in WAYS.values())
    bench.start(f"--guests {listed}")
    wait(machine, " && ".join(f"grep -q guest-{g.name} /tmp/vm.ksk" for g in guests), "not all guests talk")
    for guest in guests:
        guest.tell(f"{guest.name} {SPIN_MS}")
        guest.wait_for(f"done {guest.name}", PHASE_S)
    said = machine.call(f"/{STRANGER} {TCP.door} 2>&1", PHASE_S)
    bench.stop()
    return said


def check(report, guests):
    told = {x["vm"]: x["note"] for x in report["guests"] if x["what"] == "talks"}
    expect("who talked", {vm: note for vm, note in told.items() if vm}, {g.pid: f"guest-{g.name}" for g in guests})
    for guest in guests:
        names = {re.sub(r" \(\d+\)$", "", row["process"]): row["true_ns"] / 1e6
                 for row in report["process"]["rows"] if row["vm"] == guest.pid}
        print(f"  by {guest.name}: machine {guest.pid}: {names.get(guest.name, 0):.0f} ms in {guest.name}, {len(names)} processes")
        expect(f"{guest.name}: processes without a name", [n for n in names if n.startswith(("pid ", "space "))], [])
        expect(f"{guest.name}: programs of other guests", set(names) & (set(WAYS) - {guest.name}), set())
        if not 0.8 * SPIN_MS < names.get(guest.name, 0) < 1.3 * SPIN_MS:
            raise Failed(f"{guest.name} computed for {SPIN_MS} ms, and has {names}")


def test(arguments):
    board = get_board(arguments.board)
    spin = build.compile_program(board, [SRC / "tests/tools/vm_spin.c"], WORK / board.name / "vm_spin")
    module = build.build_vm_module(board, WORK / board.name)
    agent = build.build_agent(board)
    program = build.build_guest(board)
    with tempfile.TemporaryDirectory() as work:
        script = Path(work) / "main"
        script.write_text(SCRIPT)
        script.chmod(0o755)
        parts = teller_parts(board, [*((spin, f"/{name}") for name in WAYS), (script, MAIN)], program, work)
        parts["files"] += [(module, "/kiseki_vm.ko"), (agent, "/kiseki-agent"), (program, "/kiseki-guest")]
        parts["modules"] = [m for way in WAYS.values() for m in way.modules]
        with Machine(board.paced(), **parts, timeout_s=1800) as machine:
            bench = Bench(machine, work)
            bench.load()
            guests = [Guest(machine, name, way=way) for name, way in WAYS.items()]
            for guest in guests:
                guest.wait_for("guest ready", PHASE_S)
            said = talk(bench, guests)
        report = json.loads(run(KISEKI, "vm", "report", Path(work) / "vm.ksk", "--by", "process", "--json", "--limit", "0"))
        print(f"  a stranger: {said.code} {said.text.strip()}")
        check(report, guests)
        refused = [x for x in report["guests"] if x["what"] == "refused"]
        if not refused or "UUID" not in refused[0]["note"]:
            raise Failed(f"the stranger was not refused: {report['guests']}")
    print(f"{board.name}: {', '.join(WAYS)}")


if __name__ == "__main__":
    sys.exit(main(test, __doc__))

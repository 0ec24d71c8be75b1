# SPDX-License-Identifier: MIT
"""vm_neighbour: a virtual machine gets a noisy neighbour, and the collector says who takes its time.

	vm_neighbour.py BOARD

One guest computes for a third of the time, on a CPU of its own; then another one comes that spins on the same. Each second that is recorded
is a minute of the collector's (tools/minutes.py).
"""
import os
import sys
import tempfile
from pathlib import Path

from board_test import KISEKI, SRC, WORK, Failed, build, expect, main
from boards.catalog import get_board
from boards.guests import Guest, guest_parts
from boards.machine import Machine
from vm_bench import Bench

sys.path.insert(0, str(SRC / "tests/tools"))
import served  # noqa: E402
from minutes import watch  # noqa: E402

served.KISEKI = KISEKI
FILL_STORE = os.environ.get("FILL_STORE") or str(SRC / "build/tests/fill_store")
CALM, NOISY = 12, 2  # minutes
LOAD_S = 200  # of the board; longer than all of it


def record(bench, minute):
    bench.machine.check(f"/kiseki-agent vm --name host -o /tmp/{minute}.ksk --buffer 4M -t 1s", 300)
    bench.take(f"/tmp/{minute}.ksk")
    return bench.work / f"{minute}.ksk"


def record_all(machine, work):
    bench, guest = Bench(machine, work), Guest(machine, "g1")
    guest.wait_for("guest ready")
    bench.clear()
    bench.load()
    guest.tell(f"duty {LOAD_S}")
    files = [record(bench, minute) for minute in range(CALM)]
    print(f"  {CALM} calm minutes", flush=True)
    Guest(machine, "g2", is_bare=True)
    return files + [record(bench, minute) for minute in range(CALM, CALM + NOISY)]


def test(arguments):
    board = get_board(arguments.board)
    init = build.compile_program(board, [SRC / "tests/tools/vm_guest.c"], WORK / board.name / "vm_guest", ["-no-pie"])
    module, agent = build.build_vm_module(board, WORK / board.name), build.build_agent(board)
    with tempfile.TemporaryDirectory() as work:
        parts = guest_parts(board, init, work)
        parts["files"] += [(module, "/kiseki_vm.ko"), (agent, "/kiseki-agent")]
        with Machine(board.paced(), **parts, timeout_s=3600) as machine:
            files = record_all(machine, work)
        first_s, alerts = watch(FILL_STORE, Path(work) / "store", files)
    print("\n".join(f"  {a['text']}" for a in alerts))
    stolen = [a for a in alerts if a["kind"] == "steal"]
    expect("alerts on what was stolen", len(stolen), 1)
    since_s = first_s + 60 * CALM
    if not since_s <= stolen[0]["told_s"] < since_s + 60 * NOISY:
        raise Failed(f"told in minute {(stolen[0]['told_s'] - first_s) // 60} instead of {CALM}")
    early = [a["text"] for a in alerts if a["told_s"] < since_s]
    expect("alerts before the neighbour came", early, [])
    print(f"{board.name}: a noisy neighbour is told in minute {(stolen[0]['told_s'] - since_s) // 60 + 1}, by {stolen[0]['cause']}")


if __name__ == "__main__":
    sys.exit(main(test, __doc__))

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""driver_codecs: both codecs of the driver, on the board's clock and beside the kernel's own trace.

	driver_codecs.py BOARD

With each codec a program that is pinned to a CPU sleeps a known number of times while the driver and a
tracefs instance of the board record. The switches away from it must be as many as the kernel traced;
the time between the first and the last one as long, but for what an emulated CPU may be kept waiting
between the two that look at the clock.
"""
import re
import sys
import tempfile
from pathlib import Path

from board_test import KISEKI, Failed, build_driver, build_tool, expect, export, main, wait_for
from boards.catalog import get_board
from boards.collector import HOST, Collector
from boards.machine import Machine

NAPS, COMM, LATE_S = 200, "napper", 0.1
TRACE = "/sys/kernel/tracing/instances/codecs"
WORK = f"""
mkdir -p {TRACE}
echo 4096 > {TRACE}/buffer_size_kb
echo mono > {TRACE}/trace_clock
echo 1 > {TRACE}/events/sched/sched_switch/enable
/{COMM} {NAPS}
sleep 0.2 # its last switch comes after its parent knows that it is over
echo 0 > {TRACE}/events/sched/sched_switch/enable
grep -c 'prev_comm={COMM} ' {TRACE}/trace
grep 'prev_comm={COMM} ' {TRACE}/trace | sed -n '1p;$p'
echo > {TRACE}/trace
"""


def record(machine, collector, codec):
    """Whose run it is, and what the kernel traced: how many, how long."""
    name = f"codec-{codec}"
    machine.check(f"insmod /kiseki.ko collector={HOST}:{collector.port} name={name} codec={codec} "
                  "start=1")
    wait_for("the device", lambda: (collector.device(name) or {}).get("state") == "tracing")
    lines = machine.check(WORK).splitlines()
    machine.check("rmmod kiseki")
    stamps = [float(re.search(r" (\d+\.\d{6}): sched_switch", x)[1]) for x in lines[-2:]]
    return name, int(lines[-3]), stamps[1] - stamps[0]


def check(collector, name, count, span_s):
    items = export(collector, name)
    expect(f"{name}: losses", [x for x in items if x.get("kind") == "lost"], [])
    away = [x for x in items if x.get("kind") == "switch" and x["prev_comm"] == COMM]
    expect(f"{name}: switches away from the program", len(away), count)
    got_s = (away[-1]["ns"] - away[0]["ns"]) / 1e9
    if abs(got_s - span_s) > LATE_S:
        raise Failed(f"{name}: {got_s} s between the first and the last switch, not {span_s}")
    print(f"  {name}: {len(away)} switches, {got_s:.6f} s, as the kernel traced them ({span_s:.6f} s)")


def run(arguments):
    board = get_board(arguments.board)
    files = [(build_driver(board), "/kiseki.ko"),
             (build_tool(board, "tests/boards/napper.c"), f"/{COMM}")]
    with tempfile.TemporaryDirectory(prefix="kiseki-codecs-") as work:
        collector = Collector(KISEKI, Path(work) / "store", Path(work) / "collector.log").start()
        try:
            with Machine(board, files, timeout_s=600) as machine:
                for codec in ("sched", "bsf"):
                    check(collector, *record(machine, collector, codec))
        finally:
            collector.stop()


if __name__ == "__main__":
    sys.exit(main(run, __doc__))

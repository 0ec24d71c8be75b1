#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""boot_exact: the exact and the sampled chart of the same boot agree.

	boot_exact.py BOARD [--only tracefs] [--only driver]

The recorder takes the scheduler's events from tracefs into its own file. With --only driver it loads the driver from
the initramfs instead, and the driver and it send to the same collector. In both cases the report of the samples alone is
held against the exact one: each process that both have used as much CPU time, but for what may lie between a sample
and a process' start or end; and in both, what a process did adds up to its life.
"""
import json
import sys
import tempfile
from pathlib import Path

from board_test import KISEKI, Failed, build_driver, expect, main, wait_for
from boards.catalog import get_board
from boards.collector import HOST, Collector
from boot_test import busybox_board, chart, fetch_recording, wait_end

STATES = ("running_ns", "runnable_ns", "disk_ns", "sleeping_ns", "stopped_ns", "zombie_ns",
          "unknown_ns")
INTERVALS = 1.5  # that a process' CPU time may be off by
SHARE = 0.05  # and this of its CPU time: interrupts are counted in one and not in the other
NAME = "exact"


def check_sums(what, report):
    # Life is that up to the target, so only those that ended before it can be added up.
    rows = [x for x in report["cpu"] if x["from_ns"] and x["to_ns"] and x["to_ns"] <= report["to_ns"]]
    if len(rows) < 20:
        raise Failed(f"{what}: only {len(rows)} processes began and ended")
    for row in rows:
        total = sum(row[x] for x in STATES)
        if abs(total - row["life_ns"]) > 1000:
            raise Failed(f"{what}: what {row['comm']}[{row['pid']}] did adds up to {total} ns of "
                         f"{row['life_ns']}")


def check_agree(exact, sampled):
    expect("the exact one is exact", exact["boot"]["exact"], True)
    expect("the sampled one is not", sampled["boot"]["exact"], False)
    check_sums("exact", exact)
    check_sums("sampled", sampled)
    rows = {(x["pid"], x["comm"]): x for x in exact["cpu"]}
    both = [(rows[x["pid"], x["comm"]], x) for x in sampled["cpu"]
            if (x["pid"], x["comm"]) in rows and not x["kernel"]]
    if len(both) < 20:
        raise Failed(f"only {len(both)} processes are in both")
    interval, worst = sampled["boot"]["interval_ns"], 0
    for one, other in both:
        error = abs(one["cpu_ns"] - other["cpu_ns"])
        allowed = INTERVALS * interval + SHARE * max(one["cpu_ns"], other["cpu_ns"])
        worst = max(worst, error)
        if error > allowed:
            raise Failed(f"{one['comm']}[{one['pid']}] ran {one['cpu_ns'] / 1e6:.1f} ms by events and "
                         f"{other['cpu_ns'] / 1e6:.1f} ms by samples")
    sums = [sum(x[i]["cpu_ns"] for x in both) / 1e9 for i in (0, 1)]
    print(f"  {len(both)} processes in both, {sums[0]:.3f} s of CPU by events, {sums[1]:.3f} s by "
          f"samples; the worst is off by {worst / 1e6:.2f} ms")


def check_tracefs(board, work):
    with busybox_board(board, exact="tracefs", spool="8M") as machine:
        wait_end(machine, 120)
        path = fetch_recording(machine, work)
    print(f"  by tracefs: {path.stat().st_size} bytes")
    check_agree(chart(path, "--limit", "0"), chart(path, "--limit", "0", "--sampled"))


def ask(collector, *options):
    answer = collector.client("boot", "report", NAME, "--json", "--limit", "0", *options)
    expect(f"the report ({answer.stderr.strip()})", answer.returncode, 0)
    return json.loads(answer.stdout)


def check_driver(board, work):
    module = build_driver(board)
    with Collector(KISEKI, Path(work, "store"), Path(work, "collector.log")) as collector:
        there = f"{HOST}:{collector.port}"
        words = f'"kiseki_boot.driver_args=collector={there} name={NAME} start=1"'
        with busybox_board(board, [(module, "/kiseki.ko")], append=words, driver="/kiseki.ko",
                           collector=there, name=NAME) as machine:
            wait_end(machine, 120)
            wait_for("the driver's trace", lambda: (d := collector.device(NAME)) and
                     d["received"]["events"] > 1000)
            machine.check("rmmod kiseki", 60)
        wait_for("both runs", lambda: collector.client("runs", NAME).stdout.count("\n") >= 3)
        check_agree(ask(collector), ask(collector, "--sampled"))


def test(arguments):
    board = get_board(arguments.board)
    checks = {"tracefs": check_tracefs, "driver": check_driver}
    for name in arguments.only or ["tracefs"]:
        with tempfile.TemporaryDirectory() as work:
            checks[name](board, work)
    print(f"{board.name}: exact and sampled agree")


if __name__ == "__main__":
    sys.exit(main(test, __doc__, lambda p: p.add_argument("--only", action="append")))

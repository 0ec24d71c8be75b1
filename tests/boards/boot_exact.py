#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""boot_exact: the exact and the sampled chart of the same boot agree.

	boot_exact.py BOARD [--only tracefs] [--only driver] [--only bpf]

The recorder takes the scheduler's events from tracefs into its own file. Or it loads the driver from the initramfs, and
the driver and it send to the same collector. In both cases the report of the samples alone is held against the exact
one: each process that both have used as much CPU time, but for what may lie between a sample and a process' start or
end; and in both, what a process did adds up to its life. The driver's clock is another than the recorder's, and the
real time, in which they meet, is set by days in the middle of the boot.

Programs for BPF need libbpf: that recorder is the one of this machine, with its libraries, if the board is of the same
kind and its kernel describes its types. The kernel checks them while the boot goes on, so only what is exact is looked at.
"""
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from board_test import KISEKI, Failed, build_driver, expect, main, wait_for
from boards.catalog import get_board
from boards.collector import HOST, Collector
from boot_test import RECORDER, Recording, busybox_board, chart, fetch_recording, wait_end

STATES = ("running_ns", "runnable_ns", "disk_ns", "sleeping_ns", "stopped_ns", "zombie_ns",
          "unknown_ns")
INTERVALS = 1.5  # that a process' CPU time may be off by
SHARE = 0.05  # and this of its CPU time
NAME = "exact"
DAYS_S = 3 * 86400


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
    # Who is interrupted is on the CPU by the events, and the kernel does not charge him. That is next to nothing, unless
    # the board itself stands still because the machine that emulates it is busy: and then for both together.
    interval, worst, hidden = sampled["boot"]["interval_ns"], 0, sampled["machine"]["irq_ns"]
    for one, other in both:
        error = one["cpu_ns"] - other["cpu_ns"]
        allowed = INTERVALS * interval + SHARE * max(one["cpu_ns"], other["cpu_ns"])
        worst = max(worst, abs(error))
        if not -allowed <= error <= allowed + hidden:
            raise Failed(f"{one['comm']}[{one['pid']}] ran {one['cpu_ns'] / 1e6:.1f} ms by events and "
                         f"{other['cpu_ns'] / 1e6:.1f} ms by samples")
    sums = [sum(x[i]["cpu_ns"] for x in both) / 1e9 for i in (0, 1)]
    if not -SHARE * sums[1] <= sums[0] - sums[1] <= SHARE * sums[1] + hidden / 1e9:
        raise Failed(f"all ran {sums[0]:.3f} s by events and {sums[1]:.3f} s by samples, with "
                     f"{hidden / 1e9:.3f} s of interrupts")
    print(f"  {len(both)} processes in both, {sums[0]:.3f} s of CPU by events, {sums[1]:.3f} s by "
          f"samples; the worst is off by {worst / 1e6:.2f} ms")


def check_tracefs(board, work):
    with busybox_board(board, exact="tracefs", spool="8M") as machine:
        wait_end(machine, 120)
        path = fetch_recording(machine, work)
    print(f"  by tracefs: {path.stat().st_size} bytes")
    check_agree(chart(path, "--limit", "0"), chart(path, "--limit", "0", "--sampled"))


def find_libraries(program):
    """What the loader would put beside it."""
    done = subprocess.run(["ldd", program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return re.findall(r"(/\S+) \(0x", done.stdout)


def check_bpf(board, work):
    recorder = Path(KISEKI).parents[1] / "device/boot/kiseki-boot"
    libraries = find_libraries(recorder)
    if platform.machine() != board.machine or not any("libbpf" in x for x in libraries):
        print("  by BPF: not checked, this machine has no recorder with libbpf for the board")
        return
    files = [(recorder, RECORDER), *((os.path.realpath(x), x) for x in libraries)]
    with busybox_board(board, files, exact="bpf", spool="8M") as machine:
        if machine.call("[ -e /sys/kernel/btf/vmlinux ]").code:
            print("  by BPF: not checked, the board's kernel does not describe its types")
            return
        wait_end(machine, 120)
        path = fetch_recording(machine, work)
    recording = Recording(path)
    expect("what is missing", [x for _, x in recording.marks("missing") if "exact" in x], [])
    report = chart(path, "--limit", "0")
    expect("it is exact", report["boot"]["exact"], True)
    check_sums("exact by BPF", report)
    # The kernel checks the programs before it runs them, and init does not wait for that as long as it may take here.
    unknown = [x for x in report["boot"]["gaps"] if not x["why"].startswith("no events of the scheduler")]
    expect("gaps", unknown, [])
    print(f"  by BPF: {path.stat().st_size} bytes, exact from "
          f"{report['boot']['gaps'][0]['to_ns'] / 1e9 if report['boot']['gaps'] else 0:.1f} s on")


def ask(collector, *options):
    answer = collector.client("boot", "report", NAME, "--json", "--limit", "0", *options)
    expect(f"the report ({answer.stderr.strip()})", answer.returncode, 0)
    return json.loads(answer.stdout)


def check_driver(board, work):
    module, clock = build_driver(board), Path(work, "clock")
    clock.write_text(f"#!/bin/sh\ndate -s @$(($(date +%s) + {DAYS_S})) >/dev/null\n")
    clock.chmod(0o755)
    with Collector(KISEKI, Path(work, "store"), Path(work, "collector.log")) as collector:
        there = f"{HOST}:{collector.port}"
        words = f'"kiseki_boot.driver_args=collector={there} name={NAME} start=1"'
        files = [(module, "/kiseki.ko"), (clock, "/etc/init.d/S35clock")]
        with busybox_board(board, files, append=words, driver="/kiseki.ko", collector=there,
                           name=NAME) as machine:
            wait_end(machine, 120)
            wait_for("the driver's trace", lambda: (d := collector.device(NAME)) and
                     d["received"]["events"] > 1000)
            machine.check("rmmod kiseki", 60)
        wait_for("both runs", lambda: collector.client("runs", NAME).stdout.count("\n") >= 3)
        check_agree(ask(collector), ask(collector, "--sampled"))


def test(arguments):
    board = get_board(arguments.board)
    checks = {"tracefs": check_tracefs, "driver": check_driver, "bpf": check_bpf}
    for name in arguments.only or checks:
        with tempfile.TemporaryDirectory() as work:
            checks[name](board, work)
    print(f"{board.name}: exact and sampled agree")


if __name__ == "__main__":
    sys.exit(main(test, __doc__, lambda p: p.add_argument("--only", action="append")))

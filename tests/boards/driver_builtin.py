#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""driver_builtin: a kernel with the driver in it traces before there is any program.

	driver_builtin.py BOARD

The kernel's command line says all: where the collector is, the board's address, to begin at once. In
the store there must then be what the kernel did before its first program: by the stamps of one clock,
events before the one in which process 1, until then a thread of the kernel, executes /init. From the
first event on each one that the driver counted is stored, or counted as lost; and so are those of a
generator of a known number of events.
"""
import collections
import re
import sys
import tempfile
from pathlib import Path

from board_test import (KISEKI, WORK, Failed, build, build_tool, expect, export, main, wait_for)
from boards.catalog import get_board
from boards.collector import HOST, Collector
from boards.machine import Machine

NAME, FOLDER, PREFIX, RENAMES = "built-in", "/sys/kernel/kiseki", "kz", 5000
ADDRESS = "ip=10.0.2.15::10.0.2.2:255.255.255.0::eth0:off"
# Not events: what the trace is, what is known of tasks, the sums.
ABOUT = ("trace", "task", "lost", "totals")


def statistics(machine):
    text = machine.check(f"cat {FOLDER}/statistics")
    return {key: int(value) for key, value in re.findall(r"(\w+)=(\d+)", text)}


def check_early(items, console):
    """What was recorded before the first program, and that it was the kernel's."""
    events = [x for x in items if x["kind"] not in ABOUT]
    programs = [x for x in events if x["kind"] == "exec"]
    if not programs:
        raise Failed("no program was executed, says the trace")
    first = programs[0]
    expect("the first program", (first["pid"], first["filename"]), (1, "/init"))
    early = [x for x in events if x["ns"] < first["ns"]]
    kinds = collections.Counter(x["kind"] for x in early)
    names = [x["prev_comm"] for x in early if x["kind"] == "switch" and x["prev_pid"] == 1]
    # It takes its new name a moment before it is said to be a program.
    expect("the names of process 1 before", list(dict.fromkeys(names))[:1], ["swapper/0"])
    threads = {x["child_pid"] for x in early if x["kind"] == "fork"}
    ran = {x["next_pid"] for x in early if x["kind"] == "switch"}
    if not threads or not threads <= ran | {1}:
        raise Failed(f"threads {threads - ran} of the kernel were made, and none ran")
    seconds = (first["ns"] - early[0]["ns"]) / 1e9
    print(f"  {len(early)} events in {seconds:.3f} s before /init: {dict(kinds)}; "
          f"{len(threads)} threads of the kernel made")
    said = re.findall(r"^\[ *([\d.]+)\] (Run /init|kiseki: connected)", console, re.M)
    print("  the kernel says: " + ", ".join(f"{what} at {at}" for at, what in said))
    expect("what the kernel says of its first program", [w for _, w in said].count("Run /init"), 1)


def check_all(machine, items, made):
    """Generated = stored + lost, by the driver's count and by the generator's."""
    counted = statistics(machine)
    kinds = collections.Counter(x["kind"] for x in items)
    stored = sum(n for kind, n in kinds.items() if kind not in ABOUT)
    lost = sum(x["count"] for x in items if x["kind"] == "lost")
    print(f"  the driver found {counted['events']}; stored {stored}; lost {lost}")
    expect("events found", counted["events"], stored + lost)
    found = collections.Counter(x["newcomm"] for x in items if x["kind"] == "rename"
                                and re.match(PREFIX + r"\d+-\d+$", x["newcomm"]))
    wanted = {f"{PREFIX}{cpu}-{n}": 1 for cpu, many in made.items() for n in range(many)}
    if not lost:
        expect("renames that are not stored once", [x for x in wanted if found[x] != 1][:10], [])
    expect("renames", sum(found.values()) + lost >= len(wanted), True)


def run_board(machine, collector):
    wait_for("the board to trace", lambda: (collector.device(NAME) or {}).get("state") == "tracing")
    text = machine.check(f"/rename_generator {PREFIX} {RENAMES} 4000")
    made = {int(c): int(n) for c, n in (line.split() for line in text.splitlines())}
    answer = collector.client("stop", NAME)
    expect(f"stop ({answer.stderr.strip()})", answer.returncode, 0)
    wait_for("the rest", lambda: (d := collector.device(NAME)) and d["state"] == "idle" and
             d["status"]["spool_used"] == 0)
    return made


def test(arguments):
    board = get_board(arguments.board)
    image = build.build_kernel(board, WORK / board.name)
    generator = build_tool(board, "tests/tools/rename_generator.c")
    with tempfile.TemporaryDirectory() as work:
        collector = Collector(KISEKI, Path(work, "store"), Path(work, "collector.log"))
        with collector:
            words = (f"{ADDRESS} kiseki.collector={HOST}:{collector.port} kiseki.name={NAME} "
                     "kiseki.start=1")
            with Machine(board, [(generator, "/rename_generator")], image=image, append=words,
                         timeout_s=300) as machine:
                made = run_board(machine, collector)
                items = export(collector, NAME)
                check_all(machine, items, made)
                check_early(items, machine.console())
    print(f"{board.name}: traces from the kernel's own beginning")


if __name__ == "__main__":
    sys.exit(main(test, __doc__))

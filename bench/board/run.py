#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""run: the paper's evaluation on the emulated dual Cortex-A9, what `make bench-board` does.

	run.py [--full | --times 10,30] [--counted SECONDS] [--methods text,sched] [--json FILE]
	       [--results DIR] [--try]

For each running time the board is booted once, and all methods run on it one after the other, the
load without a tracer first and last: only what was measured in the same run is compared. Then all
of them run once more on the board with one CPU whose clock counts instructions, two nanoseconds
each, about as fast as the paper's CPU: costs in that time do not depend on the machine, however
busy it is. At last the instructions per switch are counted (switch_cost.py). --full takes 10 to
150 s in steps of 10, as the paper does, about three hours; the default is two times, a quarter of
an hour. All figures go into the JSON file, and from it report.py writes RESULTS.md and the plots
into DIR, which is this folder if not said. --try writes them beside the JSON file instead and
says so in them: for a machine that does other things, where times mean nothing.
"""
import argparse
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT))

import counters  # noqa: E402
import report  # noqa: E402
import switch_cost  # noqa: E402
from boards import build  # noqa: E402
from boards.catalog import BoardError, get_board  # noqa: E402
from boards.machine import Machine  # noqa: E402
from methods import METHODS, kiseki_program  # noqa: E402

SEED = 1
QUICK, FULL = [10, 30], list(range(10, 151, 10))
COUNTED_S, COUNTED_SHIFT = 10, 1
PROGRAMS = ("load_frames", "load_switches", "spend")
VERSION = 1


def say(text):
    print(f"bench: {text}", file=sys.stderr, flush=True)


def build_files(board, work, with_driver):
    """What is put on the board: (here, there)."""
    files = [(HERE / "measure.sh", "/bin/measure.sh"), (HERE / "switches.sh", "/bin/switches.sh")]
    for name in PROGRAMS:
        files.append((build.compile_program(board, [HERE / f"{name}.c"], work / name),
                      f"/bin/{name}"))
    if with_driver:
        files.append((build.build_module(board, work / "driver", say), "/lib/kiseki.ko"))
    return files


def patience(seconds):
    """How long a board may take for so many of its seconds; one that counts is slow."""
    return seconds * 20 + 300


def measure(machine, kind, seconds, kiseki):
    """One method for so many seconds."""
    with tempfile.TemporaryDirectory(prefix="kiseki-bench-") as folder:
        work, out = Path(folder), Path(folder) / "out"
        with kind(work, kiseki) as method:
            machine.check(f"measure.sh {kind.key} {seconds} {SEED} {method.port}",
                          patience(seconds))
        machine.get("/out", out)
        row = {"method": kind.key, "seconds": seconds, **counters.collect(out),
               "exported": method.weigh(out)}
        row["parts"] = method.parts(out, row["programs"])
    return row


def show(row):
    exported, i = row["exported"], row["interrupts"]
    say(f"{row['seconds']:4} s  {row['method']:9}  {exported['bytes']:10,} bytes, "
        f"{exported['events']:8,} events, {exported['lost']} lost, {row['switches']:7,} switches, "
        f"{i['eth0']:6,} of {i['total']:7,} interrupts, busy {row['busy_s']:.2f} s, "
        f"parts {sum(row['parts'].values()):.2f} s, frame {row['load']['mean_us']:.0f} us")


def measure_time(board, files, seconds, arguments):
    """All methods for one running time, on one boot of the board: a row of each as it comes."""
    kinds = [METHODS["none"], *(METHODS[x] for x in arguments.methods), METHODS["none"]]
    programs = ["trace-cmd//trace-cmd:/bin/trace-cmd"] if "trace_cmd" in arguments.methods else []
    limit = len(kinds) * patience(seconds)
    with Machine(board, files, programs=programs, timeout_s=limit, say=say,
                 logs=arguments.json.parent / "board-logs") as machine:
        release = machine.check("uname -r").strip()
        for kind in kinds:
            row = measure(machine, kind, seconds, arguments.kiseki)
            show(row)
            yield {**row, "board_kernel": release}


def machine_name():
    text = subprocess.run(["lscpu"], stdout=subprocess.PIPE, text=True, check=False,
                          env={**os.environ, "LC_ALL": "C"}).stdout
    model = re.search(r"^Model name: *(.*)$", text, re.M)
    return f"{model[1] if model else 'unknown processor'}, {os.cpu_count()} cores, {platform.machine()}"


def qemu_version(board):
    text = subprocess.run([board.qemu[0], "--version"], stdout=subprocess.PIPE, text=True,
                          check=True).stdout
    return re.search(r"version (\S+)", text)[1]


def parse():
    parser = argparse.ArgumentParser()
    when = parser.add_mutually_exclusive_group()
    when.add_argument("--full", dest="times", action="store_const", const=FULL)
    when.add_argument("--times", type=lambda text: [int(x) for x in text.split(",")])
    parser.add_argument("--counted", type=int, default=COUNTED_S)
    parser.add_argument("--methods", type=lambda text: text.split(","),
                        default=[x for x in METHODS if x != "none"])
    parser.add_argument("--json", type=Path, default=ROOT / "build/bench/board.json")
    parser.add_argument("--results", type=Path, default=HERE)
    parser.add_argument("--try", dest="is_trial", action="store_true")
    parser.set_defaults(times=QUICK)
    arguments = parser.parse_args()
    for name in arguments.methods:
        if name not in METHODS or name == "none":
            parser.error(f'no method "{name}"')
    arguments.times = arguments.times or QUICK
    return arguments


def run(arguments):
    board = get_board("a9")
    arguments.kiseki = kiseki_program(ROOT)
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    with_driver = any(issubclass(METHODS[x], METHODS["sched"].__base__) for x in arguments.methods)
    result = {"version": VERSION, "date": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
              "is_trial": arguments.is_trial, "machine": machine_name(),
              "kernel": f"{platform.system()} {platform.release()}", "board": board.about,
              "qemu": qemu_version(board), "seed": SEED,
              "command": " ".join(["bench/board/run.py", *sys.argv[1:]]),
              "names": {key: m.name for key, m in METHODS.items()}, "runs": [], "counted": []}
    work = arguments.json.parent / "board"
    files = build_files(board, work, with_driver)
    plan = [(board, seconds, result["runs"]) for seconds in arguments.times]
    if arguments.counted:
        plan.append((board.counted(COUNTED_SHIFT), arguments.counted,
                     result["counted"]))
    for variant, seconds, rows in plan:
        for row in measure_time(variant, files, seconds, arguments):
            result["board_kernel"] = row.pop("board_kernel")
            rows.append(row)
            arguments.json.write_text(json.dumps(result, indent=1) + "\n")
    result["switch_cost"] = switch_cost.measure(board, files, with_driver, say)
    arguments.json.write_text(json.dumps(result, indent=1) + "\n")
    folder = arguments.json.parent / "board-results" if arguments.is_trial else arguments.results
    report.write(result, folder)
    say(f"the results are in {folder / 'RESULTS.md'}")


def main():
    arguments = parse()
    try:
        run(arguments)
    except BoardError as e:
        say(e)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())

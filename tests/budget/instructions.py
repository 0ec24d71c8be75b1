#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""instructions: how many instructions a part of a program executes per event, by callgrind.

	instructions.py COMPILER ARCHITECTURE PROGRAM PART... [--skip REASON]

The program prints "events N" and does each part as often as "part=N" says, once if it is silent;
what a second turn adds is the figure. It is compared with the one that instructions.txt holds for
the program, part, compiler and architecture, plus MARGIN. Exit 0, 1 above the budget, 77 when it cannot be measured here or a part has no
budget for this compiler and architecture.
"""
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

MARGIN = 0.15
TABLE = Path(__file__).with_name("instructions.txt")


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


def read_table():
    rows = [row for line in TABLE.read_text().splitlines() if (row := line.split("#")[0].split())]
    table = {tuple(row[:4]): float(row[4]) for row in rows}
    if len(table) < len(rows):
        sys.exit(f"{TABLE.name} has a row twice")
    return table


def run(program, *args):
    """Instructions of a whole run, and the number of events in it."""
    done = subprocess.run(
        ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", program, *args],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    events = re.search(r"^events (\d+)$", done.stdout, re.M)
    collected = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode or not events or not collected:
        sys.exit(f"{program} failed under callgrind:\n{done.stdout}{done.stderr}")
    return int(collected[1]), int(events[1])


def count(program, part):
    """Instructions per event that a second turn of the part adds."""
    once, events = run(program)
    twice, _ = run(program, f"{part}=2")
    return (twice - once) / events


def judge(key, figure, table):
    """Prints one line; False if the figure is above its budget, None if there is none."""
    known = table.get(key)
    line = f"{key[0]} {key[1]}: {figure:.1f} instructions per event"
    if known is None:
        print(f"{line}; no budget")
        return None
    limit = known * (1 + MARGIN)
    print(f"{line}, at most {limit:.1f}")
    if figure < known * (1 - MARGIN):
        print(f"{key[0]} {key[1]}: far below; the figure in {TABLE.name} can be lowered")
    return figure <= limit


def main():
    args = sys.argv[1:]
    if len(args) >= 2 and args[-2] == "--skip":
        skip(args[-1])
    for tool in ("valgrind", "strip"):
        if not shutil.which(tool):
            skip(f"{tool} is not installed")
    compiler, architecture, program, *parts = args
    table = read_table()
    name = Path(program).name
    with tempfile.TemporaryDirectory() as folder:
        # Some versions of valgrind give up on the debug information of some compilers.
        bare = Path(folder) / name
        subprocess.run(["strip", "-o", bare, program], check=True)
        good = [judge((name, part, compiler, architecture), count(bare, part), table)
                for part in parts]
    if not parts or False in good:
        return 1
    if None in good:
        skip(f"{TABLE.name} has no figure of {compiler} on {architecture} for {', '.join(p for p, g in zip(parts, good) if g is None)}")
    return 0


sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""same_text: whether two ftrace texts are the same but for the name of who ran.

    same_text.py KERNEL OURS

The kernel prints the name that a task has when the file is read, or <...> where it has forgotten it; we
print the one that it had at the time of the event. So the first column may differ where the kernel
has none, or where the trace itself gives this pid the name that we print.
"""
import itertools
import re
import sys
from collections import defaultdict

COLUMN = 16  # characters of the name, right-aligned
NAMES = re.compile(r"(?:prev_|next_|child_)?comm=(.*?) (?:prev_|next_|child_)?pid=(\d+)|pid=(\d+) oldcomm=(.*?) newcomm=(.*?) oom")


def read(path):
    return [line for line in open(path, errors="surrogateescape") if not line.startswith("#")]


def main():
    kernel, ours = read(sys.argv[1]), read(sys.argv[2])
    names = defaultdict(set)
    for line in kernel:
        for comm, pid, renamed, old, new in NAMES.findall(line):
            names[pid or renamed] |= {comm} if pid else {old, new}
    for number, (a, b) in enumerate(itertools.zip_longest(kernel, ours, fillvalue=""), 1):
        pid = re.match(r"-(\d+)", a[COLUMN:])
        if a[COLUMN:] != b[COLUMN:] or not pid:
            sys.exit(f"line {number}:\n{a}{b}")
        was, is_now = a[:COLUMN].strip(), b[:COLUMN].strip()
        if was != is_now and is_now not in names[pid[1]]:
            sys.exit(f"line {number}: {is_now} is no name of {pid[1]}, {sorted(names[pid[1]])}:\n{a}{b}")
        if is_now == "<...>" and names[pid[1]]:
            sys.exit(f"line {number}: the trace knows names of {pid[1]}: {sorted(names[pid[1]])}\n{b}")


main()

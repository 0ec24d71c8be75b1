#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""pprof_check: whether pprof itself reads from a file what our own reader does.

    pprof_check.py FILE PPROF...    PPROF: the command, such as "go tool pprof"

Of each value of the file: how much of it each function has for itself and in all, to the unit.
"""
import gzip
import re
import subprocess
import sys
from collections import Counter

from profile_check import message, need

ROW = re.compile(r"^\s*(-?[\d.]+)(\w*)\s+\S+%\s+\S+%\s+(-?[\d.]+)(\w*)\s+\S+%\s+(.*)$")


def read(path):
    """The types of a file, and its samples: names from the innermost on, and values."""
    profile = message(gzip.open(path).read())
    strings = [s.decode() for s in profile[6]]
    functions = {m[1][0]: strings[m[2][0]] for m in map(message, profile[5])}
    locations = {m[1][0]: functions[message(m[4][0])[1][0]] for m in map(message, profile[4])}
    types = [[strings[message(t)[k][0]] for k in (1, 2)] for t in profile[1]]
    return types, [([locations[n] for n in m[1]], m[2]) for m in map(message, profile[2])]


def shown(pprof, path, index, unit):
    """What pprof prints: own part and all of each function."""
    command = [*pprof, "-top", "-cum", f"-sample_index={index}", "-nodecount=100000", "-nodefraction=0",
               "-edgefraction=0", "-symbolize=none", *([f"-unit={unit}"] if unit else []), path]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    rows = {}
    for m in filter(None, map(ROW.match, text.splitlines())):
        need({m[2], m[4]} <= {unit or "", ""}, f"pprof has another unit: {m[0]}")
        rows[m[5]] = (int(m[1]), int(m[3]))
    return {name: row for name, row in rows.items() if row != (0, 0)}


def main():
    path, pprof = sys.argv[1], sys.argv[2:]
    types, samples = read(path)
    for index, (name, unit) in enumerate(types):
        own, total = Counter(), Counter()
        for stack, values in samples:
            own[stack[0]] += values[index]
            for function in set(stack):
                total[function] += values[index]
        wanted = {f: (own[f], total[f]) for f in total if total[f]}
        found = shown(pprof, path, index, "ns" if unit == "nanoseconds" else None)
        need(found == wanted, f"{name} of {path}: pprof says\n{found}\nnot\n{wanted}")
    print(f"{path}: pprof reads {len(samples)} stacks with {', '.join(t for t, _ in types)}")


if __name__ == "__main__":
    main()

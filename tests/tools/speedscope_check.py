#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""speedscope_check: whether speedscope shows of files what is in them.

    speedscope_check.py SHOWN FILE...    SHOWN: what tests/browser/speedscope.mjs printed of them
"""
import json
import sys
from collections import Counter

from profile_check import need

UNITS = [(1, "ns"), (1000, "µs"), (1000000, "ms"), (1000000000, "s")]


def texts(value, unit):
    """How speedscope writes a value; halves may be rounded either way."""
    if unit == "none":
        return {f"{value:,}", str(value)}
    unit_ns, name = max((u for u in UNITS if value >= u[0]), default=UNITS[0])
    return {f"{value / unit_ns + d:.2f}{name}" for d in (-0.00001, 0, 0.00001)}


def sums(profile):
    """Of each frame what is its own, and all."""
    own, total = Counter(), Counter()
    if profile["type"] == "sampled":
        for stack, weight in zip(profile["samples"], profile["weights"]):
            own[stack[-1]] += weight
            for frame in set(stack):
                total[frame] += weight
        return own, total
    stack, last = [], profile["startValue"]
    for event in profile["events"]:
        if stack:
            own[stack[-1]] += event["at"] - last
            for frame in set(stack):
                total[frame] += event["at"] - last
        last = event["at"]
        stack.append(event["frame"]) if event["type"] == "O" else stack.pop()
    return own, total


def check(profile, frames, shown):
    own, total = sums(profile)
    need(shown["title"] == profile["name"], f"speedscope calls {profile['name']} {shown['title']}")
    rows = [(r["name"], r["total"], r["self"]) for r in shown["rows"]]
    need(len(rows) == len(total), f"{profile['name']}: {len(rows)} rows, not {len(total)}")
    for frame, value in total.items():
        found = [r for r in rows if r[0] == frames[frame]["name"] and r[1] in texts(value, profile["unit"])
                 and r[2] in texts(own[frame], profile["unit"])]
        need(found, f"speedscope has no row of {frames[frame]}: {value}, {own[frame]}, but {rows}")


def main():
    shown = json.load(open(sys.argv[1]))
    for path, profiles in zip(sys.argv[2:], shown, strict=True):
        document = json.load(open(path))
        for profile, row in zip(document["profiles"], profiles, strict=True):
            check(profile, document["shared"]["frames"], row)
        print(f"{path}: speedscope shows {len(profiles)} profiles")


if __name__ == "__main__":
    main()

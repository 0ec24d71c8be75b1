#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""profile_story: a profile as lines for sample_make: one CPU, one program, functions with chances that change.

    profile_story.py NAME MINUTES SLOWER_AT SEED [METHOD] >NAME.sample

From the minute SLOWER_AT on, `copy` takes half more time than before; a number beyond MINUTES is never. Method 1 is by cycles.
"""
import random
import sys

NAMES = ["parse", "lookup", "copy", "hash", "send", "log"]
FIRST, WIDTH = 0xffff800000010000, 0x1000  # of the functions, which are the kernel's: these have names without files


def head(cpus, name):
    return [f"device {name}", "kernel 6.1.0", "machine aarch64", f"cpus {cpus}"]


def functions():
    return [f"function 0x{FIRST + i * WIDTH:x} 0x{FIRST + (i + 1) * WIDTH:x} {n}" for i, n in enumerate(NAMES)]


def profile_lines(seconds, weights, every_ns=20_000_000, name="box", method=0):
    """Samples of one CPU, each in one of the functions with the chances that weights(second) gives; the last is idle. Method 1 is by cycles."""
    lines = head(1, name) + [f"sampling {every_ns} 0 0 {method} 0 24"] + functions() + ["life 42 1 0 exec server"]
    for i in range((seconds * 1_000_000_000 - 1) // every_ns):  # none at the very end, where the next minute begins
        tick = (i + 1) * every_ns
        f = random.choices(range(len(NAMES) + 1), weights(tick // 1_000_000_000))[0]
        if f == len(NAMES):
            lines.append(f"0 {tick} sample 0/0/-/swapper/0 idle {every_ns}")
        else:
            lines.append(f"0 {tick} sample 42/42/-/server kernel {every_ns} k=0x{FIRST + f * WIDTH + 16:x},0x{FIRST + 20:x}")
    return lines


def slower_from(minute):
    """Chances with which `copy` gets slower by half in this minute."""
    def weights(second):
        late = second >= minute * 60
        return [4, 3, 4.5 if late else 3, 2, 1, 1, 18.5 if late else 20]
    return weights


if __name__ == "__main__":
    random.seed(int(sys.argv[4]))
    how = int(sys.argv[5]) if len(sys.argv) > 5 else 0
    print("\n".join(profile_lines(int(sys.argv[2]) * 60, slower_from(int(sys.argv[3])), 5_000_000, sys.argv[1], how)))

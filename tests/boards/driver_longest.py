#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""driver_longest: how long a probe keeps interrupts off, at most.

	driver_longest.py BOARD

The board's clock goes on by one nanosecond with each instruction, so the longest time that a probe took is the number of instructions
that it executed, whatever this machine does meanwhile: `longest_probe_ns`. Tasks take turns and wake each other, blocks and segments
end, with each policy and size of block; and somebody executes programs by the longest names that there can be.
"""
import re
import sys

from board_test import Failed, build_driver, build_tool, main
from boards.catalog import get_board
from boards.machine import Machine

FILES = "/sys/kernel/kiseki"
TIMEOUT_S = 3600
# Instructions of a probe. A segment's start is the longest part of a switch; a name costs some for each of its bytes.
SWITCH_MOST = 16000
EXEC_MOST = 16000 + 4095 * 64
NAME = "n=/bin; while [ ${#n} -lt 4080 ]; do n=$n/.; done"
EVENTS = "switch,waking,wakeup,wakeup_new"
CASES = (
    ("keep-oldest", f"policy=keep-oldest events={EVENTS}", "load_pairs 4 0 0.3", SWITCH_MOST),
    ("flight-recorder", f"policy=flight-recorder events={EVENTS}", "load_pairs 4 0 0.8", SWITCH_MOST),
    ("blocks of 64 KiB", f"policy=flight-recorder block=65536 events={EVENTS}", "load_pairs 4 0 0.8", SWITCH_MOST),
    ("blocks of a few events", f"policy=flight-recorder flush_ms=1 events={EVENTS}", "load_pairs 4 300 1", SWITCH_MOST),
    ("bsf", f"codec=bsf policy=flight-recorder events={EVENTS}", "load_pairs 4 0 0.1", SWITCH_MOST),
    ("long names", "events=all", f"{NAME}; for i in 1 2 3 4 5 6 7 8 9; do $n/true; done", EXEC_MOST),
)


def figures(machine):
    return {name: int(n) for name, n in re.findall(r"(\w+)=(\d+)", machine.check(f"cat {FILES}/statistics"))}


def longest(machine, parameters, load):
    machine.check(f"insmod /kiseki.ko profile=1 name=longest start=1 {parameters}")
    machine.check(load, TIMEOUT_S)
    found = figures(machine)
    machine.check("rmmod kiseki")
    if found["blocks"] < 3:
        raise Failed(f"only {found['blocks']} blocks with {parameters}")
    return found


def test(arguments):
    board = get_board(arguments.board)
    files = [(build_driver(board), "/kiseki.ko"), (build_tool(board, "bench/load_pairs.c"), "/bin/load_pairs")]
    wrong = []
    with Machine(board.counted(), files, timeout_s=TIMEOUT_S) as machine:
        for what, parameters, load, most in CASES:
            found = longest(machine, parameters, load)
            print(f"  {what}: {found['longest_probe_ns']} instructions at most in {found['events']} events and "
                  f"{found['blocks']} blocks; {most} are allowed")
            if not 0 < found["longest_probe_ns"] <= most:
                wrong.append(what)
    if wrong:
        raise Failed(f"a probe takes too long: {', '.join(wrong)}")


if __name__ == "__main__":
    sys.exit(main(test, __doc__))

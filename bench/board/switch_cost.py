# SPDX-License-Identifier: MIT
"""switch_cost: instructions that a tracer adds to one context switch.

Qemu can let the board's clock go on by one nanosecond with each instruction (-icount shift=0). Then
time on the board is instructions executed, whatever the machine beside it does: two tasks on one CPU
take turns (load_switches.c), and the time per switch with a tracer less that without one is what the
tracer's probe executes, to a fraction of an instruction. The board has one CPU for it, so that
no other one's instructions are in between. The timer's interrupts are in all of them alike. The
middle one of the rounds counts.
"""
import json
import statistics

from boards.machine import Machine

TRIPS, ROUNDS = 5000, 7
SWITCHES_PER_TRIP = 2
TIMEOUT_S = 900


def measure(board, files, with_driver, say):
    """Tracer: instructions per switch in all, and by how much more than without one."""
    tracers = ["off", "ftrace", *(["sched", "bsf"] if with_driver else [])]
    rows = {}
    say("counting instructions per switch")
    with Machine(board.counted(), files, timeout_s=TIMEOUT_S, say=say) as machine:
        for tracer in tracers:
            text = machine.check(f"switches.sh {tracer} {TRIPS} {ROUNDS} 2>/tmp/statistics",
                                 TIMEOUT_S)
            ns = json.loads(text)["ns"]
            rows[tracer] = {"instructions": statistics.median(ns) / TRIPS / SWITCHES_PER_TRIP,
                            "rounds": [x / TRIPS / SWITCHES_PER_TRIP for x in ns]}
    for tracer, row in rows.items():
        row["added"] = row["instructions"] - rows["off"]["instructions"]
        say(f"{tracer}: {row['instructions']:.1f} instructions per switch, "
            f"{row['added']:.1f} more than without a tracer")
    return {"trips": TRIPS, "tracers": rows}

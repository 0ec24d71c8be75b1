#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""agent: the static kiseki-agent on a board, through tracefs, on CPUs that come and go.

	agent.py BOARD

A board may have CPUs that are possible and never there, and others that go offline and come back while
the agent records. Neither may end the recording or lose an event without saying so.
"""
import collections
import sys
import tempfile
from pathlib import Path

from board_test import KISEKI, Failed, build, expect, export, main, wait_for
from boards.catalog import get_board
from boards.collector import HOST, Collector
from boards.machine import Machine

NAME, PROGRAMS = "agent", 40
WORK = f"for i in $(seq {PROGRAMS}); do sh -c 'exec true'; done"
CPU1 = "/sys/devices/system/cpu/cpu1/online"


def record(machine, collector):
    def device():
        return collector.device(NAME) or {}

    machine.check(f"kiseki-agent --collector {HOST}:{collector.port} --name {NAME} --start "
                  "--source tracefs --state-dir /tmp --spool-file /tmp/spool "
                  ">/tmp/agent.log 2>&1 &")
    wait_for("the agent to trace", lambda: device().get("state") == "tracing")
    for state in ("", "0", "1"):
        if state:
            machine.check(f"echo {state} > {CPU1}")
        machine.check(WORK)
    answer = collector.client("stop", NAME)
    expect(f"stop ({answer.stderr.strip()})", answer.returncode, 0)
    wait_for("the rest", lambda: device().get("state") == "idle" and
             (device().get("status") or {}).get("spool_used") == 0)


def check(collector):
    kinds = collections.Counter(x.get("kind") for x in export(collector, NAME))
    expect("losses", kinds["lost"], 0)
    if kinds["exec"] < 3 * PROGRAMS:
        raise Failed(f"{kinds['exec']} of {3 * PROGRAMS} programs were recorded: {kinds}")


def run(arguments):
    board = get_board(arguments.board)
    agent = build.build_agent(board)
    with tempfile.TemporaryDirectory(prefix="kiseki-agent-") as work:
        collector = Collector(KISEKI, Path(work) / "store", Path(work) / "collector.log").start()
        try:
            with Machine(board, [(agent, "/bin/kiseki-agent")], timeout_s=600) as machine:
                print(f"  CPUs {machine.check('cat /sys/devices/system/cpu/possible').strip()} are "
                      f"possible, {machine.check('cat /sys/devices/system/cpu/online').strip()} online")
                record(machine, collector)
                check(collector)
        finally:
            collector.stop()


if __name__ == "__main__":
    sys.exit(main(run, __doc__))

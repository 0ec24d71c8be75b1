#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""driver_handover: the agent connects and the driver records; also on a socket with kernel TLS.

	driver_handover.py BOARD

The driver is loaded without a collector. An agent on the board makes the connection and hands it over;
it may die without anything stopping; when the connection is gone, another agent makes another one.
Then a socket that speaks TLS is handed over, and instructions and events pass through it.
"""
import collections
import sys
import tempfile
from pathlib import Path

from board_test import (KISEKI, Failed, build, build_driver, build_tool, expect, export, main,
                        wait_for)
from boards.catalog import get_board
from boards.collector import HOST, Collector
from boards.machine import Machine

NAME = "handed"
FOLDER = "/sys/kernel/kiseki"
TLS_MODULES = ["tls", "gcm", "ctr", "ghash_generic"]
WORK_PROGRAMS, WORK_TIMES = 30, 5
WORK = f"for i in $(seq {WORK_PROGRAMS}); do sh -c 'exec true'; done"


class Test:
    def __init__(self, board, machine, collector):
        self.board, self.machine, self.collector = board, machine, collector

    def device(self):
        return self.collector.device(NAME) or {}

    def events(self):
        return self.device().get("received", {}).get("events", 0)

    def start_agent(self):
        self.machine.check(
            f"kiseki-agent --collector {HOST}:{self.collector.port} --name {NAME} --source driver "
            f"--start --state-dir /tmp >>/tmp/agent.log 2>&1 & echo $! >/tmp/agent.pid")

    def kill_agent(self):
        self.machine.check("kill -9 $(cat /tmp/agent.pid)")

    def wait_online(self, what):
        wait_for(what, lambda: self.device().get("online") and
                 self.device().get("state") == "tracing")

    def wait_growth(self, what):
        before = self.events()
        self.machine.check(WORK)
        wait_for(what, lambda: self.events() > before + 30)

    def agent(self):
        """Connection, its end, and an agent that is not needed in between."""
        self.start_agent()
        self.wait_online("the agent to hand its connection over")
        wait_for("the driver to say that it is the source",
                 lambda: (self.device().get("status") or {}).get("source") == "driver")
        self.wait_growth("events on the handed connection")
        self.kill_agent()
        self.wait_growth("events after the agent's death")
        self.collector.kill()
        self.machine.check(WORK)
        wait_for("the driver to see the connection's end",
                 lambda: self.machine.call(f"cat {FOLDER}/link").text.startswith("down"))
        self.collector.start()
        self.start_agent()
        self.wait_online("the next agent's connection")
        self.wait_growth("events on the second connection")
        self.kill_agent()

    def tls(self):
        """A fresh connection, encrypted; the collector's words come through it, too."""
        self.machine.check(f"hand_socket relay 4433 {HOST} {self.collector.port} >/tmp/relay.log 2>&1 &")
        wait_for("the relay", lambda: "ready" in self.machine.call("cat /tmp/relay.log").text)
        self.machine.check(f"hand_socket tls 127.0.0.1 4433 {FOLDER}/socket")
        wait_for("the encrypted connection",
                 lambda: self.machine.call(f"cat {FOLDER}/link").text.startswith("up"))
        self.wait_online("the device on the encrypted connection")
        self.wait_growth("events on the encrypted connection")
        answer = self.collector.client("stop", NAME)
        expect(f"stop through TLS ({answer.stderr.strip()})", answer.returncode, 0)
        wait_for("the rest of the run",
                 lambda: (self.device().get("status") or {}).get("spool_used") == 0 and
                 self.device().get("state") == "idle")

    def check_store(self):
        """One run over all three connections, and nothing missing."""
        kinds = collections.Counter(x.get("kind") for x in export(self.collector, NAME))
        expect("losses", kinds["lost"], 0)
        if kinds["exec"] < WORK_TIMES * WORK_PROGRAMS:
            raise Failed(f"{kinds['exec']} programs were recorded, and there were more: {kinds}")


def bad_sockets(machine):
    """What is no TCP connection is refused, and nothing stays behind."""
    for what in ("0", "99", "-1", "x", "99999999999"):
        answer = machine.call(f"echo {what} > {FOLDER}/socket")
        if not answer.code:
            raise Failed(f"descriptor {what} was taken for a connection")
    expect("the link", machine.call(f"cat {FOLDER}/link").text.strip(), "down")


def half_secure_sockets(machine, port):
    """TLS without the keys of both directions sends in the clear, and nobody would see it."""
    for what in ("bare", "half"):
        answer = machine.call(f"hand_socket {what} {HOST} {port} {FOLDER}/socket")
        if not answer.code or "not supported" not in answer.text:
            raise Failed(f"a socket with {what} TLS: {answer.code} {answer.text!r}")
    expect("the link", machine.call(f"cat {FOLDER}/link").text.strip(), "down")


def run(arguments):
    board = get_board(arguments.board)
    module, agent = build_driver(board), build.build_agent(board)
    tool = build_tool(board, "tests/tools/hand_socket.c")
    with tempfile.TemporaryDirectory(prefix="kiseki-handover-") as work:
        collector = Collector(KISEKI, Path(work) / "store", Path(work) / "collector.log").start()
        try:
            with Machine(board, [(module, "/kiseki.ko"), (agent, "/bin/kiseki-agent"),
                                 (tool, "/bin/hand_socket")], TLS_MODULES, timeout_s=600) as machine:
                machine.check("insmod /kiseki.ko")
                bad_sockets(machine)
                half_secure_sockets(machine, collector.port)
                test = Test(board, machine, collector)
                test.agent()
                test.tls()
                test.check_store()
                machine.check("rmmod kiseki")
        finally:
            collector.stop()


if __name__ == "__main__":
    sys.exit(main(run, __doc__))

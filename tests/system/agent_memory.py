#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""agent_memory: the agent needs at most 4 MiB beside its fixed buffers, and does not grow.

A budget that does not depend on the clock: whatever the load brings within the test's seconds, the
resident memory has its ceiling. For each source the agent records pairs of tasks that wake each
other as fast as they can and tasks that rename themselves, while the collector is held still, so
that the spool fills up and its memory is used indeed; else the difference would flatter. Then its
own STATUS is asked: what is resident, less the buffers whose size the settings chose. The kernel's
figure for the process counts, too.

KISEKI, AGENT, GENERATOR and LOAD are the programs. Needs root; exit 77 and a reason where that
cannot be.
"""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from accounting import (AGENT, GENERATOR, KISEKI, PREFIX, TRACEFS, Failed, Program, check_needs,
                        run, wait_for)

LOAD = os.environ.get("LOAD", "")
BUDGET_KIB = 4096
RING_KIB = 64  # of each CPU: of tracefs it is the kernel's, a fixed buffer that is never resident
LOAD_S = 2
LOADS_MOST = 8
EVENTS_LEAST = 20000  # less is no load


class Pair:
    """A collector and an agent, on loopback."""

    def __init__(self, work, source):
        self.work, self.source, self.name = work, source, f"kt{os.getpid()}-{source}"
        self.collector = Program("the collector", [
            KISEKI, "serve", "--data", work / "store", "--listen", "127.0.0.1:0", "--http",
            "127.0.0.1:0", "--config", "/dev/null"], work / "collector.log")
        self.agent = None

    def start(self):
        self.collector.start()
        said = wait_for("the collector", lambda: re.search(
            r"^devices +(\S+)\nweb +(\S+)/\n(?:.*\n)*ready", self.collector.tail(), re.M))
        self.server = said[2]
        self.agent = Program("the agent", [
            AGENT, "--collector", said[1], "--name", self.name, "--state-dir", self.work / "state",
            "--func-socket", self.work / "func.sock",
            "--spool-file", self.work / "spool", "--source", self.source, "--spool", "256K",
            "--ring", f"{RING_KIB}K", "--start", "--config", "/dev/null"], self.work / "agent.log")
        self.agent.start()
        wait_for("the device to trace", lambda: self.row().get("state") == "tracing")

    def row(self):
        answer = run(KISEKI, "devices", "--json", "--server", self.server, check=False,
                     stdout=subprocess.PIPE).stdout
        rows = json.loads(answer)["devices"] if answer else []
        return rows[0] if rows else {}

    def remove(self):
        """Stopped, not killed: then nothing of it stays in the kernel."""
        try:
            for program in (self.agent, self.collector):
                if program:
                    program.stop()
        finally:
            instance = TRACEFS / f"instances/kiseki-{self.name}"
            if instance.is_dir():
                instance.rmdir()


def make_load():
    tasks = [subprocess.Popen([LOAD, "4", "0", str(LOAD_S)], stdout=subprocess.DEVNULL),
             subprocess.Popen([GENERATOR, PREFIX, "20000", "10000"], stdout=subprocess.DEVNULL)]
    if any(task.wait() for task in tasks):
        raise Failed("the load does not run")


def resident_kib(pid):
    return int(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())[1])


def fill(pair):
    """Load while the collector takes nothing; the status after it."""
    before = wait_for("a status", lambda: pair.row().get("status"))
    pair.collector.process.send_signal(signal.SIGSTOP)
    try:
        make_load()
    finally:
        pair.collector.process.send_signal(signal.SIGCONT)
    return wait_for("the load's events", lambda: (s := pair.row()["status"]) and
                    s["events"] >= before["events"] + EVENTS_LEAST and s)


def check(pair):
    for _ in range(LOADS_MOST):  # on a busy machine one is not enough
        status = fill(pair)
        if status["lost"]["spool"]:
            break
    else:
        raise Failed("the spool was not full, so its memory was not all used")
    own = status["rss_kib"] - status["fixed_kib"]
    kernel = resident_kib(pair.agent.process.pid) - status["fixed_kib"]
    print(f"{pair.source}: {status['events']} events, {status['rss_kib']} KiB resident, "
          f"{status['fixed_kib']} of them fixed buffers: {own} (the kernel says {kernel}) of "
          f"{BUDGET_KIB}")
    if status["source"] != pair.source:
        raise Failed(f"it records by {status['source']}")
    if not 0 < status["rss_kib"] or max(own, kernel) > BUDGET_KIB:
        raise Failed(f"the agent needs {max(own, kernel)} KiB beside its buffers, "
                     f"{BUDGET_KIB} is the budget")


def main():
    check_needs()
    can = json.loads(run(AGENT, "doctor", "--json", check=False, stdout=subprocess.PIPE).stdout)
    for source in ("tracefs", "bpf"):
        if not can["sources"][source]:
            print(f"{source}: not on this machine")
            continue
        work = Path(tempfile.mkdtemp(prefix="kiseki-memory-"))
        pair = Pair(work, source)
        try:
            pair.start()
            check(pair)
        finally:
            pair.remove()
            shutil.rmtree(work, ignore_errors=True)


try:
    main()
except Failed as failure:
    sys.exit(f"agent_memory: {failure}")

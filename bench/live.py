# SPDX-License-Identifier: MIT
"""live: a collector and an agent on loopback, for the benchmarks that need both running.

KISEKI and AGENT are the programs. Ports are free ones, files are in the folder that is given, and
nothing stays behind after stop().
"""
import json
import os
import re
import subprocess
import time
from pathlib import Path

KISEKI, AGENT = (os.environ.get(k, "") for k in ("KISEKI", "AGENT"))
PATIENCE_S = 60


def wait_for(what, condition):
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.05)
    raise RuntimeError(f"waited {PATIENCE_S} s for {what}")


def has_bpf():
    answer = subprocess.run([AGENT, "doctor", "--json"], stdout=subprocess.PIPE, check=False).stdout
    return json.loads(answer)["sources"]["bpf"]


class Live:
    """One device by the name `self.name` that traces, and its collector at `self.server`."""

    def __init__(self, work, source, *options):
        self.work, self.source, self.options = Path(work), source, options
        self.name = f"bench-{os.getpid()}"
        self.collector = self.agent = None
        try:
            self.start()
        except BaseException:
            self.stop()
            raise

    def spawn(self, name, *command):
        with (self.work / f"{name}.log").open("wb") as log:
            return subprocess.Popen(list(map(str, command)), stdin=subprocess.DEVNULL, stdout=log,
                                    stderr=subprocess.STDOUT)

    def said(self, name):
        return (self.work / f"{name}.log").read_text(errors="replace")

    def start(self):
        self.collector = self.spawn("collector", KISEKI, "serve", "--data", self.work / "data",
                                    "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", "--config",
                                    "/dev/null")
        places = wait_for("the collector", lambda: re.search(
            r"^devices +(\S+)\nweb +(\S+)/\n(?:.*\n)*ready", self.said("collector"), re.M))
        self.server = places[2]
        self.agent = self.spawn("agent", AGENT, "--collector", places[1], "--name", self.name,
                                "--func-socket", "none",
                                "--state-dir", self.work / "state", "--spool-file",
                                self.work / "spool", "--config", "/dev/null", "--source",
                                self.source, "--start", *self.options)
        wait_for("the device to trace", self.is_tracing)

    def row(self):
        answer = subprocess.run([KISEKI, "devices", "--json", "--server", self.server],
                                stdout=subprocess.PIPE, check=True).stdout
        rows = json.loads(answer)["devices"]
        return rows[0] if rows else {}

    def is_tracing(self):
        if self.agent.poll() is not None:
            raise RuntimeError(f"the agent ended: {self.said('agent')}")
        row = self.row()
        return row.get("state") == "tracing" and row["status"]["source"] == self.source

    def status(self):
        """The next one: what it counts is up to now."""
        last = self.row()["status"]["cpu_us"]
        return wait_for("a status", lambda: (s := self.row()["status"])["cpu_us"] != last and s)

    def stop(self):
        for process in (self.agent, self.collector):
            if process is None:
                continue
            process.terminate()
            try:
                process.wait(PATIENCE_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

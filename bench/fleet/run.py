#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""run: a collector with 1, 100, 1000 and as many devices as this machine stands: what `make bench-fleet` does.

	run.py [--most N] [--seconds S] [--json FILE] [--results DIR] [--try]

The devices are those of `fleet`, on the same machine and its cores; the collector is the real one, with an empty store for each point. It is
looked at from outside over some seconds in which all devices are there and none comes or goes: CPU by its threads, memory, open files, its own
/metrics. Then the devices end their runs, and account.py compares all of them: a point whose account is not exact is an error. All figures go
into the JSON file; RESULTS.md has them as tables.
"""
import argparse
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE))

import recordings  # noqa: E402
import report  # noqa: E402
from account import account  # noqa: E402

BUILD = Path(os.environ.get("BUILD", ROOT / "build"))
KISEKI, FLEET = BUILD / "src/cli/kiseki", BUILD / "bench/fleet/fleet"
SPARE_FILES = 1024  # of the collector, beside the devices
SETTLE_S = 3
STEADY_S, STEADY_PART, STEADY_BLOCKS = 40, 0.1, 4
QUIET_S, IDLE_CPU_S = 6, 0.02  # a thread that takes no more than this has done all
SUMMARISED = 100  # devices of the point at which that is waited for
PATIENCE_S = 240
VERSION = 1


def say(text):
    print(f"bench: {text}", file=sys.stderr, flush=True)


class Collector:
    """A `kiseki serve` with an empty store."""

    def __init__(self, folder, devices):
        self.data = Path(folder) / "store"
        self.process = subprocess.Popen(
            [KISEKI, "serve", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", "--data", self.data, "--config", "/dev/null",
             "--connections", str(devices)],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        for line in self.process.stdout:
            if line.startswith("devices"):
                self.port = int(line.rsplit(":", 1)[1])
            elif line.startswith("web"):
                self.url = line.split()[1]
            elif line == "ready\n":
                return
        raise SystemExit("bench: the collector does not start")

    def cpu(self):
        """Seconds of each thread, by its name."""
        seconds = {}
        for task in Path(f"/proc/{self.process.pid}/task").iterdir():
            try:
                name, spent = (task / "comm").read_text().strip(), (task / "schedstat").read_text()
            except FileNotFoundError:
                continue  # one that answered, and is gone
            seconds[name] = seconds.get(name, 0) + int(spent.split()[0]) / 1e9
        return seconds

    def status(self, name):
        return int(re.search(rf"^{name}:\s+(\d+)", Path(f"/proc/{self.process.pid}/status").read_text(), re.M)[1])

    def metrics(self):
        """Those without labels."""
        with urllib.request.urlopen(f"{self.url}metrics?devices=no", timeout=PATIENCE_S) as answer:
            text = answer.read().decode()
        return {name: float(value) for name, value in re.findall(r"^(kiseki_\w+) (\S+)$", text, re.M)}

    def look(self):
        return {"at": time.monotonic(), "cpu": self.cpu(), "rss_kib": self.status("VmRSS"),
                "fds": len(os.listdir(f"/proc/{self.process.pid}/fd")), "metrics": self.metrics()}

    def wait_steady(self, blocks_per_s):
        """Until about as many blocks come as are made: what devices send at first, their descriptions above all, is behind them.
        Whether they did."""
        end = time.monotonic() + STEADY_S
        while time.monotonic() < end:
            before, since = self.metrics()["kiseki_blocks_total"], time.monotonic()
            time.sleep(SETTLE_S)
            came = self.metrics()["kiseki_blocks_total"] - before
            due = blocks_per_s * (time.monotonic() - since)
            if abs(came - due) < STEADY_PART * due + STEADY_BLOCKS:
                return True
        return False

    def wait_summaries(self):
        """CPU seconds of the summaries when they are complete, or None."""
        last, since, end = -1, time.monotonic(), time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            now = self.cpu().get("summarise", 0)
            if now > last + IDLE_CPU_S:
                last, since = now, time.monotonic()
            if time.monotonic() > since + QUIET_S:
                return now
            time.sleep(0.2)
        return None

    def stop(self):
        self.process.terminate()
        self.process.wait(PATIENCE_S)
        self.process.stdout.close()


def read_tally(text):
    return {name: value if name == "exact" else float(value) for name, value in (line.split() for line in text.splitlines())}


def disk_bytes(folder):
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def measure(recorded, files, devices, seconds):
    """One point: so many devices, which play these recordings, by their kinds."""
    kinds, files = list(files), list(files.values())
    blocks_per_s = sum(recorded[k]["blocks"] / recorded[k]["ns"] * 1e9 for k in kinds) / len(kinds) * devices
    with tempfile.TemporaryDirectory(prefix="kiseki-fleet-", dir=os.environ.get("SCRATCH")) as folder:
        collector = Collector(folder, devices)
        runs = Path(folder) / "runs"
        before = collector.look()
        ramp = devices / 1000
        fleet = subprocess.Popen([FLEET, "--devices", str(devices), "--endless", "--ramp", str(ramp), "--patience", str(PATIENCE_S),
                                  "--runs", runs, f"127.0.0.1:{collector.port}", *files], stdout=subprocess.PIPE, text=True)
        try:
            time.sleep(ramp)
            is_steady = collector.wait_steady(blocks_per_s)
            start = collector.look()
            time.sleep(seconds)
            end = collector.look()
            load = os.getloadavg()[0]
            fleet.send_signal(signal.SIGINT)
            tally = read_tally(fleet.communicate(timeout=4 * PATIENCE_S)[0])
            wrong, stored = account(runs, [collector.url])
            summaries = collector.wait_summaries() if kinds == ["sched"] and devices == SUMMARISED else None
            log = disk_bytes(collector.data / "log")
            disk = {"log": log, "beside": disk_bytes(collector.data) - log}
        finally:
            if fleet.poll() is None:
                fleet.kill()
                fleet.wait()
            collector.stop()
    if wrong or tally["exact"] != "yes":
        raise SystemExit(f"bench: the account of {devices} devices is not exact: {wrong[:3]} {tally}")
    return {"kinds": kinds, "devices": devices, "before": before, "start": start, "end": end, "tally": tally, "stored": stored,
            "summaries_cpu_s": summaries, "disk": disk, "load": load,
            "is_steady": is_steady}


def plan(most, is_try):
    """(kinds, devices) of each point."""
    few = (1, 20) if is_try else (1, 100, 1000)
    for kind in recordings.MAKERS:
        for devices in few:
            yield [kind], devices
    yield list(recordings.MAKERS), few[-1]
    yield ["sched"], most // 4
    yield ["vm"], most


def describe(files):
    """What one pass of each recording has."""
    rows = {}
    for kind, path in files.items():
        out = subprocess.run([FLEET, "--describe", path], stdout=subprocess.PIPE, text=True, check=True).stdout
        rows[kind] = {name: float(value) for name, value in (line.split() for line in out.splitlines())}
    return rows


def niceness():
    """Of this process, or of its session where the kernel shares CPUs between those."""
    group = Path("/proc/self/autogroup")
    text = group.read_text() if group.exists() else ""
    return int(text.split()[-1]) if text.split() else os.nice(0)


def machine():
    return {"cpus": os.cpu_count(), "kernel": os.uname().release, "machine": os.uname().machine, "niceness": niceness(),
            "memory_kib": int(re.search(r"MemTotal:\s+(\d+)", Path("/proc/meminfo").read_text())[1])}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--most", type=int)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--json", type=Path, default=BUILD / "bench/fleet.json")
    parser.add_argument("--results", type=Path, default=HERE)
    parser.add_argument("--try", action="store_true", dest="is_try")
    arguments = parser.parse_args()
    most = min(arguments.most or (50 if arguments.is_try else 10000), resource.getrlimit(resource.RLIMIT_NOFILE)[1] - SPARE_FILES)
    seconds = 2 if arguments.is_try else arguments.seconds
    folder = BUILD / "bench/fleet-recordings"
    files = {kind: recordings.get(BUILD, folder, kind) for kind in recordings.MAKERS}
    result = {"version": VERSION, "machine": machine(), "seconds": seconds, "is_try": arguments.is_try,
              "recordings": describe(files), "points": []}
    for kinds, devices in plan(most, arguments.is_try):
        say(f"{devices} devices, {', '.join(kinds)}")
        result["points"].append(measure(result["recordings"], {kind: files[kind] for kind in kinds}, devices, seconds))
        arguments.json.write_text(json.dumps(result, indent=1) + "\n")
    text = report.page(result)
    print(text)
    if not arguments.is_try:
        (arguments.results / "RESULTS.md").write_text(text)


if __name__ == "__main__":
    if shutil.which(str(FLEET)) is None:
        sys.exit(f"bench: {FLEET} is not there: make first")
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""run: a collector with 1, 100, 1000 and as many devices as this machine stands: what `make bench-fleet` does.

	run.py [--most N] [--seconds S] [--json FILE] [--results DIR] [--try]

The devices are those of `fleet`, on the same machine and its cores; the collector is the real one, with an empty store for each point. It is
looked at from outside over some seconds in which all devices are there and none comes or goes: CPU by its threads, memory, open files, its own
/metrics. Then the devices end their runs, and account.py compares all of them: a point whose account is not exact is an error. Then engines.py
measures what comes behind the collector. All figures go into the JSON file; RESULTS.md has them as tables.
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
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import engines  # noqa: E402
import recordings  # noqa: E402
import report  # noqa: E402
from account import account  # noqa: E402
from collector import BUILD, FLEET, PATIENCE_S, Collector, read_tally  # noqa: E402

SPARE_FILES = 1024  # of the collector, beside the devices
SUMMARISED = 100  # devices of the point at which that is waited for
VERSION = 2


def say(text):
    print(f"bench: {text}", file=sys.stderr, flush=True)


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
            log = engines.disk_bytes(collector.data / "log")
            disk = {"log": log, "beside": engines.disk_bytes(collector.data) - log}
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
    result["engines"] = engines.measure(files, arguments.is_try, say)
    arguments.json.write_text(json.dumps(result, indent=1) + "\n")
    text = report.page(result)
    print(text)
    if not arguments.is_try:
        (arguments.results / "RESULTS.md").write_text(text)


if __name__ == "__main__":
    if shutil.which(str(FLEET)) is None:
        sys.exit(f"bench: {FLEET} is not there: make first")
    main()

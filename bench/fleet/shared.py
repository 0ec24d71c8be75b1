#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""shared: a fleet on this machine that one can look at: what `make fleet` does.

	shared.py [--devices N] [--collectors N] [--workers N] [--seconds S]

Two ClickHouse servers as the shards of one store, three collectors, two workers apart and twenty simulated devices, all on loopback and
in a temporary folder; nothing of the machine's own services is used. It says where the page is, and every two seconds how it goes: events
a second, blocks taken, sets of facts worked out, and how far the slowest worker is behind. Ctrl-C, or the end of S seconds, ends
all of it in order: the devices end their runs, which must be exact.
"""
import argparse
import json
import os
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
sys.path[:0] = [str(HERE), str(ROOT / "tests/tools")]

from clickhouse import Server, program  # noqa: E402
from ports import free_ports  # noqa: E402

BUILD = Path(os.environ.get("BUILD", ROOT / "build"))
KISEKI, FLEET, SAMPLE_MAKE = BUILD / "src/cli/kiseki", BUILD / "bench/fleet/fleet", BUILD / "tests/sample_make"
LOOK_S, PATIENCE_S = 2, 60
DATABASE = "kiseki"


def start(*words, **options):
    # A group of its own: Ctrl-C is for this program, which ends the others in their order.
    return subprocess.Popen([str(w) for w in words], start_new_session=True, text=True, **options)


class Collector:
    """A `kiseki serve` of the shared store, without workers of its own."""

    def __init__(self, folder, n, place):
        log = open(folder / f"collector{n}.log", "w")
        self.process = start(KISEKI, "serve", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", "--data", folder / f"collector{n}",
                             "--store", place, "--workers", 0, "--config", "/dev/null", stdout=subprocess.PIPE, stderr=log)
        log.close()
        self.port = self.web = None
        for line in self.process.stdout:
            if line.startswith("devices"):
                self.port = int(line.rsplit(":", 1)[1])
            if line.startswith("web"):
                self.web = line.split()[-1].rstrip("/")
            if line == "ready\n":
                return
        raise SystemExit("fleet: a collector does not start")

    def get(self, path):
        with urllib.request.urlopen(self.web + path, timeout=PATIENCE_S) as answer:
            return answer.read().decode()

    def count(self):
        """Events and blocks that it has taken."""
        values = {}
        for line in self.get("/metrics?devices=no").splitlines():
            if line and not line.startswith("#"):
                values[line.split()[0]] = float(line.split()[1])
        return values.get("kiseki_events_total", 0), values.get("kiseki_blocks_total", 0)


def start_cluster(folder):
    ports = [free_ports(3) for _ in range(2)]
    servers = [Server(f"{folder}/server{n}", ports=ports[n], shards=[p[1] for p in ports]) for n in range(2)]
    for server in servers:
        server.start(new_session=True)
    hosts = ",".join(f"127.0.0.1:{s.http}" for s in servers)
    return f"clickhouse://{hosts}/{DATABASE}?cluster=test"


def make_recordings(folder):
    """Of the tests: the scheduler of a small machine, and samples of a program."""
    files = [folder / f"{kind}.ksk" for kind in ("sched", "profile")]
    subprocess.run([KISEKI, "convert", ROOT / "tests/data/small-v6.dat", "-o", files[0]], check=True)
    subprocess.run([SAMPLE_MAKE, ROOT / "tests/golden/profile/before.profile", files[1]], check=True)
    return files


def look(collectors, before):
    events, blocks = map(sum, zip(*(c.count() for c in collectors)))
    members = [m for m in json.loads(collectors[0].get("/api/v1/work"))["members"] if m["works"]]
    now = time.monotonic()
    rate = (events - before[1]) / (now - before[0]) if before else 0
    print(f"{rate:10.0f} events/s, {blocks:.0f} blocks taken, {sum(m['minutes'] for m in members)} sets of facts by "
          f"{len(members)} workers, {max((m['behind_s'] for m in members), default=0)} s behind", flush=True)
    return now, events


def follow(options, collectors, fleet):
    ends, before = time.monotonic() + options.seconds if options.seconds else None, None
    while fleet.poll() is None and (not ends or time.monotonic() < ends):
        before = look(collectors, before)
        time.sleep(LOOK_S)


def end(processes, fleet, workers, collectors):
    """Devices first, so that what they have gets through; the others when nothing comes any more."""
    fleet.send_signal(signal.SIGINT)
    text = fleet.communicate(timeout=2 * PATIENCE_S)[0]
    for process in [*workers, *(c.process for c in collectors)]:
        process.terminate()
    codes = [process.wait(PATIENCE_S) for process in processes]
    exact = fleet.returncode == 0 and not any(codes)
    print("all runs ended, every event accounted for" if exact else f"not exact: {codes}\n{text}", flush=True)
    return exact


def run(options, folder, processes):
    place = start_cluster(folder)
    collectors = []
    for n in range(options.collectors):
        collectors.append(Collector(folder, n, place))
        processes.append(collectors[-1].process)
    workers = [start(KISEKI, "work", "--store", place, "--workers", 1, stdout=subprocess.DEVNULL) for _ in range(options.workers)]
    fleet = start(FLEET, "--devices", options.devices, "--endless", "--failover", "--patience", PATIENCE_S,
                  ",".join(f"127.0.0.1:{c.port}" for c in collectors), *make_recordings(folder), stdout=subprocess.PIPE)
    processes += [*workers, fleet]
    print(f"store   {place}\npage    {' '.join(c.web + '/' for c in collectors)}\nCtrl-C ends it", flush=True)
    try:
        follow(options, collectors, fleet)
    except KeyboardInterrupt:
        print()
    return end(processes, fleet, workers, collectors)


def main():
    p = argparse.ArgumentParser(description="a fleet on this machine that one can look at")
    p.add_argument("--devices", type=int, default=20)
    p.add_argument("--collectors", type=int, default=3)
    p.add_argument("--workers", type=int, default=2)
    p.add_argument("--seconds", type=float, default=0, help="until Ctrl-C")
    options = p.parse_args()
    if not program():
        print("skipped: clickhouse-server is not installed")
        return 77
    processes = []
    with tempfile.TemporaryDirectory(prefix="kiseki-fleet-") as name:
        try:
            return 0 if run(options, Path(name), processes) else 1
        finally:
            for process in processes:
                if process.poll() is None:
                    process.kill()
                    process.wait()
            Server.kill_all()


if __name__ == "__main__":
    sys.exit(main())

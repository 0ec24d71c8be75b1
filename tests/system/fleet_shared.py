#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""fleet_shared: three collectors, two shards of ClickHouse and three workers apart, all of them killed and started again at random while
simulated devices (bench/fleet) send; then no block that was acknowledged is missing, and no minute counts twice: the facts of each run
have just the records that its device made.

	fleet_shared.py KISEKI FLEET SAMPLE_MAKE SRC
"""
import json
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

sys.dont_write_bytecode = True
KISEKI, FLEET, SAMPLE_MAKE, SRC = sys.argv[1], *sys.argv[2:]
sys.path[:0] = [f"{SRC}/tests/tools", f"{SRC}/bench/fleet"]

from account import account, read_sent  # noqa: E402
from clickhouse import Server, program  # noqa: E402
from ports import free_ports  # noqa: E402
from served import WAIT_S, Collector  # noqa: E402

DATABASE = "shared"
FLEETS, DEVICES, SECONDS, STAGGER_S = 6, 10, 4, 2.5
SETTLE_S = 120  # against a hang
PROCESSES = []
random.seed(9)


class Sharing(Collector):
    """A collector of the shared store."""

    def __init__(self, work, n, place, *options):
        super().__init__(str(work / f"collector{n}"), "--store", place, *options)

    def start(self, port):
        super().start(port)
        PROCESSES.append(self.process)

    def again(self):
        port = self.port
        self.kill()
        self.start(port)

    def get(self, path):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.http_port}{path}", timeout=WAIT_S) as answer:
            return json.load(answer)


class Worker:
    """A `kiseki work` that goes on."""

    def __init__(self, place):
        self.place = place
        self.start()

    def start(self):
        self.process = subprocess.Popen([KISEKI, "work", "--store", self.place, "--workers", "1", "--json"],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        PROCESSES.append(self.process)
        self.sets, self.errors = 0, []
        assert self.process.stdout.readline() == "ready\n", self.process.stderr.read()
        threading.Thread(target=self.read, args=(self.process,), daemon=True).start()
        threading.Thread(target=self.listen, args=(self.process,), daemon=True).start()

    def read(self, process):
        for line in process.stdout:
            self.sets = json.loads(line)["sets"]

    def listen(self, process):
        for line in process.stderr:
            self.errors.append(line)

    def again(self):
        self.process.kill()
        self.process.wait()
        self.start()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(WAIT_S) == 0, self.errors[-3:]


def check_members(collector):
    """All that live, and who was killed no more, after a while."""
    deadline = time.monotonic() + SETTLE_S
    while True:
        members = collector.get("/api/v1/work")["members"]
        if (sum(m["works"] for m in members), sum(m["watches"] for m in members)) == (4, 3):
            return
        assert time.monotonic() < deadline, members
        time.sleep(0.5)


def is_watching(collector):
    try:
        collector.get("/api/v1/alerts")
        return True
    except urllib.error.HTTPError as e:
        assert e.code == 501 and "another collector watches" in e.read().decode(), e
        return False


def wait_watcher(collectors):
    """One of them takes over from those that were killed, when it has learnt what is usual."""
    deadline = time.monotonic() + SETTLE_S
    while not any(map(is_watching, collectors)):
        assert time.monotonic() < deadline, "nobody watches"
        time.sleep(0.5)


def start_cluster(work):
    """Two servers, each with a part of the devices; and the place of the store."""
    ports = [free_ports(3) for _ in range(2)]
    servers = [Server(f"{work}/server{n}", ports=ports[n], shards=[p[1] for p in ports]).start() for n in range(2)]
    hosts = ",".join(f"127.0.0.1:{s.http}" for s in servers)
    return servers, f"clickhouse://{hosts}/{DATABASE}?cluster=test"


def make_recordings(work):
    """The scheduler, and samples of a program: both of a fraction of a second, played again and again."""
    files = [work / f"{kind}.ksk" for kind in ("sched", "profile")]
    subprocess.run([KISEKI, "convert", f"{SRC}/tests/data/small-v6.dat", "-o", files[0]], check=True)
    subprocess.run([SAMPLE_MAKE, f"{SRC}/tests/golden/profile/before.profile", files[1]], check=True)
    return files


def start_fleet(work, n, collectors, files):
    targets = ",".join(f"127.0.0.1:{c.port}" for c in collectors)
    fleet = subprocess.Popen([FLEET, "--devices", str(DEVICES), "--seed", str(n + 1), "--ramp", "0.2", "--patience", str(WAIT_S),
                              "--seconds", str(SECONDS), "--failover", "--runs", work / f"runs{n}", targets, *files],
                             stdout=subprocess.PIPE, text=True)
    PROCESSES.append(fleet)
    return fleet


def disturb(victims, until):
    """Kills one after the other, at random moments; how often."""
    n = 0
    while time.monotonic() < until:
        time.sleep(random.uniform(0.4, 1.2))
        random.choice(victims).again()
        n += 1
    return n


def facts_of_runs(server):
    """Records of the minutes of each run, of each the row that counts; straight from the tables."""
    text = server.ask(f"SELECT lower(hex(run)), sum(e), count() FROM (SELECT run, kind, start, argMax(events, rank) AS e "
                      f"FROM {DATABASE}.facts WHERE length = 60 GROUP BY run, kind, start) GROUP BY run FORMAT TSV").decode()
    return {run: (int(events), int(minutes)) for run, events, minutes in (line.split() for line in text.splitlines())}


def wrong_facts(server, sent):
    have = facts_of_runs(server)
    return [f"run {run}: {have.get(run, (0, 0))[0]} records in its facts, {events} made"
            for _, run, _, _, events, _, _ in sent if have.get(run, (0, 0))[0] != events]


def wait_facts(server, sent):
    deadline = time.monotonic() + SETTLE_S
    while True:
        wrong = wrong_facts(server, sent)
        if not wrong:
            return
        assert time.monotonic() < deadline, f"{len(wrong)} of {len(sent)}: {wrong[:5]}"
        time.sleep(0.5)


def check_answer(collector, sent):
    """What a collector says of all of them: each run once."""
    events, sets = 0, 0
    for kind in ("sched", "profile"):
        basis = collector.get(f"/api/v1/fleet/top?kind={kind}&from=-2h&to=-0s&limit=1")["basis"]
        events += basis["events"]
        sets += basis["sets"]
    assert events == sum(s[4] for s in sent), (events, sum(s[4] for s in sent))
    return sets


def run(work):
    servers, place = start_cluster(work)
    collectors = [Sharing(work, n, place, "--workers", str(int(n == 0)), "--commit-ms", "50") for n in range(3)]
    workers = [Worker(place) for _ in range(3)]
    files = make_recordings(work)
    begun, fleets, kills = time.monotonic(), [], 0
    for n in range(FLEETS):
        fleets.append(start_fleet(work, n, collectors, files))
        kills += disturb(collectors + workers, begun + (n + 1) * STAGGER_S)
    while any(f.poll() is None for f in fleets):
        kills += disturb(workers, time.monotonic() + 1)
    for n, fleet in enumerate(fleets):
        text = fleet.communicate()[0]
        assert fleet.returncode == 0, f"fleet {n}: exit {fleet.returncode}: {text}"
    took = time.monotonic() - begun
    sent = [row for n in range(FLEETS) for row in read_sent(work / f"runs{n}")]
    for n in range(FLEETS):
        wrong, sums = account(work / f"runs{n}", [f"http://127.0.0.1:{collectors[1].http_port}"])
        assert not wrong and sums["events"], wrong[:5]
    wait_facts(servers[0], sent)
    lag = time.monotonic() - begun - took
    sets = check_answer(collectors[2], sent)
    check_members(collectors[1])
    wait_watcher(collectors)
    shards = [int(s.ask(f"SELECT uniqExact(run) FROM {DATABASE}.facts_local")) for s in servers]
    assert min(shards) > 0 and sum(shards) == len(sent), shards
    for process in workers + collectors:
        process.stop()
    return (f"{kills} kills in {took:.0f} s, {len(sent)} runs, {sum(s[4] for s in sent)} records, {sets} sets in {shards[0]} + {shards[1]} "
            f"runs of two shards; all facts {lag:.1f} s after the last end")


def kill_all():
    """What still runs writes into the folder."""
    for process in PROCESSES:
        process.kill()
        process.wait()
    Server.kill_all()


def main():
    if not program():
        print("skipped: clickhouse-server is not installed")
        sys.exit(77)
    with tempfile.TemporaryDirectory(prefix="kiseki-shared-") as folder:
        try:
            print(run(Path(folder)))
        finally:
            kill_all()


main()

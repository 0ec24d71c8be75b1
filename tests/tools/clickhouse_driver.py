#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""clickhouse_driver: scenarios of tests/system/clickhouse.sh: collectors that share a ClickHouse.

	clickhouse_driver.py KISEKI SCENARIO

Each scenario has servers of its own (clickhouse.py), and fails by an exception. KSK_RANDOM and
FILL_STORE are in the environment.
"""
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

import fake_device as fd
from clickhouse import Server
from ports import free_ports
from served import KISEKI, WAIT_S, Collector, database, ident, place, stored, token
from streamer import Streamer, check

SHARED = "shared"  # the folder's name that all collectors of a scenario take for their database's


class Sharing(Collector):
    """A collector with a folder of its own and the database of all."""

    def __init__(self, folder, name, *options):
        super().__init__(os.path.join(folder, name), "--store", place(SHARED), *options)


def use(server):
    """The driver's own process and the collectors find it there."""
    os.environ["KISEKI_TEST_STORE"] = server.place()
    return server


def fail_to_serve(folder, where, **environment):
    """What a collector says that cannot start."""
    run = subprocess.run([KISEKI, "serve", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0",
                          "--data", os.path.join(folder, "refused"), "--config", "/dev/null",
                          "--store", where], stderr=subprocess.PIPE, text=True, timeout=WAIT_S,
                         env={**os.environ, **environment}, check=False)
    assert run.returncode == 1, run
    lines = run.stderr.splitlines()
    assert len(lines) == 1 and lines[0].startswith("kiseki: "), lines
    assert "secret" not in lines[0], lines
    return lines[0]


def get(collector, path):
    with urllib.request.urlopen(f"http://127.0.0.1:{collector.http_port}/api/v1{path}",
                                timeout=WAIT_S) as answer:
        return answer.read()


def wait_for(what):
    deadline = time.monotonic() + WAIT_S
    while not what():
        assert time.monotonic() < deadline, "it does not come"
        time.sleep(0.02)


def check_tokens(sent):
    tokens = stored(SHARED)
    for number, n in sent.items():
        assert n > 20, sent
        for sequence in range(n):
            found = tokens.get(token(number, sequence))
            assert found == 1, f"block {sequence} of device {number} is there {found} times"
    check(SHARED, {f"good-{number}": n * 5 for number, n in sent.items()})


# --- what is read ---

PATHS = ["/export?format=csv", "/export?format=ndjson", "/export?format=ksk", "/export?format=ftrace",
         "/export?format=perfetto", "/report/sched", "/report/latency", "/ledger", "/events"]


def scenario_same(folder):
    """Reports and exports of the same blocks are the same bytes, from a folder and from tables."""
    use(Server(f"{folder}/server")).start()
    for n, events in ((1, 3000), (2, 6000), (3, 200000)):  # the last is too large to be fetched at once
        subprocess.run([os.environ["KSK_RANDOM"], f"{folder}/{n}.ksk", str(events), "4000"], check=True)
        for where in (f"{folder}/local", place(SHARED)):
            subprocess.run([os.environ["FILL_STORE"], where, f"board-{n}", f"{folder}/{n}.ksk",
                            str(1794700000 + n)], check=True, stdout=subprocess.DEVNULL)
    server = os.environ.pop("KISEKI_TEST_STORE")
    local = Collector(f"{folder}/local")
    os.environ["KISEKI_TEST_STORE"] = server
    tables = Sharing(folder, "tables")
    runs = [json.loads(get(c, "/runs"))["runs"] for c in (local, tables)]
    assert len(runs[0]) == 3, runs
    for a, b in zip(*runs):
        moments = {key for key in a if key.endswith("_at") or key in ("since", "until", "first", "last")}
        assert {k: v for k, v in a.items() if k not in moments} == \
            {k: v for k, v in b.items() if k not in moments}, (a, b)
    size = 0
    for run in (1, 2, 3):
        for path in PATHS if run < 3 else ("/export?format=ksk", "/ledger"):
            one, other = (get(c, f"/runs/{run}{path}") for c in (local, tables))
            assert one == other, f"{path}: {len(one)} and {len(other)} bytes: {one[:300]} {other[:300]}"
            size += len(one)
    local.stop()
    tables.stop()
    print(f"same: {2 * len(PATHS) + 2} answers about 3 runs, {size} bytes")


# --- several collectors ---

class Roaming(Streamer):
    """A device that goes to another collector each time."""

    def __init__(self, collectors, number):
        self.collectors = collectors
        super().__init__(collectors[0], number)

    def serve_once(self):
        self.collector = random.choice(self.collectors)
        super().serve_once()


def disturb(collectors, rounds):
    """Collectors die, and come back."""
    for _ in range(rounds):
        time.sleep(random.uniform(0.05, 0.3))
        victim = random.choice(collectors)
        victim.kill()
        victim.again()


def wait_listed(collector, sent):
    """What other collectors have inserted is seen a second later at most."""
    wanted = sorted(n * 5 for n in sent.values())
    wait_for(lambda: sorted(r["events"] for r in json.loads(get(collector, "/runs"))["runs"]) == wanted)


def scenario_roam(folder):
    """Three collectors that die at random, devices that go on at any of them: no block is missing,
    none is there twice, and all collectors say so."""
    use(Server(f"{folder}/server")).start()
    collectors = [Sharing(folder, f"c{n}", "--commit-ms", "5") for n in range(3)]
    devices = [Roaming(collectors, n) for n in range(1, 5)]
    disturb(collectors, 15)
    for d in devices:
        d.wait_sent(20)
    sent = {d.number: d.finish() for d in devices}
    check_tokens(sent)
    for c in collectors:
        wait_listed(c, sent)
        c.stop()
    print(f"roam: {sum(sent.values())} blocks, {sum(d.breaks for d in devices)} broken connections")


def start_cluster(folder):
    """Two servers, each with a part of the devices."""
    ports = [free_ports(3) for _ in range(2)]
    servers = [Server(f"{folder}/server{n}", ports=ports[n], shards=[p[1] for p in ports]).start()
               for n in range(2)]
    os.environ["KISEKI_TEST_STORE"] = \
        f"clickhouse://127.0.0.1:{servers[0].http},127.0.0.1:{servers[1].http}"
    os.environ["KISEKI_TEST_STORE_SETTINGS"] = "?cluster=test"
    return servers


def scenario_cluster(folder):
    """The same with two servers: both have blocks, and together all of them."""
    servers = start_cluster(folder)
    collectors = [Sharing(folder, f"c{n}", "--commit-ms", "5") for n in range(3)]
    devices = [Roaming(collectors, n) for n in range(1, 7)]
    disturb(collectors, 10)
    for d in devices:
        d.wait_sent(20)
    sent = {d.number: d.finish() for d in devices}
    check_tokens(sent)
    parts = [int(s.ask(f"SELECT uniqExact(device) FROM {database(SHARED)}.blocks_local")) for s in servers]
    assert sum(parts) == 6 and min(parts) > 0, parts
    for c in collectors:
        wait_listed(c, sent)
        c.stop()
    print(f"cluster: {sum(sent.values())} blocks of {parts[0]} and {parts[1]} devices")


def scenario_cluster_down(folder):
    """One of two servers dies and comes back: what it does not have waits."""
    servers = start_cluster(folder)
    has = []

    def kill():
        has.extend(s for s in servers if s.ask(f"SELECT count() FROM {database(SHARED)}.blocks_local") != b"0\n")
        assert len(has) == 1, has
        has[0].kill()

    print("cluster_down:", outlive(folder, kill, lambda: has[0].start()))


def scenario_numbers(folder):
    """Runs that begin at many collectors at once get each a number of its own."""
    use(Server(f"{folder}/server")).start()
    collectors = [Sharing(folder, f"c{n}") for n in range(4)]
    start = threading.Barrier(len(collectors) * 4)
    done = []

    def begin(number):
        d = fd.Device(collectors[number % 4].port, ident(number), name=f"d-{number}")
        d.come_in()
        start.wait(WAIT_S)
        for k in range(3):
            d.run(ident(number * 100 + k))
            d.block(1, 0, before=0, events=1, payload=token(number, k))
        d.wait_acknowledged()
        d.close()
        done.append(number)

    threads = [threading.Thread(target=begin, args=(n,)) for n in range(1, 17)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(WAIT_S)
    assert len(done) == 16, done
    lists = []
    for c in collectors:
        wait_for(lambda: len(json.loads(get(c, "/runs"))["runs"]) == 48)
        lists.append(sorted((r["run"], r["device"]) for r in json.loads(get(c, "/runs"))["runs"]))
        c.stop()
    assert len({number for number, _ in lists[0]}) == 48, lists[0]
    assert all(l == lists[0] for l in lists)
    print("numbers: 48 runs of 16 devices at 4 collectors")


# --- retention ---

def scenario_retain(folder):
    """Days that are too old go; what was in them is lost by the store, in every account, and what is
    left is read."""
    server = use(Server(f"{folder}/server")).start()
    name = database(SHARED)
    c = Sharing(folder, "c")
    d = fd.Device(c.port, ident(1), name="kept")
    d.come_in()
    for run in (7, 8):  # one goes on, one has ended
        d.run(ident(run))
        d.block(0, 0, before=0, codec=0)
        for n in range(10):
            d.block(1, n, before=n * 5 if n % 4 == 0 else None, events=5, payload=token(run, n))
    d.end([(0, 1, 0), (1, 10, 50)])
    d.wait_acknowledged()
    d.close()
    c.stop()
    # All of that was three days ago.
    columns = [line.split("\t")[0] for line in
               server.ask(f"DESCRIBE TABLE {name}.blocks").decode().splitlines()][1:]
    server.ask(f"INSERT INTO {name}.blocks (day, {', '.join(columns)}) "
               f"SELECT today() - 3 AS past, {', '.join(columns)} FROM {name}.blocks")
    server.ask(f"ALTER TABLE {name}.blocks DROP PARTITION '{time.strftime('%Y-%m-%d', time.gmtime())}'")

    c = Sharing(folder, "c")
    d = fd.Device(c.port, ident(1), name="kept", runs=[ident(7)])
    assert d.come_in()["rows"] == [(0, 0, 1), (0, 1, 10)]
    d.run(ident(7))
    for n in range(10, 20):  # those before the next KEY block are of no use without the first days
        d.block(1, n, before=n * 5 if n % 4 == 0 else None, events=5, payload=token(7, n))
    d.wait_acknowledged()
    c.stop()
    assert [(r["run"], r["events"]) for r in report(name)] == [(1, 100), (2, 50)], report(name)  # the latest end first
    c = Sharing(folder, "c", "--retain-age", "24h")
    wait_for(lambda: server.ask(f"SELECT count() FROM {name}.blocks WHERE day < today()") == b"0\n")
    wait_for(lambda: len(json.loads(get(c, "/runs"))["runs"]) == 1)
    c.stop()
    runs = report(name)
    assert len(runs) == 1 and runs[0]["events"] == 40 and runs[0]["lost"]["store"] == 60, runs
    assert sum(runs[0]["lost"].values()) == 60, runs
    d = fd.Device(Sharing(folder, "d").port, ident(1), name="kept", runs=[ident(7)])
    assert d.come_in()["rows"] == [(0, 0, 1), (0, 1, 20)]
    print("retain: 40 events of 2 days' 150 are left, 60 of that run are lost by the store")


def report(name):
    run = subprocess.run([KISEKI, "check", "--json", f"{os.environ['KISEKI_TEST_STORE']}/{name}"],
                         stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(run.stdout)["runs"]


# --- failures ---

def outlive(folder, stop, go_on):
    """Nothing is acknowledged while the server is away, and nothing is lost."""
    c = Sharing(folder, "c")
    good = Streamer(c, 1)
    wait_for(lambda: good.kept_from > 20)
    stop()
    c.wait_log("nothing is acknowledged until it works again, devices keep their blocks: ClickHouse at")
    kept = good.kept_from
    time.sleep(0.5)
    assert good.kept_from == kept, "acknowledged, though nobody can have stored it"
    assert c.count_log("nothing is acknowledged") == 1, c.log
    go_on()
    c.wait_log("storing again")
    wait_for(lambda: good.kept_from > kept + 20)
    n = good.finish()
    c.stop()
    check_tokens({1: n})
    return next(line for line in c.log if "nothing is acknowledged" in line)


def scenario_down(folder):
    """The server dies and comes back."""
    server = use(Server(f"{folder}/server")).start()
    print("down:", outlive(folder, server.kill, server.start))


def scenario_slow(folder):
    """The server takes what it is sent and does not answer."""
    server = use(Server(f"{folder}/server")).start()
    print("slow:", outlive(folder, server.pause, server.go_on))


def scenario_full(folder):
    """The server's disk is full. It is a small one of its own."""
    disk = f"{folder}/server/data"
    os.makedirs(disk)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64M", "none", disk], check=True)
    ballast = Path(disk, "ballast")
    server = use(Server(f"{folder}/server")).start()

    stopping = threading.Event()

    def fill():
        with open(ballast, "wb") as f:
            while not stopping.is_set():  # what the server removes is room again
                try:
                    f.write(bytes(65536))
                    f.flush()
                except OSError:
                    time.sleep(0.001)

    def empty():
        stopping.set()
        filler.join(WAIT_S)
        ballast.unlink()

    filler = threading.Thread(target=fill)
    try:
        print("full:", outlive(folder, filler.start, empty))
    finally:
        stopping.set()
        server.kill()
        subprocess.run(["umount", disk], check=True)


def scenario_refused(folder):
    """What cannot work is said in one line, without the password."""
    server = use(Server(f"{folder}/server", users=(("default", ""), ("kiseki", "secret")))).start()
    where = server.place("store", "kiseki")
    assert "does not take this user and password" in \
        fail_to_serve(folder, where, KISEKI_CLICKHOUSE_PASSWORD="secret2")
    assert "does not take this user and password" in fail_to_serve(folder, where)
    assert "cannot read the password in" in fail_to_serve(folder, where + "?password-file=/nowhere")
    assert "password" in fail_to_serve(folder, where.replace("kiseki@", "kiseki:secret@"))
    assert "ClickHouse at 127.0.0.1:1: " in fail_to_serve(folder, "clickhouse://127.0.0.1:1/store")
    secret = Path(folder, "password")
    secret.write_text("secret\n")
    c = Collector(f"{folder}/c", "--store", f"{where}?password-file={secret}")
    c.stop()
    assert not any("secret" in line for line in c.log)
    # Tables of a later version.
    server.ask("INSERT INTO store.versions (version, made) VALUES (99, 0)", "kiseki", "secret")
    assert "they are of version 99, and this kiseki knows those up to 2" in \
        fail_to_serve(folder, where, KISEKI_CLICKHOUSE_PASSWORD="secret")
    # Tables of an earlier one, or none: only a collector makes them.
    server.ask("CREATE TABLE old.versions (version UInt32, made UInt64) ENGINE = MergeTree() ORDER BY version"
               if server.ask("CREATE DATABASE old") == b"" else "")
    run = subprocess.run([KISEKI, "info", server.place("old")], stderr=subprocess.PIPE, text=True,
                         check=False)
    assert run.returncode == 1 and "version 0, not 2: a collector (kiseki serve)" in run.stderr, run
    run = subprocess.run([KISEKI, "info", server.place("none")], stderr=subprocess.PIPE, text=True,
                         check=False)
    assert run.returncode == 1 and "there is no store in the database none" in run.stderr, run
    c = Collector(f"{folder}/c", "--store", server.place("old"))
    c.stop()
    assert server.ask("SELECT max(version) FROM old.versions") == b"2\n"


def main():
    scenario = globals()["scenario_" + sys.argv[2]]
    with tempfile.TemporaryDirectory(prefix="kiseki-clickhouse-") as folder:
        try:
            scenario(folder)
        except Exception:
            for server in Server.all:
                print(server.said())
            raise
        finally:
            Server.kill_all()


main()

# SPDX-License-Identifier: MIT
"""engines: what comes after the collector's threads of ingest: the facts of each minute, and the engine that keeps blocks and facts.

Devices of one kind send some minutes of their recording as fast as it is acknowledged, into a folder and into one ClickHouse server; then one
`kiseki work` makes all facts of that. Times of CPU are of whole processes, from their start to their end, but the server's, which is looked at
before and after.
"""
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from collector import FLEET, KISEKI, PATIENCE_S, ROOT, Collector, read_tally

sys.path.insert(0, str(ROOT / "tests/tools"))

import clickhouse  # noqa: E402

DEVICES = 16
BYTES = 60_000_000  # of all devices
MINUTES = (2, 60)  # of each: at least, at most


def cpu_of(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def cpu_of_children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def disk_bytes(folder):
    return sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())


class Folder:
    """The engine without a server."""
    name = "local"

    def __init__(self, folder):
        self.data, self.options = Path(folder) / "store", ()

    def cpu(self):
        return 0

    def work_options(self):
        return ("--data", self.data)

    def bytes(self):
        return disk_bytes(self.data)

    def close(self):
        pass


class ClickHouse:
    """One server of its own, without replicas."""
    name = "clickhouse"

    def __init__(self, folder):
        self.server = clickhouse.Server(Path(folder) / "server")
        self.server.start()
        self.options = ("--store", self.server.place("kiseki"))

    def cpu(self):
        return cpu_of(self.server.process.pid)

    def work_options(self):
        return (*self.options, "--once")

    def bytes(self):
        return int(self.server.ask("SELECT sum(bytes_on_disk) FROM system.parts WHERE active AND database = 'kiseki'"))

    def close(self):
        self.server.kill()


def send(engine, folder, file, minutes):
    """What the devices' tally, the collector and the engine say of it."""
    collector = Collector(folder, DEVICES, "--workers", "0", *engine.options)
    before = engine.cpu()
    try:
        said = subprocess.run([FLEET, "--devices", str(DEVICES), "--seconds", str(60 * minutes), "--rate", "max", "--patience", str(PATIENCE_S),
                               f"127.0.0.1:{collector.port}", file], check=True, stdout=subprocess.PIPE, text=True).stdout
        ingest = sum(s for name, s in collector.cpu().items() if name != "kiseki-summary")
        used = engine.cpu() - before
    finally:
        collector.stop()
    tally = read_tally(said)
    return {"seconds": tally["seconds"], "blocks": tally["blocks_acked"], "events": tally["events_acked"], "bytes": tally["bytes_sent"],
            "exact": tally["exact"], "engine_cpu_s": used, "ingest_cpu_s": ingest}


def work(engine):
    """All facts of what was sent, by one thread."""
    before = engine.cpu(), cpu_of_children()
    said = subprocess.run([KISEKI, "work", *engine.work_options(), "--workers", "1", "--json"], check=True, stdout=subprocess.PIPE).stdout
    got = json.loads(said)
    if got["errors"] or got["waiting"]:
        raise SystemExit(f"bench: not all facts were made: {got}")
    return {"sets": got["sets"], "cpu_s": cpu_of_children() - before[1], "engine_cpu_s": engine.cpu() - before[0]}


def measure_one(make_engine, kind, file, is_try):
    described = subprocess.run([FLEET, "--describe", file], check=True, stdout=subprocess.PIPE, text=True).stdout
    recording = {name: float(value) for name, value in (line.split() for line in described.splitlines())}
    minutes = BYTES / DEVICES / (recording["bytes"] / recording["ns"] * 60e9)
    minutes = MINUTES[0] if is_try else round(min(max(minutes, MINUTES[0]), MINUTES[1]))
    with tempfile.TemporaryDirectory(prefix="kiseki-engine-", dir=os.environ.get("SCRATCH")) as folder:
        engine = make_engine(folder)
        try:
            sent = send(engine, folder, file, minutes)
            stored = engine.bytes()
            facts = work(engine)
            return {"engine": engine.name, "kind": kind, "devices": DEVICES, "minutes": minutes, "sent": sent, "facts": facts,
                    "stored_bytes": stored, "facts_bytes": engine.bytes() - stored}
        finally:
            engine.close()


def measure(files, is_try, say):
    """Rows of each engine and kind."""
    engines = [Folder, ClickHouse] if clickhouse.program() else [Folder]
    if len(engines) == 1:
        say("skipped: clickhouse-server is not installed")
    rows = []
    for make_engine in engines:
        for kind, file in files.items():
            say(f"{make_engine.name}: {kind}")
            rows.append(measure_one(make_engine, kind, file, is_try))
            if rows[-1]["sent"]["exact"] != "yes":
                raise SystemExit(f"bench: not exact: {rows[-1]}")
    return rows

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""fleet_account: fifty devices (bench/fleet) at real collectors, with links that break; then made = stored + ledger, of each run.

	fleet_account.py KISEKI FLEET SAMPLE_MAKE SRC

*cuts*: two collectors with a store each, connections break all the time. *spool*: devices that were away give up what their memory does
not hold, which the ledger must have to the event. *failover*: the collector is killed again and again and comes back elsewhere with the
same store. *short*: an account with an event too few is noticed.
"""
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True
KISEKI, FLEET, SAMPLE_MAKE, SRC = sys.argv[1], *sys.argv[2:]
sys.path[:0] = [f"{SRC}/tests/tools", f"{SRC}/bench/fleet"]

from account import account  # noqa: E402
from ports import free_ports  # noqa: E402
from served import WAIT_S, Collector  # noqa: E402


def make_recordings(work):
    """A real trace, a profile and one of virtual machines, all small."""
    files = [work / f"{kind}.ksk" for kind in ("sched", "profile", "vm")]
    subprocess.run([KISEKI, "convert", f"{SRC}/tests/data/small-v6.dat", "-o", files[0]], check=True)
    subprocess.run([SAMPLE_MAKE, f"{SRC}/tests/golden/profile/before.profile", files[1]], check=True)
    subprocess.run([SAMPLE_MAKE, f"{SRC}/tests/golden/vm/two.sample", files[2], "100", "400"], check=True)
    return files


def url(collector):
    return f"http://127.0.0.1:{collector.http_port}/"


def start(work, ports, files, *options):
    """The account of each device will be in the file `runs`."""
    targets = ",".join(f"127.0.0.1:{port}" for port in ports)
    return subprocess.Popen([FLEET, "--devices", "50", "--ramp", "0.2", "--patience", str(WAIT_S), "--runs", work / "runs", *options, targets,
                             *files], stdout=subprocess.PIPE, text=True)


def finish(fleet):
    """What it counted, by name."""
    text = fleet.communicate(timeout=4 * WAIT_S)[0]
    assert fleet.returncode == 0, f"exit {fleet.returncode}:\n{text}"
    counted = {name: value for name, value in map(str.split, text.splitlines())}
    assert counted["exact"] == "yes" and counted["finished"] == "50", text
    return {name: float(value) for name, value in counted.items() if name != "exact"}


def check(work, urls, counted):
    """Each run, and the sums of all."""
    wrong, sums = account(work / "runs", urls)
    assert not wrong, wrong[:5]
    assert sums["events"] + sums["ledger"] == counted["events_made"] + counted["lost_before"], (sums, counted)
    assert sums["blocks"] == counted["blocks_acked"], (sums, counted)
    assert sums["events"], "nothing was stored, so this shows nothing"
    return sums


def scenario_cuts(work, files):
    collectors = [Collector(str(work / f"store{i}")) for i in range(2)]
    counted = finish(start(work, [c.port for c in collectors], files, "--seconds", "1.5", "--cuts", "0.5"))
    assert counted["cuts"] and counted["connections"] > 50, counted
    sums = check(work, [url(c) for c in collectors], counted)
    for c in collectors:
        c.stop()
    return f"{counted['cuts']:.0f} cuts, {sums['events']} events"


def scenario_spool(work, files):
    collector = Collector(str(work / "store"))
    fleet = start(work, [collector.port], files, "--seconds", "2", "--cuts", "0.5", "--spool", "2")
    counted = finish(fleet)
    assert counted["events_given_up"], "no device gave anything up, so this shows nothing"
    sums = check(work, [url(collector)], counted)
    collector.stop()
    return f"{sums['events']} events, {sums['ledger']} in the ledger"


def scenario_failover(work, files):
    ports = free_ports(2)
    collector = Collector(str(work / "store"), port=ports[0])
    fleet = start(work, ports, files, "--seconds", "3", "--failover", "--cuts", "2")
    for kills in range(1, 4):
        time.sleep(0.8)
        collector.kill()
        collector.start(ports[kills % 2])
    counted = finish(fleet)
    assert counted["broken"], "no connection broke, so this shows nothing"
    sums = check(work, [url(collector)], counted)
    collector.stop()
    return f"{counted['broken']:.0f} broken connections, {sums['events']} events"


def scenario_short(work, files):
    collector = Collector(str(work / "store"))
    finish(start(work, [collector.port], files, "--seconds", "0.2", "--rate", "max"))
    lines = (work / "runs").read_text().splitlines()
    fields = lines[7].split("\t")
    fields[4] = str(int(fields[4]) + 1)
    (work / "runs").write_text("\n".join([*lines[:7], "\t".join(fields), *lines[8:]]) + "\n")
    wrong, _ = account(work / "runs", [url(collector)])
    assert len(wrong) == 1 and fields[1] in wrong[0], wrong
    collector.stop()
    return "one event too few is noticed"


def main():
    for name in ("cuts", "spool", "failover", "short"):
        with tempfile.TemporaryDirectory(prefix="kiseki-fleet-") as folder:
            work = Path(folder)
            print(f"{name}: {globals()['scenario_' + name](work, make_recordings(work))}", flush=True)


main()

# SPDX-License-Identifier: MIT
"""clocks: somebody sets the real time of a collector or of its devices while they send (clock.c), forward and back, before 1970 and
behind 2038, and back again; the monotonic clock goes on.

What must come of it: nobody ends, each event of the devices (bench/fleet, with keys) is in the store or in the ledger once, nothing is
removed for its age, and `kiseki check` finds a sound store.
"""
import calendar
import json
import os
import struct
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

from collector import make_recordings, settle
from server import Server, wait_until_up
from strike import Fault, Tally

sys.path[:0] = [str(Path(__file__).resolve().parent.parent.parent / "bench/fleet")]

import enroll  # noqa: E402

DAY_S = 86400
DEVICES = 4
WAIT_S = 120
# When it will be; numbers are seconds from now.
TIMES = {"a second ahead": 1, "a second behind": -1, "a day ahead": DAY_S, "a day behind": -DAY_S, "100 days ahead": 100 * DAY_S,
         "1970": "1970-01-01 00:00:05", "1969": "1969-12-31 23:00:00", "1901": "1901-12-13 20:45:50", "2038": "2038-01-19 03:14:06",
         "2040": "2040-01-01 00:00:00", "2106": "2106-02-07 06:28:14", "2200": "2200-01-01 00:00:00"}
WHO = ("collector", "devices", "all")
BEFORE = ("1970", "1969", "1901")  # two hours before is before 1970, and that is no time that a collector knows


class Clock:
    """The real time of whoever is dressed with it."""

    def __init__(self, tools, file):
        self.tools, self.file = tools, file
        self.file.write_bytes(bytes(8))

    def environment(self):
        return {**os.environ, "LD_PRELOAD": str(self.tools.clock), "KISEKI_CLOCK": str(self.file)}

    def set(self, when):
        seconds = when
        if isinstance(when, str):
            seconds = calendar.timegm(time.strptime(when, "%Y-%m-%d %H:%M:%S")) - time.time()
        with self.file.open("r+b") as file:
            file.write(struct.pack("=q", int(seconds) * 10**9))


class Keyed(Server):
    """A collector with keys, which removes what is older than a month."""

    def line(self):
        return [*super().line(), "--retain-age", "30d"]


def get(server, path):
    with urllib.request.urlopen(f"http://127.0.0.1:{server.http}{path}", timeout=WAIT_S) as answer:
        return json.load(answer)


def get_hours(server, when):
    """The last two hours, or that there are none."""
    try:
        return get(server, "/api/v1/fleet/top?kind=profile&from=-2h&to=-0s")
    except urllib.error.HTTPError as e:
        if e.code != 400 or when not in BEFORE:
            raise
        return json.load(e)


def prepare(tools, server, work):
    """All devices have certificates before the time is set."""
    problem = wait_until_up(server)
    if problem:
        return problem
    identities = enroll.get_identities(tools.fleet, ["--devices", str(DEVICES)])
    enroll.enroll_fleet((tools.kiseki, tools.agent), work / "store", server.port, work / "keys", identities)
    return None


def send(tools, server, clocks, jump, files):
    """What is wrong with how they send meanwhile, or None."""
    who, when = jump
    fleet = subprocess.Popen([tools.fleet, "--devices", str(DEVICES), "--ramp", "0.1", "--patience", str(WAIT_S), "--cuts", "0.7", "--keys",
                              server.work / "keys", "--runs", server.work / "runs", "--seconds", "4", f"127.0.0.1:{server.port}", *files],
                             env=clocks["devices"].environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    mine = [clock for name, clock in clocks.items() if who in (name, "all")]
    time.sleep(1)
    for clock in mine:
        clock.set(TIMES[when])
    time.sleep(2)
    asked = [get(server, path) for path in ("/api/v1/devices", "/api/v1/runs")] + [get_hours(server, when)]
    for clock in mine:
        clock.set(0)
    text = fleet.communicate(timeout=2 * WAIT_S)[0]
    if not all(asked):
        return "it does not answer meanwhile"
    return f"the devices: {text.strip()[-300:]}" if fleet.returncode else None


def judge(tools, files, jump):
    """What is wrong with how it was taken, or None."""
    with tempfile.TemporaryDirectory(prefix="kiseki-clock-") as folder:
        work = Path(folder)
        (work / "store").mkdir()
        enroll.make_keys(tools.kiseki, work / "store")
        clocks = {name: Clock(tools, work / f"clock-{name}") for name in ("collector", "devices")}
        server = Keyed(tools, work, lambda line: (line, clocks["collector"].environment()))
        try:
            problem = prepare(tools, server, work) or send(tools, server, clocks, jump, files) or settle(server)
        except (OSError, subprocess.SubprocessError, ValueError) as e:
            problem = str(e)
        problem = server.stop() or problem or (f"it ended: {server.statuses}" if server.statuses != [0] else None)
        if not problem:
            check = subprocess.run([tools.kiseki, "check", work / "store"], stdout=subprocess.PIPE, text=True)
            problem = f"kiseki check: {check.stdout.strip()[-300:]}" if check.returncode else None
        said = server.log.read_text(errors="replace").strip().splitlines()
        return f"{problem} (it said: {' | '.join(said[-3:])[-400:]})" if problem else None


def campaign(tools, most, random, only=""):
    with tempfile.TemporaryDirectory(prefix="kiseki-clock-") as folder:
        files = make_recordings(tools, Path(folder))
        jumps = [(who, when) for when in TIMES for who in WHO if only in f"{who}, {when}"]
        jumps = jumps if len(jumps) <= most else random.sample(jumps, most)
        print(f"  {len(jumps)} times that are set", flush=True)
        tally = Tally()
        for who, when in jumps:
            tally.add(f"clock of {who}", Fault("clock", when, ""), True, judge(tools, files, (who, when)))
        return tally

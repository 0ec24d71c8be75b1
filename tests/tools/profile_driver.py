#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""profile_driver: scenarios of tests/system/profile_collector.sh: profiles at a real `kiseki serve`.

	profile_driver.py KISEKI SCENARIO FOLDER

FOLDER has machines.ksk, a recording of virtual machines, and plain.ksk, a profile without any. AGENT in the environment is
kiseki-agent, which samples this machine. Each scenario has a folder and a collector of its own, and fails by an
exception.
"""
import http.client
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bringer import Bringer, bring, file_blocks
from served import KISEKI, Collector

FOLDER = Path(sys.argv[3])
WAIT_S = 400  # against a hang: samples need CPU time, which a busy machine does not have
# It never sleeps, and is in many places, so that a sample has some bytes.
BURN = """
import hashlib, json, random, re, zlib
works = [lambda x: json.loads(json.dumps(list(range(x)))), lambda x: sorted(str(i) for i in range(x)),
         lambda x: re.findall("[0-9]+", "a1b22c333" * x), lambda x: zlib.compress(b"abcdef" * x),
         lambda x: hashlib.sha256(b"x" * x).digest(), lambda x: sum(i ** 3 for i in range(x))]
def deeper(n, x):
    return random.choice(works)(x) if n == 0 else deeper(n - 1, x)
while True:
    deeper(random.randrange(12), random.randrange(1, 60))
"""


def kiseki(*args, collector=None, code=0):
    """What the command prints; it exits so."""
    env = dict(os.environ)
    if collector:
        env["KISEKI_SERVER"] = f"http://127.0.0.1:{collector.http_port}"
    done = subprocess.run([KISEKI, *map(str, args)], env=env, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL)
    assert done.returncode == code, (args, done.returncode, done.stdout[-2000:], done.stderr)
    return done.stdout


def get(collector, path, status=200):
    c = http.client.HTTPConnection("127.0.0.1", collector.http_port, timeout=60)
    c.request("GET", path)
    answer = c.getresponse()
    body = answer.read()
    c.close()
    assert answer.status == status, (path, answer.status, body[:500])
    return body


def get_json(collector, path, status=200):
    return json.loads(get(collector, path, status))


def wait_until(what, is_true):
    deadline = time.monotonic() + WAIT_S
    while not is_true():
        assert time.monotonic() < deadline, f"waited in vain for: {what}"
        time.sleep(0.05)


class Recorder:
    """kiseki-agent profile of a program that never sleeps."""

    def __init__(self, collector, folder, *options, host="127.0.0.1"):
        self.err = Path(folder) / "agent.err"
        self.burner = subprocess.Popen([sys.executable, "-c", BURN])
        with open(self.err, "w") as err:
            self.agent = subprocess.Popen(
                [os.environ["AGENT"], "profile", "--collector", f"{host}:{collector.port}",
                 "--name", "board", "--state-dir", str(folder), "--pid", str(self.burner.pid),
                 "--event", "cpu-clock", *options], stderr=err, stdin=subprocess.DEVNULL)

    def burnt_s(self):
        """CPU time that was there to be sampled."""
        fields = Path(f"/proc/{self.burner.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return int(fields[11]) / os.sysconf("SC_CLK_TCK")

    def signal(self):
        self.agent.send_signal(signal.SIGTERM)

    def finish(self, code=0):
        got = self.agent.wait(WAIT_S)
        self.burner.kill()
        self.burner.wait()
        text = self.err.read_text()
        assert got == code, (got, text)
        return text

    def stop(self, code=0):
        self.signal()
        return self.finish(code)


def only_run(c):
    runs = get_json(c, "/api/v1/runs")["runs"]
    assert len(runs) <= 1, runs
    return runs[0] if runs else {"events": 0, "ended": False}


def counted(run):
    return run["events"] + sum(run["lost"].values())


def records_of(path):
    """Records of a file, in blocks and told as lost."""
    n = 0
    for b, _ in file_blocks(path):
        n += b.events + b.told()
    return n


def without_name(text, name):
    """A report's first line, or member, names what was read."""
    return text.replace(f'"{name}"', '""', 1) if text.startswith("{") else text.removeprefix(f"{name}:")


def same_reports(c, name, path):
    """What the commands say of a run at the collector is what they say of a file."""
    for args in (["profile", "report"], ["profile", "report", "--by", "process", "--json"],
                 ["profile", "export", "-o", "-", "-f", "folded"]):
        here = kiseki(*args[:2], path, *args[2:])
        there = kiseki(*args[:2], name, *args[2:], collector=c)
        assert without_name(here, path) == without_name(there, name), (args, here, there)


# --- what a device sends that samples itself ---

def scenario_live(folder):
    """The run grows while it is recorded; what is there is what a file beside it has."""
    c, path = Collector(folder), Path(folder) / "beside.ksk"
    r = Recorder(c, folder, "-o", str(path))
    wait_until("first samples", lambda: only_run(c)["events"] > 0)
    first = only_run(c)
    assert first["kinds"] == ["profile"] and not first["ended"], first
    text = kiseki("profile", "report", "board", collector=c)
    assert "still being recorded" in text, text
    wait_until("more", lambda: only_run(c)["events"] > first["events"])
    text = r.stop()
    run = only_run(c)
    assert run["ended"] and not any(run["lost"].values()) and not run["lost_unknown"], run
    said = int(re.search(r"(\d+) samples, 0 lost", text)[1])
    assert run["events"] == said == records_of(path), (run, text)
    for name in ("board", str(run["run"])):
        same_reports(c, name, path)
    flame = Path(folder) / "flame.html"
    kiseki("profile", "flame", "board", "-o", flame, collector=c)
    assert flame.stat().st_size > 10000
    kiseki("profile", "diff", "board", path, collector=c)
    kiseki("profile", "report", folder)  # the collector's own store
    assert "no run of its virtual machines" in subprocess.run(
        [KISEKI, "vm", "report", "board", "--server", f"http://127.0.0.1:{c.http_port}"],
        stderr=subprocess.PIPE, text=True).stderr
    # An agent's place was never taken.
    assert get_json(c, "/api/v1/devices/board")["online"] is False
    assert c.count_log("connected beside the agent") == 1
    c.stop()
    print(f"live: {said} samples, the same as in the file")


def scenario_cut(folder):
    """The collector is killed and comes again: nothing is missing, nothing is there twice."""
    c, path = Collector(folder), Path(folder) / "beside.ksk"
    r = Recorder(c, folder, "-o", str(path), "--rate", "1000")
    for _ in range(2):
        before = only_run(c)["events"]
        wait_until("more", lambda: only_run(c)["events"] > before)
        c.kill()
        size = path.stat().st_size
        wait_until("some that nobody takes", lambda: path.stat().st_size > size + 20000)
        c.again()
    wait_until("more", lambda: only_run(c)["events"] > before)
    r.stop()
    run = only_run(c)
    assert run["ended"] and not any(run["lost"].values()) and not run["lost_unknown"], run
    assert run["events"] == records_of(path), run
    same_reports(c, "board", path)
    c.stop()
    print(f"cut: {run['events']} samples over two kills")


def scenario_overrun(folder):
    """There is no collector for longer than the memory lasts: each record that is missing is counted."""
    c, path = Collector(folder), Path(folder) / "beside.ksk"
    r = Recorder(c, folder, "-o", str(path), "--rate", "20000", "--spool", "512K")
    wait_until("first samples", lambda: only_run(c)["events"] > 0)
    c.kill()
    size = path.stat().st_size
    wait_until("more than the memory has", lambda: path.stat().st_size > size + 900000)
    c.again()
    known = only_run(c)["events"]
    wait_until("what comes after it", lambda: only_run(c)["events"] > known)
    r.stop()
    run = only_run(c)
    assert run["ended"] and run["lost"]["spool"] > 0, run
    assert sum(run["lost"].values()) == run["lost"]["spool"] or run["lost"]["ring"], run
    assert counted(run) == records_of(path), (run, records_of(path))
    rows = get_json(c, f"/api/v1/runs/{run['run']}/ledger")["rows"]
    assert sum(row["count"] for row in rows if row["cause"] == "spool") == run["lost"]["spool"], rows
    assert "lost" in kiseki("profile", "report", "board", collector=c)
    out = Path(folder) / "out.ksk"
    kiseki("export", "--run", run["run"], "-o", out, collector=c)
    assert records_of(out) == counted(run)
    c.stop()
    print(f"overrun: {run['events']} samples, {run['lost']['spool']} lost, {counted(run)} in the file")


def scenario_alone(folder):
    """The same without a file: what the agent counts is what the collector has. A signal ends it, all is sent."""
    c = Collector(folder)
    r = Recorder(c, folder, "--rate", "20000", "--spool", "512K", host="localhost")
    wait_until("first samples", lambda: only_run(c)["events"] > 0)
    c.kill()
    before = r.burnt_s()
    wait_until("samples of so many seconds", lambda: r.burnt_s() > before + 4)
    r.signal()  # it has ended, and waits for somebody to take it
    c.again()
    text = r.finish()
    run = only_run(c)
    samples, lost = map(int, re.search(r"(\d+) samples, (\d+)(?: and more)? lost", text).groups())
    assert run["ended"] and sum(run["lost"].values()) == lost, (run, text)
    # Samples that were taken and found no room are among both.
    assert counted(run) == samples + run["lost"]["ring"], (run, text)
    c.stop()
    print(f"alone: {run['events']} samples, {lost} lost")


def scenario_away(folder):
    """No collector at all: it goes on with the file, says so, and a second signal ends the waiting."""
    c, path = Collector(folder), Path(folder) / "beside.ksk"
    c.kill()
    r = Recorder(c, folder, "-o", str(path))
    wait_until("a file", lambda: path.exists() and path.stat().st_size > 8000)
    r.signal()
    wait_until("the file is whole", lambda: is_whole(path))
    text = r.stop(1)
    assert "cannot connect" in text and "cannot send all: the collector lacks" in text, text
    kiseki("profile", "report", path)
    print("away: said, and the file is whole")


def is_whole(path):
    return "still being recorded" not in kiseki("profile", "report", path)


def scenario_full(folder):
    """The collector's disk is full: nothing is acknowledged; when there is room again all of it is there."""
    data = Path(folder) / "data"
    data.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1M", "none", data], check=True)
    try:
        path = Path(folder) / "beside.ksk"
        (data / "ballast").write_bytes(bytes(700 << 10))
        c = Collector(data)
        r = Recorder(c, folder, "-o", str(path), "--rate", "20000", "--spool", "16M")
        c.wait_log("nothing is acknowledged until it works again")
        (data / "ballast").unlink()
        subprocess.run(["mount", "-o", "remount,size=64M", data], check=True)
        before = only_run(c)["events"]
        wait_until("it goes on", lambda: only_run(c)["events"] > before)
        r.stop()
        run = only_run(c)
        assert run["ended"] and not run["lost"]["spool"], run
        assert counted(run) == records_of(path), run
        c.stop()
        print(f"full: {run['events']} samples, none lost by it")
    finally:
        subprocess.run(["umount", "-l", data], check=True)


def same_machines(c, name):
    path = FOLDER / "machines.ksk"
    for args in (["report"], ["report", "--json"], ["report", "--by", "function"], ["steal"],
                 ["steal", "--json"], ["correct"], ["correct", "--by", "function", "--json"]):
        here = kiseki("vm", args[0], path, *args[1:])
        there = kiseki("vm", args[0], name, *args[1:], collector=c)
        assert without_name(here, path) == without_name(there, name), (args, here, there)


def same_exports(c, run, command, address):
    """Without the objects, as the collector has none."""
    (FOLDER / "none").mkdir(exist_ok=True)
    for name in ("folded", "pprof", "speedscope", "firefox", "json"):
        out = run.parent / f"out.{name}"
        kiseki(command, "export", run, "-o", out, "-f", name, "--sysroot", FOLDER / "none")
        body = get(c, f"{address}format={name}")
        assert body == out.read_bytes(), (name, body[:300], out.read_bytes()[:300])


def scenario_exported(folder):
    """Over HTTP in each format of kiseki profile export, byte by byte what that makes of the run's own file, which differs
    from the one that was sent in the real time that the collector measured."""
    c, path = Collector(folder), FOLDER / "plain.ksk"
    bring(c.port, path, 7)
    formats = {f["name"]: f for f in get_json(c, "/api/v1/formats")["formats"]}
    for name in ("folded", "pprof", "speedscope", "firefox", "json", "ksk"):
        assert "profile" in formats[name]["kinds"] and "vm" in formats[name]["kinds"], formats[name]
    assert formats["firefox"]["kinds"] == ["profile", "vm"] and "profile" not in formats["csv"]["kinds"]
    run = Path(folder) / "run.ksk"
    run.write_bytes(get(c, "/api/v1/devices/host/export?kind=profile"))
    same = without_name(kiseki("profile", "report", path, "--json"), path)
    assert without_name(kiseki("profile", "report", run, "--json"), run) == same
    same_exports(c, run, "profile", "/api/v1/runs/1/export?")
    for name in ("folded", "firefox"):
        assert get(c, f"/api/v1/devices/host/export?format={name}") == get(c, f"/api/v1/runs/1/export?format={name}")
    get_json(c, "/api/v1/devices/host/export?format=kft", 404)
    assert "is a profile" in get_json(c, "/api/v1/runs/1/export?format=csv", 400)["error"]
    get_json(c, "/api/v1/runs/1/export?cpu=1", 400)
    get_json(c, "/api/v1/devices/host/export?kind=vm", 404)
    get_json(c, "/api/v1/runs/1/export?kind=vm", 404)
    head = http.client.HTTPConnection("127.0.0.1", c.http_port, timeout=60)
    head.request("GET", "/api/v1/runs/1/export?format=pprof")
    answer = head.getresponse()
    answer.read()
    assert 'box-1.pb.gz"' in answer.headers["Content-Disposition"], answer.headers
    c.stop()
    print("exported: as the command does")


def scenario_machines(folder):
    """A recording of virtual machines is told from a profile, and reads at the collector as from its file."""
    c = Collector(folder)
    bring(c.port, FOLDER / "machines.ksk", 7)
    bring(c.port, FOLDER / "plain.ksk", 8)
    runs = {r["run"]: r for r in get_json(c, "/api/v1/runs")["runs"]}
    assert sorted(r["kinds"] for r in runs.values()) == [["profile"], ["profile", "vm"]], runs
    number = next(n for n, r in runs.items() if "vm" in r["kinds"])
    for kind, n in (("sched", 0), ("func", 0), ("boot", 0), ("profile", 2), ("vm", 1)):
        listed = get_json(c, f"/api/v1/devices/host/runs?kind={kind}")["runs"]
        assert len(listed) == n, (kind, listed)
    get_json(c, "/api/v1/runs?kind=vms", 400)
    # The latest of its machines, not the later profile.
    for name in ("host", str(number)):
        same_machines(c, name)
    same_reports(c, "host", FOLDER / "plain.ksk")
    same_reports(c, str(number), FOLDER / "machines.ksk")
    text = kiseki("check", folder)
    assert " vm " in text and " profile " in text, text
    # Also after the collector was killed: what kind it is, is in the log.
    c.kill()
    c.again()
    same_machines(c, "host")
    assert get_json(c, f"/api/v1/runs/{number}")["kinds"] == ["profile", "vm"]
    run = Path(folder) / "run.ksk"
    run.write_bytes(get(c, "/api/v1/devices/host/export?kind=vm"))
    same_exports(c, run, "vm", "/api/v1/devices/host/export?kind=vm&")
    same_exports(c, run, "profile", f"/api/v1/runs/{number}/export?kind=profile&")
    c.stop()
    kiseki("vm", "report", folder)
    print("machines: told apart, the same reports and exports")


def scenario_twice(folder):
    """Each block twice, and a kill in the middle: the collector asks for what it lacks, and has all of it once."""
    c = Collector(folder)
    blocks = list(file_blocks(FOLDER / "machines.ksk"))
    who = Bringer(c.port, 7)
    for b, data in blocks[:len(blocks) // 2]:
        who.send(b, data)
        who.send(b, data)
    who.device.wait_acknowledged()
    c.kill()
    c.again()
    who = Bringer(c.port, 7)
    wanted = {stream: sequence for _, stream, sequence in who.welcome["rows"]}
    for stream in {b.stream for b, _ in blocks[:len(blocks) // 2]}:
        assert wanted[stream] == 1 + max(b.sequence for b, _ in blocks[:len(blocks) // 2] if b.stream == stream), wanted
    for b, data in blocks:
        who.send(b, data)
    who.finish()
    same_machines(c, "host")
    c.stop()
    print(f"twice: {len(blocks)} blocks once")


def main():
    with tempfile.TemporaryDirectory() as folder:
        globals()["scenario_" + sys.argv[2]](folder)


if __name__ == "__main__":
    main()

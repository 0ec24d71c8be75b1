#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""continuous_driver: scenarios of tests/system/continuous.sh: profiles of a whole machine that go on, at a real `kiseki serve`.

	continuous_driver.py KISEKI SCENARIO FOLDER

AGENT in the environment is kiseki-agent. Each scenario has a collector of its own, and fails by an exception.
"""
import collections
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from ksk_decode import Cut
from pace_decode import COMPLETE, GOES, PAUSES, STOPPED, mappings, pace, paused
from profile_driver import BURN, WAIT_S, file_blocks, get_json, kiseki, wait_until
from served import Collector

S = 10 ** 9
CPUS = os.cpu_count()


class Machine:
    """kiseki-agent profile of all CPUs."""

    def __init__(self, collector, folder, *options, name="board"):
        self.path = Path(folder) / "beside.ksk"
        self.agent = subprocess.Popen(
            [os.environ["AGENT"], "profile", "--all", "--collector", f"127.0.0.1:{collector.port}", "--name", name,
             "--state-dir", str(folder), "--event", "cpu-clock", "-o", str(self.path), *options],
            stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def rows(self):
        """What it said of its pace up to now; the last block may be written at this moment."""
        blocks = []
        try:
            for b, _ in file_blocks(self.path):
                blocks.append(b)
        except (FileNotFoundError, Cut):
            pass
        return pace(b for b in blocks if b.payload is not None)

    def last(self):
        return ([(0, 0, 0)] + self.rows())[-1]

    def finish(self, code=0):
        text = self.agent.communicate(timeout=WAIT_S)[1]
        assert self.agent.returncode == code, (self.agent.returncode, text)
        return text

    def stop(self):
        self.agent.send_signal(signal.SIGTERM)
        return self.finish()

    def kill(self):
        self.agent.kill()
        self.finish(-signal.SIGKILL)

    def anonymous_kib(self):
        text = Path(f"/proc/{self.agent.pid}/status").read_text()
        return int(re.search(r"RssAnon:\s+(\d+)", text)[1])


def runs_of(c, name="board"):
    return [r for r in get_json(c, "/api/v1/runs")["runs"] if r["device"] == name]


def totals(path):
    """Of all samples, with those of idle CPUs."""
    return json.loads(kiseki("profile", "report", path, "--mode", "user,kernel,guest,idle", "--json", "--by", "cpu"))["totals"]


def is_near(weight, ns):
    """Samples stand for the time: a CPU is a period or so off at each end, and what a hypervisor took away is late."""
    return abs(weight - ns) <= ns / 5


def is_complete(text):
    """Whether the recorder lost nothing. What is not judged for that is counted as skipped."""
    if " 0 lost" not in text:
        print(f"skipped: samples were lost, so sums are not compared: {text.splitlines()[-1] if text else ''}")
    return " 0 lost" in text


def scenario_duty(folder):
    """Pauses are told and are no losses; samples stand for the time between them; who begins in a pause has a name."""
    c = Collector(folder)
    m = Machine(c, folder, "--duty", "1s/3s")
    cases = lambda: [r[1] for r in m.rows()]
    wait_until("a pause", lambda: PAUSES in cases())
    wait_until("a part that is sampled", lambda: GOES in cases())
    n = len(cases())
    wait_until("the next pause", lambda: len(cases()) > n and cases()[-1] == PAUSES)
    burner = subprocess.Popen([sys.executable, "-c", BURN])
    n = len(cases())
    wait_until("that to be sampled", lambda: len(cases()) >= n + 2)
    text = m.stop()
    burner.kill()
    burner.wait()
    rows = m.rows()
    assert rows[-1][1] == STOPPED and all(r[2] == 1000000 for r in rows if r[1] == GOES), rows
    said = get_json(c, f"/api/v1/runs/{runs_of(c)[0]['run']}/ledger")["uncovered"]
    # The beginning may be the first record's.
    span = rows[-1][0] - rows[0][0]
    assert said["runs"] == 1 and said["gaps_ns"] == 0 and said["total_ns"] == span, (said, rows)
    assert said["planned_ns"] == paused(rows) > 0, (said, rows)
    assert abs(said["ratio"] - said["lost_ns"] / span) < 1e-9
    t = totals(m.path)
    assert t["uncovered"]["planned_ns"] == paused(rows) and t["uncovered"]["total_ns"] == span, (t, rows)
    if is_complete(text):
        assert said["lost_ns"] == 0 and t["uncovered"]["lost_ns"] == 0, (said, t)
        assert is_near(t["total"]["weight"], (span - paused(rows)) * CPUS), (t, rows)
    processes = kiseki("profile", "report", m.path, "--by", "process", "--limit", "0")
    assert f"({burner.pid})" in processes, processes
    mapped = collections.Counter((pid, first, path) for pid, _, first, path in mappings(b for b, _ in file_blocks(m.path)))
    assert any(pid == burner.pid for pid, _, _ in mapped), "no mappings of the one that began in a pause"
    assert "planned pauses" in kiseki("ledger", str(runs_of(c)[0]["run"]), collector=c)
    assert "planned pauses" in kiseki("info", m.path)
    c.stop()
    print(f"duty: {span / S:.1f} s, planned pauses {paused(rows) / S:.1f} s, samples stand for {t['total']['weight'] / S:.1f} s")


def scenario_budget(folder):
    """More than it may cost: the period becomes longer, and samples stand for the same time."""
    c = Collector(folder)
    m = Machine(c, folder, "--budget", "0.05", "--rate", "4000")
    wait_until("a longer period", lambda: max((r[2] for r in m.rows()), default=0) > 250000)
    wait_until("an even longer one", lambda: len({r[2] for r in m.rows()}) > 2)
    text = m.stop()
    rows = m.rows()
    assert rows[0][1:] == (GOES, 250000), rows
    assert min(r[2] for r in rows if r[1] == GOES) == 250000, rows
    t = totals(m.path)
    assert t["least_period"] == 250000 and t["most_period"] == max(r[2] for r in rows), (t, rows)
    if is_complete(text):
        assert is_near(t["total"]["weight"], t["uncovered"]["total_ns"] * CPUS), (t, rows)
    assert "at times every" in kiseki("profile", "report", m.path)
    c.stop()
    print(f"budget: periods {sorted({r[2] // 1000 for r in rows if r[2]})} us, {t['total']['weight'] / S:.1f} s in {t['total']['samples']} samples")


def scenario_gaps(folder):
    """A recorder that was killed and comes again leaves a gap; one that had all that was asked for does not."""
    c = Collector(folder)
    m = Machine(c, folder)
    wait_until("samples", lambda: runs_of(c) and runs_of(c)[0]["events"] > 100)
    m.kill()
    m = Machine(c, folder)
    wait_until("samples", lambda: len(runs_of(c)) == 2 and all(r["events"] > 100 for r in runs_of(c)))
    m.stop()
    for r in runs_of(c):
        u = get_json(c, f"/api/v1/runs/{r['run']}/ledger")["uncovered"]
        assert u["runs"] == 1 and u["gaps_ns"] == u["planned_ns"] == 0, u
    u = get_json(c, "/api/v1/devices/board/ledger?kind=profile")["uncovered"]
    assert u["runs"] == 2 and 0 < u["gaps_ns"] < u["total_ns"] and u["planned_ns"] == 0, u
    assert abs(u["ratio"] - (u["gaps_ns"] + u["lost_ns"]) / u["total_ns"]) < 1e-9, u
    assert "gaps between runs" in kiseki("ledger", "board", collector=c)
    for _ in range(2):
        m = Machine(c, folder, "--time", "300ms", name="short")
        m.finish()
        assert m.rows()[-1][1] == COMPLETE, m.rows()
    u = get_json(c, "/api/v1/devices/short/ledger")["uncovered"]
    assert u["runs"] == 2 and u["gaps_ns"] == 0, u
    part = get_json(c, "/api/v1/devices/short/ledger?from=%2B10ms")["uncovered"]
    assert part is None, part
    c.stop()
    print(f"gaps: {u['total_ns'] / 1e6:.0f} ms of two short runs without a gap")


def scenario_told(folder):
    """Rate, budget, duty and pauses by `kiseki configure`, while it records, in one run; and by the next recorder when it comes."""
    c = Collector(folder)
    m = Machine(c, folder, "--rate", "100")
    wait_until("samples", lambda: runs_of(c) and runs_of(c)[0]["events"] > 10)
    assert kiseki("configure", "board", "--profile-rate", "499", collector=c) == "board: configured\n"
    wait_until("the period", lambda: m.last()[1:] == (GOES, S // 499))
    kiseki("configure", "board", "--profile", "off", collector=c)
    wait_until("a pause", lambda: m.last()[1] == PAUSES)
    kiseki("configure", "board", "--profile-rate", "250", collector=c)  # for later
    kiseki("configure", "board", "--profile", "on", collector=c)
    wait_until("the end of it", lambda: m.last()[1:] == (GOES, S // 250))
    kiseki("configure", "board", "--profile-duty", "1s/2s", collector=c)
    n = len(m.rows())
    wait_until("pauses", lambda: [r[1] for r in m.rows()[n:]].count(PAUSES) >= 2)
    kiseki("configure", "board", "--profile-duty", "", "--profile-budget", "0.01", "--profile-rate", "4000", collector=c)
    wait_until("a longer period", lambda: m.last()[2] > S // 4000)
    wanted = {"profile": "on", "profile-rate": 4000, "profile-budget": "0.01%", "profile-duty": ""}
    assert get_json(c, "/api/v1/devices/board")["config"] == wanted
    # Nobody samples virtual machines there, and nobody is the agent.
    assert "told when somebody does" in kiseki("configure", "board", "--vm-rate", "99", "--vm-duty", "10s/1m", collector=c)
    m.stop()
    assert len(runs_of(c)) == 1, runs_of(c)
    # What was said holds for the next one, and over a restart of the collector.
    assert "told when somebody does" in kiseki("configure", "board", "--profile-budget", "0", "--profile-rate", "50", collector=c)
    c.stop()
    c.again()
    assert get_json(c, "/api/v1/devices/board")["config"]["vm-duty"] == "10s/60s"
    m.path.unlink()  # not read while the next one begins it
    m = Machine(c, folder, "--rate", "1000", "--budget", "1")
    wait_until("what was said", lambda: m.last()[1:] == (GOES, S // 50))
    # It dies instead of answering: nobody waits for it.
    m.agent.send_signal(signal.SIGSTOP)
    asked = subprocess.Popen([sys.argv[1], "configure", "board", "--profile-rate", "70", "--server", f"http://127.0.0.1:{c.http_port}"],
                             stdout=subprocess.PIPE, text=True)
    time.sleep(1)
    m.kill()
    said = asked.communicate(timeout=WAIT_S)[0]
    assert asked.returncode == 0 and "told when somebody does" in said, (asked.returncode, said)
    # One that can do without, of a command, is not asked.
    burner = subprocess.Popen(
        [os.environ["AGENT"], "profile", "--collector", f"127.0.0.1:{c.port}", "--name", "board", "--state-dir", str(folder), "--", sys.executable,
         "-c", BURN], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_until("its samples", lambda: any(not r["ended"] and r["events"] > 10 for r in runs_of(c)) or burner.poll() is not None)
    assert "told when somebody does" in kiseki("configure", "board", "--profile-rate", "60", collector=c)
    burner.send_signal(signal.SIGTERM)
    burner.wait()
    for bad in (("--profile", "maybe"), ("--profile-rate", "0"), ("--profile-budget", "101"), ("--profile-duty", "60s/10s")):
        failed = subprocess.run([sys.argv[1], "configure", "board", *bad, "--server", f"http://127.0.0.1:{c.http_port}"], stderr=subprocess.DEVNULL)
        assert failed.returncode == 2, bad
    c.stop()
    print("told: rate, budget, duty and pauses by the collector, in one run, and by the next recorder")


def scenario_forks(folder):
    """Twenty thousand processes come and go: what it has allocated stays what it was, and no mapping is told twice."""
    c = Collector(folder)
    m = Machine(c, folder, "--spool", "512K")
    still = subprocess.Popen([sys.executable, "-c", BURN])
    wait_until("samples", lambda: runs_of(c) and runs_of(c)[0]["events"] > 100)
    loop = "i=0; while [ $i -lt %d ]; do (:); i=$((i+1)); done"
    subprocess.run(["sh", "-c", loop % (400 if "ASAN_OPTIONS" in os.environ else 4000)], check=True)
    subprocess.run(["sh", "-c", "i=0; while [ $i -lt 300 ]; do /bin/true; i=$((i+1)); done"], check=True)
    before = m.anonymous_kib()
    subprocess.run(["sh", "-c", loop % (2000 if "ASAN_OPTIONS" in os.environ else 20000)], check=True)
    after = m.anonymous_kib()
    text = m.stop()
    still.kill()
    still.wait()
    if "ASAN_OPTIONS" in os.environ:  # it keeps what was freed
        print(f"skipped: a sanitizer's memory says nothing: {before} KiB, then {after}")
    else:
        assert after - before < 512, (before, after)
    told = collections.Counter(r for r in mappings(b for b, _ in file_blocks(m.path)) if r[0] == still.pid)
    assert told, "the one that stayed has no mappings"
    if is_complete(text):
        assert max(told.values()) == 1, told
        assert len({r[1] for r in told}) < 50, told
    c.stop()
    print(f"forks: {before} KiB before, {after} KiB after 20,000 of them; {len(told)} mappings of one that stayed")


def main():
    with tempfile.TemporaryDirectory() as folder:
        globals()["scenario_" + sys.argv[2]](folder)


if __name__ == "__main__":
    main()

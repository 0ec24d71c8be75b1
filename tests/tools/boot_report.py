#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""boot_report: scenarios of tests/system/boot_report.sh.

	boot_report.py KISEKI SCENARIO FOLDER

FOLDER has before.ksk and after.ksk, made of tests/golden/boot; BOOT_MAKE and KISEKI_BOOT in the environment are the
programs. Each fails by an exception.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import boot_driver
from served import KISEKI, Collector

FOLDER = Path(sys.argv[3])
BEFORE, AFTER = FOLDER / "before.ksk", FOLDER / "after.ksk"
MS = 1000000
SHORT = 25  # processes that live for less than the recorder's interval


def kiseki(*args, collector=None, code=0):
    """What it prints, and what it says beside that."""
    env = dict(os.environ)
    if collector:
        env["KISEKI_SERVER"] = f"http://127.0.0.1:{collector.http_port}"
    done = subprocess.run([KISEKI, "boot", *map(str, args)], env=env, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL)
    assert done.returncode == code, (args, done.returncode, done.stdout[-2000:], done.stderr)
    return done.stdout, done.stderr


def report(*args, **more):
    return json.loads(kiseki("report", "--json", *args, **more)[0])


STATES = ["running", "runnable", "disk", "sleeping", "stopped", "zombie", "unknown"]


def check_process(p, r):
    """The states of a process add up to its life."""
    from_ns = r["boot"]["from_ns"] if p["from_ns"] is None else p["from_ns"]
    to_ns = r["boot"]["to_ns"] if p["to_ns"] is None else p["to_ns"]
    assert sum(p[s + "_ns"] for s in STATES) == to_ns - from_ns, p
    assert p["cost_ns"] >= 0 and p["life_ns"] <= to_ns - from_ns, p


def check_report(r):
    for name in ["cpu", "disk", "waiting"]:
        costs = [p["cost_ns"] for p in r[name]]
        assert costs == sorted(costs, reverse=True), costs
        for p in r[name]:
            check_process(p, r)
    for i in r["idle"]:
        assert i["from_ns"] < i["to_ns"] <= r["to_ns"] and i["busy_permille"] < 50, i
        assert all(w["waited_ns"] <= i["to_ns"] - i["from_ns"] for w in i["waiters"]), i
    for c in r["chains"]:
        assert len(c["members"]) > 1 and c["longest_ns"] <= c["sum_ns"], c
        ends = [c["from_ns"]]
        for m in c["members"]:  # one after the other
            assert m["from_ns"] + m["from_error_ns"] >= ends[-1], c
            ends.append((m["to_ns"] or r["boot"]["to_ns"]) - m["zombie_ns"])
    for a, b in zip(r["path"] or [], (r["path"] or [])[1:]):
        assert a["to_ns"] <= b["from_ns"], (a, b)


def by_name(rows, name):
    found = [p for p in rows if p["comm"] == name]
    assert len(found) == 1, (name, rows)
    return found[0]


def scenario_json():
    r = report(BEFORE, "--path", "--min", "1ms")
    check_report(r)
    assert r["report"] == "boot" and r["reached"] and r["to"] == "unit:nginx.service", r
    assert r["to_ns"] == 5700 * MS and r["user_space_ns"], r
    assert r["boot"]["command_line"] == "console=ttyS0 root=/dev/mmcblk0p2", r["boot"]
    assert r["boot"]["gaps"][0]["why"].startswith("7 process events lost"), r["boot"]
    assert abs(by_name(r["disk"], "fsck")["cost_ns"] - 980 * MS) <= 20 * MS
    assert abs(by_name(r["cpu"], "nginx")["cost_ns"] - 590 * MS) <= 20 * MS
    assert by_name(r["cpu"], "true")["cpu_ns"] == 36 * MS // 10  # by its account
    assert [m["comm"] for m in r["chains"][0]["members"]] == ["udevadm", "fsck", "sleep", "true"]
    assert r["path"][-1]["comm"] == "nginx" and r["path"][-1]["to_ns"] == r["to_ns"]
    assert len(report(BEFORE, "--limit", 1)["cpu"]) == 1
    early = report(BEFORE, "--to", "+1s")
    check_report(early)
    assert early["to_ns"] == 2000 * MS and all(p["comm"] != "nginx" for p in early["cpu"])

    d = json.loads(kiseki("diff", "--json", BEFORE, AFTER)[0])
    assert d["target"] and d["target_change_ns"] == 1200 * MS, d
    assert (d["new"], d["gone"]) == (1, 1), d
    change = {(p["after"] or p["before"])["comm"]: p for p in d["processes"]}
    assert change["telemetry"]["before"] is None and change["syslogd"]["after"] is None
    assert change["nginx"]["start_change_ns"] == 1000 * MS
    assert change["fsck"]["length_change_ns"] == -400 * MS  # another folder, another number
    same = json.loads(kiseki("diff", "--json", BEFORE, BEFORE, "--kernel")[0])
    assert same["processes"] == [] and same["target_change_ns"] == 0, same


def scenario_collector():
    """The same of a run, of a device, and of the store, with and without a run of the scheduler beside it."""
    want = report(BEFORE)
    want["boot"].pop("device")

    def same(*args, **more):
        got = report(*args, **more)
        got["boot"].pop("device")
        assert got == want, (args, got)

    boot_driver.SAMPLE = BEFORE
    with tempfile.TemporaryDirectory() as folder:
        c = Collector(folder)
        boot_driver.bring_all(c)
        run = boot_driver.get_json(c, "/api/v1/runs")["runs"][0]["run"]
        same("a9", collector=c)
        same(run, collector=c)
        # Of the same boot of the device, but of another time: it is left alone.
        trace = Path(folder) / "sched.ksk"
        source = Path(os.environ["SRC"]) / "tests/data/ftrace_6.18.txt"
        subprocess.run([KISEKI, "convert", source, "-o", trace], check=True)
        who = boot_driver.Bringer(c, 1, 8)
        for b, data in boot_driver.file_blocks(trace):
            who.send(b, data)
        who.finish()
        who.device.close()
        same("a9", collector=c)
        _, said = kiseki("report", "nobody", collector=c, code=1)
        assert "there is no such file, and of the collector" in said, said
        c.stop()
        same(folder)
        same(folder, "--run", run)
        _, said = kiseki("report", folder, "--run", run + 1, code=1)
        assert "no boot chart" in said, said
        _, said = kiseki("report", BEFORE, "--sched", source, code=1)
        assert "CLOCK_MONOTONIC" in said, said


WORK = """
for i in $(seq %d); do /bin/true; done
sleep 0.3
i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done
touch "$1"
"""


def scenario_recorded():
    """This machine: each of many short processes is there, and what waited only waited."""
    recorder = os.environ.get("KISEKI_BOOT", "")
    if not recorder or os.geteuid():
        print("boot_report: recorded: left out, there is no recorder or no root")
        return
    with tempfile.TemporaryDirectory() as folder:
        out, done = Path(folder) / "boot.ksk", Path(folder) / "done"
        p = subprocess.Popen([recorder, "--out", out, "--until", f"file:{done}", "--linger", "200ms",
                              "--time", "60s", "--state-dir", folder, "--exact", "auto"],
                             stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        while not out.exists() or not out.stat().st_size:
            assert p.poll() is None, p.stderr.read()
        script = Path(folder) / "work"
        script.write_text(WORK % SHORT)
        subprocess.run(["/bin/sh", script, done], check=True)
        said = p.communicate(timeout=120)[1]
        assert p.returncode == 0, said
        everything = [out, "--min", "1us", "--limit", "0", "--to", "+1h"]
        exact, sampled = report(*everything), report(*everything, "--sampled")
        assert not sampled["boot"]["exact"] and not sampled["reached"], sampled["boot"]
        if exact["boot"]["exact"]:  # the scheduler's events and the kernel's account agree
            check_report(exact)
            a, b = ([p for p in r["cpu"] if p["args"] == f"/bin/sh {script} {done}"] for r in (exact, sampled))
            off = 5 * MS + b[0]["cpu_ns"] // 20 + a[0]["unknown_ns"]  # where events were lost
            assert abs(a[0]["cpu_ns"] - b[0]["cpu_ns"]) <= off, (a, b)
        else:
            print("boot_report: recorded: no events of the scheduler")
        r = report(out, "--path", "--min", "1us", "--limit", "0", "--sampled")
        check_report(r)
        assert r["reached"] and r["to"] == f"file:{done}", r["to"]
        if not r["boot"]["events"]:
            print("boot_report: recorded: the kernel does not tell of processes")
            return
        chain = [c for c in r["chains"] if c["parent"]["args"] == f"/bin/sh {script} {done}"]
        assert chain, [c["parent"] for c in r["chains"]]
        names = [m["comm"] for c in chain for m in c["members"]]
        assert names.count("true") == SHORT, names
        slept = by_name([p for p in r["waiting"] if p["args"] == "sleep 0.3"], "sleep")
        assert slept["cost_ns"] >= 300 * MS, slept
        same = json.loads(kiseki("diff", "--json", out, out, "--kernel")[0])
        assert same["processes"] == [] and same["target_change_ns"] == 0, same


if __name__ == "__main__":
    assert shutil.which(KISEKI), KISEKI
    globals()["scenario_" + sys.argv[2]]()
    print(f"boot_report: {sys.argv[2]}: ok")

# SPDX-License-Identifier: MIT
"""Holds the split of local time against what the kernel counted while the program ran.

func_split.py TRUTH KISEKI FILE: TRUTH are the lines of tests/tools/func_split.c, FILE is what was recorded of it. Of each thread:
every part of every function is within 3 % of the truth, measured by the time that the thread ran or slept, so without that which a busy
machine kept it waiting; all of it is the wall time. Both sides measured the same run, so this holds however busy the machine was. User and system
time of getrusage are samples of the kernel's tick: these are held against 3 % of the wall time.
"""

import json
import subprocess
import sys

SHARE = 0.03
bad = []


def parts(f):
    return {k: f[k + "_ns"] or 0 for k in ("user", "kernel", "preempted", "blocked", "unknown")}


def near(what, found, truth, whole):
    ok = abs(found - truth) <= SHARE * whole
    print(f"{'  ' if ok else '! '}{what:34} {found / 1e6:9.1f} ms, truth {truth / 1e6:9.1f} ms, off by {100 * (found - truth) / whole:6.2f} %")
    if not ok:
        bad.append(what)


def check_thread(truth, report):
    who, wall = truth["who"], truth["rounds"]["wall"]
    busy = wall - truth["rounds"]["wait"]
    f = {x["function"]: x for x in report["functions"] if x["function"] != "first_call"}
    total = {"user": 0, "kernel": 0}
    for name in ("own_code", "system_calls", "sleeps"):
        p, t = parts(f[name]), truth[name]
        run = t["run"]
        near(f"{who} {name} on CPU", p["user"] + p["kernel"], run, busy)
        near(f"{who} {name} preempted", p["preempted"], t["wait"], busy)
        near(f"{who} {name} blocked", p["blocked"], t["wall"] - run - t["wait"], busy)
        near(f"{who} {name} wall", f[name]["total_ns"], t["wall"], busy)
        if sum(p.values()) != f[name]["local_ns"]:
            bad.append(f"{who} {name}: its parts are not its local time")
        total["user"] += p["user"]
        total["kernel"] += p["kernel"]
    # User and system time are the kernel's own samples of a tick, so they are held against sums.
    p = parts(f["rounds"])
    near(f"{who} user", total["user"] + p["user"], truth["rounds"]["user"], wall)
    near(f"{who} kernel", total["kernel"] + p["kernel"], truth["rounds"]["kernel"], wall)
    near(f"{who} own code's user", parts(f["own_code"])["user"], truth["own_code"]["run"], busy)
    near(f"{who} system calls' kernel", parts(f["system_calls"])["kernel"], truth["system_calls"]["run"], busy)
    near(f"{who} total", f["rounds"]["total_ns"], wall, busy)
    unknown = sum(parts(x)["unknown"] for x in f.values())
    if unknown > 0.01 * wall:
        bad.append(f"{who}: {unknown / 1e6:.1f} ms are unknown")
    if sum(x["local_ns"] for x in f.values()) != f["rounds"]["total_ns"]:
        bad.append(f"{who}: the local times are not the total")
    # The work is what it is meant to be, else this shows nothing.
    for what, figure in (("user", "own_code"), ("kernel", "system_calls")):
        if parts(f[figure])[what] < 0.1 * busy:
            bad.append(f"{who}: {figure} has hardly any {what} time")
    if truth["sleeps"]["wall"] < 0.1 * busy:
        bad.append(f"{who}: it hardly slept")
    if truth["rounds"]["wait"] < 0.1 * wall:
        bad.append(f"{who}: the hog took hardly anything")


def main():
    truth_file, kiseki, path = sys.argv[1:]
    truths = [json.loads(line) for line in open(truth_file) if line.startswith("{")]
    if {t["who"] for t in truths} != {"main", "thread", "child"}:
        bad.append(f"the program told of {[t['who'] for t in truths]}")
    for t in truths:
        out = subprocess.run([kiseki, "func", "report", path, "--json", "--limit", "0", "--thread", str(t["tid"])], capture_output=True, check=True)
        report = json.loads(out.stdout)
        if report["all"]["lost"] or report["all"]["os_losses"]:
            bad.append(f"{t['who']}: something was lost: {report['all']}")
        check_thread(t, report)
    for b in bad:
        print("FAILED:", b)
    sys.exit(bool(bad))


main()

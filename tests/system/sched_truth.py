#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""sched_truth: reports of the scheduler against a machine that knows what it did.

tests/tools/sched_world.py schedules tasks at random and notes each one's times; the reports of the
trace that its kernel would print must say the same, life by life and wait by wait. KISEKI is the
program; SEED=n repeats a run.
"""
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tools"))
from sched_world import World  # noqa: E402

KISEKI = os.environ["KISEKI"]
WORST = 400  # waits of the latency report
BLOCKERS = 8  # that are named in each of them


def report(*words):
    return json.loads(subprocess.run([KISEKI, "report", *words, "--json"], check=True, stdout=subprocess.PIPE).stdout)


def same(what, got, wanted):
    if got != wanted:
        sys.exit(f"{what}: {got}, and it was {wanted}")


def by_name(rows):
    rows = [x for x in rows if x["comm"] != "ends"]
    named = {(x["pid"], x["comm"]): x for x in rows}
    same("lives of one pid and name", len(named), len(rows))
    return named


def check_sched(world, path):
    answer = report("sched", path, "--limit", "0")
    rows = by_name(answer["tasks"])
    lives = {(x.pid, x.comm): x for x in world.lives}
    same("tasks", sorted(rows), sorted(lives))
    for key, life in lives.items():
        wanted = {
            "cpu_ns": life.cpu_ns, "switches": life.switches, "preemptions": life.preemptions, "wakeups": life.wakeups,
            "migrations": life.migrations, "waits": len(life.waits), "wait_ns": sum(life.waits), "wait_max_ns": max(life.waits, default=0),
            "preempted_waits": len(life.preempted), "preempted_ns": sum(life.preempted),
            "preempted_max_ns": max(life.preempted, default=0), "inferred_ns": 0,
            "waits_unknown": int(life.state == "woken"),  # still waiting at the end
        }
        if life.forked:
            wanted |= {"born_ns": life.born, "birth_seen": True, "first_comm": life.names[0]}
        wanted["ended_ns"] = life.ended
        same(f"task {key}", {k: rows[key][k] for k in wanted}, wanted)
    for cpu, wanted in zip(answer["cpus"], world.cpus, strict=True):
        same(f"CPU {cpu['cpu']}", {k: cpu[k] for k in (*wanted, "unknown_ns")}, {**wanted, "unknown_ns": 0})


SCHED_ORDERS = {
    "cpu": lambda x: -x["cpu_ns"], "switches": lambda x: -x["switches"], "wakeups": lambda x: -x["wakeups"],
    "preempted": lambda x: -x["preemptions"], "migrations": lambda x: -x["migrations"],
    "wait": lambda x: -(x["wait_ns"] // x["waits"]) if x["waits"] else 0, "max": lambda x: -x["wait_max_ns"],
    "pid": lambda x: 0, "comm": lambda x: x["comm"].encode(),
}
LATENCY_ORDERS = {
    "max": lambda x: -x["max_ns"], "p99": lambda x: -x["p99_ns"], "avg": lambda x: -x["avg_ns"], "total": lambda x: -x["total_ns"],
    "count": lambda x: -x["waits"],
}


def check_orders(path):
    """Rows fall by the key that was asked for; of equal ones the smaller pid comes first."""
    for sort, key in SCHED_ORDERS.items():
        keys = [(key(x), x["pid"]) for x in report("sched", path, "--limit", "0", "--sort", sort)["tasks"]]
        same(f"report sched by {sort}", keys, sorted(keys))
    for sort, key in LATENCY_ORDERS.items():
        rows = [x for x in report("latency", path, "--limit", "0", "--sort", sort)["tasks"] if x["wakeup"]["waits"]]
        keys = [(key(x["wakeup"]), x["pid"]) for x in rows]
        same(f"report latency by {sort}", keys, sorted(keys))


def quantile(values, permille):
    values = sorted(values)
    return values[max(0, -(-len(values) * permille // 1000) - 1)]


def check_waits(row, lengths, what):
    wanted = {"waits": len(lengths), "total_ns": sum(lengths), "min_ns": min(lengths), "max_ns": max(lengths),
              "avg_ns": sum(lengths) // len(lengths)}
    same(what, {k: row[k] for k in wanted}, wanted)
    for word, permille in (("p50_ns", 500), ("p90_ns", 900), ("p99_ns", 990), ("p999_ns", 999)):
        if word in row and abs(row[word] - quantile(lengths, permille)) > quantile(lengths, permille) / 64 + 1:
            sys.exit(f"{what}: {word} is {row[word]}, and {quantile(lengths, permille)} it was")


def check_latency(world, path):
    answer = report("latency", path, "--limit", "0", "--worst", str(WORST))
    check_waits(answer["wakeup"], [x["to_ns"] - x["from_ns"] for x in world.waits], "all wakeups")
    check_waits(answer["preempted"], [x for life in world.lives for x in life.preempted], "all preemptions")
    rows = by_name(answer["tasks"])
    for life in world.lives:
        if life.waits:
            check_waits(rows[life.pid, life.comm]["wakeup"], life.waits, f"waits of {life.comm} {life.pid}")
        if life.preempted:
            check_waits(rows[life.pid, life.comm]["preempted"], life.preempted, f"preemptions of {life.comm} {life.pid}")
    waits = sorted(world.waits, key=lambda x: (x["from_ns"] - x["to_ns"], x["from_ns"]))
    for got, wanted in zip(answer["worst"], waits[:WORST], strict=True):
        check_case(got, wanted)


def check_case(got, wanted):
    what = f"wait of {wanted['comm']} from {wanted['from_ns']}"
    waker = wanted["waker"]
    same(what, (got["pid"], got["cpu"], got["target_cpu"], got["from_ns"], got["to_ns"]),
         (wanted["life"].pid, wanted["cpu"], wanted["target"], wanted["from_ns"], wanted["to_ns"]))
    if got["comm"] not in wanted["life"].names:  # a wait may be told after another change of the name
        sys.exit(f"{what}: it is called {got['comm']}, and never was: {wanted['life'].names}")
    same(f"{what}: waker", (got["waker"]["pid"], got["waker"]["cpu"]), (waker.pid if waker else 0, wanted["waker_cpu"]))
    if waker and got["waker"]["comm"] not in waker.names:
        sys.exit(f"{what}: the waker is called {got['waker']['comm']}, and never was: {waker.names}")
    shares = sorted(wanted["shares"].items(), key=lambda x: -x[1])
    named = got["ran_instead"]
    same(f"{what}: who ran instead, by time", [x["ns"] for x in named], [ns for _, ns in shares[:BLOCKERS]])
    least = shares[BLOCKERS - 1][1] if len(shares) >= BLOCKERS else 0  # of equals either may be named
    sure = {(life.pid, ns) for life, ns in shares if ns > least}
    same(f"{what}: who ran instead", sorted(sure - {(x["pid"], x["ns"]) for x in named}), [])
    same(f"{what}: others and nobody", (got["others_ns"], got["idle_ns"], got["unknown_ns"]),
         (sum(ns for _, ns in shares[BLOCKERS:]), wanted["idle_ns"], 0))


def main():
    seed = int(os.environ.get("SEED") or time.time_ns() % 10**6)
    print(f"SEED={seed}")
    with tempfile.TemporaryDirectory() as folder:
        for cpus, pids in ((1, 8), (4, 12), (7, 40)):
            world = World(seed, cpus=cpus, pids=pids)
            if len(world.lives) < 2 * pids:
                sys.exit(f"{len(world.lives)} lives of {pids} pids: none was given out again")
            path = Path(folder) / "trace.txt"
            path.write_text(world.text)
            check_sched(world, path)
            check_latency(world, path)
            check_orders(path)


main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""firefox_check: whether the Firefox Profiler, by its own program, reads from a file what is in it.

    firefox_check.py MODULES FILE    MODULES: the folder with its program, as npm installed it

Of each thread: which functions have how much for themselves and in all, to the nanosecond, and how many markers of a name there are
and how long they are together. The program answers questions out of a second process that has the file, which is started here: left to
itself it would give that half a second, whatever else the machine has to do. Nor is it asked before that process listens: a question that
comes too early takes its files for those of a dead one, and removes them.
"""
import json
import math
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter

from profile_check import need
from vm_check import stack_of

SESSION = "kiseki"
TRIES = 1000


def command(modules, *words):
    return ["node", f"{modules}/node_modules/@firefox-devtools/profiler-cli/dist/profiler-cli.js", *words, "--session", SESSION]


def ask(modules, *words):
    out = subprocess.run(command(modules, *words), capture_output=True, text=True, timeout=120)
    need(out.returncode == 0, f"profiler-cli {' '.join(words)}: {out.stdout}{out.stderr}")
    return out.stdout


def listens(folder):
    """Whether the second process takes connections, and has said so to those who look for it."""
    if not os.path.exists(f"{folder}/{SESSION}.json"):
        return False
    with socket.socket(socket.AF_UNIX) as s:
        return s.connect_ex(f"{folder}/{SESSION}.sock") == 0


def wait_for(modules, folder, server):
    """Until it has read the file, or has ended."""
    heard = False
    for _ in range(TRIES):
        heard = heard or listens(folder)
        if heard and subprocess.run(command(modules, "status"), capture_output=True, timeout=120).returncode == 0:
            return
        need(server.poll() is None, "profiler-cli does not take the file")
        time.sleep(0.1)
    need(False, "profiler-cli does not answer")


def unit(thread):
    """Weights are milliseconds, and are counted in nanoseconds here; or samples."""
    return 1e6 if thread["samples"]["weightType"] == "tracing-ms" else 1


def functions_in(thread):
    """(name, own, all) of each function of the file: functions of one name may be several."""
    own, total, names = Counter(), Counter(), thread["funcTable"]["name"]
    for stack, weight in zip(thread["samples"]["stack"], thread["samples"]["weight"]):
        weight, seen, first = round(weight * unit(thread)), set(), True
        while stack is not None:
            function = thread["frameTable"]["func"][thread["stackTable"]["frame"][stack]]
            own[function] += weight if first else 0
            total[function] += 0 if function in seen else weight
            seen.add(function)
            first, stack = False, thread["stackTable"]["prefix"][stack]
    return sorted((thread["stringArray"][names[f]], own[f], total[f]) for f in total)


def check_thread(modules, handle, thread):
    shown = json.loads(ask(modules, "thread", "functions", "--thread", handle, "--include-idle", "--limit", "100000", "--json"))
    found = sorted((f["name"], round(f["selfSamples"] * unit(thread)), round(f["totalSamples"] * unit(thread)))
                   for f in shown["functions"])
    need(found == functions_in(thread), f"{thread['name']}: {found}\nnot\n{functions_in(thread)}")
    count, ms, m = Counter(), Counter(), thread["markers"]
    for name, start, end in zip(m["name"], m["startTime"], m["endTime"]):
        count[thread["stringArray"][name]] += 1
        ms[thread["stringArray"][name]] += end - start
    shown = json.loads(ask(modules, "thread", "markers", "--thread", handle, "--limit", "100000", "--json"))
    need({r["markerName"]: r["count"] for r in shown["byType"]} == count, f"markers of {thread['name']}: {shown}")
    for row in shown["byType"]:
        need(math.isclose(row["durationStats"]["avg"] * row["count"], ms[row["markerName"]], abs_tol=1e-6), f"{row}")
    return len(found), sum(count.values())


def main():
    modules, path = sys.argv[1], os.path.abspath(sys.argv[2])
    document = json.load(open(path))
    need(all(stack_of(t, s) for t in document["threads"] for s in t["samples"]["stack"]), "a sample without a stack")
    functions = markers = 0
    with tempfile.TemporaryDirectory() as folder:
        os.environ.update(HOME=folder, PROFILER_CLI_SESSION_DIR=folder, PROFILER_CLI_NO_SYMBOLICATE="1")
        server = subprocess.Popen(command(modules, "--daemon", path), stdout=subprocess.DEVNULL)
        try:
            wait_for(modules, folder, server)
            listed = json.loads(ask(modules, "thread", "list", "--limit", "100000", "--json"))["threads"]
            handles = {(t["processName"], t["name"], t["tid"]): t["threadHandle"] for t in listed}
            need(len(handles) == len(document["threads"]), f"{len(handles)} threads: {listed}")
            for thread in document["threads"]:
                n = check_thread(modules, handles[thread["processName"], thread["name"], thread["tid"]], thread)
                functions, markers = functions + n[0], markers + n[1]
        finally:
            server.kill()
            server.wait()
    print(f"{sys.argv[2]}: the Firefox Profiler reads {len(document['threads'])} threads, {functions} functions, {markers} markers")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""anomaly: real programs that get slower while they are recorded, and a collector that is to say which function it is.

    anomaly.py KISEKI AGENT LOAD FILL_STORE

The recorder looks at the programs for two seconds of each "minute" (tools/minutes.py), ten times as often as usual. Samples, programs and what
is made of them are real. bench/anomaly waits for the minutes. All is by the clock: what is counted in cycles is another kind of facts.

Then: an object that comes when the collector runs already gives its names to the next minutes.
"""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TOOLS = Path(__file__).resolve().parent.parent / "tools"
sys.path.insert(0, str(TOOLS))
from minutes import watch  # noqa: E402
from served import WAIT_S, Collector  # noqa: E402

KISEKI, AGENT, LOAD, FILL_STORE = sys.argv[1:5]
CALM, SLOW = 13, 4  # minutes
SLOWER, REQUESTS = 30, 400  # percent; in a second
FOR = "2s"
ATTEMPTS = 3  # what others do on this machine in a second may be louder than the programs


def run(*words):
    out = subprocess.run([str(w) for w in words], capture_output=True, text=True, timeout=WAIT_S)
    assert out.returncode == 0, f"{words}: {out.returncode}, {out.stdout[-500:]}{out.stderr[-500:]}"
    return out.stdout


def start(folder, name, *words):
    """The load under the name of one of its programs, so that the process and its object are called so. Before others, if it may be: else what
    it gets of a machine that is full is what they leave."""
    shutil.copy(LOAD, folder / name)
    process = subprocess.Popen([folder / name, *[str(w) for w in words]])
    try:
        os.setpriority(os.PRIO_PROCESS, process.pid, -15)
    except PermissionError:
        pass
    return process


def ask(collector, *words):
    return json.loads(run(KISEKI, *words, "--server", f"http://127.0.0.1:{collector.http_port}", "--json"))


def wait_for(what, get):
    deadline = time.monotonic() + WAIT_S
    while time.monotonic() < deadline:
        found = get()
        if found:
            return found
        time.sleep(0.2)
    raise AssertionError(f"no {what}")


def may_sample(folder):
    """Not all machines let a program be sampled."""
    out = subprocess.run([AGENT, "profile", "-o", folder / "try.ksk", "--", "true"], capture_output=True, text=True)
    return out.stderr.strip() if out.returncode else None


def record(folder, programs):
    """The recordings, minute by minute: calm, render() slower, and all as before but a heap that is full."""
    pids = ",".join(str(p.pid) for p in programs.values())
    files = []
    for minute in range(CALM + 2 * SLOW):
        if minute == CALM:
            programs["server"].send_signal(signal.SIGUSR1)
        if minute == CALM + SLOW:
            programs["server"].send_signal(signal.SIGUSR2)
            programs["heap"].send_signal(signal.SIGUSR1)
        files.append(folder / f"{minute}.ksk")
        run(AGENT, "profile", "-e", "cpu-clock", "-p", pids, "-r", 10000, "-t", FOR, "-o", files[-1])
    return files


def check_seeds(folder):
    folder.mkdir()
    programs = {"server": start(folder, "server", REQUESTS, SLOWER), "heap": start(folder, "heap")}
    try:
        files = record(folder, programs)
    finally:
        for p in programs.values():
            p.kill()
            p.wait()
    first_s, alerts = watch(FILL_STORE, folder / "store", files, "--symbols", str(folder))
    text = "\n".join(a["text"] for a in alerts)
    assert alerts and alerts[0]["told_s"] >= first_s + 60 * CALM, f"too early: {text}"
    slow = [a for a in alerts if a["scope"] == "server"]
    storm = [a for a in alerts if a["scope"] == "heap"]
    assert [(a["kind"], a["name"]) for a in slow] == [("function", "render")], text
    assert "gc_mark" in {a["name"] for a in storm} <= {"gc_mark", "gc_sweep"}, text
    others = [a for a in alerts if a not in slow + storm and (a["kind"], a["name"]) != ("process", "heap")]
    assert not others, text
    for a, minute in ((slow[0], CALM), (storm[0], CALM + SLOW)):
        since_s = first_s + 60 * minute
        assert since_s <= a["told_s"] < since_s + 60 * SLOW and a["since_s"] == since_s, f"{since_s - first_s}, {a}"
    print(text)


def check_names(folder):
    """The object is not there at first; the collector asks nobody for it."""
    objects, place = folder / "objects", folder / "elsewhere"
    objects.mkdir()
    place.mkdir()
    collector = Collector(str(folder / "named"), "--symbols", str(objects), "--objects-size", "0")
    program = start(place, "server", REQUESTS, SLOWER)

    def names(device):
        """Of a recording of a second; none if there was nothing in it, as on a machine that is full."""
        run(AGENT, "profile", "-e", "cpu-clock", "-p", program.pid, "-t", "1s", "-c", f"127.0.0.1:{collector.port}", "-n", device,
            "--state-dir", folder / device)
        time.sleep(3)  # the workers look once a second; who comes too early asks again
        return {r["name"] for r in ask(collector, "profile", "top", "--devices", device, "--last", "10m")["rows"]}
    try:
        count = iter(range(1000))
        before = wait_for("facts", lambda: names(f"early{next(count)}"))
        assert "render" not in before and any(n.startswith("server+0x") for n in before), before
        shutil.copy(place / "server", objects)
        wait_for("names", lambda: "render" in names(f"later{next(count)}"))
    finally:
        program.kill()
        program.wait()
    collector.stop()
    print("names that come later are those of later minutes")


with tempfile.TemporaryDirectory() as name:
    why = may_sample(Path(name))
    if why:
        print(why)
        sys.exit(77)
    subprocess.run([TOOLS / "raise_sample_limit"], check=True)
    check_names(Path(name))
    for attempt in range(ATTEMPTS):
        try:
            check_seeds(Path(name) / str(attempt))
            break
        except AssertionError as e:
            print(f"attempt {attempt + 1}: {e}", flush=True)
            if attempt + 1 == ATTEMPTS:
                raise

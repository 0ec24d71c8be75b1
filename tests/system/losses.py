#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""losses: losses lie where they happened.

	losses.py KISEKI AGENT GENERATOR tracefs|bpf

A generator of numbered events (tests/tools/rename_generator.c) runs while the agent is stopped with SIGSTOP, so that its
small ring overflows, and while the collector is, so that its small spool does. Each number that did not come back must
lie within a loss of its CPU; the ledger's rows, `uncovered`, questions for a part of the time, and the export agree.
Needs root and the kernel's trace; exit 77 and a reason where that cannot be.
"""
import http.client
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))
import loss_spans  # noqa: E402
from served import WAIT_S, Collector  # noqa: E402

AGENT, GENERATOR, SOURCE = sys.argv[2:5]
TRACEFS = Path("/sys/kernel/tracing")
PREFIX = "q" + "".join(random.choices("bcdfghjklmnpqrtvwxyz", k=2))
RATE = 40000
BLIND_S = 2
FLUSH_NS = 500_000_000  # of the agent's blocks, twice as long where there is little, and a machine that is busy
OPTIONS = {"ring": ["--ring", "64K"], "spool": ["--ring", "16M", "--spool", "64K", "--policy", "keep-oldest"]}


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


def wait_for(what, condition):
    end = time.monotonic() + WAIT_S
    while not (value := condition()):
        assert time.monotonic() < end, f"never: {what}"
        time.sleep(0.05)
    return value


class Asker:
    def __init__(self, collector):
        self.collector = collector

    def text(self, path, method="GET"):
        c = http.client.HTTPConnection("127.0.0.1", self.collector.http_port, timeout=WAIT_S)
        c.request(method, f"/api/v1/{path}", body="{}" if method == "POST" else None)
        answer = c.getresponse()
        body = answer.read()
        assert answer.status == 200, (path, answer.status, body[:300])
        return body.decode()

    def __call__(self, path, method="GET"):
        return json.loads(self.text(path, method))

    def device(self, name):
        return next((d for d in self("devices")["devices"] if d["name"] == name), {})


def make(victim):
    """Runs the generator, and stops the victim's process for a while in the middle; {CPU: how many events were made}"""
    generator = subprocess.Popen([GENERATOR, PREFIX, "100000000", str(RATE)], stdout=subprocess.PIPE, text=True)
    try:
        time.sleep(1)
        victim.send_signal(signal.SIGSTOP)
        time.sleep(BLIND_S)
        victim.send_signal(signal.SIGCONT)
        time.sleep(1)
        generator.send_signal(signal.SIGINT)
        lines, _ = generator.communicate(timeout=WAIT_S)
    finally:
        victim.send_signal(signal.SIGCONT)
        generator.kill()
        generator.wait()
    return {int(cpu): int(n) for cpu, n in (line.split() for line in lines.splitlines())}


def read_export(text):
    """What came back of the generator's events, and the losses."""
    found, lost = {}, []
    for item in map(json.loads, text.splitlines()):
        if item["kind"] == "lost":
            lost.append(loss_spans.of_export(item))
        elif item["kind"] == "rename" and (m := re.match(PREFIX + r"(\d+)-(\d+)$", item["newcomm"])):
            assert item["cpu"] == int(m[1]), item
            found.setdefault(item["cpu"], {})[int(m[2])] = item["ns"]
    return found, lost


def check(ask, name, made, span):
    run = ask(f"devices/{name}/runs")["runs"][0]["run"]
    found, exported = read_export(ask.text(f"runs/{run}/export?format=ndjson"))
    missing = loss_spans.holes(found, made, span)
    lost = sum(hole[3] for hole in missing)
    assert lost > RATE * BLIND_S / 8, f"only {lost} of {sum(made.values())} events did not come back: this shows nothing"
    rows = loss_spans.check_all(ask, run, exported, len({*found, *(r[0] for r in exported)}), FLUSH_NS)
    for of in (exported, rows):
        loss_spans.check_truth(missing, of, FLUSH_NS)
    first = min(ns for here in found.values() for ns in here.values())
    assert all(r[2] <= first for r in rows if r[1] is None), f"a loss without a begin, though {first} came before it: {rows}"
    longest = max(b - a for _, a, b, _ in loss_spans.begun(rows)) / 1e9
    assert longest < BLIND_S + 2 + FLUSH_NS / 1e9, f"a loss of {longest} s, though nobody was stopped for so long"
    print(f"{lost} of {sum(made.values())} events are missing, within {len(rows)} rows; the longest {longest:.3f} s")


def scenario(cause, work):
    name = f"kl{os.getpid()}{cause}"
    collector = Collector(work / cause)
    ask = Asker(collector)
    agent = subprocess.Popen([AGENT, "--collector", f"127.0.0.1:{collector.port}", "--name", name, "--func-socket", "none",
                              "--state-dir", work / f"{cause}-state", "--spool-file", work / f"{cause}-spool",
                              "--source", SOURCE, "--events", "rename", "--comm", PREFIX + "*", "--start", *OPTIONS[cause]],
                             stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for("the device traces", lambda: ask.device(name).get("state") == "tracing")
        begin = time.monotonic_ns()
        made = make(agent if cause == "ring" else collector.process)
        span = begin, time.monotonic_ns()
        ask(f"devices/{name}/stop", "POST")
        wait_for("all of it is there", lambda: (d := ask.device(name)).get("state") == "idle" and not d["status"]["spool_used"])
        check(ask, name, made, span)
    finally:
        agent.terminate()
        agent.wait(WAIT_S)
        collector.kill()
        if (TRACEFS / f"instances/kiseki-{name}").is_dir():
            (TRACEFS / f"instances/kiseki-{name}").rmdir()
        shutil.rmtree(f"/sys/fs/bpf/kiseki/kiseki-{name}", ignore_errors=True)


def main():
    if os.geteuid():
        skip("needs root")
    if not (TRACEFS / "instances").is_dir():
        skip("tracefs is not there")
    for cause in OPTIONS:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            scenario(cause, Path(folder))


main()

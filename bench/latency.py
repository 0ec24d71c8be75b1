#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""latency: how long an event takes from where it happens to the browser.

	latency.py [--samples N] [--source tracefs|bpf]... [--markdown FILE] [--json FILE]

This process reads the clock and renames itself at once, which is a scheduler event with a name that
occurs once; and it is a client of the collector's server-sent events, as a browser is, which reads
the clock again when the line with that name has arrived. Both clocks are one, so nothing is
estimated. Between samples it waits at random, so that they fall on all phases of the agent's
interval. Each source is measured *quiet*, with a device that records renames alone (few events make
a block wait longest), and *loaded*, all events recorded while load_pairs makes round trips at a
known rate. KISEKI, AGENT and LOAD are the programs. Needs root.
"""
import argparse
import ctypes
import json
import os
import random
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from urllib.parse import urlsplit

from live import PATIENCE_S, Live, has_bpf

LOAD = os.environ.get("LOAD", "")
PR_SET_NAME = 15
TRIPS = 2000  # a second, some 20,000 events
PAUSE_S = (0.05, 0.25)
GOAL_MS = 300
LIBC = ctypes.CDLL(None)


class Browser(threading.Thread):
    """Notes when each name that begins with the prefix has arrived.

    It asks by HTTP/1.0, whose answer has no chunks, so that it can search whole buffers: Python
    would be too slow to look at each of 20,000 lines a second.
    """

    def __init__(self, server, device, prefix):
        super().__init__(daemon=True)
        place = urlsplit(server)
        self.socket = socket.create_connection((place.hostname, place.port), PATIENCE_S)
        self.socket.sendall(f"GET /api/v1/devices/{device}/live?rate=100000 HTTP/1.0\r\n"
                            f"Host: {place.netloc}\r\n\r\n".encode())
        self.names = re.compile(rb'"newcomm":"(%s\w+)"' % prefix.encode())
        self.left_outs = re.compile(rb'^event: left_out\ndata: {"items": *(\d+)', re.M)
        self.arrived, self.left_out, self.status = {}, 0, b""
        self.start()

    def run(self):
        rest = b""
        while True:
            try:
                data = self.socket.recv(1 << 20)
            except OSError:
                return
            now = time.monotonic_ns()
            self.status = self.status or data.split(b"\r\n", 1)[0]
            whole, _, rest = (rest + data).rpartition(b"\n\n")
            for name in self.names.findall(whole):
                self.arrived.setdefault(name.decode(), now)
            self.left_out += sum(map(int, self.left_outs.findall(whole)))
            if not data:
                return


def rename(name):
    """When it was, just before."""
    text = name.encode()
    now = time.monotonic_ns()
    LIBC.prctl(PR_SET_NAME, text, 0, 0, 0)
    return now


def take_samples(browser, prefix, samples):
    sent = {}
    for i in range(samples):
        time.sleep(random.uniform(*PAUSE_S))
        name = f"{prefix}{i}"
        sent[name] = rename(name)
    end = time.monotonic() + PATIENCE_S
    while len(browser.arrived) < samples and time.monotonic() < end:
        time.sleep(0.05)
    missing = sent.keys() - browser.arrived.keys()
    if missing:
        raise RuntimeError(f"{len(missing)} of {samples} events never came, {browser.left_out} "
                           "were left out")
    return sorted((browser.arrived[name] - ns) / 1e6 for name, ns in sent.items())


def wait_first(browser, prefix):
    """Until the stream runs: what was before it is no sample."""
    end = time.monotonic() + PATIENCE_S
    while f"{prefix}w" not in browser.arrived:
        if time.monotonic() > end:
            raise RuntimeError(f"no event comes to the browser: {browser.status}")
        rename("kiseki-bench")
        rename(f"{prefix}w")
        time.sleep(0.3)
    browser.arrived.clear()


def measure(source, loaded, samples):
    work = Path(tempfile.mkdtemp(prefix="kiseki-bench-"))
    prefix = "L" + "".join(random.choices("abcdefghijklmnopqrstuvwxyz", k=4))
    live = load = None
    try:
        live = Live(work, source, "--events", "all" if loaded else "rename")
        if loaded:
            load = subprocess.Popen([LOAD, "4", str(TRIPS), str(samples + PATIENCE_S)],
                                    stdout=subprocess.DEVNULL, start_new_session=True)
        browser = Browser(live.server, live.name, prefix)
        wait_first(browser, prefix)
        before, start = live.status()["events"], time.monotonic()
        times = take_samples(browser, prefix, samples)
        rate = (live.status()["events"] - before) / (time.monotonic() - start)
    finally:
        if load:
            os.killpg(load.pid, 9)
            load.wait()
        if live:
            live.stop()
        shutil.rmtree(work, ignore_errors=True)
    return {"source": source, "loaded": loaded, "samples": samples, "events_per_s": rate,
            "median_ms": quantile(times, 0.5), "p99_ms": quantile(times, 0.99), "max_ms": times[-1],
            "min_ms": times[0]}


def quantile(ordered, q):
    """The smallest value that at least this share does not exceed."""
    rank = -(-len(ordered) * q // 1)
    return ordered[max(0, int(rank) - 1)]


def markdown(results):
    lines = ["From a system call that is an event to the line of it in a client of the collector's "
             f"server-sent events, {results[0]['samples']} samples each, in ms.", "",
             "| source | device | events/s | least | median | p99 | max |",
             "|---|---|--:|--:|--:|--:|--:|"]
    for r in results:
        lines.append(f"| {r['source']} | {'loaded' if r['loaded'] else 'quiet'} | "
                     f"{r['events_per_s']:,.0f} | {r['min_ms']:.0f} | {r['median_ms']:.0f} | "
                     f"{r['p99_ms']:.0f} | {r['max_ms']:.0f} |")
    lines.append(f"| goal | | | | | | {GOAL_MS} or less |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--samples", type=int, default=200)
    parser.add_argument("--source", action="append", choices=["tracefs", "bpf"])
    parser.add_argument("--markdown", type=Path)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    if os.geteuid():
        sys.exit("latency: needs root, to trace")
    sources = arguments.source or ["tracefs", "bpf"]
    if "bpf" in sources and not has_bpf():
        print("latency: without BPF, which this machine cannot", file=sys.stderr)
        sources.remove("bpf")
    results = [measure(source, loaded, arguments.samples)
               for source in sources for loaded in (False, True)]
    text = markdown(results)
    print(text, end="")
    if arguments.markdown:
        arguments.markdown.write_text(text)
    if arguments.json:
        arguments.json.write_text(json.dumps({"version": 1, "latency": results}, indent=1) + "\n")


main()

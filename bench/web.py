#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""web: how soon the page shows a large trace, and how smoothly it moves.

	web.py [--events N] [--day-events N] [--seconds S] [--markdown FILE] [--json FILE] RECORDING

Two stores, both made by `timeline` (see there): N events in ten minutes, and a day. A real collector
serves them, Chromium without a graphics processor shows them (web_frames.mjs), on the same cores.
KISEKI and TIMELINE are the programs, MODULES is where playwright-core is, FOLDER is where the stores
are kept for the next time.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
GOALS = {"first_ms": 1000, "day_ms": 1500, "per_s": 50, "memory": 300e6}


def make_store(folder, events, minutes, recording):
    """The store of an earlier run is as good: it depends on nothing else."""
    wanted = f"{events} {minutes} {recording}"
    stamp = folder / "made-of"
    if stamp.is_file() and stamp.read_text() == wanted:
        return
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    subprocess.run([os.environ["TIMELINE"], "--events", str(events), "--minutes", str(minutes),
                    "--folder", folder, recording], check=True, stdout=sys.stderr)
    stamp.write_text(wanted)


class Collector:
    def __init__(self, folder):
        self.out = folder.parent / "serve.out"
        with self.out.open("w") as out:
            self.process = subprocess.Popen(
                [os.environ["KISEKI"], "serve", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0",
                 "--data", folder, "--config", "/dev/null"], stdout=out, stdin=subprocess.DEVNULL)
        while "ready" not in self.out.read_text().split():
            if self.process.poll() is not None:
                sys.exit("web: the collector has ended")
            time.sleep(0.05)
        self.url = re.search(r"^web\s+(\S+)", self.out.read_text(), re.M)[1]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()


def show(store, seconds, shot):
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium") or "chromium-browser"
    with Collector(store) as collector:
        out = subprocess.run(["node", HERE / "web_frames.mjs", os.environ["MODULES"],
                              f"{collector.url}#timeline?run=1", str(seconds), str(shot)],
                             check=True, text=True, stdout=subprocess.PIPE,
                             env={**os.environ, "CHROMIUM": chromium}).stdout
    return json.loads(out)


def table(events, minutes, day, result):
    """What RESULTS.md gets."""
    yield (f"{events / 1e6:.0f} M events in {minutes} minutes, {day / 1e6:.0f} M events in a day; collector, "
           "browser and its drawing share the cores, no graphics processor.\n")
    yield "| | measured | goal |\n|---|--:|--:|"
    few, all_day = result["minutes"], result["day"]
    yield f"| first picture, ten minutes | {few['first_ms']:.0f} ms | {GOALS['first_ms']} ms |"
    yield f"| the same, page opened again | {few['again_ms']:.0f} ms | |"
    yield f"| first picture, a day | {all_day['first_ms']:.0f} ms | {GOALS['day_ms']} ms |"
    yield f"| memory of the page | {few['memory_bytes'] / 1e6:.0f} MB | {GOALS['memory'] / 1e6:.0f} MB |\n"
    yield "| moving | frames/s | 95 % within | longest | goal |\n|---|--:|--:|--:|--:|"
    for name, m in few["moves"].items():
        yield (f"| {name} | {m['per_s']:.1f} | {m['p95_ms']:.1f} ms | {m['longest_ms']:.0f} ms | "
               f"{GOALS['per_s']} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--events", type=int, default=50_000_000)
    parser.add_argument("--day-events", type=int, default=500_000_000)
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--markdown", type=Path)
    parser.add_argument("--json", type=Path)
    parser.add_argument("recording")
    options = parser.parse_args()
    folder = Path(os.environ["FOLDER"])
    result = {"version": 1}
    for name, events, minutes in (("minutes", options.events, 10), ("day", options.day_events, 1440)):
        store = folder / f"store-{name}"
        make_store(store, events, minutes, options.recording)
        result[name] = show(store, options.seconds, folder / f"{name}.png")
    text = "\n".join(table(options.events, 10, options.day_events, result)) + "\n"
    print(text)
    if options.markdown:
        options.markdown.write_text(text)
    if options.json:
        options.json.write_text(json.dumps(result, indent=1) + "\n")


main()

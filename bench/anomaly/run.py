#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""run: real programs, some of which get slower at a known moment, and a collector that is to say which: what `make bench-anomaly` does.

	run.py [--part seeds|steady] [--steady MINUTES] [--all] [--json FILE] [--results DIR] [--try]

Five programs with random load run beside a real recorder and a real collector. After the minutes that it takes to know what is usual, and
an hour in which nothing happens and nothing may be told (part steady), render() of the server takes 30 % more steps; when that was told and
is over, the heap of another program becomes so full that it is marked all the time (part seeds). What counts is when the webhook's post
comes, by the clock of this machine. A part that is not run keeps its figures in the JSON file. The recorder samples these programs alone,
because nobody knows what else the machine does; with --all it samples everything. The scheduler is recorded likewise, but who had the CPU
before and after them is seen with them: alerts on programs of others are listed apart.
"""
import argparse
import json
import os
import platform
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE))

import report  # noqa: E402

BUILD = Path(os.environ.get("BUILD", ROOT / "build"))
KISEKI, AGENT = BUILD / "src/cli/kiseki", BUILD / "src/device/agent/kiseki-agent"
LOAD = BUILD / "bench/anomaly/load"
PAST_S = 11 * 60  # with ten minutes something is usual
SLOWER, REQUESTS = 30, 40  # percent; in a second
CALM_S = 2 * 60  # between two seeds
PATIENCE_S = 300  # for an alert; two minutes are the goal
RATE = 1000
# How the processes and tasks are called.
OWN = {"server", "heap", "batch", "jobs.sh", "sleep", "ls", "sort", "md5sum", Path(sys.executable).name, Path(sys.executable).resolve().name}
VERSION = 1


def say(text):
    print(f"bench: {time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


class Hook(BaseHTTPRequestHandler):
    """Takes the collector's posts, with the moment at which they came."""
    posts = []

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        Hook.posts.append((time.time(), body))
        say(f"told: {body['device']}: {body['text']}")
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


class Rig:
    """A collector, the programs, and their recorders; all of it ends with it."""

    def __init__(self, folder, arguments):
        self.folder, self.all, self.processes = Path(folder), arguments.all, []
        hook = HTTPServer(("127.0.0.1", 0), Hook)
        threading.Thread(target=hook.serve_forever, daemon=True).start()
        self.start_collector(f"http://127.0.0.1:{hook.server_port}/")
        self.start_programs()
        self.start_recorders()

    def start(self, *words, **options):
        process = subprocess.Popen([str(w) for w in words], **options)
        self.processes.append(process)
        return process

    def start_collector(self, hook):
        self.collector = self.start(KISEKI, "serve", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", "--data", self.folder / "data",
                                    "--config", "/dev/null", "--alert-webhook", hook,
                                    stdout=subprocess.PIPE, stderr=open(self.folder / "collector.log", "w"), text=True)
        for line in self.collector.stdout:
            if line.startswith("devices"):
                self.port = line.split()[1]
            elif line == "ready\n":
                return
        raise SystemExit("bench: the collector does not start")

    def start_programs(self):
        self.programs = {}
        for name, *words in (["server", REQUESTS, SLOWER], ["heap"], ["batch"]):
            shutil.copy(LOAD, self.folder / name)
            self.programs[name] = self.start(self.folder / name, *words)
        self.programs["pages"] = self.start(sys.executable, HERE / "pages.py")
        self.programs["jobs"] = self.start(HERE / "jobs.sh")

    def start_recorders(self):
        log = open(self.folder / "agents.log", "w")
        pids = ",".join(str(p.pid) for p in self.programs.values())
        self.start(AGENT, "profile", *(["-a"] if self.all else ["-p", pids]), "-r", RATE, "-c", self.port, "-n", "profiled",
                   "--state-dir", self.folder / "profiled", stdout=log, stderr=log)
        self.start(AGENT, "--start", "--func-socket", "none", *([] if self.all else ["--pid", pids]),
                   "-c", self.port, "-n", "scheduled", "--state-dir", self.folder / "scheduled", "--spool-file", self.folder / "spool",
                   "--config", "/dev/null", stdout=log, stderr=log)

    def sleep(self, seconds):
        """Nothing may end meanwhile."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            time.sleep(min(1, max(0, end - time.monotonic())))
            gone = [p.args[0] for p in self.processes if p.poll() is not None]
            if gone:
                raise SystemExit(f"bench: {gone} ended; {self.folder} has the logs")

    def seed(self, program, wanted):
        """From the signal to the first post that names the function."""
        self.sleep(random.uniform(0, 60))  # any moment of a minute
        since, first = time.time(), len(Hook.posts)
        self.programs[program].send_signal(signal.SIGUSR1)
        say(f"{program}: {wanted}() is made slower")
        found = None
        while not found and time.time() < since + PATIENCE_S:
            self.sleep(1)
            found = next(((at, a) for at, a in Hook.posts[first:] if wanted in (a["name"], a["cause"]) and not a["until_s"]), None)
        told = [a["text"] for _, a in Hook.posts[first:] if not a["until_s"] and is_own(a)]
        self.programs[program].send_signal(signal.SIGUSR2)
        return {"program": program, "function": wanted, "second_of_minute": since % 60, "told": told,
                "delay_s": found[0] - since if found else None, "alert": found[1] if found else None}

    def stop(self):
        for process in reversed(self.processes):  # the collector last: recorders wait for it
            process.terminate()
            process.wait(60)


def begun():
    return [a for _, a in Hook.posts if not a["until_s"]]


def run_seeds(rig):
    first = rig.seed("server", "render")
    rig.sleep(CALM_S)
    return [first, rig.seed("heap", "gc_mark")]


def is_own(alert):
    return alert["kind"] == "function" or alert["name"] in OWN


def run_all(arguments):
    result = {"version": VERSION, "is_try": arguments.try_, "machine": f"{platform.machine()}, {os.cpu_count()} CPUs",
              "kernel": platform.release(), "rate": RATE, "slower_percent": SLOWER, "past_s": PAST_S}
    about = {"all": arguments.all, "date": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())}
    has_steady, has_seeds = arguments.part != "seeds", arguments.part != "steady"
    with tempfile.TemporaryDirectory(prefix="kiseki-bench-anomaly-") as folder:
        rig = Rig(folder, arguments)
        try:
            say(f"{PAST_S // 60} minutes to know what is usual")
            rig.sleep(PAST_S)
            if has_steady:
                say(f"{arguments.steady} minutes in which nothing happens")
                rig.sleep(arguments.steady * 60)
                result["steady"] = {**about, "seconds": arguments.steady * 60, "alerts": [a for a in begun() if is_own(a)],
                                    "others": [a for a in begun() if not is_own(a)]}
            if has_seeds:
                result["seeds"] = {**about, "rows": run_seeds(rig)}
        finally:
            rig.stop()
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--part", choices=["steady", "seeds"], help="only this")
    parser.add_argument("--steady", type=int, default=60, metavar="MINUTES")
    parser.add_argument("--all", action="store_true", help="sample all programs of the machine")
    parser.add_argument("--json", type=Path, default=BUILD / "bench/anomaly.json")
    parser.add_argument("--results", type=Path, default=HERE)
    parser.add_argument("--try", dest="try_", action="store_true", help="write RESULTS.md beside the JSON file")
    arguments = parser.parse_args()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: sys.exit("bench: ended before its time"))  # what it started ends with it
    before = json.loads(arguments.json.read_text()) if arguments.part and arguments.json.exists() else {}
    result = {**before, **run_all(arguments)}
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    arguments.json.write_text(json.dumps(result, indent=1) + "\n")
    target = (arguments.json.parent if arguments.try_ else arguments.results) / "RESULTS.md"
    target.write_text(report.page(result))
    say(f"{target} has the figures")
    return 0


if __name__ == "__main__":
    sys.exit(main())

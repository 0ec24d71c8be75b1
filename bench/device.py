#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""device: what tracing costs the device, beside other tools at the same load.

	device.py [--rate EVENTS_PER_S] [--seconds S] [--rounds N] [--markdown FILE] [--json FILE]

The same load (load_pairs.c: pairs of tasks that wake each other) runs with each tracer, and without
one before each, since what else the machine does changes. Costs are told in three places: the CPU
time of the tracer's own processes; the CPU time that the same round trips take more when they are
traced, which is the kernel's side and can be the larger one; and how much slower the load is when
it goes as fast as it can, where a tracer loses events or not. Also how often the tracer was woken,
its memory, and its bytes per event that it kept. The middle one of the rounds counts. All switches
of the machine are counted, too: a run in which others made many is measured again, since its figures
would be theirs.
The collector runs on the same machine; its CPU time is not the device's and not counted, but the
events that it causes are recorded. KISEKI, AGENT and LOAD are the programs. Needs root.
"""
import argparse
import contextlib
import gzip
import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from live import Live, has_bpf

TRACEFS = Path("/sys/kernel/tracing")
LOAD = os.environ.get("LOAD", "")
EVENTS = ["sched/sched_switch", "sched/sched_waking", "sched/sched_wakeup",
          "sched/sched_wakeup_new", "sched/sched_process_fork", "sched/sched_process_exec",
          "sched/sched_process_exit", "task/task_rename", "sched/sched_pi_setprio"]
PAIRS = 4
FULL_S = 3
GOAL_CPU, GOAL_WAKEUPS = 2, 20
DISTURBED = 1.5  # times the switches that the load makes without a tracer
TRIES = 5


def proc(pid):
    """CPU seconds, how often it was woken, and resident KiB of one process, with its threads."""
    cpu = switches = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        cpu += int((task / "schedstat").read_text().split()[0]) / 1e9
        text = (task / "status").read_text()
        switches += int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", text, re.M)[1])
    rss = int(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())[1])
    return cpu, switches, rss


@contextlib.contextmanager
def instance(kib=None):
    """A tracefs instance that records the same events."""
    path = TRACEFS / f"instances/kiseki-bench-{os.getpid()}"
    path.mkdir()
    try:
        if kib:
            (path / "buffer_size_kb").write_text(str(kib))
        for event in EVENTS:
            (path / "events" / event / "enable").write_text("1")
        yield path
    finally:
        path.rmdir()


class Tracer:
    """Runs within `with`; then kept() tells what it kept of all that it was to record."""

    def __init__(self, work):
        self.work, self.processes = work, []

    def __enter__(self):
        self.start()
        time.sleep(1)
        return self

    def __exit__(self, *_):
        self.stop()

    def start(self):
        pass

    def spawn(self, *command, **options):
        process = subprocess.Popen(list(map(str, command)), stdin=options.pop(
            "stdin", subprocess.DEVNULL), stderr=subprocess.DEVNULL,
            stdout=options.pop("stdout", subprocess.DEVNULL), **options)
        self.processes.append(process)
        return process

    def pids(self):
        return [process.pid for process in self.processes]

    def stop(self):
        for process in self.processes:
            process.send_signal(signal.SIGINT)
            process.wait()

    def kept(self):
        """(events, events that it knows it lost, bytes)"""
        return 0, 0, 0


class Agent(Tracer):
    def start(self):
        self.live = Live(self.work, self.source)

    def pids(self):
        return [self.live.agent.pid]

    def stop(self):
        self.status = self.live.status()
        self.live.stop()

    def kept(self):
        lost = sum(self.status["lost"].values())
        return self.status["events"] - lost, lost, self.status["bytes"]


class AgentTracefs(Agent):
    name, source = "kiseki-agent, tracefs", "tracefs"


class AgentBpf(Agent):
    name, source = "kiseki-agent, bpf", "bpf"


class Perf(Tracer):
    name, events = "perf record -e sched:*", "sched:*"

    def start(self):
        self.out = self.work / "perf.data"
        self.spawn("perf", "record", "-q", "-a", "-e", self.events, "-o", self.out)

    def kept(self):
        script = subprocess.run(["perf", "script", "-i", self.out, "--show-lost-events", "-F",
                                 "time,event"], check=True, stdout=subprocess.PIPE,
                                stderr=subprocess.DEVNULL).stdout
        lost = sum(map(int, re.findall(rb"PERF_RECORD_LOST\S* lost (\d+)", script)))
        return len(re.findall(rb" (?:sched|task):", script)), lost, self.out.stat().st_size


class PerfSame(Perf):
    name, events = "perf record, the same events", ",".join(e.replace("/", ":") for e in EVENTS)


class Pipe(Tracer):
    name = "cat trace_pipe \\| gzip"

    def start(self):
        self.instance = contextlib.ExitStack()
        path = self.instance.enter_context(instance())
        self.out = self.work / "pipe.gz"
        cat = self.spawn("cat", path / "trace_pipe", stdout=subprocess.PIPE)
        with self.out.open("wb") as out:
            self.spawn("gzip", stdin=cat.stdout, stdout=out)
        cat.stdout.close()

    def stop(self):
        cat, packer = self.processes
        cat.send_signal(signal.SIGINT)
        cat.wait()
        packer.wait()  # it has the end of its input
        self.instance.close()

    def kept(self):
        events = lost = 0
        with gzip.open(self.out) as lines:
            for line in lines:
                gap = re.search(rb"\[LOST (\d+) EVENTS\]", line)
                events += not gap
                lost += int(gap[1]) if gap else 0
        return events, lost, self.out.stat().st_size


def load(trips, seconds):
    """Round trips made, and the CPU seconds they took."""
    out = subprocess.run([LOAD, str(PAIRS), str(trips), str(seconds)], stdout=subprocess.PIPE,
                         check=True, text=True).stdout.split()
    return int(out[0]), float(out[1])


def switches():
    """Of all CPUs since the start of the machine."""
    return int(re.search(r"^ctxt (\d+)", Path("/proc/stat").read_text(), re.M)[1])


@contextlib.contextmanager
def tracing(kind):
    work = Path(tempfile.mkdtemp(prefix="kiseki-bench-"))
    try:
        yield kind(work)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def measure_rate(kind, arguments):
    """At the rate: what the tracer and what the traced need."""
    bare_trips, bare_cpu = load(arguments.trips, arguments.seconds)
    with tracing(kind) as tracer:
        with tracer:
            before, all_before = [proc(pid) for pid in tracer.pids()], switches()
            start = time.monotonic()
            trips, cpu = load(arguments.trips, arguments.seconds)
            seconds = time.monotonic() - start
            after, all_after = [proc(pid) for pid in tracer.pids()], switches()
        events, lost, size = tracer.kept()
    woken = sum(a[1] - b[1] for a, b in zip(after, before)) / seconds  # two switches each
    return {"cpu_percent": 100 * sum(a[0] - b[0] for a, b in zip(after, before)) / seconds,
            "added_percent": 100 * (cpu - bare_cpu * trips / bare_trips) / seconds,
            "wakeups_per_s": woken,
            "others_switches_per_s": (all_after - all_before) / seconds - 2 * woken,
            "rss_kib": sum(a[2] for a in after), "bytes_per_event": size / max(events, 1),
            "lost_share": lost / max(events + lost, 1)}


def measure_calm(kind, arguments):
    """The same while others are quiet, or the quietest there was."""
    rows = []
    for _ in range(TRIES):
        rows.append(measure_rate(kind, arguments))
        if rows[-1]["others_switches_per_s"] < DISTURBED * arguments.switches_per_s:
            return rows[-1]
    print(f"device: {kind.name}: the machine does other things all the time", file=sys.stderr)
    return min(rows, key=lambda r: r["others_switches_per_s"])


def count_switches(arguments):
    before, start = switches(), time.monotonic()
    load(arguments.trips, arguments.seconds)
    return (switches() - before) / (time.monotonic() - start)


def measure_full(kind):
    """As fast as it goes: by how much fewer round trips a CPU second buys, and what is lost."""
    bare_trips, bare_cpu = load(0, FULL_S)
    with tracing(kind) as tracer:
        with tracer:
            trips, cpu = load(0, FULL_S)
        events, lost, _ = tracer.kept()
    return {"slower_percent": 100 * (1 - (trips / cpu) / (bare_trips / bare_cpu)),
            "lost_share_full": lost / max(events + lost, 1)}


def measure(kind, arguments):
    rounds = [{**measure_calm(kind, arguments), **measure_full(kind)}
              for _ in range(arguments.rounds)]
    return {"name": kind.name, **{key: statistics.median(r[key] for r in rounds)
                                  for key in rounds[0]}}


def events_per_trip():
    """As the kernel counts those of the load's own tasks, whatever others do meanwhile."""
    name = Path(LOAD).name[:15]
    with instance(32768) as path:
        (path / "tracing_on").write_text("0")
        (path / "trace").write_text("")
        for event in EVENTS[:4]:
            names = ("prev_comm", "next_comm") if event.endswith("switch") else ("comm",)
            (path / "events" / event / "filter").write_text(
                " || ".join(f'{field} == "{name}"' for field in names))
        (path / "tracing_on").write_text("1")
        trips, _ = load(1000, 2)
        (path / "tracing_on").write_text("0")
        text = "".join(stats.read_text() for stats in path.glob("per_cpu/cpu*/stats"))
    return sum(map(int, re.findall(r"^(?:entries|overrun): (\d+)", text, re.M))) / trips


def row(r):
    return (f"| {r['name']} | {r['cpu_percent']:.2f} % | {r['added_percent']:.2f} % | "
            f"{r['wakeups_per_s']:.0f} | {r['rss_kib'] / 1024:.1f} MiB | "
            f"{r['bytes_per_event']:.2f} | {100 * r['lost_share']:.1f} % | "
            f"{r['slower_percent']:.0f} % | {100 * r['lost_share_full']:.0f} % |")


def markdown(results, arguments):
    lines = [f"{arguments.rate:,} scheduler events a second for {arguments.seconds} s, the middle "
             f"one of {arguments.rounds} rounds. *CPU* is that of the tracer's own processes and "
             "*added* what the traced tasks need more, both as a share of one core; *wakeups* are a "
             "second's. At full speed: by how much fewer round trips between two tasks a CPU "
             "second buys, and the share of events that the tracer says it lost.", "",
             "| tracer | CPU | added | wakeups | memory | bytes/event | lost | full speed: slower "
             "| lost |", "|---|--:|--:|--:|--:|--:|--:|--:|--:|"]
    lines += map(row, results)
    lines.append(f"| goal | {GOAL_CPU} % or less | | {GOAL_WAKEUPS} or less | | | | | |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rate", type=int, default=20000)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--markdown", type=Path)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    if os.geteuid():
        sys.exit("device: needs root, to trace")
    kinds = [AgentTracefs, AgentBpf, Perf, PerfSame, Pipe]
    if not has_bpf():
        kinds.remove(AgentBpf)
    if not shutil.which("perf"):
        print("device: without perf, which is not installed", file=sys.stderr)
        kinds = [k for k in kinds if not issubclass(k, Perf)]
    per_trip = events_per_trip()
    arguments.trips = round(arguments.rate / per_trip)
    print(f"device: {arguments.trips} round trips a second, of {per_trip:.1f} events each",
          file=sys.stderr)
    arguments.switches_per_s = min(count_switches(arguments) for _ in range(3))
    results = [measure(kind, arguments) for kind in kinds]
    text = markdown(results, arguments)
    print(text, end="")
    if arguments.markdown:
        arguments.markdown.write_text(text)
    if arguments.json:
        arguments.json.write_text(json.dumps({"version": 1, "events_per_s": arguments.rate,
                                              "tracers": results}, indent=1) + "\n")


main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""device: what tracing costs the device, beside other tools at the same load.

	device.py [--rate EVENTS_PER_S] [--seconds S] [--markdown FILE] [--json FILE]

The same load (load_pairs.c: pairs of tasks that wake each other at a fixed rate) runs once with
each tracer; all record the same scheduler events of all CPUs. For each: CPU time of the tracer's own
processes as a share of one core, how often they were woken, their memory, and the bytes they made;
then the same load as fast as it goes, to see what the tracer costs the traced. KISEKI, AGENT and
LOAD are the programs. Needs root.
"""
import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TRACEFS = Path("/sys/kernel/tracing")
KISEKI, AGENT, LOAD = (os.environ.get(k, "") for k in ("KISEKI", "AGENT", "LOAD"))
EVENTS = ["sched/sched_switch", "sched/sched_waking", "sched/sched_wakeup",
          "sched/sched_wakeup_new", "sched/sched_process_fork", "sched/sched_process_exec",
          "sched/sched_process_exit", "task/task_rename", "sched/sched_pi_setprio"]
HERTZ = os.sysconf("SC_CLK_TCK")


def proc(pid):
    """CPU seconds, wakeups and resident KiB of one process, its threads summed up."""
    stat = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    cpu = (int(stat[11]) + int(stat[12])) / HERTZ
    switches = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        text = (task / "status").read_text()
        switches += int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", text, re.M)[1])
        sched = task / "schedstat"
    status = Path(f"/proc/{pid}/status").read_text()
    rss = int(re.search(r"VmRSS:\s+(\d+)", status)[1])
    return cpu, switches, rss


class Tracer:
    """Starts its processes, says which of them count, and how many bytes they made."""

    def __init__(self, work):
        self.work, self.processes, self.counted = work, [], []

    def spawn(self, *command, counted=True, **options):
        process = subprocess.Popen(list(map(str, command)), stdin=subprocess.DEVNULL,
                                   stdout=options.pop("stdout", subprocess.DEVNULL),
                                   stderr=subprocess.DEVNULL, **options)
        self.processes.append(process)
        if counted:
            self.counted.append(process.pid)
        return process

    def start(self):
        pass

    def made(self):
        return 0

    def stop(self):
        for process in reversed(self.processes):
            process.send_signal(signal.SIGTERM)
        for process in self.processes:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()


class Nothing(Tracer):
    name = "no tracer"


class Agent(Tracer):
    def start(self):
        self.data = self.work / "data"
        self.spawn(KISEKI, "serve", "--data", self.data, "--listen", "127.0.0.1:17077", "--http",
                   "127.0.0.1:18080", counted=False)
        time.sleep(1)
        self.spawn(AGENT, "--collector", "127.0.0.1:17077", "--name", "bench", "--state-dir",
                   self.work / "state", "--source", self.source, "--start")
        time.sleep(2)

    def status(self):
        answer = subprocess.run([KISEKI, "devices", "--json", "--server", "http://127.0.0.1:18080"],
                                stdout=subprocess.PIPE, check=True, text=True).stdout
        return json.loads(answer)["devices"][0]

    def made(self):
        time.sleep(1.5)  # it reports once a second
        self.last = self.status()
        return self.last["status"]["bytes"]


class AgentTracefs(Agent):
    name, source = "kiseki-agent, tracefs", "tracefs"


class AgentBpf(Agent):
    name, source = "kiseki-agent, bpf", "bpf"


class Perf(Tracer):
    name = "perf record -e sched:*"

    def start(self):
        self.out = self.work / "perf.data"
        self.spawn("perf", "record", "-q", "-a", "-e", "sched:*", "-o", self.out)
        time.sleep(2)

    def made(self):
        return self.out.stat().st_size


class Pipe(Tracer):
    name = "cat trace_pipe | gzip"

    def start(self):
        self.instance = TRACEFS / f"instances/kiseki-bench-{os.getpid()}"
        self.instance.mkdir()
        for event in EVENTS:
            (self.instance / "events" / event / "enable").write_text("1")
        self.out = self.work / "pipe.gz"
        cat = self.spawn("cat", self.instance / "trace_pipe", stdout=subprocess.PIPE)
        with self.out.open("wb") as out:
            process = subprocess.Popen(["gzip"], stdin=cat.stdout, stdout=out)
        self.processes.append(process)
        self.counted.append(process.pid)
        time.sleep(1)

    def made(self):
        return self.out.stat().st_size

    def stop(self):
        super().stop()
        self.instance.rmdir()


TRACERS = [Nothing, AgentTracefs, AgentBpf, Perf, Pipe]


def load(rate, seconds):
    out = subprocess.run([LOAD, "4", str(rate), str(seconds)], stdout=subprocess.PIPE, check=True,
                         text=True).stdout.split()
    return int(out[0]), float(out[1])


def measure(kind, arguments):
    work = Path(tempfile.mkdtemp(prefix="kiseki-bench-"))
    tracer = kind(work)
    try:
        tracer.start()
        before = [proc(pid) for pid in tracer.counted]
        bytes_before, start = tracer.made() if tracer.counted else 0, time.monotonic()
        before = [proc(pid) for pid in tracer.counted]
        load(arguments.trips, arguments.seconds)
        seconds = time.monotonic() - start
        after = [proc(pid) for pid in tracer.counted]
        made = tracer.made() - bytes_before if tracer.counted else 0
        fast, cpu = load(0, 3)
        return {
            "name": kind.name,
            "cpu_percent": 100 * sum(a[0] - b[0] for a, b in zip(after, before)) / seconds,
            "wakeups_per_s": sum(a[1] - b[1] for a, b in zip(after, before)) / seconds,
            "rss_kib": sum(a[2] for a in after),
            "bytes_per_s": made / seconds,
            "trips_per_cpu_s": fast / cpu,
            "agent": getattr(tracer, "last", {}).get("status"),
        }
    finally:
        tracer.stop()
        shutil.rmtree(work, ignore_errors=True)


def event_rate(trips):
    """Events a second that the load makes, as the kernel counts them."""
    instance = TRACEFS / f"instances/kiseki-bench-{os.getpid()}"
    instance.mkdir()
    try:
        (instance / "buffer_size_kb").write_text("32768")
        for event in EVENTS:
            (instance / "events" / event / "enable").write_text("1")
        load(trips, 2)
        for event in EVENTS:
            (instance / "events" / event / "enable").write_text("0")
        count = sum(int(re.search(r"^(?:entries|overrun): (\d+)", line)[1])
                    for stats in instance.glob("per_cpu/cpu*/stats")
                    for line in stats.read_text().splitlines()
                    if re.match("entries|overrun:", line))
        return count / 2
    finally:
        instance.rmdir()


def markdown(results, rate, seconds):
    base = results[0]["trips_per_cpu_s"]
    lines = [f"At {rate:,.0f} scheduler events a second for {seconds} s. CPU: of the tracer's own "
             "processes, share of one core. Traced: how many fewer round trips of a byte between two "
             "tasks a CPU second buys while the tracer records all of them.", "",
             "| tracer | CPU | wakeups/s | memory | bytes/s | bytes/event | traced |",
             "|---|--:|--:|--:|--:|--:|--:|"]
    for r in results[1:]:
        lines.append(f"| {r['name']} | {r['cpu_percent']:.2f} % | {r['wakeups_per_s']:.0f} | "
                     f"{r['rss_kib'] / 1024:.1f} MiB | {r['bytes_per_s']:,.0f} | "
                     f"{r['bytes_per_s'] / rate:.2f} | "
                     f"{100 * (1 - r['trips_per_cpu_s'] / base):+.1f} % |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rate", type=int, default=20000)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--markdown", type=Path)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    if os.geteuid():
        sys.exit("device: needs root, to trace")
    trial = 1000
    arguments.trips = round(trial * arguments.rate / event_rate(trial))
    rate = event_rate(arguments.trips)
    kinds = [k for k in TRACERS if k is not Perf or shutil.which("perf")]
    results = [measure(kind, arguments) for kind in kinds]
    text = markdown(results, rate, arguments.seconds)
    print(text)
    if arguments.markdown:
        arguments.markdown.write_text(text)
    if arguments.json:
        arguments.json.write_text(json.dumps({"events_per_s": rate, "tracers": results}, indent=1))


main()

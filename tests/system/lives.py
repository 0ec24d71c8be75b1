#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""lives: a pid that is given out again is another task, and each task has its own time.

tests/tools/task_lives.c gives a few pids to one process after the other, by clone3 with set_tid: they
compute, rename themselves, sleep, call exec and start threads. The generator and the kernel say of each
for how long it had a CPU: by the clock, less its sleeps and the kernel's count of its waits. That is recorded,
and then the time of each life must lie between the least and the most that the generator says: in
`report sched`, in the API's report of the same run, and in the slices of the timeline, which
tests/tools/slices_decode.py reads. From afar the timeline has a pid under each of its names, from
summaries: no name may have more than its tasks ran.

The CPU time that the kernel charged is a lower limit as well, and no more than that: the kernel does not charge
what interrupts and, in a virtual machine, the host took while the task had the CPU.

A sandbox may hide the events of some task of its own from every trace, and with them the switches from it to others: then
a CPU goes from a task to the next without the switch in between. The times of a life to which that happened are not known.

KISEKI, AGENT, GENERATOR and FILL_STORE are the programs. Needs root, and the first namespace of pids.
"""
import collections
import json
import os
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tools"))
KISEKI, AGENT, GENERATOR, FILL_STORE = (os.environ[k] for k in ("KISEKI", "AGENT", "GENERATOR", "FILL_STORE"))
PIDS, LIVES = 2, 26
ATTEMPTS = 8  # of a recording without losses
SLACK_NS = 2_000_000  # the host may take a CPU between the moments at which a switch is traced and counted
DECODER = Path(__file__).resolve().parent.parent / "tools" / "slices_decode.py"
sys.argv[1:] = [KISEKI]
from served import Collector  # noqa: E402


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


def run(*command, **options):
    return subprocess.run(list(map(str, command)), text=True, capture_output=True, **options)


def record(work):
    """The recording, and what was true, by pid: lives in their order."""
    file = work / "lives.ksk"
    made = run(KISEKI, "record", "-q", "--ring", "4M", "-o", file, "--", GENERATOR, PIDS, LIVES,
               env={**os.environ, "KISEKI_AGENT": AGENT})
    if made.returncode == 77:
        skip(f"no process can be given a pid here: {made.stderr.strip()}")
    if made.returncode:
        if os.geteuid():
            skip("only root can trace, and choose pids")
        sys.exit(f"record: {made.stderr}")
    truth = collections.defaultdict(list)
    for line in made.stdout.splitlines():
        one = json.loads(line)
        truth[one["pid"]].append(one)
    return file, truth


def complete(file):
    """Where events are missing, times are missing."""
    report = json.loads(run(KISEKI, "report", "sched", "--json", "--limit", "0", file).stdout)
    lost = report["all_cpus"]["lost"] + report["all_cpus"]["lost_uncounted"]
    return report if not lost else None


def find_hidden(file):
    """Where a CPU was left by a task that the trace did not see coming: (pid, ns). The CPU belonged to a task that the trace
    sees leave no CPU at all; a single switch that is missing is a mistake of ours, and excuses nothing."""
    text = run(KISEKI, "convert", file, "-f", "ndjson", "-o", "/dev/stdout", check=True).stdout
    switches = [event for event in map(json.loads, text.splitlines()) if event.get("kind") == "switch"]
    leaving = {event["prev_pid"] for event in switches}
    on_cpu, hidden = {}, []
    for event in switches:
        if on_cpu.get(event["cpu"], event["prev_pid"]) not in leaving:
            hidden.append((event["prev_pid"], event["ns"]))
        on_cpu[event["cpu"]] = event["next_pid"]
    return hidden


def excuse(truth, hidden):
    """Lives with hidden switches have any time; how many there are."""
    excused = 0
    for pid, ns in hidden:
        for one in truth.get(pid, []):
            if one["from_ns"] <= ns <= one["to_ns"] and not one.get("hidden"):
                one.update(hidden=True, least_ns=0, cpu_ns=0, most_ns=one["to_ns"] - one["from_ns"])
                excused += 1
    return excused


def is_right(got_ns, want):
    """`want`: a line of the generator."""
    return max(want["least_ns"], want["cpu_ns"]) - SLACK_NS <= got_ns <= want["most_ns"] + SLACK_NS


def told(want):
    return f"{want['least_ns']} to {want['most_ns']} ns, of which {want['cpu_ns']} were charged"


def differences(truth, found):
    """`found`: by pid, dicts with born_ns, cpu_ns and, where known, comms, by birth."""
    wrong = []
    for pid, lives in truth.items():
        got = sorted((one for one in found.get(pid, [])), key=lambda one: one["born_ns"])
        got = [one for one in got if one["born_ns"] >= lives[0]["from_ns"]]
        if len(got) != len(lives):
            wrong.append(f"pid {pid}: {len(got)} lives and not {len(lives)}")
            continue
        for number, (one, want) in enumerate(zip(got, lives)):
            if not is_right(one["cpu_ns"], want):
                wrong.append(f"life {number} of {pid}: {one['cpu_ns']} ns and not {told(want)}")
            if not want["from_ns"] <= one["born_ns"] <= want["to_ns"]:
                wrong.append(f"life {number} of {pid}: born at {one['born_ns']}, between "
                             f"{want['from_ns']} and {want['to_ns']}")
            if one["comms"] != want["comms"]:
                wrong.append(f"life {number} of {pid}: {one['comms']} and not {want['comms']}")
    return wrong


def compare(what, truth, found):
    wrong = differences(truth, found)
    if wrong:
        sys.exit(f"{what}: {len(wrong)} are wrong:\n" + "\n".join(wrong[:20]))
    print(f"{what}: {sum(map(len, truth.values()))} lives of {len(truth)} pids")


def of_report(report):
    found = collections.defaultdict(list)
    for t in report["tasks"]:
        found[t["pid"]].append({"born_ns": t["born_ns"], "cpu_ns": t["cpu_ns"],
                                "comms": [t["first_comm"], t["comm"]]})
    return found


def check_text(file, truth):
    """A row for each life, with both its names."""
    text = run(KISEKI, "report", "sched", "--limit", "0", "--sort", "pid", file).stdout
    pid, lives = max(truth.items(), key=lambda one: len(one[1]))
    rows = [line for line in text.splitlines() if line.split()[:1] == [str(pid)]]
    renamed = [one for one in lives if one["comms"][0] != one["comms"][1]]
    if len(rows) < len(lives):
        sys.exit(f"report sched: {len(rows)} rows of pid {pid}, which had {len(lives)} lives")
    for one in renamed:
        if not any(" → ".join(one["comms"]) in row for row in rows):
            sys.exit(f"report sched: no row of pid {pid} has the names {one['comms']}")


def check_selection(file, truth):
    """pid@time is one life, in a report and in an export."""
    pid, lives = max(truth.items(), key=lambda one: len(one[1]))
    for number in (0, 1, len(lives) // 2, len(lives) - 1):
        one = lives[number]
        at = f"{(one['from_ns'] + one['to_ns']) // 2}ns"
        got = json.loads(run(KISEKI, "report", "sched", "--json", "--pid", f"{pid}@{at}", file).stdout)
        if got["n_tasks"] != 1 or not is_right(got["all_tasks"]["cpu_ns"], one):
            sys.exit(f"--pid {pid}@{at}: {got['all_tasks']} in {got['n_tasks']} tasks, not {told(one)}")
        latency = json.loads(run(KISEKI, "report", "latency", "--json", "--pid", f"{pid}@{at}", file).stdout)
        if {t["pid"] for t in latency["tasks"]} != {pid} or len(latency["tasks"]) != 1:
            sys.exit(f"report latency --pid {pid}@{at}: {latency['tasks']}")
        made = run(KISEKI, "convert", file, "-o", file.with_name("one.ndjson"), "--pid", f"{pid}@{at}")
        if made.returncode:
            sys.exit(f"convert --pid {pid}@{at}: {made.stderr}")
        times = [json.loads(line).get("ns") for line in file.with_name("one.ndjson").read_text().splitlines()]
        times = [ns for ns in times if ns is not None]
        if not times or min(times) < one["from_ns"] or max(times) > one["to_ns"]:
            sys.exit(f"convert --pid {pid}@{at}: {len(times)} events, not all of that life")
    print(f"selection: lives of {pid}")


def get(collector, path):
    with urllib.request.urlopen(f"http://127.0.0.1:{collector.http_port}/api/v1{path}", timeout=60) as answer:
        return answer.read()


def of_slices(data, work):
    """Lives by birth: the list has them so. A task is born where its state is not `unborn` any more."""
    (work / "slices").write_bytes(data)
    text = run(sys.executable, DECODER, "print", work / "slices", check=True).stdout
    found = collections.defaultdict(list)
    for line in text.splitlines():
        task = json.loads(line).get("tasks")
        if task is None:
            continue
        cpu_ns = sum(s["to"] - s["from"] for s in task["spans"] if s["state"] == "running")
        born = next((s["from"] for s in task["spans"] if s["state"] not in ("unborn", "unknown")), 0)
        found[task["pid"]].append({"born_ns": born, "cpu_ns": cpu_ns, "comms": [None, task["comm"]]})
    return found


def last_names(truth):
    return {pid: [dict(one, comms=[None, one["comms"][1]]) for one in lives] for pid, lives in truth.items()}


def check_timeline(timeline, truth):
    """The name of a life that no other has is that life's, whoever had its pid afterwards."""
    seen = 0
    for task in timeline["tasks"]:
        own = [one for one in truth.get(task["pid"], []) if one["comms"][1] == task["comm"]]
        if len(own) != 1 or not task["comm"].startswith("lives-"):
            continue
        if task["run_ns"] > own[0]["most_ns"] + SLACK_NS:
            sys.exit(f"timeline: {task['comm']} {task['pid']} ran {task['run_ns']} ns and not {told(own[0])}")
        seen += 1
    if not seen:
        sys.exit("timeline: none of the names that only one life had")
    print(f"timeline: {seen} names of one life each")


def main():
    for _ in range(ATTEMPTS):
        with tempfile.TemporaryDirectory() as folder:
            work = Path(folder)
            file, truth = record(work)
            report = complete(file)
            if not report:
                continue  # this machine is too busy for so small a buffer
            if max(map(len, truth.values())) < 20:
                sys.exit("no pid had 20 lives")
            excused = excuse(truth, find_hidden(file))
            if excused > sum(map(len, truth.values())) / 4:
                continue
            compare("report sched", truth, of_report(report))
            check_text(file, truth)
            check_selection(file, truth)
            number = run(FILL_STORE, work / "data", "board", file).stdout.strip()
            collector = Collector(work / "data")
            try:
                compare("API", truth, of_report(json.loads(get(collector, f"/runs/{number}/report/sched?limit=0"))))
                compare("slices", last_names(truth),
                        of_slices(get(collector, f"/runs/{number}/slices?limit=2000000"), work))
                check_timeline(json.loads(get(collector, f"/runs/{number}/timeline?width=20&tasks=256")), truth)
            finally:
                collector.process.terminate()
                collector.process.wait()
            return
    skip("events were lost or hidden each time: this machine is too busy")


main()

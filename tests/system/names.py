#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
The name of the task that ran, in every format that has one.

1. A trace written by hand, in which a pid is used by four tasks one after the other: names that come
   before and after, a fork and an exit that are missing, a rename, a task that nothing names, one
   that only the table names. What each line must say stands beside it.
2. Recordings of trace-cmd: where `trace-cmd report` names the task of a line, so does our text. The
   names are the same but for tasks that had several: trace-cmd prints the last one, ours is the one
   of that moment, which trace-cmd's own fields of the events must have.
3. A pid that three tasks have one after the other: in the drawing for Chrome each has a track of its
   own with its times, and Perfetto's reader, whose rules for pids are repeated here (its
   process_tracker.cc), gets three threads.
"""
import csv
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

KISEKI = os.environ["KISEKI"]
SRC = os.environ["SRC"]

HEAD = """# tracer: nop
#
# entries-in-buffer/entries-written: 20/20   #P:2
#
#                                _-----=> irqs-off/BH-disabled
#                               / _----=> need-resched
#                              | / _---=> hardirq/softirq
#                              || / _--=> preempt-depth
#                              ||| / _-=> migrate-disable
#                              |||| /     delay
#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION
#              | |         |   |||||     |         |
"""
UNKNOWN = None

# (task column, pid, CPU, event, who must be said to run)
LINES = [
    ("<...>", 30, 0, "sched_waking: comm=x pid=99 prio=120 target_cpu=001", "first"),
    ("<...>", 30, 0, "sched_switch: prev_comm=first prev_pid=30 prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120", "first"),
    ("<idle>", 0, 0, "sched_waking: comm=first pid=30 prio=120 target_cpu=000", "swapper/0"),
    ("<idle>", 0, 0, "sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=first next_pid=30 next_prio=120", "swapper/0"),
    ("<...>", 30, 0, "sched_process_exit: comm=first pid=30 prio=120", "first"),
    ("<...>", 30, 0, "sched_waking: comm=x pid=99 prio=120 target_cpu=001", "first"),
    ("<...>", 30, 0, "sched_switch: prev_comm=first prev_pid=30 prev_prio=120 prev_state=Z ==> next_comm=parent next_pid=20 next_prio=120", "first"),
    # The parent is named by its fork.
    ("<...>", 20, 0, "sched_process_fork: comm=parent pid=20 child_comm=parent child_pid=30", "parent"),
    ("<...>", 20, 0, "sched_switch: prev_comm=parent prev_pid=20 prev_prio=120 prev_state=R ==> next_comm=parent next_pid=30 next_prio=120", "parent"),
    ("<...>", 30, 0, "task_rename: pid=30 oldcomm=parent newcomm=second oom_score_adj=0", "parent"),
    ("<...>", 30, 0, "sched_process_exec: filename=/bin/second pid=30 old_pid=30", "second"),
    ("<...>", 30, 0, "sched_switch: prev_comm=second prev_pid=30 prev_prio=120 prev_state=Z ==> next_comm=parent next_pid=20 next_prio=120", "second"),
    # Its fork is missing, and its name comes later.
    ("<...>", 30, 1, "sched_waking: comm=x pid=99 prio=120 target_cpu=001", "third"),
    ("<...>", 30, 1, "sched_switch: prev_comm=third prev_pid=30 prev_prio=120 prev_state=X ==> next_comm=swapper/1 next_pid=0 next_prio=120", "third"),
    # A life that nothing names, before one that was forked.
    ("<...>", 30, 1, "sched_waking: comm=x pid=99 prio=120 target_cpu=001", UNKNOWN),
    ("<...>", 20, 0, "sched_process_fork: comm=parent pid=20 child_comm=parent child_pid=30", "parent"),
    ("<...>", 30, 1, "sched_process_exec: filename=/bin/fourth pid=30 old_pid=30", "parent"),
    # Only the task column of this line names it, and nothing at all the last.
    ("table", 40, 1, "sched_waking: comm=x pid=99 prio=120 target_cpu=001", "table"),
    ("<...>", 50, 1, "sched_waking: comm=x pid=99 prio=120 target_cpu=001", UNKNOWN),
]

SWITCH = ("sched_switch: prev_comm={} prev_pid={} prev_prio=120 prev_state={} ==> "
          "next_comm={} next_pid={} next_prio=120")
# (microsecond, who runs, event): the pid 30 is first, then parent and second, then third.
REUSE = [
    (1, "parent-20", SWITCH.format("parent", 20, "S", "first", 30)),
    (10, "first-30", "sched_process_exit: comm=first pid=30 prio=120"),
    (11, "first-30", SWITCH.format("first", 30, "Z", "parent", 20)),
    (20, "parent-20", "sched_process_fork: comm=parent pid=20 child_comm=parent child_pid=30"),
    (21, "parent-20", SWITCH.format("parent", 20, "S", "parent", 30)),
    (25, "parent-30", "task_rename: pid=30 oldcomm=parent newcomm=second oom_score_adj=0"),
    (34, "second-30", SWITCH.format("second", 30, "X", "parent", 20)),
    (40, "parent-20", SWITCH.format("parent", 20, "S", "third", 30)),
    (47, "third-30", SWITCH.format("third", 30, "X", "parent", 20)),
    (60, "parent-20", SWITCH.format("parent", 20, "S", "swapper/0", 0)),
]
# What each ran, in microseconds: that of the pid 20 is what is left.
RAN = {"first": 10, "parent \u2192 second (pid 30)": 13, "third (pid 30)": 7, "parent": 10 + 6 + 13}

failures = 0


def wrong(what, found, wanted):
    global failures
    if found != wanted:
        failures += 1
        print(f"FAILED: {what}: {found!r} and not {wanted!r}")


def run(*args, **kw):
    return subprocess.run([str(a) for a in args], check=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, errors="surrogateescape", **kw).stdout


def trace():
    text = HEAD
    for i, (name, pid, cpu, event, _) in enumerate(LINES):
        text += f"{name:>16}-{pid:<7} [{cpu:03}] .....   100.{i:06}: {event}\n"
    return text


def column(line):
    return re.match(r" *(.*?)-\d+ +\[", line).group(1)


def text_names(text):
    return [column(line) for line in text.splitlines() if not line.startswith("#")]


def as_text(name):
    return "<...>" if name is UNKNOWN else "<idle>" if name.startswith("swapper/") else name


def by_hand():
    with open("in.txt", "w", encoding="ascii") as f:
        f.write(trace())
    run(KISEKI, "convert", "in.txt", "-o", "in.ksk")
    wanted = [line[4] for line in LINES]
    for source in "in.txt", "in.ksk":
        text = run(KISEKI, "convert", source, "-f", "ftrace", "-o", "-")
        wrong(f"{source} as text", text_names(text), [as_text(n) for n in wanted])
        out = json.loads(run(KISEKI, "convert", source, "-f", "json", "-o", "-"))
        wrong(f"{source} as JSON", [e.get("common_comm") for e in out["events"]], wanted)
        out = run(KISEKI, "convert", source, "-f", "ndjson", "-o", "-").splitlines()
        out = [json.loads(line) for line in out]
        wrong(f"{source} as NDJSON", [e.get("common_comm") for e in out if "ns" in e], wanted)
        rows = list(csv.DictReader(run(KISEKI, "convert", source, "-f", "csv", "-o", "-")
                                   .splitlines()))
        wrong(f"{source} as CSV", [r["common_comm"] or None for r in rows], wanted)
        root = xml.etree.ElementTree.fromstring(
            run(KISEKI, "convert", source, "-f", "xml", "-o", "-"))
        wrong(f"{source} as XML", [e.get("common_comm") for e in root.iter("event")], wanted)
    # A filter leaves out the events that name the tasks, not the names.
    wakings = [n for line, n in zip(LINES, wanted) if line[3].startswith("sched_waking")]
    text = run(KISEKI, "convert", "in.ksk", "--event", "waking", "-f", "ftrace", "-o", "-")
    wrong("wakings alone", text_names(text), [as_text(n) for n in wakings])
    in_bsf()
    return wanted


def in_bsf():
    """A record of BSF begins with the name of the waker, which no switch before it has told here."""
    with open("waker.txt", "w", encoding="ascii") as f:
        f.write(HEAD)
        for us, event in (1, "sched_wakeup: comm=x pid=99 prio=120 target_cpu=001"), \
                (2, SWITCH.format("whowakes", 30, "S", "b", 20)):
            f.write(f"           <...>-30      [000] .....   100.{us:06}: {event}\n")
    run(KISEKI, "convert", "waker.txt", "--event", "wakeup", "--codec", "bsf", "-o", "waker.ksk")
    with open("waker.ksk", "rb") as f:
        data = f.read()
    wrong("the waker in BSF", (b"whowakes" in data, b"<...>" in data), (True, False))


def through_a_pipe():
    """What has been heard until then, the line itself included, and nothing of a later life."""
    text = run(KISEKI, "convert", "-", "-f", "ftrace", "-o", "-", input=trace())
    got = text_names(text)
    for line, name in zip(LINES, got):
        if name not in ("<...>", as_text(line[4])):
            wrong(f"a pipe, {line[3]}", name, as_text(line[4]))
    wrong("a pipe: names in the event itself", got[1:6], [as_text(n[4]) for n in LINES[1:6]])


def in_ctf(wanted):
    if not shutil.which("babeltrace2"):
        print("note: babeltrace2 is not installed: CTF was not read")
        return
    run(KISEKI, "convert", "in.ksk", "-f", "ctf", "-o", "out.ctf")
    found = []
    for line in run("babeltrace2", "out.ctf").splitlines():
        if "statedump" not in line and "kiseki_loss" not in line:
            found.append(re.search(r'procname = "([^"]*)"', line).group(1) or None)
    # Stamps of both CPUs are apart, so the order is that of time.
    wrong("CTF", found, wanted)


def ask_trace_cmd(path):
    """Its lines. Version 3.1 forgets the clock of a file once in a hundred times, and prints its nanoseconds without a point."""
    for _ in range(5):
        lines = run("trace-cmd", "report", "-t", "-R", path).splitlines()
        if any(re.search(r"\] +\d+\.\d+: ", line) for line in lines):
            return lines
    raise AssertionError(f"trace-cmd report {path}: no line has a time")


def beside_trace_cmd(path):
    shown, names = [], {}
    for line in ask_trace_cmd(path):
        m = re.match(r" *(.*)-(\d+) +\[(\d+)\] +(\d+\.\d+): (\w+): +(.*)", line)
        if not m or not m.group(5).startswith(("sched_", "task_")):
            continue
        shown.append((m.group(4), int(m.group(2)), m.group(1)))
        fields = m.group(6)
        for comm, pid in re.findall(r"\b(?:prev_|next_|parent_|child_)?comm=(.*?) "
                                    r"(?:prev_|next_|parent_|child_)?pid=(\d+)", fields):
            names.setdefault(int(pid), set()).add(comm.strip())
        m = re.search(r"pid=(\d+) oldcomm=(.*?) newcomm=(.*?) oom", fields)
        if m:
            names.setdefault(int(m.group(1)), set()).update({m.group(2), m.group(3)})
    ours = []
    for line in run(KISEKI, "convert", path, "-f", "ndjson", "-o", "-").splitlines():
        e = json.loads(line)
        if "common_pid" in e:
            ours.append((f"{e['ns'] // 10**9}.{e['ns'] % 10**9:09}", e["common_pid"],
                         e.get("common_comm")))
    wrong(f"{path}: events", sorted(o[:2] for o in ours), sorted(s[:2] for s in shown))
    theirs = {}
    for stamp, pid, name in shown:
        theirs.setdefault((stamp, pid), set()).add(name)
    for stamp, pid, name in ours:
        other = theirs.get((stamp, pid), set())
        if pid == 0 or name in other:
            continue
        if name is None:
            wrong(f"{path}: the task {pid} at {stamp}", name, other)
        elif name not in names.get(pid, set()):
            wrong(f"{path}: the task {pid} at {stamp}", name, names.get(pid))
        elif other != {"<...>"} and len(names[pid]) < 2:
            wrong(f"{path}: the task {pid} at {stamp}, which had one name", name, other)


def chrome_tracks():
    out = json.loads(run(KISEKI, "convert", "reuse.txt", "-f", "chrome", "-o", "-"))
    names, ran = {}, {}
    for r in out["traceEvents"]:
        track = r["pid"], r["tid"]
        if r["ph"] == "M" and r["name"] == "thread_name" and r["pid"] != 2147483647:
            wrong(f"a second name of track {track}", track in names, False)
            names[track] = r["args"]["name"]
        elif r["ph"] == "X" and r["name"] == "Running":
            ran[track] = ran.get(track, 0) + r["dur"]
    wrong("tracks for Chrome", {names.get(t): us for t, us in ran.items()}, RAN)
    wrong("two tracks with one number", len({t[1] for t in names}), len(names))


def packets(text):
    """Packets of protoc's text, as lists of (depth, field, value)."""
    packet = None
    for line in text.splitlines():
        depth = (len(line) - len(line.lstrip())) // 2
        field, _, value = line.strip().partition(" ")
        if line.startswith("packet {"):
            packet = []
        elif line == "}":
            yield packet
        elif field != "}":
            packet.append((depth, field.rstrip(":"), value.strip('"')))


def bundle_events(packet):
    """(ns, field, its fields) of the events of a bundle."""
    event = None
    for depth, field, value in packet:
        if depth == 2 and field == "event":
            if event:
                yield event
            event = None, None, {}
        elif depth == 3 and field == "timestamp":
            event = int(value), event[1], event[2]
        elif depth == 3 and value == "{":
            event = event[0], field, event[2]
        elif depth == 4:
            event[2][field] = value
    if event:
        yield event


def perfetto_threads():
    if not shutil.which("protoc"):
        print("note: protoc is not installed: Perfetto's threads were not looked at")
        return
    run(KISEKI, "convert", "reuse.txt", "-f", "perfetto", "-o", "out.pftrace")
    with open("out.pftrace", "rb") as f:
        text = subprocess.run(["protoc", "-I", os.path.join(SRC, "tests/data"),
                               "--decode=kiseki.Trace", "perfetto_subset.proto"], stdin=f,
                              check=True, stdout=subprocess.PIPE, text=True).stdout
    events, trees, last = [], [], 0
    for p in packets(text):
        fields = {field: value for depth, field, value in p if depth == 1}
        if "ftrace_events" in fields:
            events += bundle_events(p)
            last = max(e[0] for e in events)
        elif "process_tree" in fields:
            # A packet without a stamp counts as the latest that the reader has seen.
            at, tree = int(fields.get("timestamp", last)), {}
            for depth, field, value in p:
                if depth == 3 and field in ("pid", "cmdline"):
                    tree[field] = value
                if depth == 3 and field == "cmdline":
                    trees.append((at, "tree", dict(tree)))
    threads, live = [], {}

    def get(pid):
        if pid not in live:
            live[pid] = {"pid": pid, "ran": 0.0}
            threads.append(live[pid])
        return live[pid]

    since = None
    for ns, field, f in sorted(events + trees, key=lambda e: e[0]):
        if field == "task_newtask":
            live.pop(f["pid"], None)
            get(f["pid"])["name"] = f["comm"]
        elif field == "sched_process_free":
            live.pop(f["pid"], None)
        elif field == "tree":
            get(f["pid"])["process"] = f["cmdline"]
        elif field == "task_rename":
            get(f["pid"])["name"] = f["newcomm"]
        elif field == "sched_switch":
            if since:
                get(f["prev_pid"])["ran"] += (ns - since) / 1000
            get(f["next_pid"])["name"] = f["next_comm"]
            since = ns
    found = [(t["name"], t.get("process"), t["ran"]) for t in threads if t["pid"] == "30"]
    wrong("threads of the pid 30 in Perfetto", found,
          [("first", "first", 10.0), ("second", "second", 13.0), ("third", "third", 7.0)])


def by_track():
    with open("reuse.txt", "w", encoding="ascii") as f:
        f.write(HEAD)
        for us, who, event in REUSE:
            f.write(f"{who:>19}      [000] .....   100.{us:06}: {event}\n")
    chrome_tracks()
    perfetto_threads()


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        wanted = by_hand()
        through_a_pipe()
        in_ctf(wanted)
        by_track()
        if shutil.which("trace-cmd"):
            for name in "small-v6.dat", "small-v7.dat":
                beside_trace_cmd(os.path.join(SRC, "tests/data", name))
        else:
            print("note: trace-cmd is not installed: nothing was compared with it")
        os.chdir("/")
    sys.exit(1 if failures else 0)


main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""slices_decode: a second reader of docs/format/slices.md, written from the text alone.

    slices_decode.py print FILE            as JSON, one part a line
    slices_decode.py check FILE            what must hold in every answer; prints its sums
    slices_decode.py compare FILE NDJSON   against the events themselves, an export of the trace
    slices_decode.py join WHOLE PART...    parts that follow each other are the whole, CPU by CPU
    slices_decode.py vector SPEC FILE      the bytes that the specification shows are those of FILE
"""
import json
import sys

STATES = ["unknown", "running", "woken", "preempted", "sleeping", "blocked", "stopped", "dead",
          "idle", "unborn"]
CAUSES = ["ring", "buffer", "spool", "damage", "store"]
RUNNING = 1


def fail(text):
    sys.exit(f"slices_decode: {text}")


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def bytes(self, n):
        if self.at + n > len(self.data):
            fail(f"it ends within a piece at {self.at}")
        self.at += n
        return self.data[self.at - n:self.at]

    def number(self):
        value = shift = 0
        while True:
            byte = self.bytes(1)[0]
            value |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                break
        if value >= 1 << 64:
            fail(f"a number of more than 64 bits at {self.at}")
        return value

    def signed(self):
        value = self.number()
        return value >> 1 if value % 2 == 0 else -(value >> 1) - 1


def read_task(r):
    task = {"pid": r.signed(), "tgid": r.signed(), "parent": r.number() - 1}
    task["comm"] = r.bytes(r.number()).decode("latin-1")
    return task


def read_slices(r, at):
    slices = []
    for _ in range(r.number()):
        what, length = r.number(), r.number()
        kind = what & 3
        slices.append({"kind": ["task", "idle", "unknown"][kind], "task": what >> 3 if kind == 0 else None,
                       "inferred": bool(what & 4), "from": at, "to": at + length})
        at += length
    return slices


def read_spans(r, at):
    spans = []
    for _ in range(r.number()):
        state = r.number()
        cpu = r.number() if state == RUNNING else None
        length = r.number()
        spans.append({"state": STATES[state], "cpu": cpu, "from": at, "to": at + length})
        at += length
    return spans


def decode(data):
    r = Reader(data)
    if r.bytes(4) != b"KSL1":
        fail("not of this format")
    d = {"from": r.number(), "to": r.number(), "final": bool(r.number() & 1)}
    cpus = r.number()
    d["tasks"] = [read_task(r) for _ in range(r.number())]
    d["cpus"] = [read_slices(r, d["from"]) for _ in range(cpus)]
    for task in d["tasks"]:
        task["spans"] = read_spans(r, d["from"])
    d["wakeups"], at = [], d["from"]
    for _ in range(r.number()):
        at += r.number()
        waker, task, cpu, ran = r.number() - 1, r.number(), r.number(), r.number()
        d["wakeups"].append({"ns": at, "waker": None if waker < 0 else waker, "task": task,
                             "cpu": cpu, "ran": at + ran - 1 if ran else None})
    d["losses"] = []
    for _ in range(r.number()):
        cpu, begin, length, count, cause = (r.number() for _ in range(5))
        d["losses"].append({"cpu": cpu, "from": d["from"] + begin, "to": d["from"] + begin + length,
                            "count": count or None, "cause": CAUSES[cause]})
    if r.at != len(data):
        fail(f"{len(data) - r.at} bytes behind its end")
    return d


def check_cpu(d, number, slices):
    at = d["from"]
    for one in slices:
        if one["to"] <= one["from"]:
            fail(f"CPU {number}: a slice without length at {one['from']}")
        at = one["to"]
        if one["kind"] == "task" and one["task"] >= len(d["tasks"]):
            fail(f"CPU {number}: task {one['task']} is none")
    if at != d["to"]:
        fail(f"CPU {number}: slices reach {at}, not {d['to']}")


def check_task(d, task):
    before = None
    for one in task["spans"]:
        if one["to"] <= one["from"] or one["to"] > d["to"]:
            fail(f"pid {task['pid']}: a span from {one['from']} to {one['to']}")
        if before and before["state"] == one["state"] and one["state"] != "running":
            fail(f"pid {task['pid']}: two spans {one['state']} in a row at {one['from']}")
        before = one


def check_runs(d):
    """Each task slice of a CPU is a running span of its task, and the other way round."""
    runs = {(i, one["cpu"], one["from"], one["to"])
            for i, task in enumerate(d["tasks"]) for one in task["spans"] if one["state"] == "running"}
    slices = {(one["task"], cpu, one["from"], one["to"])
              for cpu, row in enumerate(d["cpus"]) for one in row if one["kind"] == "task"}
    inferred = {(one["task"], cpu, one["from"], one["to"])
                for cpu, row in enumerate(d["cpus"]) for one in row if one["inferred"]}
    if (runs ^ slices) - inferred and not inferred:
        fail(f"runs and slices differ: {sorted(runs ^ slices)[:4]}")
    return sum(to - start for _, _, start, to in slices)


def check(d):
    for number, slices in enumerate(d["cpus"]):
        check_cpu(d, number, slices)
    for task in d["tasks"]:
        check_task(d, task)
    busy = check_runs(d)
    for w in d["wakeups"]:
        if not d["from"] <= w["ns"] < d["to"]:
            fail(f"a wakeup at {w['ns']}")
        if w["ran"] is None:
            continue
        if not any(one["state"] == "running" and one["from"] == w["ran"]
                   for one in d["tasks"][w["task"]]["spans"]):
            fail(f"pid {d['tasks'][w['task']]['pid']} did not start to run at {w['ran']}")
    for one in d["losses"]:
        if not d["from"] <= one["from"] <= one["to"] <= d["to"]:
            fail(f"a loss from {one['from']} to {one['to']}")
    return busy


def who(d, one):
    return d["tasks"][one["task"]]["pid"] if one["kind"] == "task" else one["kind"]


def compare(d, path):
    """Each switch is an edge between two slices of its CPU, but that nothing is known before the first
    and behind the last; each waking is a wakeup. Returns how many edges have both sides."""
    edges = {}
    for cpu, row in enumerate(d["cpus"]):
        for left, right in zip(row, row[1:]):
            edges[cpu, right["from"]] = who(d, left), who(d, right)
    wakeups = {(w["ns"], d["tasks"][w["task"]]["pid"]) for w in d["wakeups"]}
    seen = 0
    for line in open(path, encoding="utf-8"):
        e = json.loads(line)
        ns = e.get("ns", 0)
        if not d["from"] < ns < d["to"] - 1:
            continue
        if e["kind"] == "waking" and (ns, e["pid"]) not in wakeups:
            fail(f"no wakeup of {e['pid']} at {ns}")
        if e["kind"] != "switch" or e["prev_pid"] == e["next_pid"]:
            continue
        want = e["prev_pid"] or "idle", e["next_pid"] or "idle"
        edge = edges.get((e["cpu"], ns))
        if edge is None or any(a not in (b, "unknown") for a, b in zip(edge, want)):
            fail(f"CPU {e['cpu']} at {ns}: {edge} and not {want}")
        seen += edge == want
    return seen


def merged(d):
    """(pid or kind, from, to) of each CPU, neighbours of one holder as one."""
    rows = []
    for row in d["cpus"]:
        out = []
        for one in row:
            if out and out[-1][0] == who(d, one):
                out[-1][2] = one["to"]
            else:
                out.append([who(d, one), one["from"], one["to"]])
        rows.append(out)
    return rows


def join(whole, parts):
    at = whole["from"]
    rows = [[] for _ in whole["cpus"]]
    for part in parts:
        if part["from"] != at:
            fail(f"a part from {part['from']}, not {at}")
        at = part["to"]
        for cpu, row in enumerate(merged(part)):
            for one in row:
                if rows[cpu] and rows[cpu][-1][0] == one[0]:
                    rows[cpu][-1][2] = one[2]
                else:
                    rows[cpu].append(one)
    if at != whole["to"] or rows != merged(whole):
        fail("the parts are not the whole")
    if sum(len(p["wakeups"]) for p in parts) != len(whole["wakeups"]):
        fail("the parts have not the wakeups of the whole")
    return len(parts)


def vector(spec, path):
    text = open(spec, encoding="utf-8").read().split("## 8.")[1].split("```")[1]
    if bytes.fromhex("".join(text.split())) != open(path, "rb").read():
        fail(f"{path} is not what {spec} shows")


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    if sys.argv[1] == "vector":
        vector(sys.argv[2], sys.argv[3])
        return
    d, *others = (decode(open(path, "rb").read())
                  for path in (sys.argv[2:3] if sys.argv[1] == "compare" else sys.argv[2:]))
    if sys.argv[1] == "print":
        for name in ("from", "to", "final"):
            print(json.dumps({name: d[name]}))
        for name in ("tasks", "cpus", "wakeups", "losses"):
            for one in d[name]:
                print(json.dumps({name: one}))
    elif sys.argv[1] == "check":
        busy = check(d)
        print(f"cpus {len(d['cpus'])} tasks {len(d['tasks'])} slices {sum(map(len, d['cpus']))} "
              f"spans {sum(len(t['spans']) for t in d['tasks'])} wakeups {len(d['wakeups'])} "
              f"losses {len(d['losses'])} busy_ns {busy} final {int(d['final'])}")
    elif sys.argv[1] == "compare":
        print(compare(d, sys.argv[3]))
    elif sys.argv[1] == "join":
        print(join(d, others))
    else:
        sys.exit(__doc__)


main()

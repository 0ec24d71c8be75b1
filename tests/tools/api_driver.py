#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""api_driver: scenarios of tests/system/api.sh: what the page asks a real `kiseki serve`.

	api_driver.py KISEKI SCENARIO FILE.ksk

FILE.ksk has the calls of a process with several threads. The decoder of spans is written from
docs/format/calls-slices.md alone. Each scenario has a folder and a collector of its own, and fails by an
exception.
"""
import http.client
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import fake_device as fd
import func_driver
from func_driver import (SAMPLE, Sender, file_blocks, get, get_json, kiseki, make_sched, start_board,
                         tid_of_sample, wait_ping)
from http_check import check
from served import WAIT_S, Collector, ident

# The commands only say what is wanted; looking for their leaks takes longer than all the rest.
func_driver.CLI_ENV["ASAN_OPTIONS"] = "detect_leaks=0"
HERE = Path(__file__).resolve().parent
API = json.loads((HERE.parent.parent / "docs/api/openapi.json").read_text())
LOCAL = ("running_ns", "user_ns", "kernel_ns", "preempted_ns", "blocked_ns", "unknown_ns")


def described(collector, pattern, path, status=200, method="GET", body=None):
    """The answer, which fits its description."""
    c = http.client.HTTPConnection("127.0.0.1", collector.http_port, timeout=60)
    c.request(method, path, body, {"User-Agent": "api_driver/1"})
    answer = c.getresponse()
    text = answer.read()
    c.close()
    assert answer.status == status, (path, answer.status, text[:500])
    responses = API["paths"][pattern][method.lower()]["responses"]
    found = json.loads(text)
    check(API, responses[str(status)]["content"]["application/json"]["schema"], found, path)
    return found


# --- spans ---


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def number(self):
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def signed(self):
        v = self.number()
        return v >> 1 ^ -(v & 1)

    def text(self):
        n = self.number()
        self.at += n
        return self.data[self.at - n:self.at].decode()


def decode_slices(data):
    """docs/format/calls-slices.md, section 2."""
    assert data[:4] == b"KCL1"
    r = Reader(data[4:])
    m = {"from": r.number(), "to": r.number(), "flags": r.number(), "sched": r.number(),
         "offset": r.signed(), "min": r.number(), "left_out": r.number()}
    functions = [(r.text(), r.text()) for _ in range(r.number())]
    m["functions"], m["spans"] = functions, []
    for _ in range(r.number()):
        pid, tid, _cpu, _kernel, _comm = r.signed(), r.signed(), r.signed(), r.number(), r.text()
        at = m["from"]
        for _ in range(r.number()):
            function, begin, length, depth = r.number(), r.number(), r.number(), r.number()
            at += begin
            m["spans"].append((pid, tid, at, length, depth // 8, functions[function][0], depth % 8))
    assert r.at == len(r.data), "bytes behind the end"
    return m


def check_slices(c, base, run):
    """Spans are the calls that `kiseki func tree` lists; windows cut them."""
    calls = json.loads(kiseki("func", "tree", run, "--json", "--limit", "0", "--no-sched", collector=c)[0])
    flags = {"returned": 0, "unwound": 4, "cut": 2, "open": 2}
    want = sorted((x["pid"], x["tid"], x["begin_ns"], x["total_ns"], x["depth"], x["function"],
                   flags[x["end"]]) for x in calls["calls"])
    whole = decode_slices(get(c, f"{base}/calls/slices"))
    assert sorted(whole["spans"]) == want and len(want) > 1000, (len(whole["spans"]), len(want))
    assert whole["flags"] == 1 and whole["left_out"] == 0, whole["flags"]
    assert (whole["from"], whole["to"]) == (calls["all"]["from_ns"], calls["all"]["to_ns"] + 1), calls["all"]
    # Shorter ones are left out and counted.
    some = decode_slices(get(c, f"{base}/calls/slices?min_ns=100000"))
    assert sorted(some["spans"]) == [x for x in want if x[3] >= 100000] and some["spans"]
    assert some["left_out"] == len(want) - len(some["spans"])
    # Two windows that touch have the time of both.
    from_, to = whole["from"], whole["to"]
    middle = from_ + (to - from_) // 3
    parts = [decode_slices(get(c, f"{base}/calls/slices?from_ns={a}&to_ns={b}"))["spans"]
             for a, b in ((from_, middle), (middle, to))]
    length = lambda spans: sum(x[3] for x in spans)  # noqa: E731
    assert length(parts[0]) + length(parts[1]) == length(want)
    assert all(x[2] + x[3] <= middle for x in parts[0]) and all(x[2] >= middle for x in parts[1])
    carried = [x for x in parts[1] if x[6] & 1]
    assert carried and all(x[2] == middle for x in carried)
    assert len(carried) == sum(x[2] < middle < x[2] + x[3] or
                               (x[2] < middle == x[2] + x[3]) for x in want), len(carried)
    get(c, f"{base}/calls/slices?limit=100", 413)
    assert decode_slices(get(c, f"{base}/calls/slices?limit={len(want)}"))["spans"]
    get(c, f"{base}/calls/slices?limit={len(want) - 1}", 413)
    nobody = decode_slices(get(c, f"{base}/calls/slices?thread=nobody"))
    assert not nobody["spans"] and not nobody["functions"]
    return whole


# --- reports ---


def no_parts(row):
    return {k: v for k, v in row.items() if k not in LOCAL}


def check_reports(c, base, run, pattern):
    want = json.loads(kiseki("func", "report", run, "--json", "--limit", "0", collector=c)[0])
    found = described(c, f"{pattern}/calls/report", f"{base}/calls/report")
    assert found == want, "the report"
    assert any(f["blocked_ns"] for f in found["functions"]), "nothing was joined"
    limited = described(c, f"{pattern}/calls/report", f"{base}/calls/report?sort=calls&limit=3")
    assert len(limited["functions"]) == 3
    assert limited["functions"][0]["calls"] == max(f["calls"] for f in found["functions"])
    tid = tid_of_sample()[0]
    one = described(c, f"{pattern}/calls/report", f"{base}/calls/report?thread={tid}")
    assert one == json.loads(kiseki("func", "report", run, "--json", "--limit", "0", "--thread", tid,
                                    collector=c)[0])
    # Windows that touch add up, in every part of the time.
    from_, to = found["all"]["from_ns"], found["all"]["to_ns"] + 1
    cuts = [from_, from_ + (to - from_) // 7, from_ + (to - from_) // 2, to]
    parts = [described(c, f"{pattern}/calls/report", f"{base}/calls/report?from_ns={a}&to_ns={b}")
             for a, b in zip(cuts, cuts[1:])]
    for key in ("local_ns", "unknown_ns"):
        assert sum(p["all_functions"][key] for p in parts) == found["all_functions"][key], key
    assert sum(p["all_functions"]["blocked_ns"] or 0 for p in parts) == found["all_functions"]["blocked_ns"]
    for name in {f["function"] for f in found["functions"]}:
        total = [sum(f["total_ns"] for f in r["functions"] if f["function"] == name) for r in parts]
        assert sum(total) == sum(f["total_ns"] for f in found["functions"] if f["function"] == name)
    after = described(c, f"{pattern}/calls/report", f"{base}/calls/report?from=%2B1h")
    assert after["functions"] == [] and after["all"]["calls"] == 0, after["all"]
    return found


def check_tree(c, base, run, pattern):
    want = json.loads(kiseki("func", "tree", run, "--merged", "--json", collector=c)[0])
    found = described(c, f"{pattern}/calls/tree", f"{base}/calls/tree")
    assert found == want and len(found["nodes"]) > 50, "the tree"
    for query in ("limit=10", "limit=1", "depth=2", "min=1ms", "limit=37&min=1us"):
        small = described(c, f"{pattern}/calls/tree", f"{base}/calls/tree?{query}")
        nodes = small["nodes"]
        others = [n for n in nodes if "others" in n]
        assert others and all(n["function"] == "(others)" for n in others), query
        assert sum(n["total_ns"] for n in nodes if n["depth"] == 0) == sum(
            n["total_ns"] for n in found["nodes"] if n["depth"] == 0), query
        assert sum(n.get("others", 1) for n in nodes) == len(found["nodes"]), query
        check_widths(nodes)
        if query == "limit=10":
            assert len(nodes) - len(others) == 10


def check_widths(nodes):
    """A node's time is its own and that of the nodes right below it."""
    stack = []
    for n in nodes + [{"depth": 0}]:
        while stack and stack[-1][0]["depth"] >= n["depth"]:
            node, below = stack.pop()
            assert node["local_ns"] + below == node["total_ns"], node
        if stack:
            stack[-1][1] += n["total_ns"]
        stack.append([n, 0])


def check_diff(c, base, run, pattern, report):
    want = json.loads(kiseki("func", "diff", run, run, "--json", collector=c)[0])
    found = described(c, f"{pattern}/calls/diff", f"{base}/calls/diff?with={run}")
    assert found == want and found["functions"]
    assert not any(f["total_change_ns"] for f in found["functions"])
    middle = (report["all"]["from_ns"] + report["all"]["to_ns"]) // 2
    halves = described(c, f"{pattern}/calls/diff",
                       f"{base}/calls/diff?to_ns={middle}&with_from_ns={middle}&sort=total")
    a, b = (get_json(c, f"{base}/calls/report?{q}_ns={middle}") for q in ("to", "from"))
    for side, one in (("before", a), ("after", b)):
        assert sum(f[side]["local_ns"] for f in halves["functions"] if f[side]) == one["all_functions"]["local_ns"]
    described(c, f"{pattern}/calls/diff", f"{base}/calls/diff", 400)
    described(c, f"{pattern}/calls/diff", f"{base}/calls/diff?with=4000000", 404)


def check_refusals(c, base, pattern, sched_run):
    for what in ("report", "tree", "slices"):
        for senseless in ("from_ns=x", "from_ns=9&to_ns=9", "from_ns=1&from=%2B1s", "limit=0", "colour=red",
                          "to=never"):
            described(c, f"{pattern}/calls/{what}", f"{base}/calls/{what}?{senseless}", 400)
        described(c, "/api/v1/runs/{run}/calls/" + what, f"/api/v1/runs/{sched_run}/calls/{what}", 404)
        described(c, "/api/v1/runs/{run}/calls/" + what, f"/api/v1/runs/99999/calls/{what}", 404)
    described(c, f"{pattern}/calls/tree", f"{base}/calls/tree?depth=0", 400)
    described(c, f"{pattern}/calls/report", f"{base}/calls/report?sort=beauty", 400)
    described(c, f"{pattern}/calls/report", f"{base}/calls/report?min=long", 400)


def check_device(c, base, run):
    """Below a device it is its latest run of programs."""
    device = "/api/v1/devices/board"
    for what in ("report?sort=max", "tree?limit=9", f"diff?with={run}&to=%2B1s", "slices?to=%2B40s&min_ns=9"):
        path = what.split("?")[0]
        assert get(c, f"{device}/calls/{what}") == get(c, f"{base}/calls/{what}"), what
        if path != "slices":
            described(c, "/api/v1/devices/{device}/calls/" + path, f"{device}/calls/{what}")
        described(c, "/api/v1/devices/{device}/calls/" + path, f"/api/v1/devices/nobody/calls/{what}", 404)
        described(c, "/api/v1/devices/{device}/calls/" + path, f"{device}/calls/{path}?limit=0", 400)


def send_runs(c, data):
    """A run of the scheduler and one of calls, by turns; their numbers."""
    queues = {ident(10): list(file_blocks(make_sched(os.path.dirname(data)))),
              ident(11): list(file_blocks(SAMPLE))}
    d, _ = start_board(c)
    wait_ping(d)
    s = Sender(d)
    for i in range(max(map(len, queues.values()))):
        for run, blocks in queues.items():
            if i < len(blocks):
                s.send(run, blocks[i])
    for run in queues:
        s.end(run)
    d.wait_acknowledged()
    d.close()
    runs = {tuple(r["kinds"]): r["run"] for r in get_json(c, "/api/v1/runs")["runs"]}
    return runs["sched",], runs["func",]


def check_clocks(c, sched_run, calls_run, slices):
    """What a run says of its clock, and how two are tied."""
    sched = described(c, "/api/v1/runs/{run}", f"/api/v1/runs/{sched_run}")
    calls = described(c, "/api/v1/runs/{run}", f"/api/v1/runs/{calls_run}")
    assert "calls" not in sched and calls["calls"]["from_ns"] == slices["from"], calls
    assert calls["calls"]["to_ns"] + 1 == slices["to"] and slices["sched"] == sched_run
    assert calls["calls"]["sched"]["run"] == sched_run
    # The file of the scheduler was made of the calls' own stamps.
    for offset in (slices["offset"], calls["calls"]["sched"]["offset_ns"]):
        assert abs(offset - (calls["clock"]["real_offset_ns"] - sched["clock"]["real_offset_ns"])) <= 1000, (
            offset, calls, sched)
    for run in (sched, calls):
        assert run["clock"]["error_ns"] < 60 * 10**9 and run["clock"]["at_ns"] > 0, run
        assert abs(run["clock"]["real_offset_ns"] + run["clock"]["at_ns"] - time.time_ns()) < 600 * 10**9


def scenario_calls(data):
    """Reports, trees, comparisons and spans: those of the command line, and of any part of the time."""
    c = Collector(data)
    sched_run, calls_run = send_runs(c, data)
    base, pattern = f"/api/v1/runs/{calls_run}", "/api/v1/runs/{run}"
    report = check_reports(c, base, calls_run, pattern)
    check_tree(c, base, calls_run, pattern)
    check_diff(c, base, calls_run, pattern, report)
    slices = check_slices(c, base, calls_run)
    check_refusals(c, base, pattern, sched_run)
    check_device(c, base, calls_run)
    check_clocks(c, sched_run, calls_run, slices)
    c.stop()
    print(f"calls: {len(slices['spans'])} spans of {len(slices['functions'])} functions")


BUILD_ID = "8d7f1c0e6a2b4c55a1f0d3e2b7a9c8d6e5f40312"  # of FILE.ksk's program
OBJECT = """.text
.globl named
.type named, %function
named: .skip 0x100000
.size named, 0x100000
.section .note.GNU-stack,"",%progbits
"""


def scenario_names(data):
    """Functions have names where the collector has the device's objects, and only if they are the right ones; what was
    read of the right one is kept."""
    if not shutil.which("cc"):
        print("names: no compiler to make an object with")
        return
    root = Path(data).parent / "root"
    (root / "usr/bin").mkdir(parents=True)
    Collector(data).stop()
    for turn, (build_id, named) in enumerate(((BUILD_ID[::-1], False), (BUILD_ID, True), (BUILD_ID[::-1], True))):
        subprocess.run(["cc", "-nostdlib", "-shared", "-Wl,-z,noseparate-code", f"-Wl,--build-id=0x{build_id}",
                        "-x", "assembler", "-", "-o", root / "usr/bin/sample"], input=OBJECT.encode(), check=True)
        c = Collector(data, "--symbols", str(root))
        if turn == 0:
            send_runs(c, data)
        report = get_json(c, "/api/v1/devices/board/calls/report")
        names = {f["function"] for f in report["functions"]}
        spans = decode_slices(get(c, "/api/v1/devices/board/calls/slices"))
        assert names == {x[0] for x in spans["functions"]}, names
        if named:
            assert names == {"named"}, names
            assert {x[1] for x in spans["functions"]} == {"sample"}
        else:
            assert all(name.startswith("sample+0x") for name in names), names
        c.stop()
    print("names: by the objects of the device")


# --- the fleet ---


class Board(fd.Device):
    """Answers instructions as `answers` says: (code, text) each, None for not at all."""

    def __init__(self, *args, answers=(), **kwargs):
        super().__init__(*args, **kwargs)
        self.answers, self.unanswered = list(answers), []

    def deal_with(self, kind, body):
        if kind != fd.INSTRUCTION or not self.answers:
            return super().deal_with(kind, body)
        m = fd.decode_instruction(body)
        self.instructions.append(m)
        answer = self.answers.pop(0)
        if answer is None:
            self.unanswered.append(m)
        else:
            self.answer(m, *answer)
        return True

    def answer(self, m, code, text):
        self.send(fd.frame(fd.RESULT, fd.varints(m["id"], code) + fd.text(text)))


def tell(c, verb, body=None, query="", device="board"):
    return described(c, "/api/v1/devices/{device}/" + verb, f"/api/v1/devices/{device}/{verb}{query}", 200, "POST",
                     body)


def told(c, query=""):
    return described(c, "/api/v1/instructions", f"/api/v1/instructions{query}")


class Pump:
    """Lets a device talk while something else is done."""

    def __init__(self, device, until):
        self.device, self.until = device, until

    def __enter__(self):
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        while len(self.device.instructions) < self.until:
            self.device.take_any()

    def __exit__(self, *_):
        self.thread.join(WAIT_S)
        assert not self.thread.is_alive()


def wait_row(c, number, outcome):
    """Until that instruction has come to this."""
    deadline = time.monotonic() + WAIT_S
    while time.monotonic() < deadline:
        row = next(r for r in told(c)["instructions"] if r["number"] == number)
        if row["outcome"] == outcome:
            return row
        time.sleep(0.02)
    raise AssertionError(f"it never was {outcome}: {row}")


def scenario_instructions(data):
    """Who told which device what: done, refused, not answered, away; over a restart."""
    c = Collector(data)
    d = Board(c.port, ident(1), answers=[(0, "as you wish"), (16, "the tracer is in use"), None])
    d.come_in()
    with Pump(d, 1):
        tell(c, "start", '{"ring": 512}')
    with Pump(d, 2):
        assert not tell(c, "configure", '{"ring": 1024}')["ok"]
    with Pump(d, 3):
        assert tell(c, "stop", query="?timeout_ms=100")["results"][0]["code"] == 110
    rows = told(c)["instructions"]
    assert [(r["verb"], r["outcome"], r["code"]) for r in rows] == [
        ("stop", "timed_out", 110), ("configure", "failed", 16), ("start", "done", 0)], rows
    assert rows[1]["text"] == "the tracer is in use" and rows[2]["text"] == "as you wish", rows
    assert rows[2]["config"]["ring"] == 512 and rows[1]["config"]["ring"] == 1024, rows
    assert all(r["from"] == "127.0.0.1" and r["client"] == "api_driver/1" and r["device"] == "board" and r["settled"]
               for r in rows), rows
    # An answer that comes late is one.
    d.answer(d.unanswered[0], 0, "stopped at last")
    assert wait_row(c, rows[0]["number"], "done")["text"] == "stopped at last"
    d.close()
    away(c, data)


def away(c, data):
    deadline = time.monotonic() + WAIT_S
    while get_json(c, "/api/v1/devices/board")["online"]:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert tell(c, "stop")["deferred"]
    for verb in ("start", "configure"):
        assert tell(c, verb, '{"flush": 70}')["deferred"]
    rows = told(c)["instructions"]
    assert [r["outcome"] for r in rows[:3]] == ["deferred", "deferred", "replaced"] and len(rows) == 6, rows
    assert rows[2]["text"] == f"by instruction {rows[1]['number']}" and rows[2]["settled"], rows
    # They outlive the collector, and are settled when the device is back.
    c.kill()
    c.again()
    assert told(c)["instructions"] == rows
    d = Board(c.port, ident(1), answers=[(0, "tracing again")])
    d.come_in()
    while not d.instructions:
        d.take_any()
    for row in rows[:2]:
        assert wait_row(c, row["number"], "done")["text"] == "tracing again"
    check_pages(c, rows)
    d.close()
    c.stop()
    print("instructions: done, failed, late, deferred, settled after a restart")


def check_pages(c, rows):
    numbers = [r["number"] for r in rows]
    first = told(c, "?limit=2")
    assert [r["number"] for r in first["instructions"]] == numbers[:2] and first["next"] == numbers[1], first
    rest = told(c, f"?limit=100&before={first['next']}")
    assert [r["number"] for r in rest["instructions"]] == numbers[2:] and rest["next"] is None, rest
    assert len(told(c, "?device=board")["instructions"]) == 6
    other = Board(c.port, ident(2), name="other")
    other.come_in()
    assert told(c, "?device=other")["instructions"] == []
    other.close()
    described(c, "/api/v1/instructions", "/api/v1/instructions?device=nobody", 404)
    described(c, "/api/v1/instructions", "/api/v1/instructions?limit=0", 400)


def put_group(c, body, status=200, device="board"):
    return described(c, "/api/v1/devices/{device}/group", f"/api/v1/devices/{device}/group", status, "POST", body)


def scenario_groups(data):
    """Groups are kept; and what an agent costs is told."""
    c = Collector(data)
    d = Board(c.port, ident(1))
    d.come_in()
    assert get_json(c, "/api/v1/devices/board")["group"] is None
    hostile = "<script>\u202e\U0001f600"
    for name in ("rack 1", hostile, "x" * 63):
        assert put_group(c, json.dumps({"group": name}))["group"] == name
        assert get_json(c, "/api/v1/devices")["devices"][0]["group"] == name
    for bad in ("", "{", "[]", "{}", '{"group": 1}', '{"group": "a", "b": 1}', '{"group": "' + "x" * 64 + '"}',
                '{"group": "a\\u0007"}', '{"group": "a\\u0000b"}', b'{"group": "\xff"}'):
        put_group(c, bad, 400)
    put_group(c, '{"group": "a"}', 404, "nobody")
    check_cost(c, d)
    d.close()
    put_group(c, json.dumps({"group": hostile}))
    c.kill()
    c.again()
    assert get_json(c, "/api/v1/devices/board")["group"] == hostile
    out, _ = kiseki("devices", "--json", "--group", hostile, collector=c)
    assert [x["name"] for x in json.loads(out)["devices"]] == ["board"]
    out, _ = kiseki("devices", "--json", "--group", "rack 1", collector=c)
    assert json.loads(out)["devices"] == []
    out, _ = kiseki("devices", "--json", "bo*", collector=c)
    assert [x["name"] for x in json.loads(out)["devices"]] == ["board"]
    for words in (["nobody"], ["--json", "nobody"], ["board", "nobody"]):
        out, said = kiseki("devices", *words, collector=c, code=1)
        assert not out and said == "kiseki: there is no device nobody\n", (words, out, said)
    assert put_group(c, '{"group": null}')["group"] is None
    c.stop()
    c.again()
    assert get_json(c, "/api/v1/devices/board")["group"] is None
    c.stop()
    print("groups: kept, shown, taken away")


def check_cost(c, d):
    """A quarter of a CPU between two reports."""
    assert get_json(c, "/api/v1/devices/board")["status"]["cpu_percent"] is None
    began, cpu_us, deadline = time.monotonic(), 0, time.monotonic() + WAIT_S
    percent = None
    while percent is None:
        assert time.monotonic() < deadline
        cpu_us = int((time.monotonic() - began) * 250000)
        d.send(fd.frame(fd.STATUS, fd.varints(1, 1, 0, 0, *(0,) * fd.CAUSES, 0, 0, 0, 65536, cpu_us, 3000, 1600, 5) +
                        fd.text("")))
        time.sleep(0.1)
        percent = described(c, "/api/v1/devices/{device}", "/api/v1/devices/board")["status"]["cpu_percent"]
    # How late a report is looked at is not ours to say; that it is a share of one CPU is.
    assert 0 < percent < 250, percent


def main():
    scenario = globals()["scenario_" + sys.argv[2]]
    with tempfile.TemporaryDirectory(prefix="kiseki-api-") as data:
        scenario(os.path.join(data, "store"))


if __name__ == "__main__":
    main()

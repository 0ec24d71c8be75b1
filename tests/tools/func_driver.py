#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""func_driver: scenarios of tests/system/func_collector.sh: a fake device that sends runs of programs to
a real `kiseki serve`, and what the commands say of them.

	func_driver.py KISEKI SCENARIO FILE.ksk

FILE.ksk has the calls of a process with several threads. Each scenario has a folder and a collector of
its own, and fails by an exception.
"""
import functools
import http.client
import json
import mmap
import os
import random
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import fake_device as fd
from ksk_decode import INDEX, Block
from served import KISEKI, Collector, ident, stored, token

SAMPLE = sys.argv[3]
FUNC = 65536  # the first stream of threads
FUNC_CODEC = 3
ITEM_FUNC = 12  # of an instruction
RECORD_PID, RECORD_ON = 48, 384  # offsets in the record of a process
STREAMS_MOST = 6144  # of a run
CLI_ENV = {}  # for the commands alone


def kiseki(*args, collector=None, code=0):
    """What the command prints, on both; it exits so."""
    env = {**os.environ, **CLI_ENV}
    if collector:
        env["KISEKI_SERVER"] = f"http://127.0.0.1:{collector.http_port}"
    done = subprocess.run([KISEKI, *map(str, args)], env=env, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL)
    assert done.returncode == code, (args, done.returncode, done.stdout[-2000:], done.stderr)
    return done.stdout, done.stderr


def get(collector, path, status=200):
    c = http.client.HTTPConnection("127.0.0.1", collector.http_port, timeout=60)
    c.request("GET", path)
    answer = c.getresponse()
    body = answer.read()
    c.close()
    assert answer.status == status, (path, answer.status, body[:500])
    return body


def get_json(collector, path, status=200):
    return json.loads(get(collector, path, status))


def file_blocks(path):
    """(stream, sequence, events found and lost, bytes) of each block; not the index."""
    data, at = Path(path).read_bytes(), 16
    while (b := Block(data, at, check=False)).codec != INDEX:
        yield b.stream, b.sequence, b.events + b.told(), data[at:b.end]
        at = b.end


class Sender:
    """Blocks of files, each as a run of its own, and where their streams end."""

    def __init__(self, device):
        self.device, self.ends = device, {}

    def send(self, run, block):
        stream, sequence, events, data = block
        next_, sum_ = self.ends.setdefault(run, {}).get(stream, (0, 0))
        if sequence >= next_:
            self.ends[run][stream] = sequence + 1, sum_ + events
        self.device.run(run)
        self.device.sent += 1
        self.device.send(fd.frame(fd.BLOCK, data))

    def end(self, run):
        self.device.run(run)
        self.device.end([(stream, *end) for stream, end in sorted(self.ends[run].items())])


def wait_ping(device):
    """Until the collector knows the clock: a run that is named from then on has it."""
    while not device.pings:
        device.take_any()


@functools.cache
def tid_of_sample():
    calls = json.loads(kiseki("check", "--json", SAMPLE)[0])["functions"]
    return calls["threads"][0]["tid"], calls["threads"][0]["from_ns"]


def make_sched(folder):
    """What the scheduler did to a thread of FILE.ksk: it was away for 100 us."""
    tid, from_ns = tid_of_sample()
    text, out = Path(folder) / "sched.txt", Path(folder) / "sched.ksk"
    first_us = from_ns // 1000 + 1

    def switch(us, prev, next_, state):
        return (f"            task-{prev:<7} [000] d..2. {us // 10**6:5}.{us % 10**6:06}: sched_switch: "
                f"prev_comm=task prev_pid={prev} prev_prio=120 prev_state={state} ==> "
                f"next_comm=task next_pid={next_} next_prio=120\n")

    text.write_text("# tracer: nop\n#\n" + switch(first_us - 500, 77, tid, "S") +
                    switch(first_us + 100, tid, 77, "S") + switch(first_us + 200, 77, tid, "S"))
    kiseki("convert", text, "-o", out)
    return str(out)


def report(name, *options, collector=None):
    """The report without the name of what was read."""
    out, err = kiseki("func", "report", name, "--json", "--limit", "0", *options,
                      collector=collector)
    document = json.loads(out)
    for key in ("file", "path", "input"):
        document.pop(key, None)
    return document, err


def tree(name, *options, collector=None):
    return kiseki("func", "tree", name, *options, collector=collector)[0].split("\n", 1)[1]


def start_board(c, runs=()):
    d = fd.Device(c.port, ident(1), runs=runs)
    welcome = d.come_in()
    return d, welcome


def check_store(data, runs):
    """`kiseki check` finds no damage, and these kinds of runs: (kind, events, threads)."""
    found = json.loads(kiseki("check", "--json", data)[0])
    assert found["ok"] and not found["damage"], found
    rows = sorted((r["kind"], r["events"], r["threads"]) for r in found["runs"])
    assert rows == sorted(runs), (rows, runs)


def scenario_report(data):
    """Two runs by turns; what is said of the calls is what is said of the file."""
    sched = list(file_blocks(make_sched(os.path.dirname(data))))
    calls = list(file_blocks(SAMPLE))
    n_calls = sum(b[2] for b in calls) - 5669  # of which so many are told as lost
    c = Collector(data)
    d, _ = start_board(c)
    wait_ping(d)
    s, a, b = Sender(d), ident(10), ident(11)
    for i in range(max(len(sched), len(calls))):
        for run, list_ in ((a, sched), (b, calls)):
            if i < len(list_):
                s.send(run, list_[i])
    s.send(b, calls[-1])  # again: it is dropped
    d.wait_acknowledged()
    device = get_json(c, "/api/v1/devices/board")
    runs = {tuple(r["kinds"]): r for r in get_json(c, "/api/v1/runs")["runs"]}
    sched_run, calls_run = runs["sched",]["run"], runs["func",]["run"]
    assert runs["func",]["threads"] == 3 and runs["sched",]["threads"] == 0, runs
    assert runs["func",]["events"] == n_calls and not runs["func",]["split"], runs
    s.end(a)
    s.end(b)
    d.wait_acknowledged()
    d.close()
    check_commands(c, data, sched_run, calls_run)
    check_http(c, sched_run, calls_run)
    c.stop()
    assert device["received"]["duplicates"] <= 1
    check_store(data, [("sched", 3, 0), ("func", n_calls, 3)])
    check_offline(data, sched_run, calls_run)
    print("report: of a run, of a device, of a store: as of the file")


def check_commands(c, data, sched_run, calls_run):
    want, _ = report(SAMPLE)
    for name in (calls_run, "board"):
        found, err = report(name, "--no-sched", collector=c)
        assert found == want, name
        assert "joined" not in err, err
    assert tree(calls_run, "--no-sched", collector=c) == tree(SAMPLE)
    kiseki("func", "export", "board", "--no-sched", "-f", "kft", "-o", f"{data}.found", collector=c)
    kiseki("func", "export", SAMPLE, "-f", "kft", "-o", f"{data}.want")
    assert Path(f"{data}.found").read_bytes() == Path(f"{data}.want").read_bytes()
    joined, err = report("board", collector=c)
    assert f"joined with run {sched_run}, the scheduler's of the same time" in err, err
    assert joined != want and joined["functions"] != want["functions"], "nothing was joined"
    assert f"{calls_run}  board   func of 3 threads" in kiseki("runs", collector=c)[0]
    assert "board" not in kiseki("runs", "--kind", "func", "board", "--limit", "1",
                                 collector=c)[1]
    _, err = kiseki("func", "report", sched_run, collector=c, code=1)
    assert f"run {sched_run} has no calls" in err, err
    _, err = kiseki("func", "report", "nobody", collector=c, code=1)
    assert "there is no such file, and of the collector:" in err, err
    ledger = json.loads(kiseki("ledger", "--json", calls_run, collector=c)[0])
    lost = [r for r in ledger["rows"] if r["count"] == 5669]
    assert lost and lost[0]["tid"] and lost[0]["cpu"] is None, ledger
    # 1.05 GHz: a tick is not a nanosecond.
    assert 2_000_000_000 < lost[0]["from_ns"] < 83_000_000_000 and lost[0]["from"], lost
    assert "thread " in kiseki("ledger", calls_run, collector=c)[0]


def check_http(c, sched_run, calls_run):
    one = get_json(c, f"/api/v1/runs/{calls_run}")
    assert one["processes"] == [{"pid": 4321, "command": "sample", "path": "/usr/bin/sample",
                                 "threads": 3}], one
    assert [r["run"] for r in get_json(c, "/api/v1/runs?kind=func")["runs"]] == [calls_run]
    assert [r["run"] for r in get_json(c, "/api/v1/devices/board/runs?kind=sched")["runs"]] == [
        sched_run]
    # What shows the scheduler takes its run, and shows nothing of the other.
    cpus = get_json(c, "/api/v1/devices/board/report/sched")["cpus"]
    assert [cpu["events"] for cpu in cpus] == [3], cpus
    assert get_json(c, f"/api/v1/runs/{calls_run}/report/sched")["cpus"] == []
    assert get_json(c, "/api/v1/devices/board/timeline?width=10")["run"] == sched_run
    assert "no events" in get(c, f"/api/v1/runs/{calls_run}/timeline", 404).decode()
    assert get_json(c, "/api/v1/devices/board/ledger")["run"] == sched_run
    assert get_json(c, "/api/v1/devices/board/ledger?kind=func")["run"] == calls_run
    kinds = {f["name"]: f["kinds"] for f in get_json(c, "/api/v1/formats")["formats"]}
    for name, of in kinds.items():
        get(c, f"/api/v1/runs/{calls_run}/export?format={name}", 200 if "func" in of else 400)
        if "sched" not in of and "func" in of:
            get(c, f"/api/v1/runs/{sched_run}/export?format={name}", 400)
            assert get(c, f"/api/v1/devices/board/export?format={name}")
    assert kinds["ksk"] == ["sched", "func", "boot", "profile", "vm"], kinds
    assert kinds["folded"] == ["func", "profile", "vm"] and kinds["kft"] == ["func"], kinds
    assert b"sample+0x400" in get(c, f"/api/v1/runs/{calls_run}/export?format=folded")
    for senseless in ("cpu=0", "codec=bsf", "from=-5m", "kind=other"):
        get(c, f"/api/v1/runs/{calls_run}/export?{senseless}", 400)
    metrics = get(c, "/metrics").decode()
    assert "\nkiseki_func_events_total 5131\n" in metrics, metrics
    assert 'kiseki_device_received_func_events_total{device="board"' in metrics


def check_offline(data, sched_run, calls_run):
    want, _ = report(SAMPLE)
    found, _ = report(data, "--no-sched")
    assert found == want, "of a store"
    found, err = report(data, "--run", calls_run)
    assert f"joined with run {sched_run}" in err, err
    assert found["functions"] != want["functions"], "nothing was joined"
    _, err = kiseki("func", "report", data, "--run", sched_run, code=1)
    assert "that run has no calls" in err, err
    assert " func " in kiseki("info", data)[0]


def scenario_kill(data):
    """Many threads, and a collector that is killed now and then: each block is stored once."""
    c = Collector(data)
    run, threads, blocks, rounds = ident(20), 40, 12, 6
    order = [(stream, n) for n in range(blocks)
             for stream in [0, *range(FUNC, FUNC + 2 * threads)]]
    random.seed(7)
    sent = 0
    for round_ in range(rounds):
        d, welcome = start_board(c, [run])
        has = {stream: n for _, stream, n in welcome["rows"]}
        d.run(run)
        until = len(order) if round_ == rounds - 1 else len(order) * (round_ + 1) // rounds
        # What WELCOME has is forgotten; of the rest some comes again, as of a device that was killed.
        for stream, n in order[:until]:
            if n >= has.get(stream, 0) or random.random() < 0.1:
                put_token(d, stream, n)
                sent += 1
        if round_ < rounds - 1:
            d.wait_acknowledged(d.acknowledged + random.randrange(1, 100))
            c.kill()
            d.close()
            c.again()
    d.end([(stream, blocks, blocks * 5 if stream else 0)
           for stream in [0, *range(FUNC, FUNC + 2 * threads)]])
    d.end([(FUNC, blocks, blocks * 5)])  # again: a duplicate, whatever it says
    d.wait_acknowledged()
    d.close()
    c.stop()
    tokens = stored(data)
    assert len(tokens) == len(order) and set(tokens.values()) == {1}, (len(tokens), len(order))
    check_store(data, [("func", 2 * threads * blocks * 5, threads)])
    print(f"kill: {len(order)} blocks of {threads} threads, {sent} were sent over {rounds} connections")


def put_token(d, stream, n):
    if stream:
        d.block(stream, n, before=n * 5, events=5, codec=FUNC_CODEC, first_tick=1000 + n,
                payload=token(stream, n))
    else:
        d.block(0, n, before=0, codec=0, payload=b"\x63" + fd.varint(len(token(0, n))) + token(0, n))


def scenario_lost(data):
    """What the device gave up is in the ledger, by thread; END tells the rest."""
    c = Collector(data)
    d, _ = start_board(c)
    d.run(ident(30))
    put_token(d, FUNC, 0)
    put_token(d, FUNC, 3)  # two blocks are gone
    d.block(FUNC + 1, 0, before=4, events=1, codec=FUNC_CODEC, lost={1: 4}, payload=b"x")
    d.end([(FUNC, 6, 30), (FUNC + 1, 1, 5), (FUNC + 4, 2, 7)])
    d.wait_acknowledged()
    ledger = json.loads(kiseki("ledger", "--json", "1", collector=c)[0])
    assert ledger["lost"] == {"ring": 0, "buffer": 4, "spool": 10 + 10 + 7, "damage": 0, "store": 0}
    assert ledger["ended"] and ledger["events"] == 11, ledger
    d.close()
    c.stop()
    check_store(data, [("func", 11, 2 + 1 - 1)])


def scenario_hostile(data):
    """Streams that there are not, and more than a run can have; nothing of it is stored."""
    c = Collector(data)

    def refused(text, *frames):
        d, _ = start_board(c)
        d.run(ident(40))
        try:
            for frame in frames:
                d.sent += 1
                d.send(frame)
        except fd.Closed as e:
            d.bye = e.bye
        bye = d.bye or d.wait_bye()
        assert bye and bye[0] == 1 and text in bye[1], (text, bye)
        d.close()

    def block(stream, n=0, **more):
        more = {"before": n * 5, "events": 5, "codec": FUNC_CODEC, **more}
        return fd.frame(fd.BLOCK, fd.block(stream, n, **more))

    refused("stream 65535", block(65535))
    refused("stream 2162688", block(FUNC + 2 * (1 << 20)))
    refused("stream 4294967295", block(2**32 - 1))
    refused("END is cut", fd.end([(65535, 1, 1)]))
    refused("before it", block(FUNC + 3, 0), block(FUNC + 3, 1, before=4))
    refused("has more already", fd.end([(FUNC + 3, 0, 1)]))
    everything = [block(FUNC + i) for i in range(STREAMS_MOST + 1)]
    refused(f"the run has {STREAMS_MOST} others", *everything)
    refused(f"the run has {STREAMS_MOST} others", fd.end([(FUNC + 60000, 1, 1)]))
    # It still goes on with what it has, and WELCOME has as many rows as there may be.
    d, welcome = start_board(c, [ident(40)])
    while len(welcome["rows"]) < 4097:  # what is not durable yet is not said
        d.close()
        d, welcome = start_board(c, [ident(40)])
    assert len(welcome["rows"]) == 4097, len(welcome["rows"])
    d.run(ident(40))
    put_token(d, FUNC, 1)
    d.wait_acknowledged()
    d.close()
    c.stop()
    check_store(data, [("func", STREAMS_MOST * 5 + 5, STREAMS_MOST // 2)])


def scenario_switch(data):
    """On and off: a device that is there, one that is away, a process, a record."""
    c = Collector(data)
    d, _ = start_board(c)
    told = subprocess.Popen([KISEKI, "func", "split", "board", "--server",
                             f"http://127.0.0.1:{c.http_port}"], stdout=subprocess.PIPE, text=True)
    while not d.instructions:
        d.take_any()
    assert told.communicate()[0] == "board: split\n" and told.returncode == 0
    assert d.instructions[0]["verb"] == 3 and d.instructions[0]["items"] == {ITEM_FUNC: b"\2"}
    assert get_json(c, "/api/v1/devices/board")["config"] == {"func": "split"}
    d.close()
    c.wait_log("connection lost")
    out, _ = kiseki("func", "off", "boa*", collector=c)
    assert out == "board: is away; it will be off when it comes back\n", out
    kiseki("start", "board", "--ring", "1M", collector=c)
    c.stop()
    c.again()
    d, _ = start_board(c)
    while len(d.instructions) < 2:
        d.take_any()
    start, func = d.instructions
    assert start["verb"] == 1 and ITEM_FUNC not in start["items"], start
    assert func["verb"] == 3 and func["items"] == {ITEM_FUNC: b"\0"}, func
    _, err = kiseki("func", "on", "nobody", collector=c, code=1)
    assert "cannot switch nobody: there is no such device" in err, err
    d.close()
    c.stop()
    switch_local(os.path.dirname(data))


def switch_local(folder):
    """This process has a record mapped, as one with the library has."""
    path = os.path.join(folder, f"python.{os.getpid()}")
    head = bytearray(4096)
    head[:12] = b"KSKFUNC\n" + struct.pack("<I", 1)
    struct.pack_into("<I", head, RECORD_PID, os.getpid())
    Path(path).write_bytes(head)
    with open(path, "r+b") as f:
        record = mmap.mmap(f.fileno(), 4096)
    assert kiseki("func", "on", os.getpid())[0] == f"{os.getpid()}: on\n"
    assert record[RECORD_ON:RECORD_ON + 4] == b"\1\0\0\0"
    assert kiseki("func", "off", path)[0] == f"{path}: off\n"
    assert record[RECORD_ON:RECORD_ON + 4] == b"\0\0\0\0"
    results = json.loads(kiseki("func", "on", "--json", path, "/dev/null", code=1)[0])["results"]
    assert [r["ok"] for r in results] == [True, False], results
    assert record[RECORD_ON] == 1
    _, err = kiseki("func", "split", os.getpid(), code=1)
    assert "only an agent records that" in err, err
    _, err = kiseki("func", "on", os.getppid(), code=1)
    assert "it has no record of calls" in err, err
    _, err = kiseki("func", "on", 4194304999, code=1)
    assert "there is none" in err, err
    kiseki("func", "on", code=2)


def main():
    scenario = globals()["scenario_" + sys.argv[2]]
    with tempfile.TemporaryDirectory(prefix="kiseki-func-collector-") as data:
        scenario(os.path.join(data, "store"))


if __name__ == "__main__":
    main()

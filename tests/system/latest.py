#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""latest: which run a device's name means, where the run with the highest number is not the one that goes on.

	latest.py KISEKI KSK_RANDOM

A device sends run A; another connection of it sends run B and goes; then the device goes on with A. What asks by the
device's name must mean A again: lists, ledger, reports, exports, events, and the live stream, which goes over by itself.
Then A falls silent and a recorder beside it sends run C to its end: A is still what the device sends. When the device is
gone, the run with the latest end is meant, before and after a restart of the collector.
"""
import http.client
import json
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))
import fake_device as fd  # noqa: E402
from http_live import Watcher, blocks  # noqa: E402
from protocol import BLOCK, frame, varint  # noqa: E402
from served import KISEKI, WAIT_S, Collector, ident  # noqa: E402

NAME = "board"
A, B, C = ident(0xA1), ident(0xB2), ident(0xC3)
OF_DEVICE = ("ledger", "report/sched", "report/latency", "events", "export?format=ndjson")


class Recorder(fd.Device):
    """Comes beside the device's agent."""

    def come_in(self, **options):
        data = fd.hello(self.device, self.boot, self.name, self.runs, **options)
        body = data[1:]
        size, at = 0, 0
        while True:
            size |= (body[at] & 0x7F) << 7 * at
            at += 1
            if body[at - 1] < 0x80:
                break
        self.send(frame(fd.HELLO, body[at:] + varint(1)))
        return fd.decode_welcome(self.wait_for(fd.WELCOME))


def get(collector, path):
    c = http.client.HTTPConnection("127.0.0.1", collector.http_port, timeout=WAIT_S)
    c.request("GET", f"/api/v1/{path}")
    answer = c.getresponse()
    body = answer.read()
    assert answer.status == 200, (path, answer.status, body[:200])
    return body


def wait(what, ready):
    deadline = time.monotonic() + WAIT_S
    while not (found := ready()):
        assert time.monotonic() < deadline, f"never: {what}"
        time.sleep(0.05)
    return found


def put(device, todo):
    for _, _, _, data in todo:
        device.sent += 1
        device.send(frame(BLOCK, data))
    device.wait_acknowledged()


def ends(todo):
    rows = {}
    for stream, sequence, events, _ in todo:
        rows[stream] = (stream, sequence + 1, rows.get(stream, (0, 0, 0))[2] + events)
    return sorted(rows.values())


def numbers(collector):
    """{what the run is called here: its number}"""
    names = {A.hex(): "A", B.hex(): "B", C.hex(): "C"}
    return {names[r["id"]]: r["run"] for r in json.loads(get(collector, f"devices/{NAME}/runs"))["runs"]}


def check_meant(collector, name, run):
    """All that answers for the device answers for this run."""
    for path in ("runs", f"devices/{NAME}/runs", "runs?kind=sched"):
        rows = json.loads(get(collector, path))["runs"]
        assert rows[0]["run"] == run, f"{path}: the first is {rows[0]['run']}, not {name}, run {run}"
    for path in OF_DEVICE:
        of_device, of_run = (get(collector, f"{x}/{path}") for x in (f"devices/{NAME}", f"runs/{run}"))
        if path == "ledger":  # of a device it is that of all its runs
            of_device, of_run = ({**json.loads(x), "uncovered": None} for x in (of_device, of_run))
        assert of_device == of_run, f"devices/{NAME}/{path} is not that of {name}, run {run}: {of_device[:300]} {of_run[:300]}"
    said = subprocess.run([KISEKI, "ledger", NAME, "--server", f"http://127.0.0.1:{collector.http_port}"],
                          stdout=subprocess.PIPE, text=True, check=True).stdout
    assert re.match(rf"run {run}\b", said), f"kiseki ledger: {said!r}, not of {name}, run {run}"


def send_runs(collector, parts):
    """Returns the device as it is connected in the end, and who watched it."""
    first, second = parts["A"][:len(parts["A"]) // 2], parts["A"][len(parts["A"]) // 2:]
    device = fd.Device(collector.port, b"D" * 16, name=NAME, runs=[A])
    device.come_in()
    device.run(A)
    put(device, first)
    watcher = Watcher(collector.http_port, f"/api/v1/devices/{NAME}/live?rate=100000")
    run = numbers(collector)["A"]
    watcher.wait("run A", lambda: watcher.runs == [run])
    check_meant(collector, "A", run)

    device.close()
    other = fd.Device(collector.port, b"D" * 16, name=NAME, runs=[B])
    other.come_in()
    other.run(B)
    put(other, parts["B"])
    runs = numbers(collector)
    assert runs["B"] > runs["A"], runs
    watcher.wait("run B", lambda: watcher.runs == [runs["A"], runs["B"]])
    other.close()

    device = fd.Device(collector.port, b"D" * 16, name=NAME, runs=[A])
    device.come_in()
    device.run(A)
    put(device, second[:-8])
    watcher.wait("run A again", lambda: watcher.runs == [runs["A"], runs["B"], runs["A"]])
    check_meant(collector, "A", runs["A"])
    seen = len(watcher.lines)
    put(device, second[-8:])
    watcher.wait("events of run A", lambda: len(watcher.lines) > seen)
    return device, watcher


def scenario(work, tool):
    parts = {}
    for name, events in (("A", 3000), ("B", 900), ("C", 600)):
        subprocess.run([tool, work / f"{name}.ksk", str(events), "4096"], check=True)
        parts[name] = list(blocks(work / f"{name}.ksk"))
    collector = Collector(work / "data")
    device, watcher = send_runs(collector, parts)

    recorder = Recorder(collector.port, b"D" * 16, name=NAME, runs=[C])
    recorder.come_in()
    recorder.run(C)
    put(recorder, parts["C"])
    recorder.end(ends(parts["C"]))
    recorder.wait_acknowledged()
    recorder.close()
    runs = numbers(collector)
    last = {r["run"]: r["last"] for r in json.loads(get(collector, "runs"))["runs"]}
    assert last[runs["C"]] > last[runs["A"]], "run C has not ended behind the last block of A: this shows nothing"
    check_meant(collector, "A", runs["A"])

    device.close()
    wait("the device is gone", lambda: not json.loads(get(collector, f"devices/{NAME}"))["online"])
    check_meant(collector, "C", runs["C"])
    watcher.wait("run C", lambda: watcher.runs[-1] == runs["C"])
    collector.stop()
    collector.again()
    check_meant(collector, "C", runs["C"])
    collector.stop()


def main():
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        scenario(Path(folder), sys.argv[2])


main()

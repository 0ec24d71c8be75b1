#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""http_live: a device that sends the blocks of a .ksk file, and clients that watch it live.

    http_live.py DEVICE_PORT HTTP_PORT FILE.ksk

Every event of the file must reach a client that takes all, as the line of the ndjson export; a slow
one must be told how many it was spared. The device is fake_device.py's. Prints how long after its
acknowledgement the last event of a batch reached the client.
"""
import http.client
import json
import sys
import threading
import time

from fake_device import Device, status
from ksk_decode import INDEX, Block
from protocol import BLOCK, frame

NAME = "live-board"
BATCH = 16  # blocks


def blocks(path):
    """(stream, sequence, events found and lost, bytes) of each block; not the index."""
    data, at = open(path, "rb").read(), 16
    while (b := Block(data, at, check=False)).codec != INDEX:
        yield b.stream, b.sequence, b.events + b.told(), data[at:b.end]
        at = b.end


class Watcher(threading.Thread):
    """Reads a stream of server-sent events to its end."""

    def __init__(self, port, path):
        super().__init__(daemon=True)
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        self.connection.request("GET", path)
        self.answer = self.connection.getresponse()
        assert self.answer.status == 200, self.answer.status
        self.changed = threading.Condition()
        self.states, self.runs, self.lines, self.left_out = [], [], [], 0
        self.last = 0
        self.start()

    def run(self):
        name, data = None, []
        for line in self.answer:
            line = line.decode().rstrip("\n")
            if line.startswith("event: "):
                name = line[7:]
            elif line.startswith("data: "):
                data.append(line[6:])
            elif not line and name:
                with self.changed:
                    self.take(name, data)
                    self.changed.notify_all()
                name, data = None, []

    def take(self, name, data):
        if name == "state":
            self.states.append(json.loads(data[0]))
        elif name == "run":
            self.runs.append(json.loads(data[0])["run"])
        elif name == "events":
            self.lines += data
            self.last = time.monotonic()
        elif name == "left_out":
            self.left_out += json.loads(data[0])["items"]

    def wait(self, what, ready):
        with self.changed:
            assert self.changed.wait_for(ready, 30), f"no {what}: {len(self.lines)} events, " \
                f"{self.left_out} left out, {len(self.states)} states"


def post(port, path):
    c = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    c.request("POST", path, body="{}")
    return json.loads(c.getresponse().read())


def instruct(device, port):
    """The HTTP thread waits for the device, which must meanwhile answer."""
    answers = []
    t = threading.Thread(target=lambda: answers.append(post(port, f"/api/v1/devices/{NAME}/start")))
    t.start()
    while t.is_alive():
        try:
            device.take(0.2)
        except TimeoutError:
            pass
    t.join()
    assert answers[0]["ok"] and not answers[0]["deferred"], answers


def unnamed(line):
    """An export knows the names of all its time, the live view only those until now."""
    item = json.loads(line)
    item.pop("common_comm", None)
    return json.dumps(item)


def main():
    device_port, port, path = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    device = Device(device_port, b"L" * 16, name=NAME, runs=[b"R" * 16])
    device.come_in()
    everything = Watcher(port, f"/api/v1/devices/{NAME}/live?rate=100000")
    little = Watcher(port, f"/api/v1/devices/{NAME}/live?rate=1")
    all_states = Watcher(port, "/api/v1/live")
    for w in (everything, little, all_states):
        w.wait("state", lambda w=w: any(s["name"] == NAME for s in w.states))
    device.send(status())
    instruct(device, port)
    device.run(b"R" * 16)
    ends, delays = {}, []
    todo = list(blocks(path))
    while todo:
        before = everything.last
        for stream, sequence, events, data in todo[:BATCH]:
            device.sent += 1
            device.send(frame(BLOCK, data))
            ends[stream] = (stream, sequence + 1, ends.get(stream, (0, 0, 0))[2] + events)
        todo = todo[BATCH:]
        device.wait_acknowledged()
        done = time.monotonic()
        time.sleep(0.05)
        if everything.last > max(before, done):
            delays.append(everything.last - done)
    device.end(sorted(ends.values()))
    device.wait_acknowledged()
    run = everything.runs[0]
    c = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    c.request("GET", f"/api/v1/runs/{run}/export?format=ndjson")
    want = [line for line in c.getresponse().read().decode().split("\n")[:-1]
            if json.loads(line)["kind"] not in ("trace", "task", "totals")]
    everything.wait("all events", lambda: len(everything.lines) >= len(want))
    assert sorted(map(unnamed, everything.lines)) == sorted(map(unnamed, want)), \
        "the live events are not those of the export"
    assert any('"common_comm"' in line for line in everything.lines), "live events name nobody"
    assert not everything.left_out
    little.wait("all counts", lambda: len(little.lines) + little.left_out >= len(want))
    assert len(little.lines) + little.left_out == len(want) and little.left_out
    device.close()
    all_states.wait("state of a device that has gone",
                    lambda: any(s["name"] == NAME and not s["online"] for s in all_states.states))
    worst = max(delays, default=0)
    print(f"{len(want)} events live, the slowest {worst * 1000:.0f} ms after its acknowledgement")


if __name__ == "__main__":
    main()

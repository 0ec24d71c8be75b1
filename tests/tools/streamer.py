# SPDX-License-Identifier: MIT
"""streamer: a good device for tests of the collector, and a look at what became of its blocks."""
import json
import subprocess
import threading
import time

import fake_device as fd
from served import KISEKI, WAIT_S, ident, place, token


def check(data, events):
    """`kiseki check` finds no damage, no loss, and as many events of each device as it sent."""
    run = subprocess.run([KISEKI, "check", "--json", place(data)], stdout=subprocess.PIPE, text=True)
    assert run.returncode == 0, run.stdout
    runs = json.loads(run.stdout)["runs"]
    assert {r["name"]: r["events"] for r in runs} == events, (runs, events)
    assert not any(sum(r["lost"].values()) for r in runs), runs


class Streamer(threading.Thread):
    """A good device that sends block after block and keeps what is not acknowledged, over any
    number of breaks."""

    def __init__(self, collector, number, blocks=None):
        super().__init__()
        self.collector, self.number, self.blocks = collector, number, blocks
        self.run_id = ident(1000 + number)
        self.stopping = threading.Event()
        self.next = self.kept_from = 0  # of the sequences
        self.breaks = 0
        self.failure = None
        self.start()

    def run(self):
        try:
            while not self.is_done():
                try:
                    self.serve_once()
                except (fd.Closed, OSError):
                    self.breaks += 1
                    time.sleep(0.005)
        except Exception as e:  # an assertion in a thread must not pass unseen
            self.failure = e

    def is_done(self):
        wanted = self.stopping.is_set() if self.blocks is None else self.next >= self.blocks
        return wanted and self.kept_from == self.next

    def serve_once(self):
        device = fd.Device(self.collector.port, ident(self.number), name=f"good-{self.number}",
                           runs=[self.run_id])
        try:
            welcome = device.come_in()
            has = {stream: n for _, stream, n in welcome["rows"]}.get(1, 0)
            assert has >= self.kept_from, f"{self.kept_from} were acknowledged, {has} are there"
            assert has <= self.next
            first = self.kept_from = has
            device.run(self.run_id)
            for sequence in range(has, self.next):
                self.send(device, sequence)
            while not self.is_done():
                if not self.stopping.is_set() and (self.blocks is None or self.next < self.blocks):
                    self.next += 1
                    self.send(device, self.next - 1)
                while device.sent - device.acknowledged > 20 or \
                        (self.is_stopped() and device.acknowledged < device.sent):
                    device.take()
                self.kept_from = first + device.acknowledged
        finally:
            device.close()

    def is_stopped(self):
        return self.stopping.is_set() or (self.blocks is not None and self.next >= self.blocks)

    def send(self, device, sequence):
        device.block(1, sequence, before=sequence * 5, events=5,
                     payload=token(self.number, sequence) + bytes(200))

    def wait_sent(self, n):
        """However slow the machine is: until it has sent more than n blocks."""
        deadline = time.monotonic() + WAIT_S
        while self.next <= n and self.is_alive():
            assert time.monotonic() < deadline, f"only {self.next} blocks"
            time.sleep(0.01)

    def finish(self):
        self.stopping.set()
        self.join(WAIT_S)
        assert not self.is_alive(), "it hangs"
        if self.failure:
            raise self.failure
        return self.next

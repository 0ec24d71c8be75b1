#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""restart: a collector that was started again answers as before.

	restart.py KISEKI FILL_STORE SAMPLE_MAKE BOOT_MAKE

Devices send recordings of all kinds, over the wire. Each stays connected after the END of its run, and its clock becomes
known better then: the answers to PINGs take long before END and come at once afterwards. Then all questions that
tests/fault/answers.py asks are asked of this collector, of one that was stopped and started again, and of one that
was killed; each answer is the same, byte for byte.
"""
import json
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path
from types import SimpleNamespace

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "tools"), str(TESTS / "fault")]
import answers  # noqa: E402
import fake_device as fd  # noqa: E402
from ksk_decode import File  # noqa: E402
from served import WAIT_S, Collector, ident  # noqa: E402

LAG_S = 0.1  # of an answer to a PING, as if the network were slow
INDEX = 15
DEVICE = "/api/v1/devices/sim-0"
# What a device says of itself while it is connected.
OF_CONNECTION = {"run", "func_run", "session", "address", "sources", "received", "status", "clock"}


class Sender(fd.Device):
    """A device with one recording."""

    lag_s = LAG_S

    def deal_with(self, kind, body):
        if kind == fd.PING:
            time.sleep(self.lag_s)
        return super().deal_with(kind, body)

    def send_file(self, data):
        """All blocks of a .ksk file; the rows of its END."""
        seen, rows = {}, {}
        for b in File(data).blocks:
            if b.codec == INDEX or b.payload is None:
                continue
            before = b.before if b.key else seen.get(b.stream, 0) + b.told()
            seen[b.stream] = before + b.events
            rows[b.stream] = b.stream, b.sequence + 1, seen[b.stream]
            self.sent += 1
            self.send(fd.frame(fd.BLOCK, data[b.at:b.end]))
        return sorted(rows.values())

    def wait_pings(self, n):
        wanted = self.pings + n
        while self.pings < wanted:
            self.take_any()


def send_all(collector, files):
    devices = []
    for i, file in enumerate(files):
        device = Sender(collector.port, ident(i + 1), name=f"sim-{i}")
        device.come_in()
        device.run(ident(100 + i))
        rows = device.send_file(file.read_bytes())
        device.wait_pings(1)
        device.end(rows)
        device.wait_acknowledged()
        devices.append(device)
    for device in devices:
        device.lag_s = 0
        device.wait_pings(5)
    return devices


def ask(collector, path):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{collector.http_port}{path}", timeout=WAIT_S) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as refused:
        return refused.code, refused.read()


def take_lasting(path, answer):
    """What of an answer is not about a connection."""
    if path != DEVICE:
        return answer
    return {key: value for key, value in json.loads(answer).items() if key not in OF_CONNECTION}


def ask_all(collector):
    """Once all is worked out: when nothing has changed for a while."""
    end, last = time.monotonic() + WAIT_S, None
    while True:
        found, bad = {}, []
        for path in answers.PATHS:
            status, answer = ask(collector, path)
            found[path] = take_lasting(path, answer) if status == 200 else None
            bad += [f"{path}: {status}"] * (status != 200)
        if found == last and not bad:
            return found
        assert time.monotonic() < end, f"it never comes to rest: {bad or [p for p in found if found[p] != last[p]]}"
        last = found
        time.sleep(1)


def compare(how, before, after):
    changed = [path for path in before if before[path] != after[path]]
    for path in changed:
        print(f"{path}\n  before {before[path]}\n  after  {after[path]}"[:4000])
    assert not changed, f"a collector that was {how} answers {len(changed)} of {len(before)} questions otherwise: {changed}"
    print(f"{how}: {len(before)} answers are the same")


def main():
    tools = SimpleNamespace(source=TESTS.parent, kiseki=sys.argv[1], fill_store=sys.argv[2], sample_make=sys.argv[3], boot_make=sys.argv[4])
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        collector = Collector(work / "data")
        devices = send_all(collector, answers.make_recordings(tools, work))
        for device in devices:
            device.close()
        before = ask_all(collector)
        collector.stop()
        collector.again()
        compare("stopped", before, ask_all(collector))
        collector.kill()
        collector.again()
        compare("killed", before, ask_all(collector))
        collector.stop()


main()

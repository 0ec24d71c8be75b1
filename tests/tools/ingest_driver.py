#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""ingest_driver: scenarios of tests/system/ingest.sh: fake devices against a real `kiseki serve`.

	ingest_driver.py KISEKI SCENARIO

Each scenario has a folder and a collector of its own, and fails by an exception.
"""
import json
import os
import random
import re
import resource
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

import fake_device as fd
from served import KISEKI, WAIT_S, Collector, ident, stored, token
from streamer import Streamer, check

ESTABLISHED = "01"  # in /proc/net/tcp
VECTORS = Path(__file__).resolve().parent.parent / "vectors"


def wait_read(collector, device):
    """Until nothing of what the device sent waits in the collector's socket any more. The kernel's table changes while it is read: a
    connection may be in it twice, or not at all."""
    ends = f":{collector.port:04X}", f":{device.socket.getsockname()[1]:04X}"
    deadline = time.monotonic() + WAIT_S
    while True:
        rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
        waiting = [row[4].split(":")[1] for row in rows if (row[1][8:], row[2][8:]) == ends and row[3] == ESTABLISHED]
        if waiting and not any(int(x, 16) for x in waiting):
            return
        assert time.monotonic() < deadline
        time.sleep(0.01)


def scenario_vectors(_data):
    """The frames of the specification, taken apart and put together again by the other side."""
    frames = [bytes.fromhex("".join(line.split("#")[0] for line in part.split("\n")))
              for part in (VECTORS / "message.hex").read_text().split("\n\n")]
    by_type = {}
    for data in frames:
        kind, body, rest = fd.split_frame(data)
        assert rest == b"", kind
        assert fd.frame(kind, body) == data
        by_type.setdefault(kind, []).append(body)
    assert sorted(by_type) == list(range(2, 15))
    ids = [bytes(range(n, n + 16)) for n in (0x10, 0x20, 0x30, 0x40)]
    assert fd.hello(ids[0], ids[1], runs=ids[2:]) == frames[0]
    assert fd.decode_welcome(by_type[fd.WELCOME][0]) == {
        "version": 1, "session": 5, "realtime_ns": 1763200000000000000, "window": 4194304,
        "rows": [(0, 0, 1), (0, 2, 300), (1, 4096, 7)]}
    assert fd.end([(0, 1, 0), (2, 300, 123456)]) == fd.frame(fd.END, by_type[fd.END][0])
    start, stop, pace = map(fd.decode_instruction, by_type[fd.INSTRUCTION])
    assert start["verb"] == 1 and start["items"][8] == fd.varints(1, 4194304)
    assert start["items"][10] == b"system.slice\0a/b\0"
    assert stop == {"id": 2, "verb": 2, "items": {}}
    assert pace["verb"] == 3 and pace["items"][14] == fd.varints(499) and pace["items"][16] == fd.varints(10000, 60000)


def scenario_resume(data):
    """Blocks, ACKs, a break, what WELCOME wants next, duplicates, a gap, and an END."""
    c = Collector(data)
    run = ident(77)
    d = fd.Device(c.port, ident(1), runs=[run])
    assert d.come_in()["rows"] == []
    d.run(run)
    d.block(0, 0, before=0, codec=0, payload=b"\x63" + fd.varint(len(token(1, 900))) + token(1, 900))
    for n in range(50):
        d.block(1, n, before=n * 5, events=5, payload=token(1, n))
    d.send(fd.status(events=250))
    d.wait_acknowledged()
    assert d.acknowledged == 51 and d.pings >= 1
    d.close()
    c.wait_log(r"board \(session 1.*connection lost")

    d = fd.Device(c.port, ident(1), runs=[ident(78), run])
    assert d.come_in()["rows"] == [(1, 0, 1), (1, 1, 50)]
    d.run(run)
    for n in range(45, 55):  # five of them again
        d.block(1, n, before=n * 5, events=5, payload=token(1, n))
    d.block(1, 60, before=60 * 5, events=5, payload=token(1, 60))  # the device gave up five
    d.end([(0, 1, 0), (1, 61, 61 * 5)])
    d.wait_acknowledged()
    assert d.acknowledged == 12
    d.close()
    c.stop()
    tokens = stored(data)
    for n in [*range(55), 60, 900]:
        assert tokens.get(token(1, n)) == 1, (n, tokens.get(token(1, n)))

    c.again()  # what it knows of the run is in the log
    d = fd.Device(c.port, ident(1), runs=[run])
    assert d.come_in()["rows"] == [(0, 0, 1), (0, 1, 61)]
    d.close()
    c.stop()


def refused(device):
    """The BYE that its HELLO is answered with; None: it was let in."""
    try:
        device.welcome = device.come_in()
    except fd.Closed as e:
        return e.bye
    return None


def scenario_takeover(data):
    """One connection per device: the one that answers; two devices of one name are two."""
    c = Collector(data)
    first = fd.Device(c.port, ident(1))
    first.come_in()
    first.run(ident(5))
    first.block(1, 0, before=0, events=1, payload=token(1, 0))
    first.wait_acknowledged()

    # The first one answers, so it stays, however often the second one comes.
    said = set()
    end = time.monotonic() + 4
    while time.monotonic() < end:
        code, text = refused(fd.Device(c.port, ident(1), boot=b"c" * 16))
        assert code == 3, (code, text)
        said.add(text)
        first.pings = 0
        while not first.pings:
            first.take_any()
    here = "%s:%d" % first.socket.getsockname()
    assert len(said) == 1 and re.fullmatch(
        rf"board is connected since \d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d UTC from {re.escape(here)}; an agent beside it needs "
        r"another --name, a machine that is a copy another device-id", said.pop())
    first.run(ident(5))
    first.block(1, 1, before=1, events=1, payload=token(1, 1))
    first.wait_acknowledged()

    # It does not answer any more, as one that lost power: then the second one is let in, soon.
    start = time.monotonic()
    while refused(second := fd.Device(c.port, ident(1), runs=[ident(5)])):
        time.sleep(0.1)
        assert time.monotonic() < start + 60
    assert time.monotonic() - start >= 2
    assert second.welcome["rows"] == [(0, 1, 2)]
    assert first.wait_bye() == (3, "another connection has taken this device's place")

    # It closed: there is nobody to ask.
    second.close()
    second = fd.Device(c.port, ident(1), runs=[ident(5)])
    assert second.come_in()["rows"] == [(0, 1, 2)]
    namesake = fd.Device(c.port, ident(2))
    namesake.come_in()
    c.wait_log(r"^kiseki: board-2 \(session \d+, 127.0.0.1:\d+\): connected")
    second.run(ident(5))
    second.block(1, 2, before=2, events=1, payload=token(1, 2))
    second.wait_acknowledged()
    c.stop()
    assert second.wait_bye() == (0, "the collector ends")
    assert namesake.wait_bye() == (0, "the collector ends")


def in_run(port, number):
    d = fd.Device(port, ident(number), name=f"bad-{number}")
    d.come_in()
    d.run(ident(2000 + number))
    return d


def bad_peers(port):
    """(what it does, the BYE's code and part of its text)"""
    def stranger(data):
        d = fd.Device(port, ident(99))
        d.send(data)
        return d

    def with_run(*data):
        d = in_run(port, 500 + random.randrange(10**6))
        for bytes_ in data:
            d.send(bytes_)
        return d

    def damaged():
        bytes_ = bytearray(fd.frame(fd.BLOCK, fd.block(1, 0, before=0, events=1, payload=b"x" * 50)))
        bytes_[-1] ^= 1
        return bytes(bytes_)

    def block(*args, **kwargs):
        return fd.frame(fd.BLOCK, fd.block(*args, **kwargs))

    def meta(payload):
        return block(0, 0, before=0, codec=0, payload=payload)

    me = ident(99), b"b" * 16
    without_run = fd.Device(port, ident(98), name="no-run")
    without_run.come_in()
    without_run.send(block(1, 0, before=0))
    return [
        ("noise", stranger(bytes(range(200, 256)) * 50), 1, "not HELLO"),
        ("a browser", stranger(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"), 1, "type 71, not HELLO"),
        ("TLS", stranger(b"\x16\x03\x01\x02\x00\x01" + bytes(500)), 1, "not HELLO"),
        ("a large HELLO", stranger(b"\x02" + fd.varint(1 << 20)), 1, "HELLO of"),
        ("a cut HELLO", stranger(fd.frame(fd.HELLO, b"\x01" + bytes(20))), 1,
         "HELLO: boot at offset 17 is cut short"),
        ("version 0", stranger(fd.hello(*me, version=0)), 2, "version 0"),
        ("an oversized length", with_run(b"\x01" + fd.varint((1 << 20) + 113)), 1, "out of bounds"),
        ("an endless length", with_run(b"\x01" + b"\xff" * 10), 1, "out of bounds"),
        ("zeros", with_run(bytes(1000)), 1, "out of bounds"),
        ("a second HELLO", with_run(fd.hello(*me)), 1, "second HELLO"),
        ("a BLOCK without a RUN", without_run, 1, "before any RUN"),
        ("an ACK of a device", with_run(fd.frame(fd.ACK, b"\x05")), 1, "only a collector"),
        ("a wrong checksum", with_run(damaged()), 1, "checksum"),
        ("a block cut short", with_run(fd.frame(fd.BLOCK, fd.block(1, 0, before=0, payload=b"abc")[:-1])),
         1, "no whole block"),
        ("stream 5000", with_run(block(5000, 0, before=0)), 1, "stream 5000"),
        ("a falling count", with_run(block(1, 0, before=1000, events=5), block(1, 1, before=50)), 1, ""),
        ("an END below", with_run(block(1, 0, before=1000, events=5), fd.end([(1, 1, 10)])), 1, ""),
        ("a clock that is cut short", with_run(meta(b"\x01\x01x" + b"\x06\x03" + fd.varints(1, 0, 5))), 1,
         "item 6 (clock) at offset 3 of the description is not understood"),
        ("an item that is cut short", with_run(meta(b"\x01\x01x" + b"\x63\x50abc")), 1,
         "the item at offset 3 of the description is cut short"),
        ("a PONG to nothing", with_run(fd.frame(fd.PONG, fd.varints(99, 1, 1, 1))), 1, "PONG"),
    ]


def scenario_bad_peers(data):
    """Each gets a BYE that says why, and so does the log; a good device beside them goes on; one
    that sends a byte now and then is not waited for."""
    c = Collector(data)
    good = Streamer(c, 1)
    slow = fd.Device(c.port, ident(97))
    quiet = fd.Device(c.port, ident(96))
    greeting = fd.hello(ident(97), b"b" * 16)
    for what, device, code, part in bad_peers(c.port):
        bye = device.wait_bye()
        assert bye and bye[0] == code and part in bye[1], f"{what}: {bye}"
        c.wait_log(re.escape(f"refused: {bye[1]}"))
        device.close()
    cut = in_run(c.port, 600)
    cut.send(b"\x01\x50abc")
    cut.close()
    c.wait_log("bad-600 .*connection lost inside a frame")
    sent = 0
    try:
        while sent < len(greeting):
            slow.send(greeting[sent:sent + 1])
            sent += 1
            time.sleep(0.25)
    except fd.Closed:
        pass
    assert sent < len(greeting) and slow.wait_bye()[1].startswith("no HELLO within")
    assert quiet.wait_bye()[1].startswith("no HELLO within")
    n = good.finish()
    assert good.breaks == 0 and n > 100, (good.breaks, n)
    c.stop()
    tokens = stored(data)
    assert all(tokens.get(token(1, i)) == 1 for i in range(n))


def scenario_kill(data):
    """The collector dies 20 times, anywhere; no block that was acknowledged is missing, none is
    there twice."""
    c = Collector(data, "--commit-ms", "5")
    devices = [Streamer(c, n) for n in range(1, 4)]
    for _ in range(20):
        time.sleep(random.uniform(0.01, 0.25))
        c.kill()
        c.again()
    for d in devices:
        d.wait_sent(50)
    sent = {d.number: d.finish() for d in devices}
    breaks = sum(d.breaks for d in devices)
    c.stop()
    tokens = stored(data)
    for number, n in sent.items():
        assert n > 50, sent
        for sequence in range(n):
            found = tokens.get(token(number, sequence))
            assert found == 1, f"block {sequence} of device {number} is there {found} times"
    check(data, {f"good-{number}": n * 5 for number, n in sent.items()})
    print(f"kill: {sum(sent.values())} blocks, {breaks} broken connections, nothing lost")


def scenario_idle(data):
    """200 devices that only say STATUS: what a connection costs the collector."""
    c = Collector(data)
    warm = [fd.Device(c.port, ident(10000 + n), name=f"warm-{n}") for n in range(50)]
    for d in warm:
        d.come_in()
    before = c.resident_kib()
    devices = [fd.Device(c.port, ident(n + 1), name=f"idle-{n}") for n in range(200)]
    for d in devices:
        d.come_in()
        d.send(fd.status())
    c.wait_log("idle-199 .*connected")
    each = (c.resident_kib() - before) / len(devices)
    print(f"idle: {each:.1f} KiB for each connection, {before} KiB with 50")
    # A sanitizer's memory is its own.
    sanitized = re.search(rb"__[at]san_init", Path(KISEKI).read_bytes())
    assert sanitized or each <= 16, each
    c.stop()
    for d in devices[::50]:
        assert d.wait_bye() == (0, "the collector ends")


def scenario_stop(data):
    """A collector that is told to stop acknowledges what came before it says BYE."""
    c = Collector(data, "--commit-ms", "2000")
    d = fd.Device(c.port, ident(1))
    d.come_in()
    d.run(ident(5))
    d.block(1, 0, before=0, events=1, payload=token(1, 0))
    d.wait_acknowledged()  # the next commit is two seconds away
    d.block(1, 1, before=1, events=1, payload=token(1, 1))
    wait_read(c, d)
    c.stop()
    assert d.wait_bye() == (0, "the collector ends")
    assert d.acknowledged == 2, d.acknowledged


def scenario_limit(data):
    """More connections than allowed are told so; those before stay."""
    c = Collector(data, "--connections", "3")
    devices = [fd.Device(c.port, ident(n)) for n in range(1, 4)]
    for d in devices:
        d.come_in()
    late = fd.Device(c.port, ident(9))
    assert late.wait_bye() == (4, "the collector has 3 connections, its limit")
    devices[0].close()
    c.wait_log("connection lost")
    deadline = time.monotonic() + WAIT_S
    while True:
        late = fd.Device(c.port, ident(9))
        try:
            late.come_in()
            break
        except fd.Closed:
            assert time.monotonic() < deadline
    c.stop()


class Flood(threading.Thread):
    """A device that sends bytes as fast as they are taken."""

    def __init__(self, device, parts):
        super().__init__()
        self.device, self.parts = device, parts
        self.failure = None
        self.start()

    def run(self):
        try:
            for part in self.parts:
                self.device.send(part)
        except Exception as e:  # an assertion in a thread must not pass unseen
            self.failure = e

    def finish(self):
        self.join()
        if self.failure:
            raise self.failure


def is_sanitized():
    """A sanitizer's memory is its own."""
    return re.search(rb"__[at]san_init", Path(KISEKI).read_bytes())


FAIR_S = 5  # for what takes some ms; 20,000 RUN frames once made others wait for 16 s


def welcome_s(collector, number):
    """How long a device that comes now waits for its WELCOME."""
    started = time.monotonic()
    d = fd.Device(collector.port, ident(number), name=f"late-{number}")
    d.come_in()
    took = time.monotonic() - started
    d.close()
    return took


def boot_again(collector, boot):
    """The device of the flood. Until all is read that its last connection sent, it is refused as a second one."""
    deadline = time.monotonic() + WAIT_S
    while True:
        d = fd.Device(collector.port, ident(2), boot=ident(boot), name="flood")
        try:
            d.come_in()
            return d
        except fd.Closed as e:
            d.close()
            if "is connected since" not in str(e) or time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def scenario_flood(data):
    """One device floods, with each type of frame: another that comes meanwhile is welcomed, a third goes on as if it were alone, the
    collector needs no more memory, and what the flood named without sending anything of it is no run."""
    c = Collector(data)
    good = Streamer(c, 1)
    bad = fd.Device(c.port, ident(2), name="flood")
    bad.come_in()
    runs = [b"".join(fd.frame(fd.RUN, os.urandom(16)) for _ in range(20000)) for _ in range(51)]
    bad.send(runs[0])  # so much is taken before memory is looked at
    took = [welcome_s(c, 3)]
    before = c.resident_kib()
    flood = Flood(bad, runs[1:])  # a million, each with an id of its own
    while flood.is_alive():
        took.append(welcome_s(c, 4))
    flood.finish()
    bad.run(ident(700))
    bad.block(1, 0, before=0, events=1)
    bad.wait_acknowledged()  # so all before it was read
    grown = c.resident_kib() - before
    one = fd.frame(fd.BLOCK, fd.block(1, 0, before=0, events=1))
    for what, bytes_ in (("STATUS", fd.status()), ("RESULT", fd.frame(fd.RESULT, fd.varints(77, 0) + fd.text(""))),
                         ("unknown", fd.frame(40, b"")), ("duplicate", one)):
        flood = Flood(bad, [bytes_ * 2000] * 10)
        while flood.is_alive():
            took.append(welcome_s(c, 5))
        flood.finish()
        print(f"flood: {what}: the last of {len(took)} was welcomed after {took[-1] * 1000:.0f} ms")
    bad.sent += 20000
    bad.wait_acknowledged()
    bad.close()
    for n in range(20):  # each time as if it had booted
        again = boot_again(c, 800 + n)
        again.send(runs[0])
        took.append(welcome_s(c, 6))
        again.close()
    assert max(took) < FAIR_S, f"another device was welcomed after {max(took):.1f} s"
    assert is_sanitized() or grown < 16384, f"a million RUN frames cost {grown} KiB"
    n = good.finish()
    assert good.breaks == 0 and n > 20, (good.breaks, n)
    assert not c.count_log("no HELLO within"), "a device was blamed for the collector's slowness"
    c.stop()
    tokens = stored(data)
    assert all(tokens.get(token(1, i)) == 1 for i in range(n))
    check(data, {"good-1": n * 5, "flood": 1})
    print(f"flood: {max(took) * 1000:.0f} ms at the most, {grown} KiB more for a million RUN frames")


def scenario_held(data):
    """Frames that never become whole, on many connections of one device: it has to go, and another stays."""
    c = Collector(data)
    good = Streamer(c, 1)

    def recorder():
        d = fd.Device(c.port, ident(2), name="greedy")
        d.come_in(role=1)
        return d

    greedy = [recorder() for _ in range(32)]
    before = c.resident_kib()
    late = fd.Device(c.port, ident(2), name="greedy")
    late.send(fd.hello(ident(2), late.boot, "greedy", role=1))
    assert late.wait_bye() == (4, "the device has 32 connections, its limit")
    refused = 0
    for d in greedy:
        try:
            d.send(b"\x01" + fd.varint(1 << 20) + bytes(900000))
        except fd.Closed:
            pass
    deadline = time.monotonic() + WAIT_S
    while c.count_log("bytes of frames that are not whole, its limit") < 26:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    grown = c.resident_kib() - before
    for d in greedy:
        try:
            while True:
                d.take(0.05)
        except fd.Closed as e:
            assert e.bye and e.bye[0] == 4 and "bytes of frames that are not whole, its limit" in e.bye[1], e.bye
            refused += 1
        except OSError:
            pass
    assert refused >= 26, refused  # 4 MiB are four of them
    assert is_sanitized() or grown < 32768, f"it holds {grown} KiB of one device"
    agent = fd.Device(c.port, ident(2), name="greedy")  # its recorders do not shut it out
    agent.come_in()
    n = good.finish()
    assert good.breaks == 0 and n > 20, (good.breaks, n)
    c.stop()
    check(data, {"good-1": n * 5})
    print(f"held: {grown} KiB for 32 connections, {refused} were refused")


def scenario_files(data):
    """Fewer files may be open than devices may come: it takes as many as leave it enough for itself, and the others are told
    so; it stores and answers."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (128, 128))
    c = Collector(data)
    c.wait_log("at most 64 devices at once: no more than 128 files may be open")
    devices = [fd.Device(c.port, ident(n)) for n in range(64)]
    for d in devices:
        d.come_in()
        d.run(ident(1000 + devices.index(d)))
        d.block(1, 0, before=0, events=1, payload=token(1, 0))
        d.wait_acknowledged()
    for n in range(200):
        late = fd.Device(c.port, ident(100 + n))
        bye = late.wait_bye()
        assert bye in ((4, "the collector has 64 connections, its limit"), None), bye
        late.close()
    with urllib.request.urlopen(f"http://127.0.0.1:{c.http_port}/api/v1/devices", timeout=WAIT_S) as answer:
        assert len(json.load(answer)["devices"]) == 64
    devices[0].block(1, 1, before=1, events=1, payload=token(1, 1))
    devices[0].wait_acknowledged()
    c.stop()


def scenario_no_file(data):
    """No file is left at all, not even those that are kept for such moments: that is said once, and when there are files again, all
    is well."""
    c = Collector(data)
    good = fd.Device(c.port, ident(1))
    good.come_in()
    good.run(ident(1001))
    limits = resource.prlimit(c.process.pid, resource.RLIMIT_NOFILE)
    resource.prlimit(c.process.pid, resource.RLIMIT_NOFILE, (3, limits[1]))
    late = fd.Device(c.port, ident(2))
    c.wait_log("too many open files")
    time.sleep(0.3)
    assert c.count_log("too many open files") == 1, c.log[:5]
    resource.prlimit(c.process.pid, resource.RLIMIT_NOFILE, limits)
    good.block(1, 0, before=0, events=1, payload=token(1, 0))
    good.wait_acknowledged()
    late.close()
    fd.Device(c.port, ident(3)).come_in()
    c.stop()


def scenario_full(data):
    """The disk is full: nothing is acknowledged and nothing dropped, one line says so; when there
    is room again, everything goes on. The folder is on a small disk of its own."""
    os.makedirs(data)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4M", "none", data], check=True)
    try:
        ballast = Path(data, "ballast")
        ballast.write_bytes(bytes(3 << 20))
        c = Collector(data)
        good = Streamer(c, 1)
        c.wait_log("nothing is acknowledged until it works again")
        kept = good.kept_from
        time.sleep(0.5)
        assert good.kept_from == kept, "acknowledged, though the disk is full"
        assert c.count_log("nothing is acknowledged") == 1
        ballast.unlink()
        c.wait_log("storing again")
        while good.kept_from == kept:
            time.sleep(0.01)
        n = good.finish()
        assert good.breaks == 0
        c.stop()
        tokens = stored(data)
        assert all(tokens.get(token(1, i)) == 1 for i in range(n))
        check(data, {"good-1": n * 5})
        print(f"full: {kept} blocks before, {n - kept} after, nothing lost")
    finally:
        subprocess.run(["umount", data], check=True)


def main():
    scenario = globals()["scenario_" + sys.argv[2]]
    with tempfile.TemporaryDirectory(prefix="kiseki-ingest-") as data:
        scenario(os.path.join(data, "store"))


main()

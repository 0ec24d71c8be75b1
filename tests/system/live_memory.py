#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""live_memory: what clients cost the collector that follow all devices and do not read.

	live_memory.py KISEKI

Each begins with the states of all devices. They are made as the client takes them: one that takes nothing holds a
piece, not all of them; and who reads gets each device once.
"""
import json
import socket
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tools"))
from fake_device import Device  # noqa: E402
from served import WAIT_S, Collector, ident  # noqa: E402

DEVICES = 1500
CLIENTS = 60
MOST_KIB = 600  # of each client; all states are 1.7 MB


def follow(c):
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    s.settimeout(WAIT_S)
    s.connect(("127.0.0.1", c.http_port))
    s.sendall(b"GET /api/v1/live HTTP/1.1\r\nHost: localhost\r\n\r\n")
    return s


def read_all(c):
    """Every device's first state comes before any device's second one."""
    seen = set()
    with urllib.request.urlopen(f"http://127.0.0.1:{c.http_port}/api/v1/live", timeout=WAIT_S) as lines:
        is_state = False
        for line in lines:
            line = line.decode()
            if line.startswith("data: ") and is_state:
                name = json.loads(line[6:])["id"]
                assert name not in seen, f"{name} comes again after {len(seen)} of {DEVICES} devices"
                seen.add(name)
            is_state = line == "event: state\n"
            if len(seen) == DEVICES:
                return


def settled_kib(c):
    """The memory of the process when it does not grow any more."""
    kib = c.resident_kib()
    for _ in range(100):
        time.sleep(1)
        now = c.resident_kib()
        if now <= kib + 1024:
            return now
        kib = now
    raise AssertionError(f"it grows without end: {kib} KiB")


def main():
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as data:
        c = Collector(data)
        for i in range(DEVICES):
            d = Device(c.port, ident(i + 1), name=f"device-{i}")
            d.come_in()
            d.close()
        read_all(c)
        before = settled_kib(c)
        clients = [follow(c) for _ in range(CLIENTS)]
        for s in clients:
            assert s.recv(12) == b"HTTP/1.1 200"
        each = (settled_kib(c) - before) / CLIENTS
        print(f"{each:.0f} KiB for each client")
        assert each < MOST_KIB, f"a client that does not read holds {each:.0f} KiB"
        for s in clients:
            s.close()
        read_all(c)
        c.stop()


if __name__ == "__main__":
    main()

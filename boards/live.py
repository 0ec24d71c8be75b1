# SPDX-License-Identifier: MIT
"""live: a board that traces itself with the driver, seen through a collector: `make board`.

Takes the collector that runs on this machine (that of `make run`, say) or starts one, boots the
board, loads kiseki.ko there and shows how it is doing, one line over itself, until Ctrl-C.
"""
import socket
import sys
import time
from pathlib import Path

from boards.build import ROOT, build_module
from boards.catalog import BoardError
from boards.collector import HOST, Collector
from boards.machine import Machine

PORTS = 7077, 8080  # as `make run` has them
DAY_S = 86400

# Something to look at: a few tasks that wake each other.
WORK = """
while :; do dd if=/dev/zero bs=64k count=20 2>/dev/null | gzip | wc -c >/dev/null; sleep 0.2; done \
    >/dev/null 2>&1 &
"""


def is_open(port):
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
        return True
    except OSError:
        return False


def find_collector(arguments):
    """One that is there, or None."""
    port = int(arguments.collector or PORTS[0])
    url = arguments.server or f"http://127.0.0.1:{PORTS[1]}"
    if not is_open(port):
        if arguments.collector:
            raise BoardError(f"nobody listens at 127.0.0.1:{port}")
        return None
    there = Collector(ROOT / "build/bin/kiseki", "", ROOT / "build/board-data/none")
    there.listen, there.http = f"127.0.0.1:{port}", url.removeprefix("http://")
    return there


def start_collector():
    data = ROOT / "build/board-data"
    data.mkdir(parents=True, exist_ok=True)
    return Collector(ROOT / "build/bin/kiseki", data / "store", data / "collector.log",
                     *(f"127.0.0.1:{port}" for port in PORTS)).start()


def line_of(device):
    """What is worth a line, as `make run` has it."""
    if not device:
        return "waiting for the board"
    got, status = device["received"], device.get("status") or {}
    size = got["bytes"] / got["events"] if got["events"] else 0
    lost = sum(x for x in (status.get("lost") or {}).values() if x)
    return (f"{device['state']} by {status.get('source', '?')}  {got['events_per_s']} events/s  "
            f"{size:.2f} bytes/event  {lost} lost")


def watch(board, machine, collector):
    terminal, shown = sys.stderr.isatty(), None
    while True:
        line = line_of(collector.device(board.name))
        if machine.process.poll() is not None:
            raise BoardError(machine.explain(f"{board.name} has ended"))
        if line != shown:
            print(f"\r{line}\033[K" if terminal else line, end="" if terminal else "\n",
                  file=sys.stderr, flush=True)
        shown = line
        time.sleep(1)


def show(board, arguments, say):
    if not Path(ROOT / "build/bin/kiseki").exists():
        raise BoardError("build/bin/kiseki is not built; make board builds it")
    module = build_module(board, say=say)
    collector = find_collector(arguments)
    started = None if collector else start_collector()
    collector = collector or started
    try:
        say(f"booting {board.name}: {board.about}")
        with Machine(board, [(module, "/kiseki.ko")], timeout_s=DAY_S, say=say) as machine:
            machine.check(WORK)
            machine.check(f"insmod /kiseki.ko collector={HOST}:{collector.port} "
                          f"name={board.name} start=1")
            print(f"{collector.url}\n  is where to look; {board.name} traces itself. From another "
                  f"shell:\n  build/bin/kiseki tail {board.name} --server {collector.url}\n"
                  "Ctrl-C switches the board off.", flush=True)
            try:
                watch(board, machine, collector)
            except KeyboardInterrupt:
                print("\r\033[K" if sys.stderr.isatty() else "", end="", file=sys.stderr)
                machine.check("rmmod kiseki", 30)
    finally:
        if started:
            started.stop()
    return 0

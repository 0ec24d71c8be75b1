# SPDX-License-Identifier: MIT
"""live: a board that traces itself with the driver, seen through a collector: `make board`.

Takes the collector that runs on this machine (that of `make run`, say) or starts one, boots the
board, loads kiseki.ko there and shows how it is doing, one line over itself, until Ctrl-C.

	LISTEN=… HTTP=… DATA=…     where its own collector listens and keeps what it gets, as with `make run`
	BIN=…                      where the programs are
	DURATION=10                stop after so many seconds
"""
import os
import socket
import sys
import time
from pathlib import Path

from boards.build import ROOT, build_module
from boards.catalog import BoardError
from boards.collector import HOST, Collector
from boards.machine import Machine

LISTEN = os.environ.get("LISTEN", "127.0.0.1:7077")  # as `make run` has it
HTTP = os.environ.get("HTTP", "127.0.0.1:8080")
DATA = Path(os.environ.get("DATA") or ROOT / "build/board-data")
PROGRAM = Path(os.environ.get("BIN") or ROOT / "build/bin") / "kiseki"
DAY_S = 86400
DURATION_S = float(os.environ.get("DURATION", DAY_S))

# Something to look at: a few tasks that wake each other.
WORK = """
while :; do dd if=/dev/zero bs=64k count=20 2>/dev/null | gzip | wc -c >/dev/null; sleep 0.2; done \
    >/dev/null 2>&1 &
"""


def is_open(address):
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host, int(port)), 1).close()
        return True
    except OSError:
        return False


def find_collector(arguments):
    """One that is there, or None."""
    listen = f"127.0.0.1:{arguments.collector}" if arguments.collector else LISTEN
    if listen.endswith(":0") or not is_open(listen):
        if arguments.collector:
            raise BoardError(f"nobody listens at {listen}")
        return None
    http = (arguments.server or f"http://{HTTP}").removeprefix("http://").rstrip("/")
    return Collector(PROGRAM, DATA, DATA / "none", listen, http)


def start_collector(symbols=None):
    DATA.mkdir(parents=True, exist_ok=True)
    return Collector(PROGRAM, DATA / "store", DATA / "collector.log", LISTEN, HTTP, symbols).start()


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
    terminal, shown, end = sys.stderr.isatty(), None, time.monotonic() + DURATION_S
    while time.monotonic() < end:
        line = line_of(collector.device(board.name))
        if machine.process.poll() is not None:
            raise BoardError(machine.explain(f"{board.name} has ended"))
        if line != shown:
            print(f"\r{line}\033[K" if terminal else line, end="" if terminal else "\n",
                  file=sys.stderr, flush=True)
        shown = line
        time.sleep(1)


def show(board, arguments, say):
    if not PROGRAM.exists():
        raise BoardError(f"{PROGRAM} is not built; make board builds it")
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
                  f"shell:\n  {PROGRAM} tail {board.name} --server {collector.url}\n"
                  "Ctrl-C switches the board off.", flush=True)
            try:
                watch(board, machine, collector)
            except KeyboardInterrupt:
                pass
            print("\r\033[K" if sys.stderr.isatty() else "", end="", file=sys.stderr)
            machine.check("rmmod kiseki", 30)
    finally:
        if started:
            started.stop()
    return 0

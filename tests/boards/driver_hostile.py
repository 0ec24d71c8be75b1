#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""driver_hostile: a collector that lies, stalls, floods and breaks off, and a driver that stays.

	driver_hostile.py BOARD

The driver traces a busy board while one connection after the other is handed to it, each to a peer that
misbehaves in another way. After each it must say in `link` why it closed, or still be connected where
nothing was wrong; and in the end a real collector gets every event. The kernel's log has neither a
warning nor a line for each of hundreds of broken connections.
"""
import random
import socket
import struct
import sys
import tempfile
import time
from pathlib import Path

from board_test import (KISEKI, PATIENCE_S, SRC, Failed, build_driver, build_tool, expect, export,
                        main, wait_for)
from boards.catalog import get_board
from boards.collector import HOST, Collector
from boards.machine import Machine

sys.path.insert(0, str(SRC / "tests/tools"))
import protocol as p  # noqa: E402

NAME, FOLDER, RESETS, LOG_LINES_MAX = "hostile", "/sys/kernel/kiseki", 50, 80
HUGE = 1 << 62
WELCOME = p.frame(p.WELCOME, p.varints(1, 5, 1, 4 << 20, 0))


def reset(peer):
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def item(kind, *numbers):
    body = p.varints(*numbers)
    return p.varint(kind) + p.varint(len(body)) + body


def instruct(number, verb, *items):
    return p.frame(p.INSTRUCTION, p.varints(number, verb) + b"".join(items))


def noise(seed, n):
    return random.Random(seed).randbytes(n)


# What is sent, and what `link` must begin with then: "down" with a reason, or "up".
CASES = {
    "noise at once": (noise(1, 4096), "down"),
    "noise behind a WELCOME": (WELCOME + b"\x0c\xff\xff\xff\xff\xff" + noise(2, 4096), "down"),
    "a version that was not offered": (p.frame(p.WELCOME, p.varints(99, 5, 1, 4096, 0)), "down"),
    "rows that are not there": (p.frame(p.WELCOME, p.varints(1, 5, 1, 4096, 3)), "down"),
    "a row of a run that HELLO had not": (
        p.frame(p.WELCOME, p.varints(1, 5, 1, 4096, 1, 7, 1, 1)), "down"),
    "a frame that never ends": (WELCOME + bytes([p.INSTRUCTION]) + p.varint(1 << 20), "down"),
    "a length beyond all bounds": (WELCOME + bytes([p.ACK]) + p.varint(HUGE), "down"),
    "an ACK of more than was sent": (WELCOME + p.frame(p.ACK, p.varint(HUGE)), "down"),
    "a frame that only a device sends": (WELCOME + p.frame(p.HELLO, noise(3, 64)), "down"),
    "an instruction out of its bounds": (WELCOME + instruct(1, 3, item(3, HUGE)), "down"),
    "an instruction that is cut off": (WELCOME + instruct(1, 1, p.varint(9) + p.varint(500)), "down"),
    "a goodbye": (p.frame(p.BYE, p.varint(5) + p.text("\x1b[31mgo away\n" * 20)), "down"),
    "a verb that nobody knows": (WELCOME + instruct(1, 77), "up"),
    "a large frame of an unknown type": (WELCOME + p.frame(60, bytes(300000)), "up"),
    "questions without end": (WELCOME + 5000 * p.frame(p.PING, p.varints(1, 1)), "up"),
    "starts and stops": (WELCOME + b"".join(instruct(i, 1 + i % 2) for i in range(1, 101))
                         + instruct(200, 1), "up"),
    "a window of nothing": (p.frame(p.WELCOME, p.varints(1, 5, 1, 0, 0)), "up"),
}


class Test:
    def __init__(self, machine, door):
        self.machine, self.door = machine, door
        self.port = door.getsockname()[1]

    def hand(self):
        """A connection from the driver; HELLO has come on it."""
        self.machine.check(f"hand_socket plain {HOST} {self.port} {FOLDER}/socket")
        peer, _ = self.door.accept()
        peer.settimeout(PATIENCE_S)
        if not peer.recv(4096):
            raise Failed("the driver closed a fresh connection")
        return peer

    def link(self):
        return self.machine.check(f"cat {FOLDER}/link").strip()

    def wait_link(self, what, wanted):
        return wait_for(f"the link to be {wanted} after {what}",
                        lambda: (link := self.link()).startswith(wanted) and link)

    def play(self, name, sent, wanted):
        """Where the driver closes first, what was not yet sent cannot be."""
        peer = self.hand()
        try:
            for at in range(0, len(sent), 1000):
                peer.sendall(sent[at:at + 1000])
                if not at:
                    time.sleep(0.05)
        except OSError:
            pass
        link = self.wait_link(name, wanted)
        if wanted == "down" and (len(link) < 8 or not link.isprintable()):
            raise Failed(f"{name}: {link!r} says nothing")
        print(f"  {name}: {link}", flush=True)
        reset(peer)
        peer.close()
        self.wait_link(name, "down")

    def break_often(self):
        """As many connections as a flood has, each broken at another moment."""
        for i in range(RESETS):
            self.machine.check(f"hand_socket plain {HOST} {self.port} {FOLDER}/socket")
            peer, _ = self.door.accept()
            time.sleep((i % 5) / 100)
            reset(peer)
            peer.close()
        self.wait_link("many resets", "down")


def finish(machine, collector):
    """A real collector gets the run that went on all the time."""
    machine.check(f"echo {HOST}:{collector.port} > {FOLDER}/collector")
    wait_for("the driver to come back to a real collector",
             lambda: (collector.device(NAME) or {}).get("state") == "tracing")
    answer = collector.client("stop", NAME)
    expect(f"stop ({answer.stderr.strip()})", answer.returncode, 0)
    if not any(x.get("kind") == "switch" for x in export(collector, NAME)):
        raise Failed("no event came through in the end")


def run(arguments):
    board = get_board(arguments.board)
    files = [(build_driver(board), "/kiseki.ko"),
             (build_tool(board, "tests/tools/hand_socket.c"), "/bin/hand_socket")]
    with tempfile.TemporaryDirectory(prefix="kiseki-hostile-") as work, \
            socket.create_server(("127.0.0.1", 0)) as door:
        collector = Collector(KISEKI, Path(work) / "store", Path(work) / "collector.log").start()
        door.settimeout(PATIENCE_S)
        try:
            with Machine(board, files, timeout_s=900) as machine:
                machine.check(f"insmod /kiseki.ko name={NAME} start=1 policy=flight-recorder")
                machine.check("while :; do sleep 0.01; done >/dev/null 2>&1 &")
                test = Test(machine, door)
                for name, (sent, wanted) in CASES.items():
                    test.play(name, sent, wanted)
                test.break_often()
                lines = int(machine.check("dmesg | grep -c kiseki:"))
                if lines > LOG_LINES_MAX:
                    raise Failed(f"{lines} lines in the kernel's log")
                finish(machine, collector)
                machine.check("rmmod kiseki")
        finally:
            collector.stop()


if __name__ == "__main__":
    sys.exit(main(run, __doc__))

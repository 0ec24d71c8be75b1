#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""smoke: a board boots, and all that the other tests stand on works there.

	smoke.py BOARD
"""
import hashlib
import re
import socket
import sys
import tempfile
import threading
from pathlib import Path

from board_test import Failed, expect, main
from boards import initramfs
from boards.catalog import get_board
from boards.collector import HOST
from boards.machine import Machine

SCRIPT = r'''#!/bin/sh
# A file with every byte, and quotes, backslashes and newlines in what is said.
printf 'one\\two\n"three" %s\n' "$(cat /etc/board.conf | grep -c channel)"
dd if=/dev/urandom of=/out/random bs=1000 count=300 2>/dev/null
sha256sum /out/random | cut -d ' ' -f 1
exit 7
'''


class Listener:
    """Says something to the first who comes, and keeps what he says."""

    def __init__(self):
        self.socket, self.heard = socket.create_server(("127.0.0.1", 0)), b""
        self.port = self.socket.getsockname()[1]
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self):
        connection, _ = self.socket.accept()
        with connection:
            connection.sendall(b"welcome\n")
            while data := connection.recv(4096):
                self.heard += data


def check_machine(machine, board):
    expect("uname -m", machine.check("uname -m").strip(), board.machine)
    expect("uname -r", machine.check("uname -r").strip(), machine.kernel.version)
    expect("CPUs", machine.check("cat /sys/devices/system/cpu/online").strip(), "0-1")
    expect("CPUs there could be", machine.check("cat /sys/devices/system/cpu/possible").strip(),
           "0-3" if board.name == "x86_64" else "0-1")
    for path in ("/sys/kernel/tracing/events/sched/sched_switch/format", "/proc/interrupts"):
        machine.check(f"grep -q . {path}")
    interrupts = machine.check("cat /proc/interrupts")
    if board.name == "a9" and not re.search(r"eth0$", interrupts, re.M):
        raise Failed(f"eth0 has no interrupt of its own:\n{interrupts}")


def check_script(machine):
    answer = machine.call("/script")
    expect("the exit code", answer.code, 7)
    *text, digest = answer.text.splitlines()
    expect("the output", text, ["one\\two", '"three" 1'])
    with tempfile.TemporaryDirectory() as out:
        machine.get("/out", out)
        data = Path(out, "random").read_bytes()
    expect("the file's length", len(data), 300000)
    expect("the file's checksum", hashlib.sha256(data).hexdigest(), digest)
    expect("a command of two lines", machine.check('echo "a\\tb"\nprintf "%s\\n" \'\\\''),
           "a\\tb\n\\\n")


def check_network(machine):
    listener = Listener()
    said = machine.check(f"echo hello from the board | nc {HOST} {listener.port}")
    expect("what the board heard", said, "welcome\n")
    listener.thread.join(10)
    expect("what the board said", listener.heard, b"hello from the board\n")
    for plugged in (False, True):
        machine.set_cable(plugged)
        machine.check(f"for i in $(seq 100); do [ $(cat /sys/class/net/eth0/carrier) = {plugged:d} ] "
                      "&& exit 0; sleep 0.1; done; exit 1")


def test(arguments):
    board = get_board(arguments.board)
    with tempfile.TemporaryDirectory() as work:
        script = Path(work, "script")
        script.write_text(SCRIPT)
        script.chmod(0o755)
        with Machine(board, [(script, "/script")], timeout_s=300) as machine:
            check_machine(machine, board)
            check_script(machine)
            check_network(machine)
            expect("the same archive twice", initramfs.build(machine.kernel),
                   initramfs.build(machine.kernel))
    print(f"{board.name}: boots {machine.kernel.version}, runs, answers")


if __name__ == "__main__":
    sys.exit(main(test, __doc__))

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""runner: what goes wrong on a board is found, said in a line, and ends.

	runner.py BOARD

A test in a board is worth what its runner notices: here are a warning, an oops, a hanging command, a
board that runs out of time, and the command line's own exit codes.
"""
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from unittest import mock

from board_test import SRC, Failed, expect, main
from boards.catalog import BOARDS, BoardError, get_board
from boards.fetch import build_tree
from boards.machine import Machine


def must_fail(what, words, function):
    try:
        function()
    except BoardError as e:
        if words not in str(e):
            raise Failed(f'{what}: "{words}" is not in: {e}') from e
        return
    raise Failed(f"{what} was not noticed")


def check_warning(board):
    def play():
        with Machine(board, timeout_s=120) as machine:
            machine.check("echo '<4>WARNING: CPU: 0 PID: 1 at nowhere' >/dev/kmsg")
    must_fail("a warning", "complains", play)


def check_oops(board):
    def play():
        with Machine(board, timeout_s=120) as machine:
            machine.check("echo c >/proc/sysrq-trigger")
    must_fail("a crash", "Kernel panic", play)


def check_hang(board):
    def play():
        with Machine(board, timeout_s=120) as machine:
            pids.append(machine.process.pid)
            machine.check("sleep 1000", timeout_s=2)
    pids = []
    must_fail("a command that hangs", "no answer after 2 s", play)
    if Path(f"/proc/{pids[0]}").exists():
        raise Failed("qemu is still there")


def run_board(*arguments):
    done = subprocess.run([SRC / "boards/board", *map(str, arguments)], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return done.returncode, done.stdout, done.stderr


def check_command(board, work):
    (work / "here").write_text("here\n")
    expect("run", run_board("run", board.name, "-c", "cat /here; echo x >/out/there; exit 3",
                            "--file", f"{work / 'here'}:/here", "--out", work / "out")[:2],
           (3, "here\n"))
    expect("what was in /out", (work / "out/there").read_text(), "x\n")
    if "Linux version" not in (work / f"out/{board.name}.console").read_text():
        raise Failed("the console's log is not there")
    start = time.monotonic()
    code, _, text = run_board("run", board.name, "-c", "sleep 1000", "--timeout", "15")
    expect("a run that takes too long", (code, text.count("\n")), (124, 1))
    if time.monotonic() - start > 100:
        raise Failed("the time limit does not limit")
    code, _, text = run_board("run", "b7", "-c", "true")
    expect("a board that is not there", (code, text),
           (125, f'board: no board "b7": {", ".join(BOARDS)}\n'))
    code, _, text = run_board("run", board.name, "-c", "true", "--file", "/nowhere/x:/x")
    expect("a file that is not there", (code, text),
           (125, "board: cannot read /nowhere/x: No such file or directory\n"))


def check_cache(work):
    """What was left behind half-made goes when something is made; what is whole stays."""
    for name in ("arm64/.new-x/tree/old", "arm64/kernel-y"):
        (work / "cache" / name).mkdir(parents=True)
    with mock.patch.dict(os.environ, KISEKI_BOARDS=str(work / "cache")):
        tree = build_tree("arm64/kernel-z", lambda archive, folder, packages: folder.mkdir(), print)
    expect("the cache", sorted(x.name for x in tree.parent.iterdir()), ["kernel-y", "kernel-z"])


def check_programs(board):
    """A program with its libraries, from a package of the board's architecture."""
    with Machine(board, programs=["trace-cmd//trace-cmd"], timeout_s=120) as machine:
        text = machine.check("trace-cmd list -e | grep -c ^sched:")
    if int(text) < 5:
        raise Failed(f"trace-cmd sees {text.strip()} events of the scheduler")


def test(arguments):
    board = get_board(arguments.board)
    check_warning(board)
    check_oops(board)
    check_hang(board)
    check_programs(board)
    with tempfile.TemporaryDirectory() as work:
        check_command(board, Path(work))
        check_cache(Path(work))
    print("what goes wrong is noticed")


if __name__ == "__main__":
    sys.exit(main(test, __doc__))

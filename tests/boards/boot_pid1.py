#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""boot_pid1: process 1 is the same with the recorder before it as without.

	boot_pid1.py BOARD

The board is booted twice. Its first program, or the one that the recorder starts, writes down all it was
given (tests/tools/init_report.c): the two reports must be the same to the letter. It becomes busybox' init: that
must then have the same files, signals and mounts, be alone but for its own children, reap orphans, pass on
exit codes, and take Ctrl-Alt-Del. The recording, which only the second boot has, begins before init's first
exec and has rows of process 1.

Init waits for the recorder for two seconds at most (BACKGROUND_WAIT_MS), which a board on a busy machine may need: so its clock
goes by its instructions.
"""
import re
import sys
import tempfile
from pathlib import Path

from board_test import Failed, build_tool, expect, main
from boards.catalog import get_board
from boot_test import (INIT, RECORDER, START, TASK, Recording, build_recorder, busybox_board,
                       fetch_recording, wait_end)

COUNTED_SHIFT = 1  # 500 million instructions a second
REPORTER, OUT = "/sbin/init_report", "/out/boot.ksk"
# An argument and a variable for init, as the kernel hands on what it does not know.
WORDS = "colourful COLOUR=blue"
# While it waits: a moment after the recorder has ended, it is still busy with that.
STATE = """
sleep 1
for link in cwd root exe; do readlink /proc/1/$link; done
tr '\\0' ' ' </proc/1/cmdline; echo
tr '\\0' '\\n' </proc/1/environ | sort
grep -E '^(Sig|Shd|Cap|Threads|Seccomp|Cpus_allowed:)' /proc/1/status
cut -d ' ' -f 2,4-8,18-20 /proc/1/stat
ls -l /proc/1/fd | sed 's/.* [0-9:]* \\([0-9]* -> \\)/\\1/'
cat /proc/1/mounts /proc/1/limits /proc/1/oom_score_adj
"""
# A grandchild whose parent ends is init's: it must be gone soon after its own end. Its exit code is lost on
# purpose; that of a child of the shell is not.
REAP = """
sh -c '(sleep 2; exit 3) & echo $! >/tmp/orphan'
pid=$(cat /tmp/orphan)
grep -q '^PPid:.1$' /proc/$pid/status || { echo not an orphan; exit 1; }
n=0
while [ -d /proc/$pid ]; do
	sleep 0.1; n=$((n + 1)); [ $n -lt 100 ] || { echo not reaped; exit 1; }
done
sh -c 'exit 7'; echo "code $?"
sh -c 'kill -TERM $$'; echo "code $?"
grep -l '^State:.Z' /proc/[0-9]*/status 2>/dev/null
true
"""


def run_board(board, recorded, work):
    """What the board says of its process 1; and its recording."""
    first = {"init": REPORTER, "out": OUT} if recorded else {}
    append = WORDS if recorded else f"rdinit={REPORTER} {WORDS}"  # the last one counts
    files = [(build_tool(board, "tests/tools/init_report.c"), REPORTER)]
    if not recorded:
        # Not used, but limits and sizes follow from the memory that is left.
        files.insert(0, (build_recorder(board), RECORDER))
    with busybox_board(board, files, recorded=recorded, append=append, **first) as machine:
        if recorded:
            wait_end(machine)
        said = {"report": machine.check("cat /init.report"), "state": machine.check(STATE),
                "reap": machine.check(REAP, 120)}
        path = None
        if recorded:
            expect("words of an init that did not wait", machine.check("dmesg | grep 'before it is ready' || true"), "")
            path = fetch_recording(machine, work, OUT)
        said["end"] = end_by_keys(machine)
    return said, path


def end_by_keys(machine):
    """Ctrl-Alt-Del is a signal for init: it runs its script, and restarts the machine, which ends it here."""
    machine.channel.send(b"end echo 0 >/proc/sys/kernel/ctrl-alt-del; kill -INT 1\n")
    machine.process.wait(120)
    console = machine.console()
    return [bool(re.search(x, console)) for x in ("board: rcK", "reboot: Restarting system")]


def compare(name, without, with_recorder):
    # The folder of the recording is the only thing it may make in a root that it was told to write to.
    a, b = ([x for x in text.splitlines() if x != f"entry /{Path(OUT).parent}"]
            for text in (without, with_recorder))
    missing, added = [x for x in a if x not in b], [x for x in b if x not in a]
    if a != b:
        raise Failed(f"{name} of process 1 is another: without {missing}, with the recorder {added}")


def check_recording(path):
    recording = Recording(path)
    expect("losses", recording.losses, [])
    first = recording.arguments(1)
    expect("programs that process 1 was", [x[:1] for x in first][-2:], [[REPORTER], [INIT]])
    if not recording.of(START, 1) or not recording.of(TASK, 1):
        raise Failed("process 1 has no row")
    executed = next(ns for ns, _, _, text in recording.of(3, 1) if text.startswith(REPORTER))
    if recording.first_ns() > executed:
        raise Failed("the recording begins after init's first exec")
    print(f"  recorded from {recording.first_ns() / 1e9:.3f} s after the kernel's start; init was run "
          f"{(executed - recording.first_ns()) / 1e6:.1f} ms later")


def test(arguments):
    board = get_board(arguments.board).counted(COUNTED_SHIFT)
    with tempfile.TemporaryDirectory() as work:
        without, _ = run_board(board, False, work)
        said, path = run_board(board, True, work)
        for name in ("report", "state", "reap"):
            compare(name, without[name], said[name])
        expect("the end", without["end"], [True, True])
        expect("the end with the recorder", said["end"], [True, True])
        for word in ("code 7", "code 143"):
            if word not in said["reap"]:
                raise Failed(f"exit codes: {said['reap']}")
        check_recording(path)
    print(f"{board.name}: process 1 is as without the recorder "
          f"({len(said['report'].splitlines())} lines of it)")


if __name__ == "__main__":
    sys.exit(main(test, __doc__))

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""boot_systemd: Debian's systemd starts as without the recorder, wherever that goes before it.

	boot_systemd.py BOARD

Three boots: without the recorder; with it before systemd, on the disk; with it before the first program of the
initramfs, which switches to the disk. Process 1 must be the same in all: its arguments, environment, files, signals,
mounts; systemd must say that the system runs, no unit has failed, and the same units are there. The
recordings begin before init's first program, have a row of process 1 from then on, marks of units, and reach
their target.
"""
import re
import sys
import tempfile
from pathlib import Path

from board_test import Failed, expect, main
from boards.catalog import get_board
from boot_test import (EXEC, START, TASK, Recording, chart, debian_board, fetch_recording, wait_end)

STATE = r"""
for link in cwd root exe; do readlink /proc/1/$link; done
tr '\0' ' ' </proc/1/cmdline; echo
tr '\0' '\n' </proc/1/environ | sort
grep -E '^(SigBlk|SigIgn|SigCgt|Cap|Threads|Seccomp|Cpus_allowed:|NoNewPrivs)' /proc/1/status
cut -d ' ' -f 2,4-8,18-20 /proc/1/stat
cut -d ' ' -f 1-4 /proc/1/mounts | sed 's/size=[0-9]*k*,//; s/nr_inodes=[0-9]*,*//' | sort
cat /proc/1/limits | grep -v -E 'processes|pending'
cat /proc/1/oom_score_adj
"""
UNITS = "systemctl list-units --no-legend --plain --state=active | cut -d ' ' -f 1 | sort"
WHERE = (None, "disk", "initramfs")


def run_board(board, where, work):
    with debian_board(board, where=where) as machine:
        said = {"is-system-running": machine.call("systemctl is-system-running --wait", 900).text,
                "failed": machine.check("systemctl --failed --no-legend")}
        if where:
            wait_end(machine, 120)
        said["state"], said["units"] = machine.check(STATE), machine.check(UNITS)
        code = machine.call("systemd-run --wait --quiet sh -c 'exit 9'", 120).code
        said["exit code of a service"] = code
        said["zombies"] = machine.check("ps -eo state= | grep -c Z || true")
        path = fetch_recording(machine, Path(work, where)) if where else None
        machine.channel.send(b"end systemctl poweroff\n")
        machine.process.wait(180)
        said["off"] = bool(re.search("reboot: Power down", machine.console()))
    return said, path


def compare(where, without, said):
    for name, value in without.items():
        a, b = str(value).splitlines(), str(said[name]).splitlines()
        if name == "units":
            # What has come and gone since is nobody's fault: run-… are those of systemd-run.
            a, b = ([x for x in y if not x.startswith(("run-", "session-"))] for y in (a, b))
        if a != b:
            raise Failed(f"{name} with the recorder in the {where}: without it "
                         f"{[x for x in a if x not in b]}, with it {[x for x in b if x not in a]}")


def check_recording(where, path):
    recording = Recording(path)
    expect("losses", recording.losses, [])
    programs = [x[0] for x in recording.arguments(1) if x]
    wanted = {"disk": ["/sbin/init"], "initramfs": ["/init", "/sbin/init"]}[where]
    found = [x for x in wanted if any(re.search(rf"(^|/|\s){x.lstrip('/')}$", y) for y in programs)]
    expect(f"programs of process 1 ({programs})", found, wanted)
    first = min(ns for ns, *_ in recording.of(EXEC, 1)) if recording.of(EXEC, 1) else 0
    if recording.first_ns() > first or not recording.of(START, 1) or not recording.of(TASK, 1):
        raise Failed("the recording does not begin with process 1")
    if not recording.marks("target"):
        raise Failed("the target was not seen")
    units = [text for _, text in recording.marks("phase") if "multi-user.target" in text]
    report = chart(path)
    print(f"  {where}: {len(recording.pids())} processes, {len(recording.marks('phase'))} phases, "
          f"target after {report['boot']['target_ns'] / 1e9:.1f} s, "
          f"{path.stat().st_size} bytes; {units}")


def test(arguments):
    board = get_board(arguments.board)
    with tempfile.TemporaryDirectory() as work:
        without, _ = run_board(board, None, work)
        expect("is-system-running", without["is-system-running"].strip(), "running")
        expect("exit code of a service", without["exit code of a service"], 9)
        expect("switched off", without["off"], True)
        for where in arguments.only or WHERE[1:]:
            said, path = run_board(board, where, work)
            compare(where, without, said)
            check_recording(where, path)
    print(f"{board.name}: systemd is as without the recorder")


if __name__ == "__main__":
    sys.exit(main(test, __doc__, lambda p: p.add_argument("--only", action="append")))

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""boot_short: processes that live 1 to 10 ms during a boot: every one is recorded.

	boot_short.py BOARD

500 of them are started by the board's application, as part of the boot, on a board whose clock counts
instructions: there 1 ms is as much work on every machine. In the recording each must be there with its pid, its
name, its arguments, its parent, its exit code and the kernel's account of it. Busybox' bootchartd samples
the same boot at its 200 ms beside it: how many it has is said, and that it misses some is what the test's
idea rests on.
"""
import re
import sys
import tarfile
import tempfile
from pathlib import Path

from board_test import Failed, build_tool, expect, main
from boards.bootchartd import fetch_bootchartd
from boards.catalog import get_board
from boot_test import (ACCOUNT, NAME, START, Recording, busybox_board, fetch_recording, wait_end)

NUMBER, LOG = 500, "/run/short"
COUNTED_SHIFT = 1  # 500 million instructions a second
APPLICATION = f"#!/bin/sh\n/usr/bin/short_processes {NUMBER} >{LOG}\n"
BESIDE = "#!/bin/sh\n[ -x /sbin/bootchartd ] && /sbin/bootchartd start\n"


def put_files(board, work):
    application, beside = Path(work, "application"), Path(work, "S05bootchartd")
    for path, text in ((application, APPLICATION), (beside, BESIDE)):
        path.write_text(text)
        path.chmod(0o755)
    return [(build_tool(board, "tests/tools/short_processes.c"), "/usr/bin/short_processes"),
            (application, "/usr/bin/application"), (beside, "/etc/init.d/S05bootchartd"),
            (fetch_bootchartd(board, print), "/sbin/bootchartd")]


def check_all(recording, made):
    """made: (pid, number, ms) of each."""
    starts = {key: numbers for _, key, numbers, _ in recording.of(START)}
    missing = [pid for pid, _, _ in made if pid not in starts]
    expect("short processes that are not recorded", missing, [])
    names = {}
    for _, key, _, text in recording.of(NAME):
        names.setdefault(key, []).append(text)
    wrong = [(pid, names.get(pid)) for pid, number, _ in made
             if names.get(pid, [""])[-1] != f"short-{number}"]
    expect(f"{len(wrong)} short processes with other names", wrong[:5], [])
    wrong = [(pid, recording.arguments(pid)) for pid, number, ms in made
             if [f"short-{number}", "live", str(ms)] not in recording.arguments(pid)]
    expect(f"{len(wrong)} short processes with other arguments", wrong[:5], [])
    parents = {starts[pid][0] for pid, _, _ in made}
    expect("parents of short processes", len(parents), 1)
    codes = recording.exit_codes()
    wrong = [(pid, codes.get(pid)) for pid, number, _ in made
             if codes.get(pid) != number % 100 << 8]
    expect(f"{len(wrong)} short processes with other exit codes", wrong[:5], [])
    accounts = {key: numbers for _, key, numbers, _ in recording.of(ACCOUNT)}
    wrong = [pid for pid, _, _ in made if pid not in accounts or not sum(accounts[pid][:3])]
    expect(f"{len(wrong)} short processes without an account", wrong[:5], [])


def check_bootchartd(folder, made):
    with tarfile.open(Path(folder, "bootlog.tgz")) as tar:
        name = next(x for x in tar.getnames() if x.endswith("proc_ps.log"))
        text = tar.extractfile(name).read().decode(errors="replace")
    seen = {int(x) for x in re.findall(r"^(\d+) \(", text, re.M)}
    has = sum(pid in seen for pid, _, _ in made)
    print(f"  busybox bootchartd at 200 ms has {has} of {len(made)}")
    if has == len(made):
        raise Failed("bootchartd has all of them: they did not live shorter than its interval")


def test(arguments):
    board = get_board(arguments.board).counted(COUNTED_SHIFT)
    with tempfile.TemporaryDirectory() as work:
        with busybox_board(board, put_files(board, work)) as machine:
            wait_end(machine)
            text = machine.check(f"cat {LOG}")
            made = [tuple(map(int, line.split())) for line in text.splitlines()]
            expect("processes that were started", len(made), NUMBER)
            machine.check("killall -USR1 bootchartd; n=0; while killall -0 bootchartd; do sleep 0.2; "
                          "n=$((n + 1)); [ $n -lt 300 ] || exit 1; done 2>/dev/null", 120)
            machine.check("mkdir -p /out && cp /var/log/bootlog.tgz /out/")
            path = fetch_recording(machine, work)
        recording = Recording(path)
        expect("losses", recording.losses, [])
        check_all(recording, made)
        check_bootchartd(work, made)
    print(f"{board.name}: all of {NUMBER} processes of 1 to 10 ms are recorded")


if __name__ == "__main__":
    sys.exit(main(test, __doc__))

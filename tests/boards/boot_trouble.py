#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""boot_trouble: boots in which something goes wrong: the chart shows what there is and says what is missing.

	boot_trouble.py BOARD

In one boot after another: the power goes while a disk is written to; the file system of the recording is full; the
clock is set by days; the network is not there until long after the boot, and then the collector gets
everything.
"""
import json
import os
import sys
import tempfile
from pathlib import Path

from board_test import KISEKI, Failed, expect, main, wait_for
from boards.catalog import get_board
from boards.collector import HOST, Collector
from boards.disk import make_disk, read_file
from boards.machine import Disk
from boot_test import (PASS, Recording, busybox_board, chart, fetch_recording, wait_end)

DAYS_S = 3 * 86400
ENDLESS = {"until": "file:/never", "idle": "no", "time": "600s"}
CHUNK, NAME = 1 << 20, "late"


def script(work, text):
    path = Path(work, "application")
    path.write_text(f"#!/bin/sh\n{text}")
    path.chmod(0o755)
    return [(path, "/usr/bin/application")]


def check_cut(board, work):
    """The plug is pulled. The file is on a disk that is flushed each second: what it has until then is read."""
    disk = make_disk(Path(work, "disk"), 64, {"/data/a": os.urandom(CHUNK)})
    with busybox_board(board, disks=[Disk(disk, keeps=True)], out="/mnt/boot.ksk",
                       **ENDLESS) as machine:
        machine.check("grep -q /mnt /proc/mounts")
        wait_for("the recording on the disk",
                 lambda: machine.call("[ -s /mnt/boot.ksk ]").code == 0)
        ready = float(machine.check("cut -d ' ' -f 1 /proc/uptime"))
        # Work that goes on when the power goes, and time for two flushes.
        machine.check("while :; do gzip </bin/busybox >/dev/null; done >/dev/null 2>&1 & sleep 4", 120)
        machine.close()
    path = Path(work, "cut.ksk")
    path.write_bytes(read_file(disk, "/boot.ksk"))
    recording = Recording(path)
    expect("the end of the recording is known to be missing", recording.about["cut"], True)
    if recording.last_ns() < ready * 1e9:
        raise Failed(f"all since {recording.last_ns() / 1e9:.1f} s is lost; it ran until after {ready} s")
    report = chart(path)
    expect("the report says that it was cut", report["boot"]["cut"], True)
    if not recording.of(PASS) or 1 not in recording.pids():
        raise Failed("the recording has no rows of process 1")
    print(f"  power cut: {len(recording.records)} records up to {recording.last_ns() / 1e9:.1f} s")


def check_full(board, work):
    """/run has no room left for the recording: what is there can be read, and says that it stopped."""
    fill = ("mount -t tmpfs -o size=64k none /run/small\n"
            "dd if=/dev/zero of=/run/small/fill bs=1k count=52 2>/dev/null\n")
    files = script(work, "n=0\nwhile [ $n -lt 300 ]; do n=$((n + 1)); true | cat; done\n")
    start = Path(work, "S02full")
    start.write_text(f"#!/bin/sh\nmkdir -p /run/small\n{fill}")
    start.chmod(0o755)
    files.append((start, "/etc/init.d/S02full"))
    with busybox_board(board, files, out="/run/small/boot.ksk") as machine:
        wait_end(machine, 120)
        expect("the system's state", machine.check("[ -e /run/ready ] && echo ready").strip(), "ready")
        path = fetch_recording(machine, Path(work, "full"), "/run/small/boot.ksk")
    recording = Recording(path)
    said = [text for _, text in recording.marks("missing")]
    print(f"  full tmpfs: {len(recording.records)} records, {path.stat().st_size} bytes; "
          f"cut: {recording.about['cut']}; it says {said}")
    # How much fits until then differs from boot to boot; a page of memory may be left.
    if not any("full" in text for text in said):
        raise Failed("the recording does not say that its file system is full")


def check_clock(board, work):
    """The date is set during the boot: time in the chart goes on, and there is a mark."""
    files = script(work, f"date -s @$(($(date +%s) + {DAYS_S})) >/dev/null\nsleep 0.5\n")
    with busybox_board(board, files) as machine:
        wait_end(machine)
        path = fetch_recording(machine, Path(work, "clock"))
    recording = Recording(path)
    passes = [ns for ns, *_ in recording.of(PASS)]
    expect("passes in the order of time", passes, sorted(passes))
    if passes[-1] - passes[0] > 600e9:
        raise Failed(f"the axis is {(passes[-1] - passes[0]) / 1e9:.0f} s long")
    marks = [x for x in recording.of(13) if x[1] == 4]
    if not marks:
        raise Failed("no mark says that the clock was set")
    offsets = [x[2][2] for x in marks]
    print(f"  clock set by {DAYS_S} s: marks {[text for _, _, _, text in marks]}, offsets {offsets}")


def check_network(board, work):
    """The cable is plugged long after the boot: the collector gets all of it then."""
    with Collector(KISEKI, Path(work, "store"), Path(work, "collector.log")) as collector:
        with busybox_board(board, collector=f"{HOST}:{collector.port}", name=NAME, out="",
                           is_plugged=False) as machine:
            expect("the network", machine.call("grep -x 1 /sys/class/net/eth0/carrier").text.count("1\n"), 0)
            # Until it has seen its target and would end, if it had sent everything.
            machine.check("sleep 3")
            expect("runs without a network", collector.device(NAME), None)
            machine.set_cable(True)
            # Not every driver brings up a card without a link, as S30network wanted.
            machine.call("ip link set eth0 up; ip addr add 10.0.2.15/24 dev eth0; "
                         "ip route add default via 10.0.2.2")
            wait_end(machine, 120)
        answer = collector.client("boot", "report", NAME, "--json")
        expect(f"the report ({answer.stderr.strip()})", answer.returncode, 0)
        report = json.loads(answer.stdout)
    expect("the target was reached", report["reached"], True)
    expect("gaps", report["boot"]["gaps"], [])
    print(f"  no network until after the boot: the collector has all of it, "
          f"{report['processes']} processes")


def test(arguments):
    board = get_board(arguments.board)
    checks = {"cut": check_cut, "full": check_full, "clock": check_clock, "network": check_network}
    for name in arguments.only or checks:
        with tempfile.TemporaryDirectory() as work:
            checks[name](board, work)
    print(f"{board.name}: troubled boots are charted as far as they go")


if __name__ == "__main__":
    sys.exit(main(test, __doc__, lambda p: p.add_argument("--only", action="append")))

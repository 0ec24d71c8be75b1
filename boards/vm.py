# SPDX-License-Identifier: MIT
"""vm: a board that runs two virtual machines and records them from outside: `make board-vm`.

Boots the board with KVM and two guests on one of its CPUs: one computes all the time, the other one half of it. kiseki-agent records
both with kiseki_vm.ko and sends to a collector meanwhile; `kiseki vm` says where their time went, and the collector's page shows it, until
Ctrl-C:

	build/vm.ksk               the recording
	OUT=…                      another folder for it
	BIN=…                      where the programs are
	DURATION=10                seconds that are recorded
"""
import os
import subprocess
import tempfile
from pathlib import Path

from boards import build, live
from boards.catalog import BoardError
from boards.collector import HOST
from boards.guests import Guest, guest_parts
from boards.machine import Machine

TARGET = Path(os.environ.get("OUT") or build.ROOT / "build")
SECONDS = int(os.environ.get("DURATION", 10))
NAME = "vm.ksk"
PATIENCE_S = 600  # of this machine, which may be busy
SLACK_S = 5  # for which the guests compute longer than is recorded


def run(*command):
    """What a command of kiseki prints goes where ours does."""
    if subprocess.run([live.PROGRAM, *map(str, command)], stdin=subprocess.DEVNULL).returncode:
        raise BoardError(f"kiseki {command[0]} {command[1]} failed")


def record(machine, board, options):
    """While both compute."""
    guests = [Guest(machine, "first"), Guest(machine, "second")]
    for guest in guests:
        guest.wait_for("guest ready", PATIENCE_S)
    machine.check("insmod /kiseki_vm.ko")
    guests[0].tell(f"spin {SECONDS + SLACK_S}")
    guests[1].tell(f"duty {SECONDS + SLACK_S}")
    said = machine.check(f"taskset 1 kiseki-agent vm -t {SECONDS}s --buffer 4M --name {board.name} "
                         f"-o /out/{NAME} {options}", PATIENCE_S)
    machine.check("rmmod kiseki_vm")
    return said.strip()


def boot(board, options, say):
    """Boots the board, records, and brings the file back."""
    with tempfile.TemporaryDirectory(prefix="kiseki-vm-") as work:
        init = build.compile_program(board, [build.ROOT / "tests/tools/vm_guest.c"], Path(work) / "init", ["-no-pie"])
        parts = guest_parts(board, init, work)
        parts["files"] += [(build.build_vm_module(board, say=say), "/kiseki_vm.ko"),
                           (build.build_agent(board), "/bin/kiseki-agent")]
        say(f"booting {board.name}: {board.about}; then two guests, which takes a minute")
        # Seconds are the board's own: what else this machine does is not in the picture.
        with Machine(board.paced(), **parts, timeout_s=3 * PATIENCE_S, say=say) as machine:
            say(record(machine, board, options))
            machine.get("/out", TARGET)


def report():
    for what in ("report", "steal"):
        run("vm", what, TARGET / NAME, "--limit", "10")
        print(flush=True)
    print(f"{TARGET / NAME} is the recording: kiseki vm report|steal|correct, kiseki profile report|flame")


def show(board, say):
    if not live.PROGRAM.exists():
        raise BoardError(f"{live.PROGRAM} is not built; make board-vm builds it")
    collector = live.start_collector()
    try:
        boot(board, f"--collector {HOST}:{collector.port}", say)
        report()
        print(f"{collector.url}/#vm\n  is where to look; Ctrl-C ends the collector.", flush=True)
        collector.process.wait()
    finally:
        collector.stop()
    return 0

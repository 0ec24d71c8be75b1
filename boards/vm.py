# SPDX-License-Identifier: MIT
"""vm: a board that runs two virtual machines and records them from outside: `make board-vm`.

Boots the board with KVM and two guests on one of its CPUs: one computes all the time, the other one half of it. In both kiseki-guest
tells who is who. kiseki-agent records both with kiseki_vm.ko and sends to a collector meanwhile; `kiseki vm` says where their time went, and the
collector's page shows it, until Ctrl-C:

	build/vm.ksk               the recording
	build/vm-symbols           the guests' programs, as they came from there
	OUT=…                      another folder for it
	BIN=…                      where the programs are
	DURATION=10                seconds that are recorded
"""
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from boards import build, live
from boards.catalog import BoardError
from boards.collector import HOST
from boards.guests import MAIN, SERIAL, Guest, teller_parts
from boards.machine import Machine

TARGET = Path(os.environ.get("OUT") or build.ROOT / "build")
SECONDS = int(os.environ.get("DURATION", 10))
NAME, SYMBOLS, OBJECTS = "vm.ksk", "vm-symbols", "objects"
PATIENCE_S = 600  # of this machine, which may be busy
SLACK_S = 5  # for which the guests compute longer than is recorded


def run(*command):
    """What a command of kiseki prints goes where ours does."""
    if subprocess.run([live.PROGRAM, *map(str, command)], stdin=subprocess.DEVNULL).returncode:
        raise BoardError(f"kiseki {command[0]} {command[1]} failed")


def record(machine, board, options):
    """While both compute. They do so before it begins: a process has the name that it had when it was first looked at."""
    guests = [Guest(machine, name, way=SERIAL) for name in ("first", "second")]
    for guest in guests:
        guest.wait_for("guest ready", PATIENCE_S)
    machine.check("insmod /kiseki_vm.ko")
    guests[0].tell(f"spin {SECONDS + SLACK_S}")
    guests[1].tell(f"duty {SECONDS + SLACK_S}")
    said = machine.check(f"mkdir -p /out/{OBJECTS}; taskset 1 kiseki-agent vm -t {SECONDS}s --buffer 4M --name {board.name} "
                         f"--guests {SERIAL.door} --guest-objects /out/{OBJECTS} -o /out/{NAME} {options}", PATIENCE_S)
    machine.check("rmmod kiseki_vm")
    return said.strip()


def boot(board, options, say):
    """Boots the board, records, and brings back what came out."""
    with tempfile.TemporaryDirectory(prefix="kiseki-vm-") as work:
        main = build.compile_program(board, [build.ROOT / "tests/tools/vm_guest.c"], Path(work) / "main", ["-no-pie"])
        parts = teller_parts(board, [(main, MAIN)], build.build_guest(board), work)
        parts["files"] += [(build.build_vm_module(board, say=say), "/kiseki_vm.ko"),
                           (build.build_agent(board), "/bin/kiseki-agent")]
        say(f"booting {board.name}: {board.about}; then two guests, which takes a minute")
        # Seconds are the board's own: what else this machine does is not in the picture.
        with Machine(board.paced(), **parts, timeout_s=3 * PATIENCE_S, say=say) as machine:
            say(record(machine, board, options))
            machine.get("/out", work)
        shutil.move(Path(work) / NAME, TARGET / NAME)
        # Of each machine apart; but both of these run the same.
        for tree in sorted((Path(work) / OBJECTS).iterdir()):
            shutil.copytree(tree, TARGET / SYMBOLS, dirs_exist_ok=True)


def report():
    for what in ("report", "steal"):
        run("vm", what, TARGET / NAME, "--symbols", TARGET / SYMBOLS, "--limit", "10")
        print(flush=True)
    print(f"{TARGET / NAME} is the recording: kiseki vm report|steal|correct, kiseki profile report|flame; "
          f"with --symbols {TARGET / SYMBOLS}")


def show(board, say):
    if not live.PROGRAM.exists():
        raise BoardError(f"{live.PROGRAM} is not built; make board-vm builds it")
    symbols = TARGET / SYMBOLS
    shutil.rmtree(symbols, ignore_errors=True)
    symbols.mkdir(parents=True)
    collector = live.start_collector(symbols)
    try:
        boot(board, f"--collector {HOST}:{collector.port}", say)
        report()
        print(f"{collector.url}/#vm\n  is where to look; Ctrl-C ends the collector.", flush=True)
        collector.process.wait()
    finally:
        collector.stop()
    return 0

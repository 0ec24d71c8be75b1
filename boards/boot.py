# SPDX-License-Identifier: MIT
"""boot: a board that records its own boot, and the chart of it: `make board-boot`.

Boots the board with busybox' init and kiseki-boot before it, an SD card and the services of a small product,
brings back the recording and draws it. Where that can be had (Board.counted), the board's clock goes by its
instructions, so that what else this machine does is not in the picture:

	build/boot.ksk, build/boot.html, build/boot.svg
"""
import os
import subprocess
import tempfile
from pathlib import Path

from boards import build
from boards.catalog import BoardError
from boards.disk import make_disk
from boards.machine import Disk, Machine

OUT = "/run/boot.ksk"
PROGRAM = Path(os.environ.get("BIN") or build.ROOT / "build/bin") / "kiseki"
TARGET = Path(os.environ.get("OUT") or build.ROOT / "build")
DISK_BYTES = 4 << 20
WORDS = ("rdinit=/sbin/kiseki-boot kiseki_boot.init=/sbin/init kiseki_boot.exact=tracefs "
         f"kiseki_boot.out={OUT} kiseki_boot.until=file:/run/ready kiseki_boot.linger=1s")
PATIENCE_S = 1200
END = ("n=0; while grep -qx '@*kiseki-boot' /proc/[0-9]*/comm 2>/dev/null; do sleep 0.2; "
       "n=$((n + 1)); [ $n -lt 600 ] || exit 1; done; mkdir -p /out; cp {0} /out/")


def run(*command):
    done = subprocess.run(list(map(str, command)), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise BoardError(f"kiseki {command[1]} {command[2]}: {done.stderr.strip()}")
    return done.stdout


def record(board, say):
    """The recording of one boot."""
    recorder = build.build_boot(board)
    with tempfile.TemporaryDirectory(prefix="kiseki-boot-") as work:
        disk = make_disk(Path(work, "disk"), 64, {"/data/settings": os.urandom(DISK_BYTES)})
        # A Cortex-A9 of 500 MHz, about: 2 ns with each instruction.
        counted = board.counted(1) if board.device_tree else board
        say(f"booting {board.name}: {board.about}" + ("; with one CPU" if counted != board else ""))
        with Machine(counted, [(recorder, "/sbin/kiseki-boot")], board.disk_modules, system="busybox",
                     disks=[Disk(disk)], append=f"{WORDS} kiseki_boot.name={board.name}",
                     timeout_s=PATIENCE_S, say=say) as machine:
            machine.check(END.format(OUT), PATIENCE_S)
            machine.get("/out", TARGET)
    return TARGET / "boot.ksk"


def show(board, say):
    if not PROGRAM.exists():
        raise BoardError(f"{PROGRAM} is not built; make board-boot builds it")
    path = record(board, say)
    print(run(PROGRAM, "boot", "report", path, "--limit", "5"))
    for name in ("boot.html", "boot.svg"):
        run(PROGRAM, "boot", "chart", path, "-o", TARGET / name)
    print(f"{TARGET / 'boot.html'}\n  is the chart, to be opened in a browser; {TARGET / 'boot.svg'} the "
          f"same as a picture, and {path} the recording.")
    return 0

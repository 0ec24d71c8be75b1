# SPDX-License-Identifier: MIT
"""boot_test: what the tests of boot charts share: boards with real inits and the recorder before them, and
what it recorded.

BOOT_DUMP is the program that writes out a recording's records (tests/tools/boot_dump.c).
"""
import json
import os
import subprocess
from pathlib import Path

from board_test import KISEKI, SRC, Failed, build
from boards.debian import fetch_debian
from boards.machine import Disk, Machine

BOOT_DUMP = os.environ.get("BOOT_DUMP") or str(SRC / "build/tests/boot_dump")
RECORDER, INIT, OUT = "/sbin/kiseki-boot", "/sbin/init", "/run/boot.ksk"
(PASS, START, NAME, EXEC, TASK, WAIT, EXIT, ACCOUNT, CPU, DISK, DISK_NAME, MEMORY, PRESSURE,
 MARK) = range(14)
MARKS = ("kernel", "phase", "target", "stop", "clock", "missing", "fact")
PATIENCE_S = 300


def build_recorder(board):
    return build.build_boot(board)


def settings(**values):
    """As the kernel's command line has them."""
    return " ".join(f"kiseki_boot.{key}={value}" for key, value in values.items())


def busybox_board(board, files=(), *, recorded=True, append="", disks=(), is_plugged=True,
                  **values):
    """A board with busybox' init, the recorder before it. `values` are the recorder's settings."""
    modules = board.disk_modules if disks else ()
    words = f"rdinit={INIT} {append}"
    if recorded:
        files = [(build_recorder(board), RECORDER), *files]
        values = {"init": INIT, "out": OUT, "until": "file:/run/ready", "linger": "1s", **values}
        values = {key: value for key, value in values.items() if value}
        words = f"rdinit={RECORDER} {settings(**values)} {append}"
    return Machine(board, files, modules, system="busybox", disks=disks, append=words,
                   is_plugged=is_plugged, timeout_s=PATIENCE_S)


def debian_board(board, files=(), *, where="disk", append="", **values):
    """A board with Debian's systemd. The recorder goes before the init of the `disk`, or before that of the
    `initramfs`; None: nowhere."""
    # The usual 120 s are over before systemd is ready, on an emulated board of a busy machine.
    values = {"out": OUT, "until": "unit:multi-user.target", "linger": "1s", "time": "1800s", **values}
    words = {None: "", "disk": f"init={RECORDER} {settings(**values)}",
             "initramfs": f"rdinit={RECORDER} {settings(init='/init', **values)}"}[where]
    if where:
        files = [(build_recorder(board), RECORDER), *files]
    return Machine(board, files, board.disk_modules, system="debian",
                   disks=[Disk(fetch_debian(board, print))], append=f"{words} {append}",
                   memory="512", timeout_s=6 * PATIENCE_S)


def wait_end(machine, seconds=60):
    """Until the recorder has ended by itself."""
    machine.check("n=0; while grep -qx '@*kiseki-boot' /proc/[0-9]*/comm 2>/dev/null; do sleep 0.2; "
                  f"n=$((n + 1)); [ $n -lt {seconds * 5} ] || exit 1; done", seconds * 4)


def fetch_recording(machine, target, path=OUT):
    """A copy of it on this machine."""
    folder = Path(target)
    machine.check(f"mkdir -p /out; [ -e /out/{Path(path).name} ] || cp {path} /out/")
    machine.get("/out", folder)
    return folder / Path(path).name


class Recording:
    """The records of a file."""

    def __init__(self, path):
        done = subprocess.run([BOOT_DUMP, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True)
        if done.returncode:
            raise Failed(f"cannot read the recording: {done.stderr.strip()}")
        lines = [json.loads(x) for x in done.stdout.splitlines()]
        self.path, self.about = path, lines[0]
        self.records = [x for x in lines[1:] if isinstance(x, list)]
        self.losses = [x for x in lines[1:] if isinstance(x, dict)]

    def of(self, kind, key=None):
        """(ns, key, numbers, text) of each, in the order in which they were recorded."""
        return [x[1:] for x in self.records if x[0] == kind and key in (None, x[2])]

    def marks(self, kind):
        """(ns, text) of each."""
        return [(numbers[0], text) for _, key, numbers, text in self.of(MARK)
                if key == MARKS.index(kind)]

    def pids(self):
        return {key for _, key, _, _ in self.of(START)}

    def arguments(self, pid):
        """Of each program that the process was, as a list."""
        found = [text.split("\0")[:-1] for _, _, _, text in self.of(EXEC, pid)]
        return [x for n, x in enumerate(found) if n == 0 or x != found[n - 1]]

    def exit_codes(self):
        """pid: as wait() has it, of each process whose end was told."""
        return {key: numbers[0] for _, key, numbers, _ in self.of(EXIT)}

    def first_ns(self):
        return min(x[1] for x in self.records if x[0] == PASS)

    def last_ns(self):
        return max(x[1] for x in self.records if x[0] == PASS)


def chart(path, *options):
    """What `kiseki boot report --json` says of a recording."""
    done = subprocess.run([KISEKI, "boot", "report", path, "--json", *options],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise Failed(f"kiseki boot report: {done.stderr.strip()}")
    return json.loads(done.stdout)

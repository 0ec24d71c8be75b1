# SPDX-License-Identifier: MIT
"""recordings: what the devices of a bench play: ten seconds of each kind, made on this machine.

*sched* and *profile* are recorded here, by the agent, of a machine that compiles and starts a few hundred short programs a second. There is
seldom a hypervisor at hand, so *vm* is the hand-made recording of tests/golden/vm, two guests on one CPU, repeated every ten milliseconds.
"""
import contextlib
import os
import re
import signal
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SECONDS = 10
PROFILE_HZ = 100
VM_SCRIPT = ROOT / "tests/golden/vm/two.sample"
VM_STEP_NS = 10_000_000
VM_BLOCK_BYTES = 600  # so that there are some blocks a second, as an agent sends them
VM_SEGMENT_BYTES = 32768
LOADS = (
    "while :; do for i in 1 2 3 4; do sh -c 'grep -c cpu /proc/stat; sleep 0.02' >/dev/null & done; wait; done",
    "while :; do find src -name '*.c' -print0 | xargs -0 -P 2 -I{} cc -std=gnu11 -D_GNU_SOURCE -O1 -Isrc -fsyntax-only {} 2>/dev/null; done",
)
RECORD = re.compile(r"^(\d+) (\d+) (.*)$")


def repeat(script, times):
    """The script with its records so many times."""
    lines = [RECORD.match(line) or line for line in script.splitlines()]
    yield from (line for line in lines if isinstance(line, str))
    for i in range(times):
        for m in lines:
            if not isinstance(m, str):
                yield f"{m[1]} {int(m[2]) + i * VM_STEP_NS} {m[3]}"


def make_vm(build, to):
    script = "\n".join(repeat(VM_SCRIPT.read_text(), SECONDS * 10**9 // VM_STEP_NS)) + "\n"
    subprocess.run([build / "tests/sample_make", "-", to, str(VM_BLOCK_BYTES), str(VM_SEGMENT_BYTES)], input=script, text=True,
                   check=True)


@contextlib.contextmanager
def load():
    """What the machine does while it is recorded; all of it ends with it."""
    loads = [subprocess.Popen(["sh", "-c", text], cwd=ROOT, start_new_session=True) for text in LOADS]
    try:
        yield
    finally:
        for process in loads:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def make_sched(build, to):
    with load():
        subprocess.run([build / "bin/kiseki", "record", "-q", "-d", f"{SECONDS}s", "-o", to], check=True)


def make_profile(build, to):
    with load():
        subprocess.run([build / "bin/kiseki", "profile", "record", "-a", "-e", "cpu-clock", "-r", str(PROFILE_HZ), "-t", f"{SECONDS}s",
                        "-o", to],
                       check=True, stderr=subprocess.DEVNULL)


MAKERS = {"sched": make_sched, "profile": make_profile, "vm": make_vm}


def get(build, folder, kind):
    """The file of a kind; made if it is not there yet."""
    path = folder / f"{kind}.ksk"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part.ksk")
        MAKERS[kind](build, part)
        part.rename(path)
    return path

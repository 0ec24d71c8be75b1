# SPDX-License-Identifier: MIT
"""recordings: what the devices of a bench play: ten seconds of each kind, made on this machine.

*sched* and *profile* are recorded here, by the agent, of whatever this machine does. There is seldom a hypervisor at hand, so *vm* is
the hand-made recording of tests/golden/vm, two guests on one CPU, repeated every ten milliseconds.
"""
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SECONDS = 10
PROFILE_HZ = 100
VM_SCRIPT = ROOT / "tests/golden/vm/two.sample"
VM_STEP_NS = 10_000_000
VM_BLOCK_BYTES = 600  # so that there are some blocks a second, as an agent sends them
VM_SEGMENT_BYTES = 32768
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


def make_sched(build, to):
    subprocess.run([build / "bin/kiseki", "record", "-q", "-d", f"{SECONDS}s", "-o", to], check=True)


def make_profile(build, to):
    subprocess.run([build / "bin/kiseki", "profile", "record", "-a", "-r", str(PROFILE_HZ), "-t", f"{SECONDS}s", "-o", to],
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

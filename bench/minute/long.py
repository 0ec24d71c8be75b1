#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""long: what the minutes of a run cost when it goes on for long and many processes come and go in it.

    long.py [--minutes LIST] [--starts N] [--kiseki PROGRAM] [--markdown FILE]      $BUILD is the folder that meson made

The run is made up: a host with two CPUs on which N processes begin each second, execute, map eight files and end soon, while one
that never executed lives on what its parent had mapped. Each is sampled a few times. `kiseki work` makes the facts of all its minutes with
one thread; the CPU time that it takes for a minute must not depend on how many the run has.
"""
import argparse
import os
import random
import resource
import subprocess
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BUILD = Path(os.environ.get("BUILD", ROOT / "build"))
END_S = 1_700_006_400
S = 10**9
NAMES = ["cc1", "as", "ld", "sh", "make", "sed"]
FILES = 8  # that each maps
AT_ONCE = 5  # that live beside each other
PIDS = 32000
BLOCK, SEGMENT = 1024, 4096  # bytes: of a minute there are some


def head(out):
    out("device host\nkernel 6.1\nmachine aarch64\ncpus 2\nsampling 10000000 0 0 0 0 24\n")
    for i in range(3000):
        out(f"function {0xffff800080000000 + i * 256:#x} {0xffff800080000100 + i * 256:#x} kernel_{i}\n")
    out(f"life 2 1 {S} start bash\nmapping 2 {S} 0x400000 0x500000 0 - /bin/bash\nlife 3 2 {S} start worker\n")


def begin(out, pid, tick, name):
    out(f"life {pid} 2 {tick} start bash\nlife {pid} 2 {tick + 1000} exec {name}\n")
    for i in range(FILES):
        start = 0x400000 + i * 0x100000
        out(f"mapping {pid} {tick + 2000 + i} {start:#x} {start + 0x80000:#x} 0 - /usr/lib/{name}-{i}.so\n")


def sample(out, dice, cpu, tick, alive):
    pid, name = (3, "worker") if dice.random() < 0.1 else dice.choice(alive)
    address = 0x400000 + (pid != 3) * dice.randrange(FILES) * 0x100000 + dice.randrange(64) * 16
    out(f"{cpu} {tick} sample {pid}/{pid}/0/{name} user 10000000 u={address:#x}\n")


def make_run(minutes, starts, out):
    """The script of a run, for sample_make."""
    dice, pid, alive = random.Random(5), 10, []
    head(out)
    for i in range(minutes * 60 * starts):
        tick = S + i * (S // starts) + 1000
        pid = pid + 1 if pid < PIDS else 10
        alive.append((pid, dice.choice(NAMES)))
        begin(out, pid, tick, alive[-1][1])
        if len(alive) > AT_ONCE:
            out(f"life {alive.pop(0)[0]} 2 {tick + 5000} end\n")
        for cpu in (0, 1):
            sample(out, dice, cpu, tick + 20000, alive)


def make_store(minutes, starts, folder):
    file, store = folder / f"{minutes}.ksk", folder / f"{minutes}"
    with subprocess.Popen([BUILD / "tests/sample_make", "-", file, str(BLOCK), str(SEGMENT)], stdin=subprocess.PIPE, text=True) as made:
        make_run(minutes, starts, made.stdin.write)
        made.stdin.close()
    if made.returncode:
        raise SystemExit("long: no run")
    subprocess.run([BUILD / "tests/fill_store", store, "host", file, str(END_S)], check=True, stdout=subprocess.DEVNULL)
    return store


def cpu_s():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def work(kiseki, store):
    """CPU time in s."""
    before = cpu_s()
    subprocess.run([kiseki, "work", "--data", store, "--workers", "1"], check=True, stdout=subprocess.DEVNULL)
    return cpu_s() - before


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", default="10,56,240")
    parser.add_argument("--starts", type=int, default=20)
    parser.add_argument("--kiseki", default=BUILD / "src/cli/kiseki")
    parser.add_argument("--markdown")
    o = parser.parse_args()
    lines = ["| minutes of the run | CPU time | for a minute |", "|--:|--:|--:|"]
    with tempfile.TemporaryDirectory(prefix="kiseki-long.") as folder:
        for minutes in map(int, o.minutes.split(",")):
            took_s = work(o.kiseki, make_store(minutes, o.starts, Path(folder)))
            lines.append(f"| {minutes} | {took_s:.2f} s | {took_s / minutes * 1000:.0f} ms |")
    text = f"A made-up run of a host on which {o.starts} processes begin each second; one thread.\n\n" + "\n".join(lines) + "\n"
    print(text, end="")
    if o.markdown:
        Path(o.markdown).write_text(text)


main()

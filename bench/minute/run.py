#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""run: how long a minute of a host with ten virtual machines takes to work out, and with how many such hosts this machine keeps up.

    run.py [--recording FILE.ksk] [--machines N] [--times N] [--by COMMAND] [--markdown FILE]      $BUILD is the folder that meson made

The load is made of a recording of a host with virtual machines (load.py), build/vm.ksk if not said, which `make board-vm` makes; without one it
is the hand-made recording of tests/golden/vm. It is put into stores of one and of two whole minutes, and `kiseki work` makes their facts anew
each time. Of several times the shortest counts: whatever else a machine does makes them longer only. --by has words in front of `kiseki work`, as
"chrt -f 5" on a machine that does other things: workers are nice to these, and are measured with them.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BUILD = Path(os.environ.get("BUILD", ROOT / "build"))
KISEKI = BUILD / "src/cli/kiseki"
BY_HAND = ROOT / "tests/golden/vm/two.sample"
END_S = "1700000039.999999"  # the last moment of a minute
BLOCKS = ("16384", "65536")  # bytes of one, and of a segment, as the agent makes them
T1_S = 60
GOAL_S = 0.5


def get_recording(given):
    """The file, and what it is called."""
    path = Path(given) if given else BUILD / "vm.ksk"
    if path.exists():
        return path, path.name
    if given:
        sys.exit(f"work: there is no {path}")
    made = BUILD / "bench/two.ksk"
    subprocess.run([BUILD / "tests/sample_make", BY_HAND, made], check=True)
    return made, f"{BY_HAND.relative_to(ROOT)}, made by hand: no recording was there"


def make_load(recording, machines, minutes, to):
    """The load as a file; returns what it is."""
    load = [sys.executable, HERE / "load.py", recording, str(machines), str(minutes * T1_S)]
    environment = dict(os.environ, SAMPLE_DUMP=str(BUILD / "tests/sample_dump"))
    with subprocess.Popen(load, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, text=True) as script:
        subprocess.run([BUILD / "tests/sample_make", "-", to, *BLOCKS], stdin=script.stdout, check=True)
        what = script.stderr.read().strip()
    if script.returncode:
        sys.exit(f"work: no load: {what}")
    return what


def work(store, threads, times, by):
    """What `kiseki work` said, of the time in which t2 was shortest."""
    best = None
    for _ in range(times):
        for old in store.glob("facts.sqlite*"):
            old.unlink()
        said = subprocess.run([*by, KISEKI, "work", "--data", store, "--workers", str(threads), "--json"], check=True,
                              stdout=subprocess.PIPE).stdout
        got = json.loads(said)
        if not best or got["pace"]["t2_s"] < best["pace"]["t2_s"]:
            best = got
    return best


def row(name, threads, got, minutes):
    """A record is in the set of the machines and in that of the profile."""
    records = got["events"] / 2 / minutes
    t2 = got["pace"]["t2_s"]
    return (f"| {name} | {threads} | {records / 1e6:.2f} M | {got['seconds'] / minutes:.3f} s | {t2:.3f} s | "
            f"{t2 * threads / records * 1e9:.0f} ns | {got['pace']['hosts_max']} |")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--recording")
    parser.add_argument("--machines", type=int, default=10)
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--by", default="")
    parser.add_argument("--markdown")
    o = parser.parse_args()
    recording, name = get_recording(o.recording)
    cpus = os.cpu_count()
    lines = ["| what | threads | records in a minute | a minute is there after | t2 | of one thread, for a record | largest n |",
             "|---|--:|--:|--:|--:|--:|--:|"]
    with tempfile.TemporaryDirectory(prefix="kiseki-work.") as folder:
        for minutes in (1, 2):
            file, store = Path(folder) / f"{minutes}.ksk", Path(folder) / f"{minutes}"
            what = make_load(recording, o.machines, minutes, file)
            subprocess.run([BUILD / "tests/fill_store", store, "host", file, END_S], check=True, stdout=subprocess.DEVNULL)
            for threads in sorted({1, cpus}):
                label = "one minute alone" if minutes == 1 else "minutes behind each other"
                lines.append(row(label, threads, work(store, threads, o.times, o.by.split()), minutes))
    lines.append(f"| goal, one minute alone | 2 | | {GOAL_S} s or less | | | |")
    text = (f"{o.machines} virtual machines or more for t1 = {T1_S} s at 1 kHz: {what}, again and again, of {name}. t0 is not in it. "
            f"The best of {o.times}{', by ' + o.by if o.by else ''}.\n\n" + "\n".join(lines) + "\n")
    print(text, end="")
    if o.markdown:
        Path(o.markdown).write_text(text)


main()

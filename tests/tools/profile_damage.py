#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""profile_damage: a damaged profile loses what was damaged, and says how much.

    profile_damage.py KISEKI SAMPLE_MAKE FOLDER

A profile of three CPUs in small blocks and segments; then bytes of it are flipped, one or a hundred at a time.
Samples that are read and records that are said to be lost must be all there were, unless it is said that nobody
knows; and what is read of a thread that moved between the CPUs must be in order of time.
"""
import json
import random
import subprocess
import sys
from pathlib import Path

CPUS, EACH = 3, 400
PLACES = 10


def make(rng):
    lines = ["device box", f"cpus {CPUS}", "sampling 1000000 0 0 0 0 24",
             "mapping 5 0 0x1000 0x100000 0x0 - /bin/program"]
    for cpu in range(CPUS):
        for i in range(EACH):
            chain = ",".join(hex(0x1000 + rng.randrange(4000) * 16) for _ in range(rng.randrange(1, 6)))
            lines.append(f"{cpu} {1000 * i + 300 * cpu + 1} sample 5/5/-/program user 1000 u={chain}")
    return "\n".join(lines) + "\n"


def main():
    kiseki, sample_make, folder = sys.argv[1], sys.argv[2], Path(sys.argv[3])
    rng = random.Random(5)
    text, path, bad = folder / "many.txt", folder / "many.ksk", folder / "bad.ksk"
    text.write_text(make(rng))
    subprocess.run([sample_make, text, path, "400", "1600"], check=True)
    whole = path.read_bytes()
    damaged = 0
    for i in range(PLACES):
        data = bytearray(whole)
        at = rng.randrange(16, len(data) - 100)
        for k in range(1 if i % 2 else 100):
            data[at + k] ^= 1 << rng.randrange(8)
        bad.write_bytes(data if i else whole)
        done = subprocess.run([kiseki, "profile", "report", bad, "--json"], capture_output=True)
        if done.returncode:
            sys.exit(f"profile_damage: byte {at}: {done.stderr.decode()}")
        totals = json.loads(done.stdout)["totals"]
        seen, lost = totals["total"]["samples"], totals["lost"]
        if not totals["lost_unknown"] and seen + lost != CPUS * EACH or seen + lost > CPUS * EACH:
            sys.exit(f"profile_damage: byte {at}: {seen} samples and {lost} lost of {CPUS * EACH}")
        if i == 0 and (lost or totals["losses"]):
            sys.exit("profile_damage: the whole file has losses")
        damaged += lost > 0
        subprocess.run([kiseki, "profile", "export", bad, "-f", "firefox", "-o", folder / "bad.json"], check=True,
                       stderr=subprocess.DEVNULL)
        for thread in json.loads((folder / "bad.json").read_text())["threads"]:
            if thread["samples"]["time"] != sorted(thread["samples"]["time"]):
                sys.exit(f"profile_damage: byte {at}: samples are not in order of time")
    if damaged < PLACES // 3:
        sys.exit(f"profile_damage: only {damaged} of {PLACES} places lost anything")
    print(f"{damaged} of {PLACES} places lost something, and said how much")


if __name__ == "__main__":
    main()

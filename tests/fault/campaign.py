#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""campaign: lets memory, disk, files and sockets fail under Kiseki's programs, one call after the other.

	campaign.py [--build FOLDER] [--most N] [--seed N] [--only TEXT] [PART...]

Parts: commands (what reads a file and answers), collector (with devices that send meanwhile), answers (of a collector, about recordings of all kinds), agent (with a known number of events), clocks (of collector and
devices, set while they run).
--most: how many faults of a kind at most, chosen by the seed. Prints what was taken wrongly, how many faults there really were of each kind, and exits with 1
if any was taken wrongly or there was none.
"""
import argparse
import collections
import os
import random
import signal
import sys
import types
from pathlib import Path

sys.dont_write_bytecode = True
SOURCE = Path(__file__).resolve().parent.parent.parent


def find_tools(build):
    return types.SimpleNamespace(source=SOURCE, kiseki=build / "src/cli/kiseki", agent=build / "src/device/agent/kiseki-agent",
                                 sample_make=build / "tests/sample_make", boot_make=build / "tests/boot_make", fill_store=build / "tests/fill_store", fleet=build / "bench/fleet/fleet",
                                 generator=build / "tests/system/rename_generator",
                                 library=str(build / "tests/fault/libfault.so"),
                                 clock=build / "tests/fault/libclock.so", jobs=os.cpu_count() or 2)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", default=[])
    parser.add_argument("--build", type=Path, default=SOURCE / "build")
    parser.add_argument("--most", type=int, default=60)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("fault: told to end"))
    tools = find_tools(options.build.resolve())
    print(f"seed {options.seed}, at most {options.most} faults of a kind")
    struck, missed, wrong = collections.Counter(), 0, []
    for part in options.parts or ("commands", "collector", "answers", "agent", "clocks"):
        print(f"{part}:", flush=True)
        tally = __import__(part).campaign(tools, options.most, random.Random(options.seed), options.only)
        struck, missed, wrong = struck + tally.struck, missed + tally.missed, wrong + tally.wrong
    for line in wrong:
        print(line)
    print(", ".join(f"{n} {what}" for what, n in struck.most_common()))
    print(f"{struck.total()} faults, {len(wrong)} taken wrongly" + (f"; {missed} calls were not made again" if missed else ""))
    return 1 if wrong or not struck else 0


if __name__ == "__main__":
    sys.exit(main())

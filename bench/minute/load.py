#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""load: a host with many virtual machines for minutes, out of a short recording of a host with few, as a script for sample_make.

    load.py RECORDING.ksk MACHINES SECONDS >SCRIPT      $SAMPLE_DUMP is the program that reads the recording

The host is as many copies of the recorded one as it takes, side by side: each with CPUs, processes and machines of its own, which have
other numbers and the same names. Its time is the recording again and again. All records are those that were recorded; only times,
numbers of tasks and numbers of CPUs are changed. What the recording says about its processes holds from the start, and their ends are left
out, since they run again in the next round. The clock begins at 0.
"""
import os
import re
import subprocess
import sys

SEAM_NS = 100_000  # between two rounds
PIDS = 1_000_000  # of one copy
TASK = re.compile(r"^(\d+)/(-?\d+)/(.*)$", re.S)
FUNCTIONS = re.compile(r"^(guest \d+ )?function ")


def read(recording, *what):
    dump = subprocess.run([os.environ["SAMPLE_DUMP"], recording, *what], check=True, stdout=subprocess.PIPE, text=True)
    return dump.stdout.splitlines()


def pid(number, copy):
    """Of 0, which is no process, there are no copies."""
    return int(number) + copy * PIDS if int(number) > 0 else int(number)


def move_task(word, copy):
    m = TASK.match(word)
    return f"{pid(m[1], copy)}/{pid(m[2], copy)}/{m[3]}"


def move_record(words, copy, cpus):
    """Kind and fields of a record, of another copy."""
    words = list(words)
    words[1] = move_task(words[1], copy)
    if words[0] in ("switch", "wake"):
        words[2] = move_task(words[2], copy)
    if words[0] == "wake":  # its value is a CPU
        words[3:4] = [str((int(words[3], 0) if len(words) > 3 else 0) + copy * cpus)]
    return " ".join(words)


def move_row(line, copy):
    """A line that says something about a process or a machine, of another copy; None: it is not wanted."""
    words = line.split(" ")
    head = [words.pop(0), str(pid(words.pop(0), copy))] if words[0] == "guest" else []
    if words[0] in ("table", "mapping", "life"):
        at = {"mapping": 2, "life": 3, "table": 3}[words[0]]
        words[at] = "0"
        if "end" in (words[4:5] if words[0] == "life" else words[6:7] if words[0] == "table" else []):
            return None
        if not head:
            words[1] = str(pid(words[1], copy))
        if words[0] == "life" and not head:
            words[2] = str(pid(words[2], copy))
    return " ".join(head + words)


def say_about(lines, copies):
    """What stands in front of the records. Functions of the host's kernel are said once."""
    seen = set()
    for line in lines:
        for copy in range(copies if not line.startswith(("function ", "sampling ")) else 1):
            row = move_row(line, copy)
            if row and row not in seen:
                seen.add(row)
                yield row


def main():
    recording, machines, seconds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    about = [line for line in read(recording, "about") if line]
    about = [line for line in about if not line.startswith("sampling ")] + [line for line in about if line.startswith("sampling ")][-1:]
    records = [line.split(" ") for line in read(recording)]
    records = [words for words in records if words[0].isdigit()]  # no losses
    cpus = max(int(words[0]) for words in records) + 1
    first = min(int(words[1]) for words in records)
    length = max(int(words[1]) for words in records) - first + SEAM_NS
    vms = {m[2] for words in records for word in words[3:5] if (m := TASK.match(word)) and not m[3].startswith("-")}
    copies = -(-machines // len(vms))
    out = sys.stdout
    out.write(f"device host\nkernel 6.1.0\nmachine aarch64\ncpus {copies * cpus}\n")
    out.write("\n".join(say_about(about, copies)) + "\n")
    for copy in range(copies):
        moved = [(int(w[0]) + copy * cpus, int(w[1]) - first, move_record(w[2:], copy, cpus)) for w in records]
        for start in range(0, seconds * 10**9, length):
            out.writelines(f"{cpu} {start + tick} {rest}\n" for cpu, tick, rest in moved if start + tick < seconds * 10**9)
    print(f"{copies} copies of {len(vms)} machines on {cpus} CPUs", file=sys.stderr)


main()

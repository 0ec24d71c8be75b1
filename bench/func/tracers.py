# SPDX-License-Identifier: MIT
"""tracers: the ways to run a program, and what each of them leaves behind.

A tracer says by which command and in which environment a program runs, and after it what was
recorded: bytes, events, and where it tells them itself, the program's own CPU time and memory.
"""
import os
import re
import struct
import subprocess

RECORD = 16  # bytes of raw_hook.c and of uftrace


def cut(path):
    """A file of raw records, less the zeros behind the last one. Returns how many it has."""
    low, high = 0, path.stat().st_size // RECORD
    with path.open("rb") as f:
        while low < high:
            middle = (low + high) // 2
            f.seek(middle * RECORD)
            if any(f.read(8)):
                low = middle + 1
            else:
                high = middle
    os.truncate(path, low * RECORD)
    return low


def weigh_buffer(data, sums):
    """Adds up what a function buffer holds. Slots that were used again would hide events; the
    programs here have fewer threads than slots."""
    if data[:8] != b"KSKFUNC\n":
        return
    slots, slot_bytes, chunks, chunk_bytes = struct.unpack_from("<4I", data, 16)
    slots_at, chunks_at = struct.unpack_from("<2Q", data, 32)
    sums["lost"] += struct.unpack_from("<Q", data, 408)[0]
    for i in range(slots):
        lost, events = struct.unpack_from("<2Q", data, slots_at + i * slot_bytes + 16)
        sums["events"] += events - lost
        sums["lost"] += lost
    for i in range(chunks):
        at = chunks_at + i * chunk_bytes
        if struct.unpack_from("<I", data, at)[0] not in (1, 2):  # writing, full
            continue
        lost, used = struct.unpack_from("<QI", data, at + 40)
        sums["events"] -= lost
        sums["lost"] += lost
        sums["bytes"] += used


class Tracer:
    """Nothing: the program alone."""
    key, name, binary = "off", "built in, nobody listens", "traced"
    recording = None  # what of a folder func_bench is given, if it can read it

    def __init__(self, build):
        self.build = build

    def missing(self):
        """Why it cannot run here, or None."""
        return None

    def command(self, command, folder):
        return command

    def environment(self, folder):
        return {}

    def weigh(self, folder):
        return {}


class Plain(Tracer):
    key, name, binary = "plain", "not instrumented", "plain"


class Raw(Tracer):
    key, name = "raw", "reference recorder, raw"

    def recording(self, folder):
        return sorted(folder.glob("*.raw"), key=lambda p: int(p.stem))

    def environment(self, folder):
        return {"LD_PRELOAD": str(self.build / "bench/func/raw_hook.so"), "RAW_DIR": str(folder)}

    def weigh(self, folder):
        counts = [cut(p) for p in folder.glob("*.raw")]
        return {"events": sum(counts), "bytes": RECORD * sum(counts), "threads": len(counts)}


class Uftrace(Tracer):
    """Without library calls and events of the kernel, for the others do not record them either."""
    key, name = "uftrace", "uftrace"

    def missing(self):
        try:
            self.version = subprocess.run(["uftrace", "--version"], stdout=subprocess.PIPE,
                                          text=True).stdout.split("(")[0].strip()
        except FileNotFoundError:
            return "there is no uftrace"
        return None

    def command(self, command, folder):
        return ["uftrace", "record", "--no-libcall", "--no-event", "--max-stack=65535", "--no-pager",
                "-d", folder / "data", *command]

    def weigh(self, folder):
        data = folder / "data"
        records = sum(p.stat().st_size for p in data.glob("*.dat")
                      if not p.name.startswith(("perf-", "kernel-")))
        info = subprocess.run(["uftrace", "info", "-d", data], stdout=subprocess.PIPE, text=True,
                              stderr=subprocess.DEVNULL).stdout
        system, user = map(float, re.search(r"cpu time\s*: ([\d.]+) / ([\d.]+)", info).groups())
        return {"events": records // RECORD, "bytes": records, "program_cpu_s": system + user,
                "program_wall_s": float(re.search(r"elapsed time\s*: ([\d.]+)", info)[1]),
                "program_kib": int(re.search(r"max rss\s*: (\d+)", info)[1])}


class Kiseki(Tracer):
    """libkiseki-func with a file that holds all of it, and nobody who drains it. What it recorded is
    read from the file as docs/format/func-buffer.md has it."""
    key, name, on = "kiseki", "libkiseki-func", "1"

    def library(self):
        return self.build / "src/device/func/libkiseki-func.so"

    def missing(self):
        return None if self.library().exists() else f"there is no {self.library().name}"

    def environment(self, folder):
        return {"LD_PRELOAD": str(self.library()), "KISEKI_FUNC_FOLDER": str(folder),
                "KISEKI_FUNC_SIZE": "1G", "KISEKI_FUNC_ON": self.on}

    def recording(self, folder):
        """The one record; the programs here have one process."""
        return ["--record", next(p for p in folder.iterdir() if p.suffix != ".maps")]

    def weigh(self, folder):
        sums = {"events": 0, "bytes": 0, "lost": 0, "file_bytes": 0}
        for path in folder.iterdir():
            sums["file_bytes"] += 512 * path.stat().st_blocks
            if path.suffix != ".maps":
                weigh_buffer(path.read_bytes(), sums)
        return sums


class KisekiOff(Kiseki):
    """There, but told not to record: what it costs in a program that nobody traces."""
    key, name, on = "kiseki_off", "libkiseki-func, off", "0"
    recording = None


TRACERS = (Plain, Tracer, Raw, Kiseki, KisekiOff, Uftrace)

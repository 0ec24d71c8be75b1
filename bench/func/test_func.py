#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test_func: the parts of the benchmark of function traces, without its figures.

	test_func.py SAMPLE RAW_HOOK FUNC_BENCH COST LIBKISEKI_FUNC

The reference recorder sees every call of a program that counts them itself, func_bench gets every event
back from each form, and the report has a row for whatever was measured.
"""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import report  # noqa: E402
from tracers import Kiseki, Raw, cut, weigh_buffer  # noqa: E402


def check(condition, what):
    if not condition:
        sys.exit(f"test_func: {what}")


def check_cut(folder):
    path = folder / "cut.raw"
    for records in range(5):
        path.write_bytes(b"\1" * 16 * records + bytes(16 * 3))
        check(cut(path) == records, f"{records} records are not cut to as many")
        check(path.stat().st_size == 16 * records, "the zeros are still there")


def check_buffer():
    """Two slots, three chunks of which one is being taken."""
    data = bytearray(4096 + 2 * 64 + 3 * 128)
    data[:8] = b"KSKFUNC\n"
    put = lambda at, value, size: data.__setitem__(slice(at, at + size),
                                                   value.to_bytes(size, "little"))
    for at, value in ((16, 2), (20, 64), (24, 3), (28, 128)):
        put(at, value, 4)
    put(32, 4096, 8)
    put(40, 4096 + 128, 8)
    put(408, 7, 8)
    for i, events in enumerate((100, 20)):
        put(4096 + 64 * i + 24, events, 8)
    put(4096 + 16, 3, 8)
    for i, (state, lost, used) in enumerate(((2, 0, 50), (3, 9, 9), (1, 5, 30))):
        at = 4096 + 128 + 128 * i
        put(at, state, 4)
        put(at + 40, lost, 8)
        put(at + 48, used, 4)
    sums = {"events": 0, "bytes": 0, "lost": 0}
    weigh_buffer(bytes(data), sums)
    check(sums == {"events": 112, "bytes": 80, "lost": 15}, f"a buffer is weighed as {sums}")


def record(sample, hook, cost, folder):
    """The files of the threads, and what cost says."""
    out = folder / "cost.json"
    environment = {**os.environ, "RAW_DIR": str(folder)}
    done = subprocess.run([cost, out, "env", f"LD_PRELOAD={hook}", sample], env=environment,
                          stdout=subprocess.PIPE, text=True, check=True)
    weight = Raw(folder).weigh(folder)
    check(weight["threads"] == 2, f"{weight['threads']} threads, not 2")
    check(weight["events"] == 2 * int(done.stdout),
          f"{weight['events']} events of {done.stdout.strip()} calls")
    row = json.loads(out.read_text())
    check(row["wall_s"] > 0 and row["max_kib"] > 0, f"a run without a cost: {row}")
    return sorted(folder.glob("[0-9]*.raw")), weight, row


def check_sizes(func_bench, files, weight, folder):
    out = folder / "sizes.json"
    subprocess.run([func_bench, "--runs", "1", "--json", out, *files], check=True)
    sizes = json.loads(out.read_text())
    check(sizes["events"] == weight["events"] and sizes["threads"] == 2, "events are missing")
    stages = {s["key"]: s for s in sizes["stages"]}
    check(stages["raw"]["bits_per_event"] == 128, "raw records have 128 bits")
    check(0 < stages["rtc"]["bits_per_event"] < 41, "rtc makes it larger")
    for shares in sizes["rtc"]:
        check(shares["records"] == weight["events"], "records are missing")
        check(shares["in"] == 41 * shares["records"], "a record of the paper has 41 bits")
        check(shares["out"] == shares["records"] + shares["time_out"] + shares["function_out"],
              "bits are missing")
    damaged = folder / "damaged.raw"
    damaged.write_bytes(b"")
    done = subprocess.run([func_bench, damaged], stderr=subprocess.DEVNULL)
    check(done.returncode == 1, "a recording without events is measured")
    return sizes


def check_record(sample, library, func_bench, folder):
    """The same program under libkiseki-func, whose record func_bench reads by itself."""
    data = folder / "record"
    data.mkdir()
    environment = {**os.environ, "LD_PRELOAD": str(library), "KISEKI_FUNC_FOLDER": str(data),
                   "KISEKI_FUNC_SIZE": "4M"}
    calls = int(subprocess.run([sample], env=environment, stdout=subprocess.PIPE, check=True).stdout)
    kiseki = Kiseki(folder)
    weight = kiseki.weigh(data)
    check(weight["events"] == 2 * calls and not weight["lost"], f"{weight} of {calls} calls")
    out = folder / "record.json"
    options = ["--runs", "1", "--only", "func", "--json", out]
    subprocess.run([func_bench, *options, *kiseki.recording(data)], check=True)
    sizes = json.loads(out.read_text())
    check(sizes["events"] == 2 * calls and sizes["threads"] == 2, "events of the record are missing")
    check([s["key"] for s in sizes["stages"]] == ["func"], "not one stage alone")
    record = kiseki.recording(data)[1]
    damaged = bytearray(record.read_bytes())
    damaged[0] ^= 1
    record.write_bytes(damaged)
    done = subprocess.run([func_bench, "--record", record], stderr=subprocess.DEVNULL)
    check(done.returncode == 1, "a file that is no record is measured")


def check_report(sizes, weight, row):
    row = {**row, "cpu_s": row["user_s"] + row["system_s"] + 0.001, "runs": 1}
    tracers = {"plain": row, "off": row, "raw": {**row, **weight},
               "uftrace": {**row, **weight, "program_cpu_s": 0.5, "program_kib": 9}}
    result = {"trial": True, "missing": {"kiseki": "it is not built"}, "date": "", "machine": "",
              "cpus": 1, "kernel": "", "uftrace": None,
              "names": {k: k.upper() for k in tracers},
              "programs": [{"name": "sample", "title": "Sample", "sizes": {"raw": sizes},
                            "tracers": tracers}]}
    paper = json.loads((HERE / "paper.json").read_text())
    text = report.format_report(result, paper)
    for wanted in ("nothing here is a result", "it is not built", "| UFTRACE |", "### Sample",
                   "| raw, 16 bytes | 128.00 |", "| 47.9 % | 53.7 % | 50.1 % | 19.6 |"):
        check(wanted in text, f"the report has no {wanted!r}:\n{text}")


def main():
    sample, hook, func_bench, cost, library = (Path(a).resolve() for a in sys.argv[1:])
    check_buffer()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        files, weight, row = record(sample, hook, cost, folder)
        check_cut(folder)
        check_record(sample, library, func_bench, folder)
        check_report(check_sizes(func_bench, files, weight, folder), weight, row)


main()

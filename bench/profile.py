#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""profile: what sampling costs, beside `perf record` with the same event, period and call chains.

	profile.py [--rounds N] [--work N] [--period US] [--markdown FILE] [--json FILE]

The same work (packing this program's own build files, one process that is busy and one that starts many) runs alone,
with all CPUs sampled by kiseki-agent, and by perf record, in turns. Told are: the CPU time of the recorder's own process;
how much more CPU time the same work takes, which is the kernel's side and noise on a shared machine; and bytes for each
sample, with everything that the file needs beside them. The middle one of the rounds counts.
AGENT is the program. Needs root.
"""
import argparse
import json
import os
import re
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

AGENT = os.environ.get("AGENT", "")
BUSY = "import zlib,sys\nd=bytes(range(256))*400\nfor i in range(%d): zlib.compress(d, 9)"


def work(amount):
    """Runs the work; its CPU time in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    busy = subprocess.Popen([sys.executable, "-c", BUSY % (amount * 40)])
    subprocess.run(["sh", "-c", f"for i in $(seq {amount}); do ls -l /usr/bin | sort | tail -n 3; done"],
                   stdout=subprocess.DEVNULL, check=True)
    busy.wait()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def cpu_of(pid):
    """CPU time of a process, in seconds."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def run_with(command, count, amount, folder):
    """The work while a recorder runs: seconds of the work, of the recorder, wall; bytes, samples."""
    path = folder / "out"
    with open(folder / "err", "w", encoding="utf-8") as err:
        recorder = subprocess.Popen([*command, "-o", str(path)], stdout=err, stderr=err)
    while not path.exists() or path.stat().st_size < 100:
        if recorder.poll() is not None:
            sys.exit(f"{command[0]}: {(folder / 'err').read_text()}")
        time.sleep(0.02)
    start = time.monotonic()
    spent = work(amount)
    wall = time.monotonic() - start
    recorder.send_signal(signal.SIGINT)
    own = os.wait4(recorder.pid, 0)[2]
    recorder.returncode = 0
    samples = count(path, (folder / "err").read_text())
    size = path.stat().st_size
    for left in folder.glob("out*"):
        left.unlink()
    return {"work": spent, "recorder": own.ru_utime + own.ru_stime, "wall": wall, "bytes": size, "samples": samples}


def count_kiseki(_, text):
    return int(re.search(r"(\d+) samples", text).group(1))


def count_perf(path, _):
    lines = subprocess.run(["perf", "script", "-i", str(path), "-F", "cpu"], capture_output=True, text=True, check=False)
    return lines.stdout.count("[")


def measure(options, folder):
    us = options.period
    kiseki = [AGENT, "profile", "-a", "-e", "cpu-clock", "-i", f"{us}us"]
    perf = ["perf", "record", "-q", "-a", "-g", "-e", "cpu-clock", "-c", str(us * 1000)]
    rows = {"alone": [], "kiseki": [], "perf record": []}
    for _ in range(options.rounds):
        rows["alone"].append({"work": work(options.work)})
        rows["kiseki"].append(run_with(kiseki, count_kiseki, options.work, folder))
        rows["perf record"].append(run_with(perf, count_perf, options.work, folder))
    return rows


def summarise(rows):
    def middle(name, value):
        return statistics.median(value(r) for r in rows[name])

    alone = middle("alone", lambda r: r["work"])
    out = {}
    for name in ("kiseki", "perf record"):
        out[name] = {
            "recorder_percent": 100 * middle(name, lambda r: r["recorder"] / r["wall"]),
            "us_per_sample": 1e6 * middle(name, lambda r: r["recorder"] / max(r["samples"], 1)),
            "work_ratio": middle(name, lambda r: r["work"]) / alone,
            "bytes_per_sample": middle(name, lambda r: r["bytes"] / max(r["samples"], 1)),
            "samples": middle(name, lambda r: r["samples"]),
        }
    return out


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--work", type=int, default=40)
    p.add_argument("--period", type=int, default=1000, help="us")
    p.add_argument("--markdown")
    p.add_argument("--json")
    options = p.parse_args()
    if not AGENT or os.geteuid() != 0 or not shutil.which("perf"):
        sys.exit("AGENT must be set; it needs root and perf")
    with tempfile.TemporaryDirectory() as folder:
        rows = measure(options, Path(folder))
    result = summarise(rows)
    text = ["| | samples | bytes for each | recorder's CPU time | for each sample | CPU time of the work, by that without |",
            "|---|---|---|---|---|---|"]
    for name, r in result.items():
        text.append(f"| {name} | {r['samples']:.0f} | {r['bytes_per_sample']:.1f} | {r['recorder_percent']:.2f} % | "
                    f"{r['us_per_sample']:.1f} us | {r['work_ratio']:.3f} |")
    text.append("")
    text.append(f"All CPUs, cpu-clock, a period of {options.period} us, call chains by frame pointers; "
                f"the middle one of {options.rounds} rounds.")
    print("\n".join(text))
    if options.markdown:
        Path(options.markdown).write_text("\n".join(text) + "\n", encoding="utf-8")
    if options.json:
        Path(options.json).write_text(json.dumps(result, indent=1), encoding="utf-8")


main()

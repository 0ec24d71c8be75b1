#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tls: what devices with keys bring to a collector, beside the same devices without.

	tls.py [--devices N] [--megabytes N] [--rounds N] [--markdown FILE] [--json FILE] [FILE.ksk]

One collector that has keys and takes devices of this machine without, too (`--plain-loopback`). Simulated devices
(fleet/) send as fast as it is acknowledged, in turns with TLS 1.3 and without; the ratio is of runs that are next to
each other. BUILD is the folder of the build. Without a file it takes the recordings of `make bench`, or random events.
"""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
BUILD = Path(os.environ.get("BUILD") or HERE.parent / "build")
KISEKI, AGENT, FLEET = BUILD / "src/cli/kiseki", BUILD / "src/device/agent/kiseki-agent", BUILD / "bench/fleet/fleet"
GOAL = 0.7
sys.dont_write_bytecode = True
sys.path[:0] = [str(HERE / "fleet")]

import enroll  # noqa: E402


class Collector:
    def __init__(self, data):
        enroll.make_keys(KISEKI, data)
        self.process = subprocess.Popen(
            [KISEKI, "serve", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", "--data", data, "--config", "/dev/null",
             "--plain-loopback", "--workers", "0", "--retain-size", "1G"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        for line in self.process.stdout:
            if line.startswith("devices"):
                self.port = int(line.rsplit(":", 1)[1])
            if line == "ready\n":
                return
        sys.exit("tls: the collector does not start")

    def cpu_s(self):
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self):
        self.process.terminate()
        self.process.wait()


def get_file(work):
    out = work / "load.ksk"
    for name in ("message", "build", "web"):
        recording = BUILD / f"bench/traces/{name}.dat"
        if recording.exists():
            subprocess.run([KISEKI, "convert", recording, "-o", out], check=True)
            return out
    subprocess.run([BUILD / "tests/ksk_random", out, "200", "50000"], check=True)
    return out


def seconds_of(file, bytes_wanted):
    """How much of the recording has so many bytes."""
    text = subprocess.run([FLEET, "--describe", file], check=True, stdout=subprocess.PIPE, text=True).stdout
    one = {name: int(value) for name, value in map(str.split, text.splitlines())}
    return bytes_wanted / one["bytes"] * one["ns"] / 1e9


def measure(collector, options, file):
    """Of one run: MB/s that are durable, CPU of the collector and of the devices for a GB."""
    before = collector.cpu_s()
    done = subprocess.run([FLEET, *options, f"127.0.0.1:{collector.port}", file], stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"tls: the devices: exit {done.returncode}\n{done.stdout}")
    told = dict(re.findall(r"^(\w+) +(\S+)$", done.stdout, re.M))
    sent = float(told["bytes_sent"])
    return {"mb_per_s": sent / 1e6 / float(told["seconds"]), "events_per_s": float(told["events_acked"]) / float(told["seconds"]),
            "collector_s_per_gb": (collector.cpu_s() - before) / sent * 1e9, "devices_s_per_gb": float(told["cpu_seconds"]) / sent * 1e9}


def middle(rows, name):
    return statistics.median(row[name] for row in rows)


def markdown(arguments, plain, tls, ratio):
    lines = [f"{arguments.devices} simulated devices send {arguments.megabytes} MB to one collector on the same machine as fast as it is acknowledged, "
             f"{arguments.rounds} times in turns; TLS 1.3 as the agent has it. The middle of the runs.", "",
             "| | MB/s, durable | M events/s | collector, s of CPU per GB | devices, s of CPU per GB |", "|---|--:|--:|--:|--:|"]
    for name, rows in (("plain", plain), ("TLS", tls)):
        lines.append(f"| {name} | {middle(rows, 'mb_per_s'):.1f} | {middle(rows, 'events_per_s') / 1e6:.1f} | "
                     f"{middle(rows, 'collector_s_per_gb'):.2f} | {middle(rows, 'devices_s_per_gb'):.2f} |")
    lines += ["", f"TLS / plain, the middle one of the pairs of runs: {100 * ratio:.0f} % (goal {100 * GOAL:.0f} or more)."]
    return "\n".join(lines) + "\n"


def run(arguments, work):
    file = arguments.file or get_file(work)
    collector = Collector(work / "data")
    fleet = ["--devices", str(arguments.devices), "--ramp", "0"]
    enroll.enroll_fleet((KISEKI, AGENT), work / "data", collector.port, work / "keys", enroll.get_identities(FLEET, fleet))
    fleet += ["--rate", "max", "--seconds", f"{seconds_of(file, arguments.megabytes * 1e6 / arguments.devices):.6f}"]
    plain, tls = [], []
    for _ in range(arguments.rounds):
        plain.append(measure(collector, fleet, file))
        tls.append(measure(collector, [*fleet, "--keys", work / "keys"], file))
    collector.stop()
    return plain, tls


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--devices", type=int, default=16)
    parser.add_argument("--megabytes", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--markdown", type=Path)
    parser.add_argument("--json", type=Path)
    parser.add_argument("file", nargs="?", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="kiseki-bench-", dir=os.environ.get("SCRATCH")) as folder:
        plain, tls = run(arguments, Path(folder))
    ratio = statistics.median(t["mb_per_s"] / p["mb_per_s"] for p, t in zip(plain, tls))
    text = markdown(arguments, plain, tls, ratio)
    print(text, end="")
    if arguments.markdown:
        arguments.markdown.write_text(text)
    if arguments.json:
        arguments.json.write_text(json.dumps({"version": 1, "plain": plain, "tls": tls, "ratio": ratio}, indent=1) + "\n")


main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tls_cost: what the driver costs with keys, when the kernel encrypts what it sends, and without.

	tls_cost.py [BOARD] [--seconds N] [--rounds N] [--json FILE]

The paper's load (load_frames.c) runs on a board with one CPU whose clock counts instructions, as in
run.py, and the driver records it: with a connection that the agent made in the clear, and with one
over TLS, by turns. A share is the time of the probes and of the driver's thread, in which the kernel
encrypts, in the time of the load; `busy` is what the whole board did, with the load.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT))

from boards import build  # noqa: E402
from boards.catalog import BoardError, get_board  # noqa: E402
from boards.collector import HOST, Collector  # noqa: E402
from boards.machine import Machine  # noqa: E402
from methods import kiseki_program  # noqa: E402

SHIFT, SEED, NAME = 1, 1, "bench"
FILES = "/sys/kernel/kiseki"
WAYS = "plain", "tls"
WAIT = "for i in $(seq 600); do {} && exit 0; usleep 100000; done; exit 1"


def read_statistics(machine):
    return {k: int(v) for k, v in re.findall(r"(\w+)=(\d+)", machine.check(f"cat {FILES}/statistics"))}


def read_busy(machine):
    up, idle = map(float, machine.check("cat /proc/uptime").split())
    return up, up - idle


def connect(machine, collector, kiseki, way):
    """An agent makes the driver's connection; with keys after it has enrolled."""
    agent = f"-c {HOST}:{collector.port} -n {NAME} --config /dev/null --state-dir /tmp/state"
    machine.check("rm -rf /tmp/state; mkdir /tmp/state")
    if way == "tls":
        token = subprocess.run([kiseki, "keys", "enroll", NAME, "--dir", collector.data / "keys"], check=True,
                               stdout=subprocess.PIPE, text=True).stdout.strip()
        machine.check(f"echo {token} | kiseki-agent enroll {agent}", 300)
    machine.check(f"kiseki-agent {agent} --source driver --start >/tmp/agent.log 2>&1 & echo $! >/tmp/agent.pid")
    machine.check(WAIT.format(f"grep -q up {FILES}/link"), 300)
    machine.check("kill -9 $(cat /tmp/agent.pid)")  # it is not needed any more, and not measured


def measure(machine, kiseki, way, seconds):
    with tempfile.TemporaryDirectory(prefix="kiseki-bench-") as work:
        store = Path(work) / "store"
        if way == "tls":
            subprocess.run([kiseki, "keys", "init", "--dir", store / "keys"], check=True, stdout=subprocess.DEVNULL)
        with Collector(kiseki, store, Path(work) / "log") as collector:
            machine.check("insmod /lib/kiseki.ko profile=1 events=switch,wakeup,wakeup_new")
            connect(machine, collector, kiseki, way)
            machine.check("sleep 1")
            before, (since, busy) = read_statistics(machine), read_busy(machine)
            machine.check(f"load_frames {seconds} {SEED}", seconds * 20 + 300)
            after, (until, busy_then) = read_statistics(machine), read_busy(machine)
            machine.check("rmmod kiseki", 120)
    spent = {k: (after[k] - before[k]) / 1e9 for k in ("cpu_probe_ns", "cpu_thread_ns", "cpu_network_ns")}
    passed = until - since
    return {"way": way, "seconds": passed, "events": after["events"] - before["events"],
            "lost": sum(after[k] - before[k] for k in ("lost_ring", "lost_buffer", "lost_spool")),
            "bytes": after["bytes_sent"] - before["bytes_sent"],
            "frames": after["frames_sent"] - before["frames_sent"],
            "share": (spent["cpu_probe_ns"] + spent["cpu_thread_ns"]) / passed,
            "thread": spent["cpu_thread_ns"] / passed, "network": spent["cpu_network_ns"] / passed,
            "busy": (busy_then - busy) / passed}


def show(row):
    print(f"{row['way']:5}  {row['events']:,} events, {row['lost']} lost, {row['bytes']:,} bytes in "
          f"{row['frames']} frames: {100 * row['share']:.3f} % (thread {100 * row['thread']:.3f}, in sending and receiving "
          f"{100 * row['network']:.3f}), board busy {100 * row['busy']:.2f} %", flush=True)


def run(arguments):
    board, kiseki = get_board(arguments.board), kiseki_program(ROOT)
    with tempfile.TemporaryDirectory(prefix="kiseki-bench-") as work:
        files = [*build.build_tls_agent(board), (build.build_module(board), "/lib/kiseki.ko"),
                 *((build.compile_program(board, [HERE / f"{name}.c"], Path(work) / name), f"/bin/{name}")
                   for name in ("load_frames", "seed_random"))]
        with Machine(board.counted(SHIFT), files, build.TLS_MODULES[board.kbuild], timeout_s=3600) as machine:
            seed = "".join(f"\\{x:03o}" for x in os.urandom(64))
            machine.check(f"printf '{seed}' | seed_random")
            rows = []
            for _ in range(arguments.rounds):
                for way in WAYS:
                    rows.append(measure(machine, kiseki, way, arguments.seconds))
                    show(rows[-1])
    mean = {w: sum(r["share"] for r in rows if r["way"] == w) / arguments.rounds for w in WAYS}
    print(f"{board.name}: {100 * mean['plain']:.3f} % in the clear, {100 * mean['tls']:.3f} % with TLS, "
          f"{mean['tls'] / mean['plain']:.2f} times as much")
    if arguments.json:
        arguments.json.write_text(json.dumps({"board": board.name, "rows": rows}, indent=1) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("board", nargs="?", default="a9")
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--json", type=Path)
    try:
        run(parser.parse_args())
    except BoardError as e:
        sys.exit(f"tls_cost: {e}")


if __name__ == "__main__":
    main()

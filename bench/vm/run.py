#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""run: what recording virtual machines costs their guests: what `make bench-vm` does.

	run.py [--rounds N] [--json FILE] [--results DIR] [--try]

By the thesis' method: a guest does a fixed piece of work, with and without, and its own clock says how long that took. The
host is the board kvm-arm64 with one CPU, whose clock counts instructions, one nanosecond each, so a difference is what was
executed and nothing else. It is measured with an agent that is stopped while the work is done (its rings are large enough), which is
what the module costs, and with one that runs on the guest's own CPU, since there is no other. All figures go into the JSON
file; RESULTS.md has them as tables.
"""
import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT))

import report  # noqa: E402
from boards import build  # noqa: E402
from boards.catalog import BoardError, get_board  # noqa: E402
from boards.guests import Guest, guest_parts  # noqa: E402
from boards.machine import Machine  # noqa: E402

BOARD = "kvm-arm64"
ROUNDS = 2500  # of the work: 400 million instructions
PERIODS_US = (1000, 100)
WORK_S = 900  # of this machine, until the work counts as stuck
AGENT = "/kiseki-agent vm --name host -o /tmp/vm.ksk --buffer 16M --period {}us"
VERSION = 1


def say(text):
    print(f"bench: {text}", file=sys.stderr, flush=True)


def work(guest, rounds):
    guest.tell(f"mix {rounds}")
    return guest.answer("mix", WORK_S)["ns"]


def count(machine, work_folder):
    """What the agent recorded: of the file, with kiseki's own eyes."""
    machine.check("mkdir -p /take; mv /tmp/vm.ksk /take/")
    machine.get("/take", work_folder)
    machine.check("rm -rf /take")
    text = subprocess.run([ROOT / "build/bin/kiseki", "vm", "report", Path(work_folder) / "vm.ksk", "--json"],
                          stdout=subprocess.PIPE, text=True, check=True).stdout
    document = json.loads(text)
    machine_row = document["machines"][0]
    rows = document["function"]["rows"]
    return {"samples": sum(r["samples"] for r in rows), "bytes": (Path(work_folder) / "vm.ksk").stat().st_size,
            "sampling_ns": machine_row["sampling_ns"], "entries": machine_row["entries"]}


def measure(machine, guest, arguments, period_us, stopped, folder):
    """One run of the work with a recorder."""
    machine.check(f"{AGENT.format(period_us)} >/tmp/log 2>&1 & echo $! >/tmp/pid; sleep 1")
    if stopped:
        machine.check("kill -STOP $(cat /tmp/pid)")
    ns = work(guest, arguments.rounds)
    machine.check("kill -CONT $(cat /tmp/pid); kill $(cat /tmp/pid); while [ -d /proc/$(cat /tmp/pid) ]; do sleep 0.1; "
                  "done; cat /tmp/log", 300)
    return {"period_us": period_us, "agent": not stopped, "ns": ns, **count(machine, folder)}


def run_all(arguments):
    board = get_board(BOARD)
    result = {"version": VERSION, "board": board.about, "rounds": arguments.rounds, "is_try": arguments.try_,
              "without_ns": [], "runs": []}
    with tempfile.TemporaryDirectory(prefix="kiseki-bench-vm-") as folder:
        init = build.compile_program(board, [ROOT / "tests/tools/vm_guest.c"], Path(folder) / "init", ["-no-pie"])
        parts = guest_parts(board, init, folder)
        parts["files"] += [(build.build_vm_module(board, say=say), "/kiseki_vm.ko"),
                           (build.build_agent(board), "/kiseki-agent")]
        say("booting the host and a guest: some minutes")
        with Machine(board.alone().paced(0), **parts, timeout_s=7200, say=say) as machine:
            guest = Guest(machine, "g1")
            guest.wait_for("guest ready", WORK_S)
            machine.check("insmod /kiseki_vm.ko")
            result["kernel"] = machine.check("uname -r").strip()
            for _ in range(2):
                result["without_ns"].append(work(guest, arguments.rounds))
                say(f"without: {result['without_ns'][-1]} ns")
            for period in PERIODS_US:
                for stopped in (True, False):
                    result["runs"].append(measure(machine, guest, arguments, period, stopped, folder))
                    say(str(result["runs"][-1]))
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--json", type=Path, default=ROOT / "build/bench/vm.json")
    parser.add_argument("--results", type=Path, default=HERE)
    parser.add_argument("--try", dest="try_", action="store_true", help="write RESULTS.md beside the JSON file")
    arguments = parser.parse_args()
    try:
        result = run_all(arguments)
    except BoardError as e:
        say(e)
        return 1
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    arguments.json.write_text(json.dumps(result, indent=1) + "\n")
    target = (arguments.json.parent if arguments.try_ else arguments.results) / "RESULTS.md"
    target.write_text(report.page(result))
    say(f"{target} has the figures")
    return 0


if __name__ == "__main__":
    sys.exit(main())

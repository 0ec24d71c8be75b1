#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""run: what it costs to record a boot, on the emulated dual Cortex-A9: what `make bench-boot` does.

	run.py [--boots N] [--counted N] [--methods none,kiseki-20] [--json FILE] [--results DIR] [--try]

The board boots busybox' init and the services of a small product again and again, with each recorder in
turn, so that whatever else the machine does hits all of them alike; medians are compared. Then once more
on the board with one CPU whose clock counts instructions, two nanoseconds each: costs in that time are the
same on every machine. All figures go into the JSON file; report.py makes RESULTS.md of it. --try writes
that beside the JSON file, and says so in it: for a machine that does other things.
"""
import argparse
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT))

import report  # noqa: E402
from boards import build  # noqa: E402
from boards.bootchartd import fetch_bootchartd  # noqa: E402
from boards.catalog import BoardError, get_board  # noqa: E402
from boards.disk import make_disk  # noqa: E402
from boards.machine import Disk, Machine  # noqa: E402
from methods import METHODS, NONE  # noqa: E402

BOOTS, COUNTED, COUNTED_SHIFT = 7, 3, 1
DISK_BYTES = 2 << 20
SETTLE_S = 2  # of the board, after it is ready: an idle machine is part of every boot chart
READY = re.compile(r"^\[ *([\d.]+)\] board: ready", re.M)
STARTED = re.compile(r"^\[ *([\d.]+)\] Run \S+ as init process", re.M)
VERSION = 1

# The recorder's cost so far, before anybody asks it to end. Two processes may have its name: a parent that
# became init has not.
ASK = r"""
sleep {settle}
for folder in /proc/[0-9]*; do
	read -r comm <$folder/comm 2>/dev/null || continue
	[ "${{comm#@}}" = "{process}" ] || continue
	pid=${{folder#/proc/}}
	echo "cpu $(cut -d ' ' -f 1 $folder/schedstat)"
	echo "start $(cut -d ' ' -f 22 $folder/stat)"
	echo "uptime $(cut -d ' ' -f 1 /proc/uptime)"
	sed -n 's/^VmHWM:[ \t]*/peak /p; s/^voluntary_ctxt_switches:[ \t]*/slept /p' $folder/status
	sed -n 's/^Rss:[ \t]*/now /p' $folder/smaps_rollup
done
"""


def say(text):
    print(f"bench: {text}", file=sys.stderr, flush=True)


def machine_name():
    text = subprocess.run(["lscpu"], stdout=subprocess.PIPE, text=True, check=False,
                          env={**os.environ, "LC_ALL": "C"}).stdout
    model = re.search(r"^Model name: *(.*)$", text, re.M)
    return f"{model[1] if model else 'unknown processor'}, {os.cpu_count()} cores, {platform.machine()}"


def build_programs(board, needs):
    """Path of each on this machine, by name."""
    programs = {}
    if "kiseki-boot" in needs:
        programs["kiseki-boot"] = build.build_boot(board)
    if "bootchartd" in needs:
        programs["bootchartd"] = fetch_bootchartd(board, say)
    return programs


def put_files(method, programs, work):
    files = [(HERE / "application", "/usr/bin/application")]
    files += [(programs[name], f"/sbin/{name}") for name in method.needs]
    for number, (there, text) in enumerate(method.files.items()):
        here = Path(work) / f"file{number}"
        here.write_text(text)
        files.append((here, there))
    return files


def ask(machine, method):
    """What the recorder has cost up to now."""
    text = machine.check(ASK.format(process=method.process, settle=SETTLE_S), 300)
    found = dict(re.findall(r"^(\w+) ([\d.]+)", text, re.M))
    if "cpu" not in found:
        raise BoardError(f"{method.name} does not run on the board: {text}")
    seconds = float(found["uptime"]) - int(found["start"]) / 100
    return {"cpu_s": int(found["cpu"]) / 1e9, "seconds": seconds, "peak_kib": max(int(found["peak"]), int(found["now"])),
            "wakeups": int(found["slept"])}


def fetch_result(machine, method):
    machine.check(method.stop)
    machine.check(f"for i in $(seq 200); do n=$(ls -l {method.result} 2>/dev/null); [ \"$n\" ] && "
                  f"[ \"$n\" = \"$last\" ] && exit 0; last=$n; sleep 0.3; done; exit 1", 300)
    with tempfile.TemporaryDirectory() as out:
        machine.check(f"mkdir -p /out && cp {method.result} /out/result")
        machine.get("/out", out)
        return method.recorded((Path(out) / "result").read_bytes())


def boot(board, method, programs, disk):
    """One boot: when the board was ready, and what the recorder had cost by then."""
    with tempfile.TemporaryDirectory(prefix="kiseki-bench-") as work:
        with Machine(board, put_files(method, programs, work), board.disk_modules,
                     system="busybox", disks=[Disk(disk)], append=method.words,
                     timeout_s=900, say=say) as machine:
            row = {"method": method.key}
            if method.process:
                row["recorder"] = ask(machine, method)
                row["recorder"].update(fetch_result(machine, method))
            console = machine.console()
    started, ready = STARTED.search(console), READY.search(console)
    if not started or not ready:
        raise BoardError("the board does not say when it was ready")
    return {**row, "init_s": float(started[1]), "ready_s": float(ready[1]),
            "boot_s": float(ready[1]) - float(started[1])}


def show(kind, row):
    r = row.get("recorder")
    text = (f", {100 * r['cpu_s'] / r['seconds']:.2f} % CPU, {r['peak_kib']} KiB, "
            f"{r['bytes'] / r['seconds']:.0f} bytes/s") if r else ""
    say(f"{kind} {row['method']:14} ready after {row['boot_s']:.3f} s{text}")


def measure(result, kind, board, times, context):
    """All methods so many times, one after the other; every second round the other way round."""
    methods, programs, disk, path = context
    for number in range(times):
        for method in methods if number % 2 == 0 else methods[::-1]:
            row = boot(board, method, programs, disk)
            show(kind, row)
            result[kind].append(row)
            path.write_text(json.dumps(result, indent=1) + "\n")


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--boots", type=int, default=BOOTS)
    parser.add_argument("--counted", type=int, default=COUNTED)
    parser.add_argument("--methods", type=lambda text: text.split(","), default=list(METHODS))
    parser.add_argument("--json", type=Path, default=ROOT / "build/bench/boot.json")
    parser.add_argument("--results", type=Path, default=HERE)
    parser.add_argument("--try", dest="is_trial", action="store_true")
    arguments = parser.parse_args()
    for name in arguments.methods:
        if name not in METHODS:
            parser.error(f'no method "{name}"')
    return arguments


def run(arguments):
    board = get_board("a9")
    methods = [METHODS[x] for x in dict.fromkeys([NONE.key, *arguments.methods])]
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    programs = build_programs(board, {n for m in methods for n in m.needs})
    result = {"version": VERSION, "date": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
              "is_trial": arguments.is_trial, "machine": machine_name(), "board": board.about,
              "command": " ".join(["bench/boot/run.py", *sys.argv[1:]]),
              "names": {m.key: m.name for m in methods},
              "program_bytes": {n: p.stat().st_size for n, p in programs.items()},
              "needs": {m.key: list(m.needs) for m in methods}, "runs": [], "counted": []}
    with tempfile.TemporaryDirectory(prefix="kiseki-bench-") as work:
        disk = make_disk(Path(work) / "disk", 64, {"/data/a": os.urandom(DISK_BYTES)})
        context = methods, programs, disk, arguments.json
        measure(result, "counted", board.counted(COUNTED_SHIFT), arguments.counted, context)
        measure(result, "runs", board, arguments.boots, context)
    folder = arguments.json.parent / "boot-results" if arguments.is_trial else arguments.results
    say(f"the results are in {report.write(result, folder)}")


def main():
    arguments = parse()
    try:
        run(arguments)
    except BoardError as e:
        say(e)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""run: function traces of real programs, what `make bench-func` does.

	run.py [--programs lua,sqlite] [--times N] [--build DIR] [--json FILE] [--results DIR] [--try]

Each program is recorded once by libkiseki-func and once by the reference recorder (raw_hook.c), and
func_bench.c says how many bits an event has in every form. Then it runs under each tracer in turn, all of them N times over, so that
whatever else the machine does meets all alike; the best time of each counts. All figures go into the
JSON file, and from it report.py writes RESULTS.md into DIR, which is this folder if not said. --try does
little of everything and writes beside the JSON file instead: it shows that all works, on a machine where times
mean nothing.
"""
import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE))

import programs  # noqa: E402
import report  # noqa: E402
from tracers import TRACERS  # noqa: E402

VERSION = 1
TIMES = 5
TRY_LIMIT = 300000  # events of a thread that are measured
PATIENCE_S = 600


def say(text):
    print(f"bench: {text}", file=sys.stderr, flush=True)


class BenchError(Exception):
    pass


def scratch():
    """A folder in memory, if there is one: a disk would be measured else."""
    shm = Path("/dev/shm")
    large = shm.is_dir() and shutil.disk_usage(shm).free > 4 << 30
    return tempfile.TemporaryDirectory(prefix="kiseki-bench-func-", dir=shm if large else None)


def run_once(tracer, command, build, folder):
    """One run of a program; what it cost, and what was recorded."""
    data = folder / "data"
    data.mkdir()
    cost = folder / "cost.json"
    whole = [str(c) for c in (build / "bench/func/cost", cost, *tracer.command(command, data))]
    environment = {"PATH": os.environ["PATH"], "LC_ALL": "C", "HOME": str(folder)}
    # A tracer of its own kind preloads into the program alone: not into what measures it.
    preload = tracer.environment(data)
    if preload:
        whole[2:2] = ["env", *(f"{k}={v}" for k, v in preload.items())]
    done = subprocess.run(whole, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=PATIENCE_S)
    if done.returncode:
        raise BenchError(f"{tracer.key}: {' '.join(whole)} failed: "
                         f"{done.stderr.decode(errors='replace')[-300:]}")
    row = json.loads(cost.read_text())
    row["cpu_s"] = row["user_s"] + row["system_s"]
    row.update(tracer.weigh(data))
    return row


def best(rows):
    """The least of each time; of what was recorded, that of the last run."""
    result = dict(rows[-1])
    for key in ("wall_s", "cpu_s", "user_s", "system_s", "program_cpu_s", "program_wall_s"):
        if key in result:
            result[key] = min(r[key] for r in rows)
    result["runs"] = len(rows)
    return result


def measure_times(program, folder, tracers, options):
    rounds = program.few if options.is_trial else program.rounds
    rows = {t.key: [] for t in tracers}
    for turn in range(options.times):
        for tracer in tracers:
            say(f"{program.name}: {tracer.key}, {turn + 1} of {options.times}")
            with scratch() as temporary:
                rows[tracer.key].append(
                    run_once(tracer, program.command(folder / tracer.binary, rounds),
                             options.build, Path(temporary)))
    return {key: best(r) for key, r in rows.items()}


def run_func_bench(program, options, work, files):
    command = [options.build / "bench/func/func_bench", "--json", work / "sizes.json"]
    if options.is_trial:
        command += ["--runs", "1", "--limit", TRY_LIMIT]
    done = subprocess.run([str(c) for c in [*command, *files]])
    if done.returncode:
        raise BenchError(f"cannot measure the sizes of {program.name}")
    return json.loads((work / "sizes.json").read_text())


def measure_sizes(program, folder, tracer, options):
    """Has a tracer record a shorter run and func_bench encode it."""
    say(f"{program.name}: sizes, recorded by {tracer.key}")
    with scratch() as temporary:
        work = Path(temporary)
        run_once(tracer, program.command(folder / "traced", program.few), options.build, work)
        return run_func_bench(program, options, work, tracer.recording(work / "data"))


def measure_program(program, tracers, options):
    folder = programs.ensure(program, say)
    return {"name": program.name, "title": program.title,
            "sizes": {t.key: measure_sizes(program, folder, t, options)
                      for t in tracers if t.recording},
            "tracers": measure_times(program, folder, tracers, options)}


def available(build):
    """The tracers that can run, and why others cannot."""
    tracers, missing = [], {}
    for kind in TRACERS:
        tracer = kind(build)
        why = tracer.missing()
        if why:
            missing[tracer.key] = why
            say(f"{tracer.name} is left out: {why}")
        else:
            tracers.append(tracer)
    return tracers, missing


def cpu_name():
    text = subprocess.run(["lscpu"], stdout=subprocess.PIPE, text=True).stdout
    for line in text.splitlines():
        if line.startswith("Model name:"):
            return line.partition(":")[2].strip()
    return platform.machine()


def parse_arguments():
    parser = argparse.ArgumentParser(description="function traces of real programs")
    parser.add_argument("--programs", help="some of them, with commas between")
    parser.add_argument("--times", type=int)
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--results", type=Path, default=HERE)
    parser.add_argument("--try", dest="is_trial", action="store_true")
    options = parser.parse_args()
    options.build = options.build.resolve()
    options.json = options.json or options.build / "bench" / \
        ("func-try.json" if options.is_trial else "func.json")
    options.times = options.times or (1 if options.is_trial else TIMES)
    if options.is_trial:
        options.results = options.json.parent
    return options


def main():
    options = parse_arguments()
    wanted = options.programs.split(",") if options.programs else None
    chosen = [p for p in programs.PROGRAMS if not wanted or p.name in wanted]
    if not chosen:
        say(f"no such program; there are {', '.join(p.name for p in programs.PROGRAMS)}")
        return 2
    tracers, missing = available(options.build)
    result = {"version": VERSION, "date": time.strftime("%Y-%m-%d"), "machine": cpu_name(),
              "cpus": os.cpu_count(), "kernel": platform.release(), "trial": options.is_trial,
              "load": os.getloadavg()[0], "missing": missing,
              "names": {t.key: t.name for t in tracers},
              "uftrace": next((t.version for t in tracers if t.key == "uftrace"), None)}
    try:
        result["programs"] = [measure_program(p, tracers, options) for p in chosen]
    except (BenchError, programs.ProgramError, subprocess.TimeoutExpired) as e:
        say(str(e))
        return 1
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(result, indent=1) + "\n")
    path = options.results / ("func-try.md" if options.is_trial else "RESULTS.md")
    path.write_text(report.format_report(result, json.loads((HERE / "paper.json").read_text())))
    say(f"{options.json} and {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

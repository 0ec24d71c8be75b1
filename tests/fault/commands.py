# SPDX-License-Identifier: MIT
"""commands: programs that read a file and answer, under every fault.

What must come of it: the right answer, or a status other than 0 and one line that says why. Never a signal, never an answer
that is wrong with a status that says it is right, and no half of an output file.
"""
import re
import signal
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from strike import Tally, count_allocations, count_calls, count_struck, plan, wrap

WAIT_S = 60
MAY_LACK = {("info", "newfstatat")}  # the size of a file that does not tell it is left out
FORMATS = {"ksk": "ksk", "ftrace": "txt", "json": "json", "ndjson": "ndjson", "xml": "xml", "trace.dat": "dat", "perfetto": "pftrace",
           "chrome": "chrome.json", "csv": "csv"}


def make_inputs(tools, work):
    """Small files of every kind."""
    source, golden = tools.source, tools.source / "tests/golden"
    subprocess.run([tools.kiseki, "convert", source / "tests/data/small-v6.dat", "-o", work / "sched.ksk"], check=True)
    subprocess.run([tools.sample_make, golden / "profile/before.profile", work / "before.ksk"], check=True)
    subprocess.run([tools.sample_make, golden / "profile/after.profile", work / "after.ksk"], check=True)
    subprocess.run([tools.sample_make, golden / "vm/two.sample", work / "vm.ksk", "100", "400"], check=True)
    subprocess.run([tools.boot_make, source / "tests/data/boot/small.boot", work / "boot.ksk"], check=True)


def commands(tools, work):
    """{name: arguments}; OUT stands for the output, which is a file."""
    data = tools.source / "tests/data"
    found = {
        "read trace.dat": ["convert", data / "small-v7.dat", "-o", "OUT.ksk"],
        "read text": ["convert", data / "ftrace_6.18.txt", "-o", "OUT.ksk"],
        "read function_graph": ["convert", data / "graph/default.txt", "-o", "OUT.ksk"],
        "read bootchart": ["convert", tools.source / "tests/corpus/bootchart/small.tar", "-o", "OUT.ksk"],
        "info": ["info", work / "sched.ksk"],
        "check": ["check", work / "sched.ksk"],
        "report sched": ["report", "sched", work / "sched.ksk"],
        "report latency": ["report", "latency", work / "sched.ksk"],
        "profile report": ["profile", "report", work / "before.ksk"],
        "profile flame": ["profile", "flame", work / "before.ksk", "-o", "OUT.svg"],
        "profile diff": ["profile", "diff", work / "before.ksk", work / "after.ksk"],
        "profile pprof": ["profile", "export", work / "before.ksk", "-o", "OUT.pb.gz"],
        "profile firefox": ["profile", "export", work / "before.ksk", "--format", "firefox", "-o", "OUT.json"],
        "vm report": ["vm", "report", work / "vm.ksk"],
        "boot chart": ["boot", "chart", work / "boot.ksk", "-o", "OUT.svg"],
        "boot report": ["boot", "report", work / "boot.ksk"],
        "func report": ["func", "report", data / "func/sample.ksk"],
        "func tree": ["func", "tree", data / "func/sample.ksk"],
        "func convert": ["convert", data / "func/sample.4321", "-o", "OUT.ksk"],
        "symbols": ["symbols", "build", tools.kiseki],
    }
    for each, ending in FORMATS.items():
        found[f"write {each}"] = ["convert", work / "sched.ksk", "-f", each, "-o", f"OUT.{ending}"]
    found["write ctf"] = ["convert", work / "sched.ksk", "-f", "ctf", "-o", "OUT.d"]
    return found


def read_output(folder):
    """What a command left: {file: bytes}."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


class Command:
    def __init__(self, tools, title, arguments):
        self.tools, self.title, self.arguments = tools, title, list(map(str, arguments))

    def line(self, folder):
        return [str(self.tools.kiseki), *(re.sub("^OUT", f"{folder}/out", a) for a in self.arguments)]

    def environment(self, folder):
        """Tables of symbols are an output of the one that makes them, and would make the others differ from run to run."""
        return {"KISEKI_SYMBOL_CACHE": f"{folder}/out.d" if self.title == "symbols" else ""}

    def run(self, fault):
        """(status, standard output, standard error, files, how often the fault came to be)."""
        with tempfile.TemporaryDirectory(prefix="kiseki-fault-") as folder, tempfile.NamedTemporaryFile(prefix="kiseki-fault-") as log:
            line, environment = wrap(fault, self.tools.library, self.line(folder), log.name)
            done = subprocess.run(line, env={**environment, **self.environment(folder)}, stdin=subprocess.DEVNULL, capture_output=True, timeout=WAIT_S)
            errors = self.mask(done.stderr, folder).decode(errors="replace")
            struck = count_struck(fault, log.name) if fault else 0
            return done.returncode, self.mask(done.stdout, folder), errors, read_output(Path(folder)), struck

    @staticmethod
    def mask(output, folder):
        return output.replace(folder.encode(), b"")

    def prepare(self, most, random):
        with tempfile.TemporaryDirectory(prefix="kiseki-fault-") as folder:
            allocations = count_allocations(self.tools.library, self.line(folder), Path(folder), self.environment(folder))
            before = count_calls([self.tools.kiseki, "--version"], Path(folder), {})
        with tempfile.TemporaryDirectory(prefix="kiseki-fault-") as folder:
            calls = count_calls(self.line(folder), Path(folder), self.environment(folder))
        self.right = self.run(None)
        if self.right[0]:
            raise SystemExit(f"fault: {self.title} fails by itself: {self.right[2]}")
        return plan(allocations, calls, before, most, random)

    def makes_folder(self):
        return self.title == "symbols" or self.arguments[-1].endswith(".d")

    def judge(self, fault):
        """(how often it came to be, what is wrong with how it was taken or None)."""
        try:
            *took, struck = self.run(fault)
        except subprocess.TimeoutExpired:
            return 1, f"hangs for {WAIT_S} s"
        return struck, self.judge_answer(fault, struck, *took)

    def judge_answer(self, fault, struck, status, output, errors, files):
        if status < 0 or status > 128:
            return f"ended by {signal.Signals(-status if status < 0 else status - 128).name}: {errors.strip()[-200:]}"
        if status == 0:
            same = (output, files) == (self.right[1], self.right[3]) or (self.title, fault.kind) in MAY_LACK
            return None if same else f"says nothing, but its answer is another: {errors.strip()[:200]}"
        lines = errors.strip().splitlines()
        failures = [line for line in lines if not line.startswith("kiseki: note: ")]
        may_lack = fault.kind == "write" and struck > 1  # its reader's first, and its own line of that
        if (not lines and not may_lack) or len(failures) > 1:
            return f"exit {status} with {len(lines)} lines: {errors.strip()[:300]}"
        whole = all(data == self.right[3].get(path) for path, data in files.items())
        return None if whole or self.makes_folder() else f"exit {status}, and half of an output is left: {sorted(files)}"


def campaign(tools, most, random, only=""):
    tally = Tally()
    with tempfile.TemporaryDirectory(prefix="kiseki-fault-") as folder, ThreadPoolExecutor(tools.jobs) as pool:
        work = Path(folder)
        make_inputs(tools, work)
        for title, arguments in commands(tools, work).items():
            if only not in title:
                continue
            command = Command(tools, title, arguments)
            faults, known = command.prepare(most, random), len(tally.wrong)
            for fault, (struck, problem) in zip(faults, pool.map(command.judge, faults)):
                tally.add(title, fault, struck, problem)
            print(f"  {title}: {len(faults)} faults, {len(tally.wrong) - known} wrong", flush=True)
    return tally

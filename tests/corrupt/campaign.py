#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""campaign: damages the files of a collector's folder, one after the other, and looks what `kiseki check` and `kiseki serve` make of it.

	campaign.py [--build FOLDER] [--most N] [--seed N] [--only TEXT]

Every kind of file is flipped, overwritten, zeroed, cut, lengthened, deleted, swapped and doubled, at most N times each. Then:
nobody is ended by a signal or hangs; nothing is answered that was never stored; what is missing is in the ledger to the event, or
somebody says a word: check exits with 1, the collector logs it, or does not start. What is derived is made again, and right.
Prints what was taken wrongly and exits with 1 if anything was.
"""
import argparse
import collections
import json
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import types
from pathlib import Path

sys.dont_write_bytecode = True
SOURCE = Path(__file__).resolve().parent.parent.parent

from base import Server, get_events, get_facts, get_lists, get_others, get_runs, make  # noqa: E402
from harm import HARMS  # noqa: E402

# name: (files, whether what they hold can be made again)
KINDS = {
    "log": ("log/*.klog", False), "last log": ("log/*.klog", False), "index": ("log/*.kidx", True), "catalog": ("catalog.sqlite", True),
    "summary": ("summary.sqlite", True), "facts": ("facts.sqlite", False), "fleet": ("fleet.db", False), "desired": ("desired", False),
    "roster": ("keys/roster.db", False), "people": ("keys/people.db", False), "authority": ("keys/authority.pem", False), "trust": ("keys/ca.pem", False),
    "certificate": ("keys/collector.pem", False), "symbols": ("symbols/**/*", True), "objects": ("objects/**/*", True),
}

# Without these a collector has a reason not to start: nobody may get in, or nobody knows what is right.
MAY_REFUSE = {"facts", "roster", "people", "authority", "trust", "certificate"}


def find_tools(build):
    return types.SimpleNamespace(kiseki=build / "src/cli/kiseki", agent=build / "src/device/agent/kiseki-agent", fill_store=build / "tests/fill_store",
                                 sample_make=build / "tests/sample_make")


def get_files(folder, kind):
    files = sorted(p for p in folder.glob(KINDS[kind][0]) if p.is_file() and p.stat().st_size)
    if kind in ("log", "last log"):
        return files[-1:] if kind == "last log" else files[:-1]
    return files


def is_open_to_all(server):
    """Whether a device without a certificate gets in."""
    import fake_device
    device = fake_device.Device(server.port, bytes(range(16)))
    try:
        device.come_in()
        return True
    except (fake_device.Closed, OSError):
        return False
    finally:
        device.close()


class Look:
    """What is found in a folder."""

    def __init__(self, tools, folder):
        self.problems = []
        done = subprocess.run([tools.kiseki, "check", folder, "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300)
        self.check, self.check_said = done.returncode, done.stderr.decode(errors="replace")
        self.check_found = done.stdout.decode(errors="replace")
        if done.returncode not in (0, 1):
            self.problems.append(f"check: exit {done.returncode}: {self.check_said[-200:]}")
        self.runs, self.events, self.facts, self.others, self.starts = {}, {}, {}, {}, True
        self.pictures = {}  # of runs: status and answer
        server = Server(tools, folder)
        if server.problem:
            self.refuse(server)
            return
        self.runs = get_runs(server)
        if isinstance(self.runs, dict):
            self.events = {i: get_events(server, run) for i, run in self.runs.items()}
        self.facts, self.others = get_facts(server), get_others(server) | get_lists(tools, folder)
        if is_open_to_all(server):
            self.problems.append("a device without keys is let in")
        for run in self.runs.values() if isinstance(self.runs, dict) else ():
            self.pictures[run["run"]] = server.ask(f"/api/v1/runs/{run['run']}/timeline?columns=100")
        died = server.process.poll() is not None
        status = server.stop()
        self.said = server.said()
        if status != 0 or died:
            self.problems.append(f"serve: exit {status}: {self.said[-300:]}")

    def refuse(self, server):
        self.starts, self.said = False, server.said()
        if server.process.returncode != 1 or self.said.count("\n") or not self.said.startswith("kiseki: "):
            self.problems.append(f"serve does not start, but not properly: {server.problem[-300:]}")

    def has_word(self, kind=None):
        """Of the log it must be about a file of it: what the collector says, or what check found."""
        if kind in ("log", "last log"):
            said = self.said if self.starts else ""
            return "log file" in said or self.check == 1 and ("log file" in self.check_found or '"damage"' in self.check_found)
        return self.check == 1 or not self.starts or bool(self.said)


def judge_run(run, was, events, events_were):
    """(what is wrong, whether everything is accounted for) of a run."""
    if run is None or isinstance(events, str) != isinstance(events_were, str):
        return None, False
    if isinstance(events, str):
        events = events_were = []  # samples are no events; their counts are compared
    new = collections.Counter(events) - collections.Counter(events_were)
    if new:
        return f"run {was['run']}: {sum(new.values())} events that were never stored, as {next(iter(new))[:150]}", False
    total, total_was = (r["events"] + sum(r["lost"].values()) for r in (run, was))
    if total > total_was:
        return f"run {was['run']}: {total} events are stored or lost, {total_was} were made", False
    # A run that has no end any more is asked for again from there; a device that has nothing more makes a row of the ledger.
    told = was["ended"] and not run["ended"] or run["lost_unknown"] and not was["lost_unknown"]
    whole = total == total_was and (not events_were or len(events) == len(events_were) - (was["events"] - run["events"]))
    return None, whole or (told and total <= total_was)


def judge(kind, before, after):
    """What is wrong."""
    problems = list(after.problems)
    if not after.starts:
        return problems + ([] if kind in MAY_REFUSE else [f"the collector does not start: {after.said[-200:]}"])
    if not isinstance(after.runs, dict):
        return problems + ([] if after.has_word(kind) else [f"runs: {after.runs}, without a word"])
    same = True
    for i, was in before.runs.items():
        problem, accounted = judge_run(after.runs.get(i), was, after.events.get(i, []), before.events[i])
        same = same and accounted
        if problem:
            problems.append(problem)
    problems += [f"a run that never was: {i}" for i in after.runs.keys() - before.runs.keys()]
    if not same and not after.has_word(kind):
        problems.append(f"events are missing without a word: {[(r['run'], r['events'], sum(r['lost'].values())) for r in after.runs.values()]}")
    if KINDS[kind][1] and (not same or after.facts != before.facts):
        problems.append("what can be made again was not")
    if after.facts != before.facts and not after.has_word(kind) and not is_told(after.facts):
        problems.append(f"facts are others, without a word: {differences(before.facts, after.facts)}")
    if kind == "summary" and any(p != before.pictures[i] for i, p in after.pictures.items() if p[0] == 200):
        problems.append("a picture is another one, without a word")
    if after.others != before.others and not after.has_word(kind):
        problems.append(f"answers are others, without a word: {differences(before.others, after.others)}")
    return problems


def differences(before, after):
    """A piece of what differs."""
    found = []
    for key, was in before.items():
        a, b = str(was), str(after.get(key))
        at = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
        if a != b:
            found.append(f"{key}: …{b[max(0, at - 30):at + 40]}… instead of …{a[max(0, at - 30):at + 40]}…")
    return "; ".join(found)


def is_told(facts):
    """The answer itself says that something of it is damaged, or is an error."""
    return any(isinstance(f, str) or f[2] for f in facts.values())


def try_one(tools, base, before, trial):
    """What is wrong with how a damage is taken."""
    kind, harm, seed = trial
    dice = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="kiseki-corrupt-") as work:
        folder = Path(work) / "store"
        shutil.copytree(base, folder)
        files = get_files(folder, kind)
        file = dice.choice(files)
        others = [f for f in files if f != file]
        if harm in ("swap", "double") and not others:
            return None, []
        what = f"{kind}, {harm} {file.relative_to(folder)}: {HARMS[harm](file, dice, others)}"
        try:
            return what, judge(kind, before, Look(tools, folder))
        except subprocess.TimeoutExpired as e:
            return what, [f"hangs: {e}"]
        except (json.JSONDecodeError, KeyError) as e:
            return what, [f"an answer that cannot be read: {e!r}"]


def plan(base, most, dice, only):
    trials = []
    for kind in KINDS:
        if not get_files(base, kind):
            continue
        for harm in HARMS:
            for _ in range(most):
                trials.append((kind, harm, dice.randrange(1 << 40)))
    return [t for t in trials if only in f"{t[0]}, {t[1]}"]


def run(options, tools, work):
    base = make(tools, work)
    shutil.copytree(base, work / "pristine/store")
    before = Look(tools, work / "pristine/store")
    if before.problems or before.has_word():
        raise SystemExit(f"corrupt: a whole folder is not taken for one: check {before.check}, {before.problems}, {before.said}")
    count, wrong = collections.Counter(), []
    missing = [kind for kind in KINDS if not get_files(base, kind)]
    for trial in plan(base, options.most, random.Random(options.seed), options.only):
        what, problems = try_one(tools, base, before, trial)
        count[trial[0]] += what is not None
        for problem in problems:
            wrong.append(f"{what} (seed {trial[2]}): {problem}")
            print(wrong[-1], flush=True)
    print(", ".join(f"{kind} {n}" for kind, n in count.items()) + (f"; no files of: {', '.join(missing)}" if missing else ""))
    print(f"{sum(count.values())} damages, {len(wrong)} taken wrongly")
    return 1 if wrong or not count else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=SOURCE / "build")
    parser.add_argument("--most", type=int, default=10)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("corrupt: told to end"))
    print(f"seed {options.seed}, each damage of each kind of file {options.most} times", flush=True)
    with tempfile.TemporaryDirectory(prefix="kiseki-corrupt-") as work:
        return run(options, find_tools(options.build.resolve()), Path(work))


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""soak: agents, collector and links die, stall and come back at random, for as long as wanted; then nothing is missing.

	soak.py [--time 30m] [--seed N] [--board BOARD] [--no-keys] [--rate N] [--build FOLDER] [--report FILE]

The time is cut into laps. In each, a known number of events is made while somebody is killed, paused, or cut off; at its
end all are let come back, and made = stored + ledger must hold to the event, of every device. In the first two fifths everybody
dies. In the next two the collector lives, in the last one whoever sends: there their memory and descriptors must be
flat (watch.py has the bounds). The seed chooses what happens; the same seed is the same row of troubles.

Prints a line for each lap (on a terminal how it goes, too), writes a report in JSON, and exits with 1 if anything is wrong.
"""
import argparse
import json
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True
SOURCE = Path(__file__).resolve().parent.parent.parent
from watch import Watch  # noqa: E402

LAP_S = 60
LAPS_LEAST = 4
UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}


def parse_time(text):
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([smhd]?)", text)
    if not match or not float(match[1]):
        raise argparse.ArgumentTypeError(f"{text}: not a time, as 90s, 30m or 8h")
    return float(match[1]) * UNITS[match[2]]


class Trouble:
    """What may happen, and how often it did."""

    def __init__(self, stage, dice):
        self.stage, self.dice, self.counts = stage, dice, {}

    def choices(self, mortals):
        kinds = []
        for name in mortals:
            kinds += [("kill", name)] * 3 + [("end", name)] * (name == "collector")
        if len(mortals) > 1:
            kinds.append(("kill", "all"))
        kinds += [("pause", name) for name in self.stage.programs]
        for name in self.stage.links:
            kinds += [(kind, name) for kind in ("reset", "stall", "slow", "late", "refuse")]
        return kinds + [(kind, "") for kind in getattr(self.stage, "own_troubles", ())]

    def strike(self, mortals):
        kind, name = self.dice.choice(self.choices(mortals))
        # Always as many numbers, so that what comes next does not depend on it.
        long, part = self.dice.uniform(0.5, 4), self.dice.random()
        key = f"{kind} {name}".strip()
        self.counts[key] = self.counts.get(key, 0) + 1
        if kind in ("kill", "end"):
            self.kill(mortals if name == "all" else [name], kind == "end", long / 4)
        elif kind == "pause":
            self.pause(self.stage.programs[name], long / 2)
        elif name in self.stage.links:
            self.disturb(self.stage.links[name], kind, long, part)
        else:
            self.stage.trouble(kind, long)

    def kill(self, names, politely, away_s):
        victims = [self.stage.programs[name] for name in names]
        for victim in victims:
            victim.stop() if politely else victim.kill()
        time.sleep(away_s)
        for victim in victims:
            victim.start()

    @staticmethod
    def pause(program, long_s):
        program.process.send_signal(signal.SIGSTOP)
        time.sleep(long_s)
        program.process.send_signal(signal.SIGCONT)

    @staticmethod
    def disturb(link, kind, long_s, part):
        if kind == "reset":
            link.reset()
            return
        if kind == "stall":
            link.flowing.clear()
            long_s *= 2
        elif kind == "slow":
            link.bytes_per_s = 2000 + 60000 * part
        elif kind == "late":
            link.delay_s = 0.01 + 0.4 * part
        elif kind == "refuse":
            link.refusing = True
            link.reset()
        time.sleep(long_s)
        link.clear()
        if kind == "stall" and part < 0.5:
            link.reset()


class Soak:
    def __init__(self, stage, arguments):
        """The stage is up: the time begins."""
        self.stage, self.seconds, self.seed = stage, arguments.time, arguments.seed
        self.begun = time.monotonic()
        self.laps_wanted = max(LAPS_LEAST, round(self.seconds / LAP_S))
        self.laps, self.trouble = [], Trouble(stage, random.Random(arguments.seed))
        self.dice = random.Random(arguments.seed + 1)
        self.watch = Watch(self.clock, max(0.25, min(self.seconds / 2000, 30)), stage.pids)
        self.sums = {"made": 0, "stored": 0, "lost": 0}

    def clock(self):
        return time.monotonic() - self.begun

    def get_mortals(self, number):
        """Who may be killed in a lap; whoever may not is watched."""
        senders = [name for name in self.stage.programs if name != "collector"]
        if number < self.laps_wanted * 2 // 5:
            return list(self.stage.programs)
        return senders if number < self.laps_wanted * 4 // 5 else ["collector"]

    def set_windows(self, number):
        mortals = self.get_mortals(number)
        for name in self.stage.programs:
            if name in mortals:
                self.watch.shut(name)
            elif name not in self.watch.windows:
                self.watch.open(name)

    def show(self, number):
        if sys.stderr.isatty():
            sizes = "  ".join(f"{n} {rss} KiB, {fds} fds" for n, (rss, fds) in self.watch.now.items())
            print(f"\r{self.clock():.0f} of {self.seconds:.0f} s  lap {number + 1}/{self.laps_wanted}  {sum(self.trouble.counts.values())} troubles  "
                  f"{self.sums['made']} events  {sizes}\033[K", end="", file=sys.stderr, flush=True)

    def lap(self, number):
        end = self.begun + self.seconds * (number + 1) / self.laps_wanted
        self.stage.begin_lap(number)
        self.set_windows(number)
        mortals, least = self.get_mortals(number), True
        while least or time.monotonic() < end:
            least = False
            time.sleep(self.dice.uniform(0.1, 1.5))
            self.trouble.strike(mortals)
            self.show(number)
        found = self.stage.end_lap()
        self.laps.append({"lap": number + 1, "at_s": round(self.clock(), 1), "mortals": mortals, "accounts": found})
        for row in found:
            self.check(number, row)
        self.tell_lap(number, mortals, found)

    def check(self, number, row):
        lost = sum(row["lost"].values())
        for name, value in (("made", row["made"]), ("stored", row["stored"]), ("lost", lost)):
            self.sums[name] += value
        if row["made"] != row["stored"] + lost:
            raise self.stage.Failed(f"lap {number + 1}: of {row['who']}, {row['made']} events were made, {row['stored']} stored and {lost} counted as "
                                    "lost")

    def tell_lap(self, number, mortals, found):
        sizes = ", ".join(f"{n} {rss} KiB {fds} fds" for n, (rss, fds) in self.watch.now.items())
        told = "; ".join(f"{r['who']} {r['made']} = {r['stored']} + {sum(r['lost'].values())}" for r in found)
        dying = ", ".join(mortals) or "nobody"
        print("\r\033[K" * sys.stderr.isatty() + f"lap {number + 1}/{self.laps_wanted} at {self.clock():.0f} s ({dying} may die): {told}; {sizes}", flush=True)

    def run(self):
        for number in range(self.laps_wanted):
            self.lap(number)
        for name in self.stage.programs:
            self.watch.shut(name)
        self.watch.stop()
        self.stage.check_store()

    def report(self, problem):
        processes = {name: self.watch.judge(name) for name in self.watch.windows if self.watch.windows[name][1]}
        problems = [p for p in (problem, *(found["problem"] for found in processes.values())) if p]
        if not self.sums["stored"]:
            problems.append("nothing was stored, so the accounts show nothing")
        return {"version": 1, "seed": self.seed, "seconds": round(self.clock(), 1), "stage": self.stage.describe(), "sums": self.sums,
                "troubles": dict(sorted(self.trouble.counts.items())), "processes": processes, "laps": self.laps, "problems": problems}


def make_stage(arguments, work):
    if arguments.board:
        from board import Board
        return Board(arguments.build.resolve(), work, arguments)
    from host import Host
    return Host(arguments.build.resolve(), work, arguments)


def play(arguments, work):
    stage, problem, soak = make_stage(arguments, work), None, None
    try:
        stage.start()
        soak = Soak(stage, arguments)
        soak.run()
    except (stage.Failed, subprocess.SubprocessError, OSError) as e:
        problem = str(e)
        print(f"{problem}\n{stage.tell()}")
    finally:
        if soak:
            soak.watch.stop()
        stage.close()
    return soak.report(problem) if soak else sys.exit(f"soak: it does not even start: {problem}")


def tell(report, path):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(report, indent=1) + "\n")
    sums, troubles = report["sums"], sum(report["troubles"].values())
    for name, p in report["processes"].items():
        if "rss_kib" in p:
            rss, fds, (begin, end) = p["rss_kib"], p["descriptors"], p["window_s"]
            print(f"{name}: left alive from {begin:.0f} to {end:.0f} s: {rss['mean']} KiB, rise {rss['rise']:.0f} (at most {rss['bound']}); "
                  f"{fds['mean']:.1f} descriptors, rise {fds['rise']:.1f}")
    print(f"{troubles} troubles in {report['seconds']:.0f} s: {sums['made']} events made, {sums['stored']} stored, {sums['lost']} in the ledger; "
          f"report: {path}")
    for problem in report["problems"]:
        print(f"WRONG: {problem}")
    if not report["problems"]:
        print("every event is stored or in the ledger; memory and descriptors are flat")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--time", type=parse_time, default=parse_time("30m"))
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    parser.add_argument("--board", default="")
    parser.add_argument("--no-keys", action="store_true")
    parser.add_argument("--rate", type=int, help="events a second of each simulated device")
    parser.add_argument("--build", type=Path, default=SOURCE / "build")
    parser.add_argument("--report", type=Path)
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("soak: told to end"))
    print(f"seed {arguments.seed}, {arguments.time:.0f} s" + (f", board {arguments.board}" if arguments.board else ""), flush=True)
    work = Path(tempfile.mkdtemp(prefix="kiseki-soak-"))
    try:
        report = play(arguments, work)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    tell(report, arguments.report or arguments.build / "soak/report.json")
    return 1 if report["problems"] else 0


if __name__ == "__main__":
    sys.exit(main())

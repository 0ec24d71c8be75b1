#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""driver_accounting: events generated = events stored + events in the ledger, with the driver.

	driver_accounting.py BOARD [SCENARIO...]

What tests/system/accounting.py does with the agent, on a board with kiseki.ko: a generator of a known
number of events runs there while the collector is killed and started again, the connection is reset
or stalls, the cable is pulled, the export buffer is full, the module is unloaded. Then every event is
in the store once or counted as lost.

The renames of others, and nobody else is on a board, are counted too: a tracefs instance there has
them, and those between two marks, renames as well, must be the same in the store.
KISEKI_KILLS (4): how often the collector dies, and the connection.
"""
import collections
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from board_test import KISEKI, PATIENCE_S, SRC, Failed, build_driver, build_tool, main, wait_for
from boards.catalog import get_board
from boards.collector import HOST, Collector
from boards.machine import Machine

sys.path.insert(0, str(SRC / "tests/tools"))
from link import Link  # noqa: E402

KILLS = min(int(os.environ.get("KISEKI_KILLS", 4)), 40)
PREFIX = "kz"
MARKS = "mark-first", "mark-last"
FILES = "/sys/kernel/kiseki"
OTHERS = "/sys/kernel/tracing/instances/others"


class Account:
    """What came back of a device: the generator's numbers, the others' names, the losses."""

    def __init__(self, path):
        self.found, self.names = collections.Counter(), []
        self.lost, self.unknown = collections.Counter(), 0
        with path.open() as lines:
            for line in lines:
                self.add(json.loads(line))

    def numbers(self):
        """{CPU: the generator's numbers, in order}"""
        cpus = {cpu for cpu, _ in self.found}
        return {c: sorted(n for cpu, n in self.found if cpu == c) for c in cpus}

    def add(self, item):
        if item.get("kind") == "lost":
            if item.get("count") is None:
                self.unknown += 1
            else:
                self.lost[item["cause"]] += item["count"]
        elif "newcomm" in item:
            match = re.match(PREFIX + r"(\d+)-(\d+)$", item["newcomm"])
            if match:
                self.found[int(match[1]), int(match[2])] += 1
            else:
                self.names.append(item["newcomm"])

    def check(self, generated):
        doubled = sum(times > 1 for times in self.found.values())
        strange = sum(n[1] >= generated.get(n[0], 0) for n in self.found)
        if doubled or strange or self.unknown:
            raise Failed(f"{doubled} events came twice, {strange} were never made, "
                         f"{self.unknown} losses of unknown number")
        made, lost = sum(generated.values()), sum(self.lost.values())
        print(f"  generated {made}; stored {len(self.found)}; lost {lost} {dict(self.lost)}",
              flush=True)
        return made - len(self.found) - lost


def between_marks(names):
    """The names between the two marks."""
    try:
        first = names.index(MARKS[0])
        return names[first:names.index(MARKS[1], first) + 1]
    except ValueError:
        raise Failed(f"the marks are not among {len(names)} renames: {names[:20]}…") from None


class System:
    """A board that is up, a collector of the scenario's own, and what is between."""

    def __init__(self, machine, work, scenario):
        self.machine, self.work, self.scenario = machine, work, scenario
        self.name = f"{machine.board.name}-{scenario.word}"
        self.collector = Collector(KISEKI, work / "store", work / "collector.log").start()
        self.relay = Link(self.collector.port)

    def load(self):
        self.machine.check(f"insmod /kiseki.ko collector={HOST}:{self.relay.port} name={self.name} "
                           f"{self.scenario.parameters}")
        wait_for("the device", lambda: (d := self.device()) and d["online"])

    def unload(self):
        self.machine.check("rmmod kiseki", 30)

    def statistics(self):
        return {name: int(n) for name, n in re.findall(r"(\w+)=(\d+)", self.machine.check(f"cat {FILES}/statistics"))}

    def has_too_much(self, before):
        """More than its memory was made since then: it refuses the rest, or writes over the oldest."""
        now = self.statistics()
        return now["lost_buffer"] or now["bytes"] - before["bytes"] > 3 * now["buffer_size"] // 2

    def device(self):
        return self.collector.device(self.name)

    def runs(self):
        return json.loads(self.collector.client("runs", self.name, "--json").stdout)["runs"]

    def instruct(self, *words):
        answer = self.collector.client(*words)
        if answer.returncode:
            raise Failed(f"{' '.join(words)}: {answer.stderr or answer.stdout}")

    def start(self):
        self.instruct("start", self.name, "--events", "rename", *self.scenario.options)
        wait_for("the device to trace", lambda: (self.device() or {}).get("state") == "tracing")

    def finish(self):
        """Everything up and everything sent, the run's end behind the last block too."""
        self.relay.flowing.set()
        self.machine.set_cable(True)
        wait_for("the device to be back",
                 lambda: (d := self.device()) and d["online"] and d["state"] == "tracing")
        self.instruct("stop", self.name)
        wait_for("the buffers to drain", lambda: (d := self.device()) and d["online"] and
                 d["state"] == "idle" and d["status"]["spool_used"] == 0)
        wait_for("the end of the run", lambda: all(run["ended"] for run in self.runs()))

    def export(self):
        """What came back of each run."""
        out, accounts = self.work / "run.ndjson", []
        for run in sorted(self.runs(), key=lambda r: r["run"]):
            if not run["ended"] or run["lost_unknown"]:
                raise Failed(f"run {run['run']} has no end, or losses of unknown number: {run}")
            self.instruct("export", "--run", str(run["run"]), "--format", "ndjson", "-o", str(out))
            accounts.append(Account(out))
        return accounts

    def generate(self):
        self.machine.check(f"/rename_generator {PREFIX} 100000000 {self.scenario.rate} "
                           ">/tmp/made 2>&1 & echo $! >/tmp/generator")

    def stop_generator(self):
        """{CPU: how many}"""
        text = self.machine.check("pid=$(cat /tmp/generator); kill -INT $pid; "
                                  "while kill -0 $pid 2>/dev/null; do sleep 0.1; done; cat /tmp/made",
                                  PATIENCE_S)
        return {int(c): int(n) for c, n in (line.split() for line in text.splitlines())}

    def watch_others(self):
        self.machine.check(
            f"mkdir {OTHERS}; cd {OTHERS} && echo 4096 >buffer_size_kb && cd events/task/task_rename && "
            f"echo '!(newcomm ~ \"{PREFIX}[0-9]*-*\")' >filter && echo 1 >enable")

    def mark(self, which):
        self.machine.check(f"sleep 0.2; printf {MARKS[which]} >/proc/self/comm; sleep 0.2")

    def others(self):
        text = self.machine.check(f"echo 0 >{OTHERS}/events/task/task_rename/enable; "
                                  f"cat {OTHERS}/trace; rmdir {OTHERS}")
        return re.findall(r" task_rename: .* newcomm=(.*) oom_score_adj=", text)

    def close(self):
        self.relay.close()
        self.collector.stop()
        self.machine.set_cable(True)
        self.machine.call("[ -d /sys/module/kiseki ] && rmmod kiseki; "
                          f"[ -d {OTHERS} ] && rmdir {OTHERS}; "
                          "[ -f /tmp/generator ] && kill -INT $(cat /tmp/generator); "
                          "rm -f /tmp/generator", 60)


class Scenario:
    parameters = ""  # of the module
    options = ()  # of kiseki start
    rate = 2000
    must_lose = False

    def disturb(self, system):
        time.sleep(3)

    def play(self, system):
        system.load()
        if not self.must_lose:
            system.watch_others()
        else:
            self.options = *self.options, "--comm", PREFIX + "*"
        system.start()
        system.mark(0)
        system.generate()
        self.disturb(system)
        generated = system.stop_generator()
        system.mark(1)
        system.finish()
        account, = system.export()
        self.check(system, account, generated)
        system.unload()

    def check(self, system, account, generated):
        missing = account.check(generated)
        if missing:
            raise Failed(f"{missing} events are not accounted for")
        if bool(account.lost) != self.must_lose:
            raise Failed(f"lost {dict(account.lost)}, which shows nothing" if self.must_lose
                         else f"something was lost: {dict(account.lost)}")
        if self.must_lose:
            if account.names:
                raise Failed(f"{len(account.names)} events that the filter should have kept out")
            return
        stored, there = between_marks(account.names), between_marks(system.others())
        if stored != there:
            raise Failed(f"others' renames: stored {len(stored)} {stored[:20]}, "
                         f"there were {len(there)} {there[:20]}")


class Plain(Scenario):
    """Nothing happens."""
    word = "plain"


class Kills(Scenario):
    """The collector dies at any moment."""
    word = "kills"

    def disturb(self, system):
        for _ in range(KILLS):
            time.sleep(random.uniform(0.1, 0.8))
            system.collector.kill()
            time.sleep(random.uniform(0, 0.4))
            system.collector.start()


class Cuts(Scenario):
    """Connections are reset, the cable is pulled, the interface goes down."""
    word = "cuts"

    def disturb(self, system):
        for i in range(max(KILLS, 3)):
            time.sleep(random.uniform(0.1, 0.6))
            if i % 3 == 0:
                system.relay.reset()
            elif i % 3 == 1:
                system.machine.set_cable(False)
                time.sleep(random.uniform(0.2, 1))
                system.machine.set_cable(True)
            else:
                system.machine.check(system.machine.board.away + "; sleep 0.3; "
                                     + system.machine.board.back
                                     + f"; ip route add default via {HOST}")


class SmallBuffer(Scenario):
    """Nothing gets through for longer than the buffer lasts: the oldest stay, the rest is counted."""
    word = "small-buffer"
    parameters = "mem=192"
    options = ("--policy", "keep-oldest")
    rate = 40000
    must_lose = True

    def disturb(self, system):
        time.sleep(0.5)
        system.relay.flowing.clear()
        system.machine.set_cable(False)
        before = system.statistics()
        wait_for("the buffer to be full", lambda: system.has_too_much(before))
        time.sleep(1)
        system.machine.set_cable(True)
        system.relay.flowing.set()
        system.relay.reset()
        time.sleep(1)


class FlightRecorder(SmallBuffer):
    """The same, but the latest stay."""
    word = "flight-recorder"
    options = ("--policy", "flight-recorder")


class Unload(Scenario):
    """The module goes while events come: all until then are there, and all after it came back."""
    word = "unload"

    def play(self, system):
        system.generate()
        loads = 3
        for _ in range(loads):
            system.load()
            system.start()
            time.sleep(random.uniform(0.3, 1))
            system.unload()
        system.stop_generator()
        accounts = system.export()
        if len(accounts) != loads:
            raise Failed(f"{len(accounts)} runs of {loads} loads")
        for account in accounts:
            self.check_whole(account)

    def check_whole(self, account):
        """On each CPU one piece without a hole."""
        numbers = account.numbers()
        print("  " + ", ".join(f"CPU {c}: {n[0]} to {n[-1]}" for c, n in sorted(numbers.items())))
        whole = all(n == list(range(n[0], n[-1] + 1)) for n in numbers.values())
        if len(numbers) < 2 or not whole or max(account.found.values()) > 1:
            raise Failed("events are missing within a load, or came twice")
        if account.unknown or account.lost:
            raise Failed(f"lost {dict(account.lost)} and {account.unknown} of unknown number")


SCENARIOS = {s.word: s for s in (Plain, Kills, Cuts, SmallBuffer, FlightRecorder, Unload)}


def play(name, machine, work):
    system = System(machine, work, SCENARIOS[name]())
    try:
        system.scenario.play(system)
        system.collector.stop()
        check = subprocess.run([KISEKI, "check", work / "store"], stdout=subprocess.PIPE, text=True)
        if check.returncode:
            raise Failed(f"kiseki check finds damage:\n{check.stdout}")
    except Failed as e:
        said = machine.call("dmesg | grep kiseki | tail -n 20").text
        raise Failed(f"{name}: {e}\ndevice: {json.dumps(system.device())}\nkernel: {said}"
                     f"collector: {system.collector.tail()}") from e
    finally:
        system.close()


def test(arguments):
    board = get_board(arguments.board)
    files = [(build_driver(board), "/kiseki.ko"),
             (build_tool(board, "tests/tools/rename_generator.c"), "/rename_generator")]
    with Machine(board, files, timeout_s=1800) as machine:
        for name in arguments.scenarios or SCENARIOS:
            print(f"{name}: {SCENARIOS[name].__doc__}", flush=True)
            with tempfile.TemporaryDirectory() as work:
                play(name, machine, Path(work))
    print(f"{board.name}: every event is stored or in the ledger")


def add_options(parser):
    parser.add_argument("scenarios", nargs="*", metavar="SCENARIO", choices=[[], *SCENARIOS])


if __name__ == "__main__":
    sys.exit(main(test, __doc__, add_options))

# SPDX-License-Identifier: MIT
"""board: an emulated board with the driver, a collector on this machine, and a link in trouble between them.

What tests/boards/driver_accounting.py does for seconds, for as long as wanted. The driver is never unloaded, so that what
it takes of the board's memory can be seen: whatever the board has not got back at the end of a lap, in which nothing runs.
"""
import os
import sys
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(SOURCE / part) for part in ("tests/boards", "tests/tools")]

from watch import fit  # noqa: E402

MEMORY_KIB = 4096  # that the board may have less at the end of the second half than at its beginning
MORE_S = 3600  # than the laps, until somebody counts the board as hung


class Board:
    own_troubles = ("cable", "interface")

    def __init__(self, build, work, arguments):
        os.environ.update(KISEKI=str(build / "src/cli/kiseki"), WORK=str(build / "boards"))
        import driver_accounting
        self.d, self.work, self.name, self.seconds = driver_accounting, work, arguments.board, arguments.time
        self.Failed = driver_accounting.Failed
        self.programs, self.links, self.seen, self.used = {}, {}, set(), []
        self.system = self.machine = None

    def describe(self):
        return {"kind": "board", "board": self.name, "keys": False, "events_per_s": Quiet.rate, "board_used_kib": self.used}

    def pids(self):
        collector = self.programs.get("collector")
        return {"collector": collector.process.pid} if collector and collector.process and collector.process.poll() is None else {}

    def start(self):
        d = self.d
        board = d.get_board(self.name)
        files = [(d.build_driver(board), "/kiseki.ko"), (d.build_tool(board, "tests/tools/rename_generator.c"), "/rename_generator")]
        self.machine = d.Machine(board, files, timeout_s=self.seconds + MORE_S)
        self.machine.__enter__()
        scenario = Quiet()
        scenario.options = "--comm", d.PREFIX + "*"
        self.system = d.System(self.machine, self.work, scenario)
        self.programs, self.links = {"collector": self.system.collector}, {"link": self.system.relay}
        self.system.load()

    def begin_lap(self, number):
        self.system.start()
        self.system.generate()

    def trouble(self, kind, long_s):
        machine = self.machine
        if kind == "interface":
            machine.check(f"{machine.board.away}; sleep {long_s / 4:.2f}; {machine.board.back}; ip route add default via {self.d.HOST}")
            return
        machine.set_cable(False)
        self.d.time.sleep(long_s)
        machine.set_cable(True)

    def end_lap(self):
        self.system.relay.clear()
        made = self.system.stop_generator()
        self.system.finish()
        stored, lost = 0, {}
        for run in self.system.runs():
            if run["run"] in self.seen:
                continue
            account = self.read(run)
            account.check(made)
            if account.names:
                raise self.Failed(f"run {run['run']} has events that the filter should have kept out")
            stored += len(account.found)
            for cause, n in account.lost.items():
                lost[cause] = lost.get(cause, 0) + n
            self.seen.add(run["run"])
        self.used.append(self.get_used())
        return [{"who": "driver", "made": sum(made.values()), "stored": stored, "lost": lost}]

    def read(self, run):
        if not run["ended"] or run["lost_unknown"]:
            raise self.Failed(f"run {run['run']} has no end, or losses of unknown number")
        out = self.work / "run.ndjson"
        self.system.instruct("export", "--run", str(run["run"]), "--format", "ndjson", "-o", str(out))
        return self.d.Account(out)

    def get_used(self):
        """KiB that are in use, caches not among them."""
        text = self.machine.check("sync; echo 3 >/proc/sys/vm/drop_caches; cat /proc/meminfo")
        sizes = {line.split(":")[0]: int(line.split()[1]) for line in text.splitlines() if ":" in line}
        return sizes["MemTotal"] - sizes["MemFree"]

    def tell(self):
        said = self.machine.call("dmesg | grep kiseki | tail -n 20").text if self.machine else ""
        return f"kernel: {said}collector: {self.system.collector.tail() if self.system else ''}"

    def check_store(self):
        half = list(enumerate(self.used))[len(self.used) // 2:]
        if len(half) > 1 and fit(half)[0] > MEMORY_KIB:
            raise self.Failed(f"the board has {fit(half)[0]:.0f} KiB less than when the second half began: {self.used}")
        self.system.unload()
        self.system.collector.stop()
        done = self.d.subprocess.run([self.d.KISEKI, "check", self.work / "store"], stdout=self.d.subprocess.PIPE, text=True)
        if done.returncode:
            raise self.Failed(f"kiseki check finds damage: {done.stdout[-500:]}")

    def close(self):
        if self.system:
            self.system.close()
        if self.machine:
            self.machine.__exit__(None, None, None)


class Quiet:
    """What the driver is told: to lose nothing, if it can."""
    word, parameters, rate = "soak", "mem=1024", 1000

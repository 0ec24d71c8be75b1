# SPDX-License-Identifier: MIT
"""agent: one that has a fault while a known number of events is made (tests/system/accounting.py), and is started again if it ends.

What must come of it: it is not ended by a signal, and each event is in the store or in the ledger once. Needs root.
"""
import os
import signal
import subprocess
import sys
import tempfile
import time
import types
from pathlib import Path

from strike import Tally, count_calls, count_struck, name, plan, read_allocations, read_calls, wrap, wrap_count

SYSTEM = Path(__file__).resolve().parent.parent / "system"
RUN_S = 0.8
TRIES = 5


def load(tools):
    os.environ.update(KISEKI=str(tools.kiseki), AGENT=str(tools.agent), GENERATOR=str(tools.generator))
    sys.path[:0] = [str(SYSTEM)]
    import accounting
    accounting.check_needs()
    return accounting


class Fault:
    """The agent's first start is dressed; if it ends, it is started again as it is."""

    def __init__(self, system, split, dress):
        self.system, self.agent, self.crash = system, system.agent, None
        line, environment = dress(self.agent.command[split:])
        with self.agent.log.open("ab") as log:
            self.agent.process = subprocess.Popen([*self.agent.command[:split], *line], env=environment, stdin=subprocess.DEVNULL, stdout=log,
                                                  stderr=subprocess.STDOUT)

    def look(self):
        if self.agent.is_running():
            return
        status = self.agent.process.returncode
        if status < 0 or status > 128:
            self.crash = signal.Signals(-status if status < 0 else status - 128).name
        self.agent.start()

    def is_tracing(self):
        self.look()
        return (self.system.device() or {}).get("state") == "tracing"


def play(accounting, tools, system, dress):
    """What is wrong, or None."""
    fault = Fault(system, system.agent.command.index(str(tools.agent)), dress)
    accounting.wait_for("the device to trace", fault.is_tracing)
    start_ns = time.monotonic_ns()
    generator = subprocess.Popen([tools.generator, accounting.PREFIX, "100000000", "2000"], stdout=subprocess.PIPE, text=True)
    try:
        end = time.monotonic() + RUN_S
        while time.monotonic() < end:
            fault.look()
            time.sleep(0.05)
        generator.send_signal(signal.SIGINT)
        lines, _ = generator.communicate(timeout=accounting.PATIENCE_S)
    finally:
        generator.kill()
        generator.wait()
    window = start_ns, time.monotonic_ns()
    generated = {int(c): int(n) for c, n in map(str.split, lines.splitlines())}
    accounting.wait_for("the device to trace", fault.is_tracing)
    system.finish()
    accounting.Account(system.export()).check(generated, system.others.stamps(), window, 0)
    return f"ended by {fault.crash}" if fault.crash else None


def judge(accounting, tools, dress):
    """What is wrong with how it took the fault, or None."""
    with tempfile.TemporaryDirectory(prefix="kiseki-fault-") as folder:
        arguments = types.SimpleNamespace(source="tracefs", random=None)
        system = accounting.System(Path(folder), arguments, accounting.Scenario("tracefs"))
        try:
            system.collector.start()
            return play(accounting, tools, system, dress)
        except accounting.Unclear:
            raise
        except (accounting.Failed, subprocess.SubprocessError) as e:
            return f"{e} (agent: {system.agent.tail()[-300:].strip()})"
        finally:
            stop(system)
            system.remove()


def judge_clearly(accounting, tools, dress):
    """The same; again, if others are too busy for any account."""
    for left in range(TRIES - 1, -1, -1):
        try:
            return judge(accounting, tools, dress)
        except accounting.Unclear as e:
            if not left:
                return str(e)
    return None


def stop(system):
    """With what it may have counted written."""
    process = system.agent.process
    if process and process.poll() is None:
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        os.kill(int(children[0]) if children else process.pid, signal.SIGTERM)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            pass


def count(accounting, tools):
    """How many allocations and system calls there are in that time."""
    with tempfile.TemporaryDirectory(prefix="kiseki-fault-") as folder:
        work = Path(folder)
        for dress in (lambda line: wrap_count(tools.library, line, work / "allocations"),
                      lambda line: (["strace", "-f", "-qq", "-o", str(work / "calls"), *line], None)):
            problem = judge_clearly(accounting, tools, dress)
            if problem:
                raise SystemExit(f"fault: the agent fails by itself: {problem}")
        return read_allocations(work / "allocations"), read_calls(work / "calls"), count_calls([tools.agent, "--version"], work, {})


def campaign(tools, most, random, only=""):
    accounting, tally = load(tools), Tally()
    allocations, calls, before = count(accounting, tools)
    faults = [f for f in plan(allocations, calls, before, most, random) if only in name(f)]
    print(f"  {allocations[0]} allocations in {len(allocations[1])} places, {sum(map(sum, calls.values()))} system calls; {len(faults)} faults", flush=True)
    for fault in faults:
        with tempfile.NamedTemporaryFile(prefix="kiseki-fault-") as log:
            problem = judge_clearly(accounting, tools, lambda line: wrap(fault, tools.library, line, log.name))
            tally.add("agent", fault, count_struck(fault, log.name), problem)
    return tally

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""func_agent: real programs, traced by a real agent, kept by a real collector, call by call.

	func_agent.py CASE...

KISEKI, AGENT, CALLS, PLUGINS and RUN_CALLS in the environment name the programs. What the store has of
a thread must be what the thread called, as a reference beside the recording has it (tests/func); where the
agent could not keep up, what is missing must be in the ledger.
"""
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "func"))
from record import read_references  # noqa: E402

E = os.environ
MAPS = 7  # FUNC_OS_MAPS
PATIENCE = 120  # seconds until a test is given up


def wait_for(what, condition):
    until = time.monotonic() + PATIENCE
    while not (found := condition()):
        assert time.monotonic() < until, f"in vain: {what}"
        time.sleep(0.02)
    return found


class Stored:
    """What run_calls prints of a store."""

    def __init__(self, text):
        self.calls, self.system = defaultdict(list), defaultdict(list)
        self.losses = []  # (pid, tid, cause, count)
        self.lost, self.unknown, self.runs = 0, 0, []
        self.mappings = defaultdict(list)  # of a pid: (from, to, since, until, path)
        blocks = text.split("run ")[1:]
        for block in sorted(blocks, key=lambda b: int(b.split()[0])):
            self.take_run(block.splitlines())

    def take_run(self, lines):
        number, ended, unknown = map(int, lines[0].split())
        self.runs.append((number, ended))
        assert not unknown or any(x.startswith("L") and x.endswith(" -1") for x in lines)
        pids, who = {}, {}
        for fields in map(str.split, lines[1:]):
            if fields[0] == "process":
                pids[fields[1]] = int(fields[2])
            elif fields[0] == "map":
                self.mappings[pids[fields[1]]].append(
                    (int(fields[2], 16), int(fields[3], 16), int(fields[4]), int(fields[5]), fields[6]))
            elif fields[0] == "thread":
                who[fields[1]] = (pids[fields[2]], int(fields[3]))
            elif fields[0] == "L":
                self.unknown += fields[3] == "-1"
                self.lost += max(int(fields[3]), 0)
                self.losses.append((*who[fields[1]], fields[2], fields[3]))
            elif fields[0] == "O":
                thread = who[fields[1]]
                self.system[thread].append((int(fields[2]), int(fields[3]), len(self.calls[thread])))
            else:
                self.calls[who[fields[1]]].append((fields[0] == "X", int(fields[2], 16)))

    def count(self):
        return sum(map(len, self.calls.values()))


class Setup:
    def __init__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="kiseki-func-agent-"))
        self.references_at = self.folder / "references"
        self.references_at.mkdir()
        self.socket, self.records = self.folder / "func.sock", self.folder / "func-t"
        self.agent = self.hub = None
        self.port = "0"
        self.started = []

    # --- the collector ---

    def start_hub(self):
        self.hub = subprocess.Popen([E["KISEKI"], "serve", "--listen", f"127.0.0.1:{self.port}", "--http",
                                     "127.0.0.1:0", "--data", self.folder / "data"],
                                    stdout=subprocess.PIPE, text=True)
        lines = []
        while "ready" not in lines:
            lines.append(self.hub.stdout.readline().strip())
            assert lines[-1], "no collector"
        self.port = lines[0].rsplit(":", 1)[1]
        self.url = lines[1].split()[1]

    def stop_hub(self):
        self.hub.terminate()
        assert self.hub.wait(timeout=PATIENCE) == 0
        self.hub = None

    def kiseki(self, *arguments):
        return subprocess.run([E["KISEKI"], *arguments], check=True, text=True, stdout=subprocess.PIPE,
                              env={**E, "KISEKI_SERVER": self.url}).stdout

    # --- the agent ---

    def start_agent(self, *options):
        self.agent = subprocess.Popen(
            [E["AGENT"], "--collector", f"127.0.0.1:{self.port}", "--name", "t", "--spool-file",
             self.folder / "spool", "--state-dir", self.folder, "--func-socket", self.socket, *options],
            stderr=(self.folder / "log").open("a"))
        wait_for("the socket", lambda: self.answers())

    def answers(self):
        """Not the one that a dead agent left."""
        assert self.agent.poll() is None, (self.folder / "log").read_text()
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as s:
            return s.connect_ex(str(self.socket)) == 0

    def kill_agent(self):
        self.agent.kill()
        self.agent.wait()

    def end_agent(self):
        self.agent.terminate()
        assert self.agent.wait(timeout=PATIENCE) == 0
        self.agent = None

    # --- programs ---

    def start(self, *arguments, **settings):
        env = {k: v for k, v in E.items() if not k.startswith("KISEKI_FUNC_")}
        env.update(REFERENCE=str(self.references_at), KISEKI_FUNC_AGENT=str(self.socket))
        env.update({"KISEKI_FUNC_" + k: str(v) for k, v in settings.items()})
        process = subprocess.Popen([E["CALLS"], *map(str, arguments)], env=env, text=True,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.started.append(process)
        return process

    def run(self, *arguments, status=0, **settings):
        """They wait for the agent where it is slower, so that nothing is lost."""
        process = self.start(*arguments, POLICY="wait", WAIT=60, **settings)
        _, err = process.communicate(timeout=PATIENCE)
        assert process.returncode == status and err == "", (arguments, process.returncode, err)
        return process.pid

    def names(self):
        """Records that are left."""
        return [p.name for p in self.records.iterdir() if p.name != "mode"]

    def recording(self):
        """Records that are begun."""
        return [p for p in self.records.iterdir() if p.suffix[1:].isdigit() and
                p.read_bytes()[:8] == b"KSKFUNC\n"]

    def on(self, process):
        return int.from_bytes(self.record(process)[384:388], "little")

    def record(self, process):
        return (self.records / f"func_calls.{process.pid}").read_bytes()

    def wait_for_calls(self, process):
        """Until its first thread has recorded some more."""
        def events():
            return int.from_bytes(self.record(process)[4096 + 24:4096 + 32], "little")
        was = events()
        wait_for("calls", lambda: events() > was + 100)

    def wait_for_records(self):
        wait_for("records to go", lambda: not self.names())

    # --- what came of it ---

    def stored(self):
        text = subprocess.run([E["RUN_CALLS"], self.folder / "data"], check=True, text=True,
                              stdout=subprocess.PIPE).stdout
        return Stored(text)

    def made(self):
        """{(pid, tid): calls}; threads that had the same number one after the other."""
        return {(pid, tid): [c for s in sequences for c in s]
                for pid, threads in read_references(self.references_at).items()
                for tid, sequences in threads.items()}

    def finish(self):
        self.end_agent()
        self.stop_hub()
        stored = self.stored()
        assert all(ended for _, ended in stored.runs), stored.runs
        assert stored.unknown == 0
        return stored

    def close(self):
        for process in [self.agent, self.hub, *self.started]:
            if process and process.poll() is None:
                process.kill()
                process.wait()
        subprocess.run(["rm", "-rf", str(self.folder)], check=True)


def same(made, stored):
    """Every call, and nothing else."""
    assert stored.lost == 0, f"lost: {stored.losses[:9]}"
    calls = {k: v for k, v in stored.calls.items() if v}
    assert set(calls) == set(made), (set(calls) ^ set(made))
    for who, wanted in made.items():
        for i, (a, b) in enumerate(zip(wanted, calls[who])):
            assert a == b, f"{who}, event {i}: {a} was called, {b} is stored"
        assert len(wanted) == len(calls[who]), (who, len(wanted), len(calls[who]))


def accounted(made, stored, cut=0):
    """Made = stored + told as lost; what is stored is in the order in which it was made. Who was killed between
    its reference and its record has one more in there: `cut`."""
    total = sum(map(len, made.values()))
    assert 0 <= total - stored.count() - stored.lost <= cut, (total, stored.count(), stored.lost)
    for who, calls in stored.calls.items():
        wanted = iter(made[who])
        assert all(c in wanted for c in calls), f"{who}: another order"


def case_programs(s):
    """Threads, children, programs that execute themselves and end as they like."""
    s.start_agent()
    s.run("walk", 50000)
    s.run("threads", 24)
    s.run("fork")
    s.run("exec")
    s.run("deep", 5000)
    s.run("longjmp")
    s.run("end", "kill", status=-signal.SIGKILL, SIZE="2M")
    s.run("end", "segv", status=-signal.SIGSEGV, SIZE="2M")
    s.wait_for_records()
    stored = s.finish()
    same(s.made(), stored)
    assert len(stored.runs) == 1, stored.runs
    assert all(any(m[4] == os.path.realpath(E["CALLS"]) for m in stored.mappings[pid])
               for pid, _ in s.made())


def case_maps(s):
    """Objects come and go: each call lies in the object that the maps of its time say."""
    order = E["PLUGINS"].split(":")
    order = order + order[::-1] + order
    s.start_agent()
    process = s.start("plugins", *order, POLICY="wait", WAIT=60)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0 and err == "", err
    functions = [int(line.split()[1], 16) for line in out.splitlines()]
    s.wait_for_records()
    stored = s.finish()
    who = (process.pid, process.pid)
    told = [(value, at) for kind, value, at in stored.system[who] if kind == MAPS]
    seen = []
    for number, (is_exit, address) in enumerate(stored.calls[who]):
        now = max((value for value, at in told if at <= number), default=1)
        found = [m[4] for m in stored.mappings[process.pid]
                 if m[0] <= address < m[1] and m[2] <= now < m[3]]
        assert len(found) == 1, f"call {number}, {address:#x}, generation {now}: {found}"
        if not is_exit and address in functions and found[0] != os.path.realpath(E["CALLS"]):
            seen.append(found[0])
    assert seen == [os.path.realpath(p) for p in order], seen
    assert stored.lost == 0 and len(told) > 2


def case_killed(s):
    """The agent dies, over and over, while programs go on; they wait where they must."""
    s.start_agent()
    programs = [s.start("walk", 450000, POLICY="wait", WAIT=60, SIZE="1M"),
                s.start("threads", 12, POLICY="wait", WAIT=60, SIZE="2M")]
    wait_for("both to record", lambda: len(s.recording()) == 2)
    for turn in range(6):
        time.sleep(0.01 + 0.03 * turn)  # anywhere
        s.kill_agent()
        s.start_agent()
    for p in programs:
        assert p.wait(timeout=PATIENCE) == 0, p.stderr.read()
    s.wait_for_records()
    same(s.made(), s.finish())


def case_dead(s):
    """The agent is dead when the program ends; the next one finds all of it."""
    s.start_agent()
    process = s.start("forever")
    assert process.stdout.readline() == "running\n"
    wait_for("the record", s.recording)
    s.kill_agent()
    process.kill()
    process.wait()
    s.start_agent()
    s.wait_for_records()
    made, stored = s.made(), s.finish()
    accounted(made, stored, cut=1)


def case_full(s):
    """A spool that nobody empties and records that fill up: every call is stored or told as lost."""
    s.stop_hub()
    s.start_agent("--spool", "256K", "--func-mem", "4M")
    process = s.start("walk", 400000, SIZE="512K")
    assert process.wait(timeout=PATIENCE) == 0, process.stderr.read()
    other = s.start("threads", 8, SIZE="512K")
    assert other.wait(timeout=PATIENCE) == 0, other.stderr.read()
    assert s.names(), "what found no room is gone"
    s.start_hub()
    s.wait_for_records()
    made, stored = s.made(), s.finish()
    assert stored.lost > 0, "nothing was lost: this shows nothing"
    accounted(made, stored)


def case_restart(s):
    """An agent that ends in order, and the next one: two runs, and nothing lost or twice."""
    s.start_agent()
    process = s.start("drip", 20000, POLICY="wait", WAIT=60)
    wait_for("the record", s.recording)
    s.wait_for_calls(process)
    s.end_agent()
    assert s.on(process) == 0, "it was not switched off"
    s.start_agent()
    s.wait_for_calls(process)
    process.kill()
    process.wait()
    s.wait_for_records()
    stored = s.finish()
    assert len(stored.runs) == 2, stored.runs
    # While nobody was there it was off, so the reference has more: what is stored is two pieces of it.
    calls, = stored.calls.values()
    wanted = iter(next(iter(s.made().values())))
    assert stored.lost <= 1 and calls and all(c in wanted for c in calls)


def case_keep(s):
    """An agent that is told to leave programs as they are, and the next one: one run, every call."""
    s.start_agent("--keep-recording")
    process = s.start("walk", 450000, POLICY="wait", WAIT=60, SIZE="1M")
    wait_for("the record", s.recording)
    for _ in range(3):
        s.end_agent()
        s.start_agent("--keep-recording")
    assert process.wait(timeout=PATIENCE) == 0, process.stderr.read()
    s.wait_for_records()
    s.end_agent()
    s.start_agent()  # nobody is left: it ends the run
    stored = s.finish()
    same(s.made(), stored)
    assert len(stored.runs) == 1, stored.runs


def case_off(s):
    """Off and on again, by an instruction of the collector; a program that comes meanwhile waits."""
    s.start_agent("--func", "off")
    process = s.start("drip", 20000, POLICY="wait", WAIT=60)
    wait_for("a record", s.recording)
    assert s.on(process) == 0
    wait_for("the device", lambda: '"t"' in s.kiseki("devices", "--json"))
    s.kiseki("configure", "t", "--func", "on")
    s.wait_for_calls(process)
    s.kill_agent()
    s.start_agent("--func", "off")  # what was said last holds
    s.wait_for_calls(process)
    assert s.on(process) == 1
    wait_for("off", lambda: s.kiseki("configure", "t", "--func", "off") is not None and not s.on(process))
    process.kill()
    process.wait()
    s.wait_for_records()
    stored = s.finish()
    calls, = stored.calls.values()
    wanted = iter(next(iter(s.made().values())))
    assert calls and all(c in wanted for c in calls)


CASES = {name.removeprefix("case_"): f for name, f in globals().items() if name.startswith("case_")}

for name in sys.argv[1:]:
    setup = Setup()
    try:
        setup.start_hub()
        CASES[name](setup)
        print(f"{name}: ok")
    except BaseException:
        log = setup.folder / "log"
        print(f"FAILED: {name}", log.read_text() if log.exists() else "", sep="\n")
        raise
    finally:
        setup.close()

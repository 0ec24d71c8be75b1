# SPDX-License-Identifier: MIT
"""server: a collector that has a fault, and is started again without it if it ends, as systemd would; and many of them, one for each fault."""
import atexit
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from strike import Tally, count_calls, name, plan, read_allocations, read_calls, wrap, wrap_count

sys.path[:0] = [str(Path(__file__).resolve().parent.parent / "tools")]

from ports import free_ports  # noqa: E402

WAIT_S = 60
AT_ONCE = 2  # for each processor: a collector mostly waits
STEP = 100  # faults, between two lines of progress
# libuv gives up by abort() if the kernel refuses to wake a thread by an eventfd or to say that it was woken, to wait for one more descriptor, or a pipe
# when it starts, and where it has no memory for its list of descriptors. All else must hold.
ENDS = {("write", "SIGABRT"), ("read", "SIGABRT"), ("pipe2", "SIGABRT"), ("epoll_ctl", "SIGABRT")}
FRAME = re.compile(r"^(\S+)\(.*\)\[0x[0-9a-f]+\]$", re.MULTILINE)  # of what KISEKI_FAULT_TELL says


def dress(fault, library, log):
    """How a collector is started with the fault. Where it was is told in the collector's own log."""
    def wear(line):
        line, environment = wrap(fault, library, line, log)
        return line, {**environment, "KISEKI_FAULT_TELL": "1"}
    return wear


class Server:
    """A collector that somebody starts again, as systemd would."""

    def __init__(self, tools, work, wear):
        """wear: of a command, how it is started the first time, and its environment; see dress()."""
        self.tools, self.work, self.wear = tools, work, wear
        self.port, self.http = free_ports(2)
        self.log, self.statuses, self.ends = work / "collector.log", [], False
        self.process, self.is_silent = None, False
        atexit.register(self.kill)
        self.thread = threading.Thread(target=self.keep, daemon=True)
        self.thread.start()

    def line(self):
        return [str(self.tools.kiseki), "serve", "--listen", f"127.0.0.1:{self.port}", "--http", f"127.0.0.1:{self.http}", "--data",
                str(self.work / "store"), "--config", "/dev/null", "--plain-http"]

    def keep(self):
        line, environment = self.wear(self.line())
        while not self.ends:
            with self.log.open("ab") as log:
                self.process = subprocess.Popen(line, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
            status = self.process.wait()
            if not self.ends:
                self.statuses.append(status)
                self.is_silent = self.is_silent or (status > 0 and not self.has_reason())
                time.sleep(0.1)
            line, environment = self.line(), None

    def has_reason(self):
        """Whether it said why it ended: its last line, and not what it says of a device."""
        last = self.log.read_text(errors="replace").strip().rpartition("\n")[2]
        return last.startswith("kiseki: ") and "(session " not in last

    def pid(self):
        """Of the collector itself, which may be a child of strace."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        inside = children.read_text().split() if self.process.args[0] == "strace" else []
        return int(inside[0]) if inside else self.process.pid

    def tell(self):
        """To end."""
        try:
            os.kill(self.pid(), signal.SIGTERM)
        except (ProcessLookupError, FileNotFoundError):
            pass

    def kill(self):
        """With strace and its reader of objects, if it is still there."""
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def turn(self):
        """The one that has the fault ends, and another takes its place."""
        before = self.process
        self.tell()
        try:
            before.wait(WAIT_S)
        except subprocess.TimeoutExpired:
            return "does not end when told to"
        end = time.monotonic() + WAIT_S
        while self.process is before and time.monotonic() < end:
            time.sleep(0.02)
        return None

    def stop(self):
        self.ends = True
        self.tell()
        try:
            status = self.process.wait(WAIT_S)
        except subprocess.TimeoutExpired:
            self.kill()
            self.process.wait()
            return "does not end when told to"
        self.thread.join()
        atexit.unregister(self.kill)
        self.statuses.append(status)
        return None

    def crash(self):
        """The signal that ended it, or None."""
        for status in self.statuses:
            if status < 0 or status > 128:
                return signal.Signals(-status if status < 0 else status - 128).name
        return None

    def is_libuvs(self):
        """Whether it was libuv that had no memory."""
        frames = [frame for frame in FRAME.findall(self.log.read_text(errors="replace")) if "libfault" not in frame]
        return bool(frames) and "libuv" in frames[0]

    def judge(self, fault, problem):
        """What is wrong with how it took the fault, or None. The problem is the one that is known, or None."""
        crash = self.crash()
        if crash and (fault.kind, crash) not in ENDS and not (crash == "SIGABRT" and self.is_libuvs()):
            problem = f"ended by {crash}"
        if self.is_silent and not crash:
            problem = f"ended without a word: {self.statuses}"
        said = self.log.read_text(errors="replace").strip().splitlines()
        return problem and f"{problem} ({len(self.statuses)} starts; it said: {' | '.join(said)[-2000:]})"


def wait_until_up(server):
    """Until it answers, with the fault or after it was started again."""
    end = time.monotonic() + WAIT_S
    while time.monotonic() < end:
        try:
            socket.create_connection(("127.0.0.1", server.http), 1).close()
            return None
        except OSError:
            time.sleep(0.02)
    return "does not come up"


def count_server(tools, start, use):
    """How many allocations and system calls there are while it is used. start: of a folder and how."""
    with tempfile.TemporaryDirectory(prefix="kiseki-fault-") as folder:
        work = Path(folder)
        ways = [lambda line: wrap_count(tools.library, line, work / "allocations"),
                lambda line: (["strace", "-f", "-qq", "-o", str(work / "calls"), *line], None)]
        for i, wear in enumerate(ways):
            (work / str(i)).mkdir()
            server = start(work / str(i), wear)
            problem = use(server) or server.stop()
            if problem:
                raise SystemExit(f"fault: the collector fails by itself: {problem}")
        return read_allocations(work / "allocations"), read_calls(work / "calls"), count_calls([tools.kiseki, "--version"], work, {})


def choose(found, most, random, only):
    """The faults to go through, of what count_server() has found."""
    allocations, calls, before = found
    faults = [f for f in plan(allocations, calls, before, most, random) if only in name(f)]
    print(f"  {allocations[0]} allocations in {len(allocations[1])} places, {sum(map(sum, calls.values()))} system calls; {len(faults)} faults", flush=True)
    return faults


def go_through(tools, title, faults, judge):
    """judge: of a fault, how often it came to be and what is wrong or None."""
    tally = Tally()
    with ThreadPoolExecutor(AT_ONCE * tools.jobs) as pool:
        for i, (fault, took) in enumerate(zip(faults, pool.map(judge, faults)), 1):
            tally.add(title, fault, *took)
            if i % STEP == 0:
                print(f"  {i} of {len(faults)}, {len(tally.wrong)} wrong", flush=True)
    return tally

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""agent_scenarios: kiseki-agent on this kernel, against a collector that knows only the protocol.

	agent_scenarios.py AGENT [SOURCE...]     (tracefs bpf)

What is counted is made by a known generator: a process that forks so many times. Each fork must be
in the blocks exactly once, whatever is killed in between. Exit 0, 1 on a failure, 77 if this machine
cannot record.
"""
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from pathlib import Path

from fake_collector import (CONFIGURE, PATIENCE, START, STOP, Broken, Collector, Gone, Session,
                            item)
from ksk_decode import UNKNOWN
from protocol import PING, varint
from sched_decode import SchedDecoder

TRACEFS = Path("/sys/kernel/tracing")
FORK = 4
KILLS = int(os.environ.get("KISEKI_KILLS", 10))
ORIGINS = {"tracefs": 1, "bpf": 2}
GENERATOR = """
import os, sys
for line in sys.stdin:
    for _ in range(int(line)):
        pid = os.fork()
        if not pid:
            os._exit(0)
        os.waitpid(pid, 0)
    print("done", flush=True)
"""


class Generator:
    """Forks as often as it is asked to."""

    def __init__(self):
        self.process = subprocess.Popen([sys.executable, "-c", GENERATOR], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.pid, self.forks = self.process.pid, 0
        self.fork(1)
        self.forks = 0

    def begin(self, n):
        self.process.stdin.write(f"{n}\n")
        self.process.stdin.flush()
        self.forks += n

    def finish(self):
        self.process.stdout.readline()

    def fork(self, n):
        self.begin(n)
        self.finish()

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def decode(number, stream):
    """The blocks of a CPU's stream, each with its events (sched.md). A KEY block makes the decoder new, also
    if it has no events (wire.md, 3.3)."""
    decoder = None
    for b in stream.blocks:
        if b.key:
            decoder = SchedDecoder(number - 1, b.first_tick)
        yield b, list(decoder.block(b)) if b.events else []


def count_forks(run, pid):
    return sum(ev.kind == FORK and ev.task.pid == pid for number, stream in run.streams.items() if number
               for _, events in decode(number, stream) for ev in events)


def lost(run):
    return sum(b.told() for s in run.streams.values() for b in s.blocks)


class Scenario:
    def __init__(self, agent, source, folder, number):
        self.agent, self.source = agent, source
        self.name = f"test-{os.getpid()}-{number}"
        self.folder = Path(folder)
        self.collector, self.generator, self.process = Collector(), Generator(), None

    def start_agent(self, *options, **more):
        address = more.pop("address", self.collector.address)
        self.process = subprocess.Popen(
            [self.agent, "--func-socket", "none", "--collector", address, "--name", self.name, "--source", self.source,
             "--spool-file", self.folder / "spool", "--state-dir", self.folder, *options],
            stderr=(self.folder / "log").open("a"), **more)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def end_agent(self, session=None):
        """A polite end: what is left is sent, a BYE comes, nothing stays in the kernel."""
        self.process.send_signal(signal.SIGTERM)
        if session:
            session.wait(lambda: session.bye, acknowledge=True)
            self.check(session.bye[0] == 0, f"BYE {session.bye}")
        self.check(self.process.wait(timeout=PATIENCE) == 0, "the agent failed")
        self.check(not self.kernel_part(), "something is left in the kernel")

    def kernel_part(self):
        return [p for p in (TRACEFS / "instances" / f"kiseki-{self.name}",
                            Path("/sys/fs/bpf/kiseki") / f"kiseki-{self.name}") if p.exists()]

    def wait_for_recording(self):
        """It says so in its log, when the kernel does."""
        until = time.monotonic() + PATIENCE
        while "records by" not in (self.folder / "log").read_text():
            self.check(time.monotonic() < until, "it does not record")
            time.sleep(0.01)

    def check(self, good, text):
        if not good:
            raise Broken(text)

    def connect(self, patience=PATIENCE, window=1 << 20):
        session = self.collector.accept(patience)
        self.check(session.name == self.name, f"the name is {session.name}")
        session.welcome(window)
        return session

    def only_run(self):
        self.check(len(self.collector.runs) == 1, f"{len(self.collector.runs)} runs")
        return next(iter(self.collector.runs.values()))

    def forks(self, run):
        return count_forks(run, self.generator.pid)

    def close(self):
        if self.process and self.process.poll() is None:
            self.kill()
        if self.kernel_part():  # a failed test: the next agent takes its part away
            self.start_agent(address="127.0.0.1:9")
            time.sleep(0.5)
            self.process.terminate()
            self.process.wait()
        self.generator.close()
        self.collector.close()


def config(s):
    """Forks of the generator alone, so that the spool can become empty on a busy machine."""
    return (item(1, varint(ORIGINS[s.source])) + item(2, varint(1 << FORK)) +
            item(8, varint(s.generator.pid)))


def does_what_it_is_told(s):
    """start, blocks, ACK, the spool shrinks; PING; configure, stop; SIGTERM."""
    s.start_agent("--ring-most", "1M")
    c = s.connect()
    s.check(c.instruct(20, START, config(s) + item(5, varint(1025))) ==
            (12, "cannot record with a ring of 1025K: this device gives at most 1024K for each CPU (--ring-most)"), f"RESULT {c.results}")
    s.check(not s.kernel_part(), "what was refused has been begun")
    s.check(c.state == 0 and not c.held and c.origins >> ORIGINS[s.source] & 1, "HELLO")
    s.check(c.instruct(1, START, config(s)) == (0, ""), f"RESULT {c.results}")
    s.generator.fork(50)
    c.wait(lambda: c.frames and c.statuses and c.statuses[-1]["spool_used"])
    s.check(c.statuses[-1]["state"] == 1, "it does not trace")
    s.check(c.statuses[-1]["origin"] == ORIGINS[s.source], "another origin")
    c.ack()
    c.wait(lambda: c.statuses[-1]["spool_used"] == 0, acknowledge=True)
    s.check(c.instruct(2, START, config(s))[0] == 0, "start again")
    c.send(PING, varint(9) + varint(12345))
    c.wait(lambda: 9 in c.pongs, acknowledge=True)
    sent, device, realtime = c.pongs[9]
    s.check(sent == 12345 and abs(device - time.monotonic_ns()) < 1e10 and
            abs(realtime - time.time_ns()) < 1e10, f"PONG {c.pongs[9]}")
    first = s.only_run()
    s.check(c.instruct(6, CONFIGURE, item(11, varint(2))) ==
            (95, "cannot do it: only the driver can record bsf"), "a codec that it has not")
    s.check(c.instruct(7, START, item(11, varint(1))) == (0, ""), "sched is what it has")
    s.check(s.only_run() is first and not first.ended, "what was refused has changed something")
    s.check(c.instruct(3, CONFIGURE, item(4, varint(50)))[0] == 0, "configure")
    c.wait(lambda: first.ended and len(s.collector.runs) == 2, acknowledge=True)
    s.generator.fork(20)
    s.check(c.instruct(4, STOP)[0] == 0, "stop")
    second = list(s.collector.runs.values())[1]
    c.wait(lambda: second.ended, acknowledge=True)
    s.check((s.forks(first), s.forks(second)) == (50, 20) and not lost(first) + lost(second),
            f"{s.forks(first)} and {s.forks(second)} forks")
    s.check(not s.kernel_part(), "the kernel still records")
    s.check(c.instruct(5, START, item(1, varint(3)))[0] == 95, "a driver that it has not")
    c.wait(lambda: c.statuses[-1]["state"] == 2 and c.statuses[-1]["text"])
    s.end_agent(c)


def notices_that_it_is_off(s):
    """Somebody switches the events off, or all of the instance, while it records: it says so, records again, and
    the ledger has a loss that nobody can count, from before the first event that is missing to behind the last.
    Another CPU has its first event behind all losses."""
    if s.source != "tracefs":
        return  # the agent holds the links of its BPF programs, and the kernel lets nobody else take them off
    s.start_agent("--flush", "10", "--resolution", "1")
    c = s.connect()
    s.check(c.instruct(1, START, config(s))[0] == 0, "start")
    run, missing, offs, cpus = None, 0, [], sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(s.generator.pid, cpus[:1])
    for name in ("events/enable", "events/sched/sched_process_fork/enable", "tracing_on"):
        s.generator.fork(30)
        c.wait(lambda: c.run and s.forks(c.run) == s.generator.forks - missing, acknowledge=True)
        run = s.only_run()
        switch = s.kernel_part()[0] / name
        try:
            s.kernel_part()[0].rmdir()
            raise Broken("the kernel removed an instance that is read")
        except OSError:
            pass
        s.process.send_signal(signal.SIGSTOP)  # or it switches on again before anything is missing
        os.waitpid(s.process.pid, os.WUNTRACED)
        began = time.monotonic_ns()
        switch.write_text("0")
        s.generator.fork(3)
        ended = time.monotonic_ns()
        s.process.send_signal(signal.SIGCONT)
        missing += 3
        until = time.monotonic() + PATIENCE
        while switch.read_text()[0] == "0" or (s.folder / "log").read_text().count("records again") <= len(offs):
            s.check(time.monotonic() < until, "nobody switched it on again, or said so")
            c.wait(lambda: True, acknowledge=True)
            time.sleep(0.01)
        offs.append((began, ended))
    s.generator.fork(30)
    os.sched_setaffinity(s.generator.pid, cpus[-1:])
    s.generator.fork(5)
    s.end_agent(c)
    s.check(s.forks(run) == s.generator.forks - missing, f"{s.forks(run)} of {s.generator.forks} - {missing} forks")
    s.check(run.ended, "its run ended before")
    spans = unknown_losses(run, cpus[0])
    s.check(len(spans) == len(offs) and all(a <= began and ended <= b for (began, ended), (a, b) in zip(offs, spans)),
            f"off at {offs}, losses at {spans}")


def unknown_losses(run, cpu):
    """Where what is missing of a CPU lies: between the events around it."""
    spans, last, open_since = [], 0, None
    for b, events in decode(cpu + 1, run.streams[cpu + 1]):
        if UNKNOWN in b.lost and open_since is None:
            open_since = last
        if open_since is not None and events:
            spans.append((open_since, events[0].tick))
            open_since = None
        last = events[-1].tick if events else last
    return spans if open_since is None else spans + [(open_since, float("inf"))]


def survives_kill(s):
    """kill -9 at any time: the same run, the next sequence, every fork once."""
    s.start_agent("--start", "--events", "fork", "--flush", "10")
    c = s.connect()
    s.generator.fork(30)
    c.wait(lambda: c.frames > 2)
    c.ack(1)
    for _ in range(6):
        s.kill()
        s.check(s.kernel_part(), "nothing records")
        s.generator.fork(40)
        s.start_agent("--events", "fork", "--flush", "10")
        c = s.connect()
        s.check(c.state == 1 and len(c.held) == 1, "it does not go on")
        s.generator.fork(5)
        before = c.frames
        c.wait(lambda: c.frames > before)  # some are acknowledged, some not
        if c.frames % 2:
            c.ack()
    s.end_agent(c)
    run = s.only_run()
    s.check(run.ended and s.forks(run) == s.generator.forks and not lost(run),
            f"{s.forks(run)} of {s.generator.forks} forks, {lost(run)} lost")
    s.check(s.collector.duplicates == 0, "it sent what the collector had said it has")


def survives_kill_at_random(s):
    """The same at moments that nobody chose, while forks happen and acknowledgements are under way."""
    s.start_agent("--start", "--events", "fork", "--flush", "10")
    s.wait_for_recording()
    for _ in range(KILLS):
        s.generator.begin(random.randrange(40))
        killer = threading.Timer(random.random() / 10, s.process.kill)
        killer.start()
        try:
            s.connect(patience=0.2).wait(lambda: False, acknowledge=True)
        except Gone:
            pass
        killer.join()
        s.process.wait()
        s.generator.finish()
        s.collector.forget()
        s.start_agent("--flush", "10")
    s.end_agent(s.connect())
    run = s.only_run()
    s.check(run.ended and s.forks(run) == s.generator.forks and not lost(run),
            f"{s.forks(run)} of {s.generator.forks} forks, {lost(run)} lost")


def keeps_what_it_could_not_send(s):
    """Ended without a collector: the next agent sends it, and records nothing."""
    s.start_agent("--start", "--events", "fork", address="127.0.0.1:9")
    s.wait_for_recording()
    s.generator.fork(21)
    s.end_agent()
    s.start_agent()
    c = s.connect()
    s.check(c.state == 0 and len(c.held) == 1, "HELLO")
    c.wait(lambda: c.run and c.run.ended, acknowledge=True)
    s.check(s.forks(s.only_run()) == 21, f"{s.forks(s.only_run())} of 21 forks")
    s.end_agent(c)


def survives_the_link(s):
    """The connection breaks, the collector is away, speaks garbage: nothing is lost."""
    s.start_agent("--start", "--events", "fork", "--flush", "10")
    for i in range(5):
        c = s.connect(window=3000)
        s.generator.fork(30)
        c.wait(lambda: c.frames >= 1 + i % 3, acknowledge=i % 2)
        c.close()
        s.generator.fork(10)
    c = s.connect()
    c.socket.sendall(b"\0garbage")
    c.wait(lambda: c.bye)
    s.check(c.bye[0] == 1, f"BYE {c.bye}")
    s.check(s.process.poll() is None, "the agent died of it")
    s.generator.fork(10)
    s.kill()  # it would come back after half a minute
    s.start_agent()
    s.end_agent(s.connect())
    run = s.only_run()
    s.check(s.forks(run) == s.generator.forks and not lost(run),
            f"{s.forks(run)} of {s.generator.forks} forks, {lost(run)} lost")


def leaves_the_kernel_recording(s):
    """--keep-recording: the next agent finds what happened in between."""
    s.start_agent("--start", "--events", "fork", "--keep-recording")
    c = s.connect()
    s.generator.fork(10)
    c.wait(lambda: c.frames, acknowledge=True)
    s.process.terminate()
    c.wait(lambda: c.bye, acknowledge=True)
    s.check(s.process.wait() == 0 and s.kernel_part(), "nothing records")
    s.generator.fork(33)
    s.start_agent()
    s.end_agent(s.connect())
    s.check(s.forks(s.only_run()) == 43, f"{s.forks(s.only_run())} of 43 forks")


def serves_one_connection(s):
    """fd:N, as `kiseki record` starts it: it ends with the connection."""
    ours, theirs = socket.socketpair()
    s.start_agent("--start", "--events", "fork", address=f"fd:{theirs.fileno()}",
                  pass_fds=[theirs.fileno()])
    theirs.close()
    c = Session(s.collector, ours)
    c.welcome()
    s.generator.fork(25)
    s.check(c.instruct(1, STOP)[0] == 0, "stop")
    c.wait(lambda: c.run and c.run.ended, acknowledge=True)
    c.close()
    s.check(s.process.wait(timeout=PATIENCE) == 0 and not s.kernel_part(), "it does not end")
    s.check(s.forks(s.only_run()) == 25, f"{s.forks(s.only_run())} of 25 forks")


SCENARIOS = [does_what_it_is_told, notices_that_it_is_off, survives_kill, survives_kill_at_random, survives_the_link,
             keeps_what_it_could_not_send, leaves_the_kernel_recording, serves_one_connection]


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


def run_scenario(agent, source, scenario, number):
    with tempfile.TemporaryDirectory(prefix="kiseki-agent-") as folder:
        s = Scenario(agent, source, folder, number)
        start = time.monotonic()
        try:
            scenario(s)
            print(f"{source} {scenario.__name__}: ok, {time.monotonic() - start:.1f} s", flush=True)
            return True
        except Exception as e:
            at = [f.lineno for f in traceback.extract_tb(e.__traceback__)]
            print(f"{source} {scenario.__name__}: FAILED at {at}: {type(e).__name__}: {e}\n"
                  f"{(s.folder / 'log').read_text()}", flush=True)
            return False
        finally:
            s.close()


def find_sources(agent, wanted):
    """Those that the agent says it could use here."""
    with tempfile.TemporaryDirectory(prefix="kiseki-agent-") as folder:
        s = Scenario(agent, "auto", folder, "probe")
        try:
            s.start_agent()
            origins = s.connect().origins
        finally:
            s.close()
    found = [name for name in wanted if origins >> ORIGINS[name] & 1]
    for name in wanted:
        if name not in found:
            print(f"{name}: left out, the agent cannot use it here")
    return found


def main():
    agent, *sources = sys.argv[1:]
    if os.geteuid() != 0:
        skip("only root may trace the kernel")
    sources = find_sources(agent, sources or list(ORIGINS))
    if not sources:
        skip("the agent can record nothing here")
    good = [run_scenario(agent, source, scenario, f"{source}-{number}")
            for source in sources for number, scenario in enumerate(SCENARIOS)]
    return 0 if all(good) else 1


sys.exit(main())

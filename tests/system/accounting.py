#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""accounting: events generated = events stored + events in the ledger, to the single event.

A generator of a known number of events (tests/tools/rename_generator.c) runs while agent and
collector are killed with SIGKILL at random moments and started again, the link is cut and comes
back, and the collector's disk fills up. Then what the store gives back and what the ledger counts
must be what was generated: every generated event is there once or is counted as lost.

Other programs on the machine rename themselves, too (every exec does). A tracefs instance of the
test's own, which nothing of Kiseki touches, counts those.

	accounting.py [--source tracefs|bpf] [--kills N] [--seed N] SCENARIO...

KISEKI, AGENT and GENERATOR are the programs. Needs root; exit 77 and a reason where that cannot be.
"""
import argparse
import collections
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))
import loss_spans  # noqa: E402

KISEKI, AGENT, GENERATOR = (os.environ.get(k, "") for k in ("KISEKI", "AGENT", "GENERATOR"))
TRACEFS = Path("/sys/kernel/tracing")
PREFIX = "q" + "".join(random.choices("bcdfghjklmnpqrtvwxyz", k=2))  # of generated names; nobody else has such a one, as kworker or qemu
SLACK_NS = 1_000_000_000  # of a span: a block that an agent had not put when it was killed, and a machine that is busy
PATIENCE_S = 180  # until something that must happen counts as a failure


class Failed(Exception):
    pass


class Unclear(Failed):
    """Somebody else renames so much that nobody can count it."""


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


def run(*command, check=True, **options):
    return subprocess.run(list(map(str, command)), check=check, **options)


def wait_for(what, condition):
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.05)
    raise Failed(f"waited {PATIENCE_S} s for {what}")


class Others:
    """Counts the renames of everybody but the generator: a tracefs instance of its own."""

    def __init__(self):
        self.sweep()
        self.path = TRACEFS / f"instances/kiseki-test-others-{os.getpid()}"
        self.path.mkdir()
        (self.path / "trace_clock").write_text("mono")
        (self.path / "buffer_size_kb").write_text("4096")
        event = self.path / "events/task/task_rename"
        (event / "filter").write_text(f'!(newcomm ~ "{PREFIX}[0-9]*-*")')
        (event / "enable").write_text("1")

    @staticmethod
    def sweep():
        """Those of tests that were killed would record for ever."""
        for path in TRACEFS.glob("instances/kiseki-test-others-*"):
            if not Path("/proc", path.name.rsplit("-", 1)[1]).exists():
                path.rmdir()

    def stamps(self):
        """When they happened, in ns of the monotonic clock (cut to microseconds)."""
        (self.path / "events/task/task_rename/enable").write_text("0")
        text = (self.path / "trace").read_text(errors="replace")
        overrun = sum(int(n) for file in self.path.glob("per_cpu/cpu*/stats") for n in re.findall(r"^overrun: (\d+)", file.read_text(), re.M))
        if overrun:
            raise Unclear(f"{overrun} events of other programs were overwritten before they were counted")
        return [int(s) * 10**9 + int(us) * 1000
                for s, us in re.findall(r" (\d+)\.(\d{6}): task_rename:", text)]

    def remove(self):
        self.path.rmdir()


class Link:
    """Two network namespaces and a cable between them that can be pulled."""

    def __init__(self):
        self.names = [f"kiseki-{end}-{os.getpid()}" for end in ("d", "c")]
        self.ends = [f"ks{os.getpid() % 100000}{end}" for end in "dc"]
        for name in self.names:
            run("ip", "netns", "add", name)
        run("ip", "link", "add", self.ends[0], "netns", self.names[0], "type", "veth",
            "peer", "name", self.ends[1], "netns", self.names[1])
        for i, name in enumerate(self.names):
            run("ip", "-n", name, "addr", "add", f"10.213.77.{i + 1}/24", "dev", self.ends[i])
            run("ip", "-n", name, "link", "set", self.ends[i], "up")
            run("ip", "-n", name, "link", "set", "lo", "up")
        self.shaped = run("tc", "-n", self.names[0], "qdisc", "add", "dev", self.ends[0], "root",
                          "netem", "delay", "5ms", "2ms", "loss", "1%", check=False,
                          stderr=subprocess.DEVNULL).returncode == 0

    def inside(self, end):
        return ["nsenter", f"--net=/run/netns/{self.names[end]}"]

    def set(self, state):
        run("ip", "-n", self.names[1], "link", "set", self.ends[1], state)

    def remove(self):
        for name in self.names:
            run("ip", "netns", "del", name, check=False)


class Program:
    """A program that is killed and started again; its output goes to a file."""

    def __init__(self, name, command, log):
        self.name, self.command, self.log = name, list(map(str, command)), log
        self.process = None

    def start(self):
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=log,
                                            stderr=subprocess.STDOUT)

    def is_running(self):
        return self.process and self.process.poll() is None

    def kill(self):
        if not self.is_running():
            raise Failed(f"{self.name} ended by itself: {self.tail()}")
        self.process.kill()
        self.process.wait()

    def stop(self):
        if self.is_running():
            self.process.terminate()
            try:
                self.process.wait(PATIENCE_S)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
                raise Failed(f"{self.name} does not end when told to: {self.tail()}")

    def tail(self):
        return self.log.read_text(errors="replace")[-2000:] if self.log.exists() else "no output"


class System:
    """One device, one collector, a cable, a disk of a fixed size, and what they did."""

    def __init__(self, work, arguments, scenario):
        self.work, self.source, self.random = work, arguments.source, arguments.random
        self.others, self.link = Others(), Link()
        self.data = work / "data"
        self.data.mkdir()
        run("mount", "-t", "tmpfs", "-o", "size=96m", "none", self.data)
        self.name = f"kt{os.getpid()}"
        self.server = "http://10.213.77.2:8080"
        self.collector = Program("the collector", [
            *self.link.inside(1), KISEKI, "serve", "--data", self.data / "store", "--listen",
            "10.213.77.2:7077", "--http", "10.213.77.2:8080", "--insecure-listen"],
            work / "collector.log")
        self.agent = Program("the agent", [
            *self.link.inside(0), AGENT, "--collector", "10.213.77.2:7077", "--name", self.name,
            "--func-socket", "none", "--state-dir", work / "state", "--spool-file",
            work / "spool", "--source", self.source, "--events", "rename",
            "--start", *scenario.agent_options], work / "agent.log")

    def client(self, *command, **options):
        return run(*self.link.inside(1), KISEKI, *command, "--server", self.server,
                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)

    def device(self):
        answer = self.client("devices", "--json", check=False)
        if answer.returncode:
            return None
        rows = [d for d in json.loads(answer.stdout)["devices"] if d["name"] == self.name]
        return rows[0] if rows else None

    def start(self):
        self.collector.start()
        self.agent.start()
        wait_for("the device to trace", lambda: (self.device() or {}).get("state") == "tracing")

    def finish(self):
        """Everything up, everything drained, then a clean stop."""
        for program in (self.collector, self.agent):
            if not program.is_running():
                program.start()
        wait_for("the device to be back",
                 lambda: (d := self.device()) and d["online"] and d["state"] == "tracing")
        answer = self.client("stop", self.name, check=False)
        if answer.returncode:
            raise Failed(f"stop: {answer.stderr}")
        self.stopped = answer.stdout
        wait_for("the spool to drain", lambda: (d := self.device()) and d["online"] and
                 d["state"] == "idle" and d["status"]["spool_used"] == 0)

    def export(self):
        out = self.work / "all.ndjson"
        self.client("export", self.name, "--format", "ndjson", "-o", out)
        return out

    def forget_recording(self):
        """What a killed agent left in the kernel on purpose."""
        instance = TRACEFS / f"instances/kiseki-{self.name}"
        if instance.is_dir():
            instance.rmdir()
        shutil.rmtree(f"/sys/fs/bpf/kiseki/kiseki-{self.name}", ignore_errors=True)

    def remove(self):
        for program in (self.agent, self.collector):
            if program.is_running():
                program.process.kill()
                program.process.wait()
        self.forget_recording()
        run("umount", self.data, check=False)
        self.link.remove()
        self.others.remove()


def generated_number(line):
    match = re.match(PREFIX + r"(\d+)-(\d+)$", line)
    return (int(match[1]), int(match[2])) if match else None


class Account:
    """What came back: every generated number, the others' events, and the losses."""

    def __init__(self, path):
        self.found, self.others = collections.Counter(), []
        self.lost, self.unknown = collections.Counter(), 0
        self.by_cpu, self.losses = {}, []  # of loss_spans
        with path.open() as lines:
            for line in lines:
                self.add(json.loads(line))

    def add(self, item):
        if item.get("kind") == "lost":
            self.losses.append(loss_spans.of_export(item))
            if item.get("count") is None:
                self.unknown += 1
            else:
                self.lost[item["cause"]] += item["count"]
        elif item.get("event") == "task_rename" or "newcomm" in item:
            number = generated_number(item["newcomm"])
            if number:
                self.found[number] += 1
                self.by_cpu.setdefault(item["cpu"], {})[number[1]] = item["ns"]
            else:
                self.others.append(item["ns"])

    def check(self, generated, others, window, unfiltered):
        """Of `unfiltered` events nobody can say whether the filter would have kept them."""
        doubled = [n for n, times in self.found.items() if times > 1]
        strange = [n for n in self.found if n[1] >= generated.get(n[0], 0)]
        if doubled or strange or self.unknown:
            raise Failed(f"{len(doubled)} events came twice, {len(strange)} were never made, "
                         f"{self.unknown} losses of unknown number")
        made, (first, last) = sum(generated.values()), [t // 1000 for t in window]
        around = sum(first <= t // 1000 <= last for t in others)
        back = sum(first <= t // 1000 <= last for t in self.others)
        lost = sum(self.lost.values())
        print(f"  generated {made} and {around} by others; stored {len(self.found)} and {back}; "
              f"lost {lost} {dict(self.lost)}")
        missing = made + around - len(self.found) - back - lost
        # What others did before or after the generator's time is not among what was made, but may be among the lost.
        outside = len(others) - around if lost else 0
        if not -unfiltered - outside <= missing <= 0:
            raise Failed(f"{made + around} events were made, {len(self.found) + back} stored and "
                         f"{lost} counted as lost: {missing} are not accounted for")

    def check_spans(self, generated, window, ledger):
        """Where losses lie: each event that is missing within one of its CPU, by the export and by the ledger."""
        rows = [r for r in map(loss_spans.of_ledger, ledger["rows"]) if r]
        missing = loss_spans.holes(self.by_cpu, generated, window)
        try:
            loss_spans.check_same(self.losses, rows, SLACK_NS)
            for some in (self.losses, rows):
                loss_spans.check_truth(missing, some, SLACK_NS)
        except loss_spans.WrongSpan as e:
            raise Failed(f"losses are not where they happened: {e}") from e


class Scenario:
    agent_options = []
    rate = 4000
    must_lose = False
    alone = False  # whether the device's filter keeps the others' events out

    def __init__(self, source):
        """Tracefs loses events before the filter sees them, of everybody; BPF does not."""
        if source == "bpf" and self.must_lose:
            self.alone = True
        if self.alone:
            self.agent_options = [*self.agent_options, "--comm", PREFIX + "*"]

    def disturb(self, system, kills):
        raise NotImplementedError


class Kills(Scenario):
    """Agent and collector die, at any moment, in any order; nothing at all may be missing."""

    def disturb(self, system, kills):
        for _ in range(kills):
            time.sleep(system.random.uniform(0.05, 0.6))
            victims = system.random.choice([[system.agent], [system.collector],
                                            [system.agent, system.collector]])
            for victim in victims:
                victim.kill()
            time.sleep(system.random.uniform(0, 0.4))
            for victim in victims:
                victim.start()


class Cuts(Scenario):
    """The cable is pulled, and while it is out, agent and collector may die."""

    def disturb(self, system, kills):
        for _ in range(max(2, kills // 5)):
            time.sleep(system.random.uniform(0.1, 0.5))
            system.link.set("down")
            time.sleep(system.random.uniform(0.1, 0.8))
            if system.random.random() < 0.5:
                victim = system.random.choice([system.agent, system.collector])
                victim.kill()
                victim.start()
            time.sleep(system.random.uniform(0.1, 0.5))
            system.link.set("up")


class DiskFull(Scenario):
    """The collector's disk fills up and is emptied again; the device keeps what it must."""

    def disturb(self, system, kills):
        ballast = system.data / "ballast"
        for _ in range(2):
            time.sleep(0.5)
            with ballast.open("wb", buffering=0) as f:  # nothing is left to be written at its end
                try:
                    while f.write(bytes(65536)):
                        pass
                except OSError:
                    pass
            time.sleep(2)
            system.collector.kill()
            system.collector.start()
            time.sleep(1)
            ballast.unlink()
            time.sleep(1)


class SmallSpool(Cuts):
    """The link is away for longer than the spool lasts: the oldest stay, the rest is counted."""

    # The ring is large, for what tracefs loses there it loses before the filter, of everybody.
    agent_options = ["--spool", "64K", "--policy", "keep-oldest", "--ring", "16M"]
    rate = 40000
    must_lose = True
    alone = True

    def disturb(self, system, kills):
        system.link.set("down")
        time.sleep(6)
        system.agent.kill()
        system.agent.start()
        time.sleep(2)
        system.link.set("up")
        super().disturb(system, kills // 2)


class FlightRecorder(SmallSpool):
    """The same, but the latest stay."""

    agent_options = ["--spool", "64K", "--policy", "flight-recorder", "--ring", "16M"]


class SmallRing(Scenario):
    """The agent does not come to read: the kernel overwrites, and its count is taken over."""

    agent_options = ["--ring", "64K"]
    rate = 40000
    must_lose = True

    def disturb(self, system, kills):
        for _ in range(3):
            time.sleep(0.5)
            system.agent.process.send_signal(signal.SIGSTOP)
            time.sleep(2)
            if system.random.random() < 0.5:
                system.agent.kill()
                system.agent.start()
            else:
                system.agent.process.send_signal(signal.SIGCONT)


SCENARIOS = {"kills": Kills, "cuts": Cuts, "disk-full": DiskFull, "small-spool": SmallSpool,
             "flight-recorder": FlightRecorder, "small-ring": SmallRing}


def play(name, arguments, work):
    scenario = SCENARIOS[name](arguments.source)
    system = System(work, arguments, scenario)
    generator = None
    try:
        system.start()
        start_ns = time.monotonic_ns()
        generator = subprocess.Popen([GENERATOR, PREFIX, "100000000", str(scenario.rate)],
                                     stdout=subprocess.PIPE, text=True)
        scenario.disturb(system, arguments.kills)
        generator.send_signal(signal.SIGINT)
        lines, _ = generator.communicate(timeout=PATIENCE_S)
        window = start_ns, time.monotonic_ns()
        generated = {int(c): int(n) for c, n in (line.split() for line in lines.splitlines())}
        system.finish()
        account = Account(system.export())
        if scenario.alone and account.others:
            raise Failed(f"{len(account.others)} events that the filter should have kept out")
        others = system.others.stamps()
        lost_before_filter = scenario.alone and arguments.source == "tracefs" and account.lost["ring"]
        account.check(generated, [] if scenario.alone else others, window,
                      min(len(others), lost_before_filter))
        account.check_spans(generated, window, json.loads(system.client("ledger", system.name, "--json").stdout))
        if scenario.must_lose and not account.lost:
            raise Failed("nothing was lost, so the scenario shows nothing")
        if not scenario.must_lose and account.lost:
            raise Failed(f"something was lost: {dict(account.lost)}")
        system.agent.stop()
        system.collector.stop()
        check = run(KISEKI, "check", system.data / "store", check=False, stdout=subprocess.PIPE,
                    text=True)
        if check.returncode:
            raise Failed(f"kiseki check finds damage:\n{check.stdout}")
    except (Failed, subprocess.CalledProcessError, subprocess.TimeoutExpired) as e:
        print(f"device: {system.device()}\nagent: {system.agent.tail()}\ncollector: {system.collector.tail()}")
        raise Failed(f"{name}: {e}") from e
    finally:
        if generator and generator.poll() is None:
            generator.kill()
            generator.wait()
        system.remove()


def check_needs():
    if os.geteuid():
        skip("needs root, for tracefs and network namespaces")
    if not TRACEFS.joinpath("instances").is_dir():
        run("mount", "-t", "tracefs", "nodev", TRACEFS, check=False)
    if not TRACEFS.joinpath("instances").is_dir():
        skip("tracefs is not there")
    if not shutil.which("ip"):
        skip("iproute2 is not installed")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--source", default="tracefs")
    parser.add_argument("--kills", type=int, default=int(os.environ.get("KISEKI_KILLS", "20")))
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    parser.add_argument("scenarios", nargs="*", metavar="SCENARIO", choices=[[], *SCENARIOS])
    arguments = parser.parse_args()
    check_needs()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("accounting: told to end"))
    arguments.random = random.Random(arguments.seed)
    print(f"source {arguments.source}, seed {arguments.seed}, {arguments.kills} kills")
    for name in arguments.scenarios or SCENARIOS:
        print(f"{name}: {SCENARIOS[name].__doc__}", flush=True)
        work = Path(tempfile.mkdtemp(prefix="kiseki-accounting-"))
        try:
            play(name, arguments, work)
        finally:
            shutil.rmtree(work, ignore_errors=True)
    print("every event is stored or in the ledger")


if __name__ == "__main__":
    try:
        main()
    except Failed as failure:
        sys.exit(f"accounting: {failure}")

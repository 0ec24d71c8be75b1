#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""netns: two devices and a collector, each in a network of its own.

Three network namespaces with a bridge between them; one agent records through tracefs, the other
through BPF, both the same kernel. So both must bring the very same generated events, and the true
offset of their clocks is known: they are one. What is shown: an address beyond loopback needs its
flag; both devices are there, with the bounds of their clocks; a pattern starts and stops both;
pulling one cable leaves the other device alone; a device that was away is told later what it
missed; and every generated event is in both exports, once.

KISEKI, AGENT and GENERATOR are the programs. Needs root; exit 77 and a reason where that cannot be.
"""
import collections
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from accounting import (AGENT, GENERATOR, KISEKI, PREFIX, TRACEFS, Failed, Program, check_needs,
                        run, skip, wait_for)

NET = "10.213.78"
COLLECTOR = f"{NET}.1"
EVENTS = 1000  # of each generation


class Network:
    """A bridge in the collector's namespace and a cable from it to each device's."""

    def __init__(self, devices):
        self.names = [f"kiseki-n{i}-{os.getpid()}" for i in range(devices + 1)]
        self.hub = self.names[0]

    def build(self):
        for name in self.names:
            run("ip", "netns", "add", name)
            run("ip", "-n", name, "link", "set", "lo", "up")
        run("ip", "-n", self.hub, "link", "add", "hub", "type", "bridge")
        run("ip", "-n", self.hub, "addr", "add", f"{COLLECTOR}/24", "dev", "hub")
        run("ip", "-n", self.hub, "link", "set", "hub", "up")
        for i, name in enumerate(self.names[1:], 1):
            run("ip", "link", "add", "cable", "netns", name, "type", "veth", "peer", "name",
                f"port{i}", "netns", self.hub)
            run("ip", "-n", self.hub, "link", "set", f"port{i}", "master", "hub", "up")
            run("ip", "-n", name, "addr", "add", f"{NET}.{i + 1}/24", "dev", "cable")
            run("ip", "-n", name, "link", "set", "cable", "up")

    def inside(self, i):
        """Not `ip netns exec`, which mounts another /sys, without tracefs."""
        return ["nsenter", f"--net=/run/netns/{self.names[i]}"]

    def set(self, i, state):
        run("ip", "-n", self.hub, "link", "set", f"port{i}", state)

    def remove(self):
        for name in self.names:
            run("ip", "netns", "del", name, check=False, stderr=subprocess.DEVNULL)


class Device:
    def __init__(self, system, number, source):
        self.number, self.source = number, source
        self.name = f"kt{os.getpid()}-{source}"
        self.agent = Program(f"the agent by {source}", [
            *system.network.inside(number), AGENT, "--collector", f"{COLLECTOR}:7077", "--name",
            self.name, "--state-dir", system.work / f"state-{source}", "--spool-file",
            system.work / f"spool-{source}", "--source", source, "--events", "rename", "--comm",
            PREFIX + "*", "--config", "/dev/null"], system.work / f"agent-{source}.log")

    def forget_recording(self):
        """What a killed agent left in the kernel on purpose."""
        instance = TRACEFS / f"instances/kiseki-{self.name}"
        if instance.is_dir():
            instance.rmdir()
        shutil.rmtree(f"/sys/fs/bpf/kiseki/kiseki-{self.name}", ignore_errors=True)


class System:
    def __init__(self, work):
        self.work = work
        self.network = Network(2)
        self.collector = Program("the collector", self.serve("--insecure-listen"),
                                 work / "collector.log")
        self.devices = [Device(self, i, source) for i, source in enumerate(("tracefs", "bpf"), 1)]
        self.pattern = f"kt{os.getpid()}-*"

    def serve(self, *options, listen=f"{COLLECTOR}:7077", http="127.0.0.1:8080"):
        return [*self.network.inside(0), KISEKI, "serve", "--data", str(self.work / "store"),
                "--listen", listen, "--http", http, "--config", "/dev/null", *options]

    def kiseki(self, *command):
        """What it said; a failure is one."""
        done = run(*self.network.inside(0), KISEKI, *command, "--server", "http://127.0.0.1:8080",
                   check=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.returncode:
            raise Failed(f"kiseki {' '.join(map(str, command))}: {done.stderr}")
        return done.stdout

    def rows(self):
        try:
            found = json.loads(self.kiseki("devices", "--json"))["devices"]
        except Failed:
            return {}  # the collector is not up yet
        return {d["name"]: d for d in found}

    def row(self, device):
        return self.rows().get(device.name, {})

    def wait_states(self, *states):
        """Of all devices, in order; and that they are told from what runs now."""
        wait_for(f"the states {states}", lambda: [
            self.row(d).get("state") for d in self.devices] == list(states))

    def found(self, device):
        """How often each generated name is in the device's latest run."""
        out = self.work / f"{device.source}.ndjson"
        self.kiseki("export", device.name, "-o", out)
        items = map(json.loads, out.read_text().splitlines())
        lost = []
        names = collections.Counter()
        for item in items:
            if item.get("kind") == "lost":
                lost.append(item)
            elif "newcomm" in item:
                names[item["newcomm"]] += 1
        if lost:
            raise Failed(f"{device.name} lost something: {lost}")
        return names

    def remove(self):
        for program in [d.agent for d in self.devices] + [self.collector]:
            if program.is_running():
                program.process.kill()
                program.process.wait()
        for device in self.devices:
            device.forget_recording()
        self.network.remove()


def generate(phase):
    """The names that were taken: the kernel has told every tracer of each of them by now."""
    prefix = PREFIX + phase
    lines = run(GENERATOR, prefix, EVENTS, 10 * EVENTS, stdout=subprocess.PIPE, text=True).stdout
    return {f"{prefix}{cpu}-{i}" for cpu, n in (line.split() for line in lines.splitlines())
            for i in range(int(n))}


def check_refusal(system):
    for options in ({"listen": f"{COLLECTOR}:7077"}, {"listen": "0.0.0.0:7077"},
                    {"listen": "127.0.0.1:7077", "http": f"{COLLECTOR}:8080"}):
        place = options.get("http", options["listen"])
        done = run(*system.serve(**options), check=False, stdout=subprocess.PIPE,
                   stderr=subprocess.PIPE, text=True, timeout=180)
        if done.returncode != 1 or done.stdout or done.stderr.count("\n") != 1 or not re.match(
                rf"kiseki: cannot listen on {place}: .*without keys.*--insecure-listen",
                done.stderr):
            raise Failed(f"listening on {place} without the flag: exit {done.returncode}, "
                         f"{done.stdout}{done.stderr}")


def true_offset():
    """Real time minus the clock of the traces, which both are this machine's; and how sure."""
    before = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    real = time.clock_gettime_ns(time.CLOCK_REALTIME)
    after = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    return real - (before + after) // 2, after - before


def check_clocks(system):
    wait_for("the clocks", lambda: all(system.row(d).get("clock") for d in system.devices))
    for device in system.devices:
        clock = system.row(device)["clock"]
        truth, doubt = true_offset()
        wrong = abs(clock["offset_ns"] - truth)
        print(f"  {device.name}: clock {wrong} ns off, at most {clock['error_ns']} by its own word")
        if wrong > clock["error_ns"] + doubt:
            raise Failed(f"{device.name}: the clock is {wrong} ns wrong, and not at most "
                         f"{clock['error_ns']}")


def check_list(system, state, sources):
    table = system.kiseki("devices")
    for device in system.devices:
        source = device.source if sources else r"\S+"
        if not re.search(rf"^{device.name} +{state} +{source} .* ±\S+ ?\S* +now$", table, re.M):
            raise Failed(f"kiseki devices, for {device.name} {state}:\n{table}")
        address = system.row(device)["address"]
        if not address.startswith(f"{NET}.{device.number + 1}:"):
            raise Failed(f"{device.name} comes from {address}")


def wait_found(system, device, names):
    wait_for(f"{len(names)} events of {device.name}", lambda: names <= set(system.found(device)))


def cut_one(system, made):
    """While one cable is out, the other device brings everything, on the same connection."""
    away, other = system.devices
    session = system.row(other)["session"]
    system.network.set(away.number, "down")
    names = generate("b")
    wait_found(system, other, made | names)
    if names & set(system.found(away)):
        raise Failed("events came through a cable that was out")
    if system.row(other)["session"] != session or not system.row(other)["online"]:
        raise Failed(f"{other.name} was disturbed: {system.row(other)}")
    system.network.set(away.number, "up")
    made |= names
    wait_found(system, away, made)


def stop_one_away(system, made):
    """One agent dies, the pattern stops both: one at once, one when it is back."""
    away, other = system.devices
    away.agent.kill()
    wait_for("the end of a connection", lambda: not system.row(away)["online"])
    if not re.search(rf"^{away.name} +offline .* ago$", system.kiseki("devices"), re.M):
        raise Failed("a device that has gone is not shown as such")
    made |= generate("c")
    wait_found(system, other, made)
    said = system.kiseki("stop", system.pattern)
    if sorted(said.splitlines()) != [
            f"{other.name}: stopped",
            f"{away.name}: is away; it will be stopped when it comes back"]:
        raise Failed(f"kiseki stop: {said}")
    away.agent.start()
    system.wait_states("idle", "idle")
    wait_for("ended runs", lambda: all(
        r["ended"] for r in json.loads(system.kiseki("runs", "--json"))["runs"]))


def check_exports(system, made):
    for device in system.devices:
        found = system.found(device)
        if set(found) != made or max(found.values()) > 1:
            raise Failed(f"{device.name}: {len(made)} events were made, {len(found)} came back, "
                         f"{sum(n > 1 for n in found.values())} of them more than once")
        out = system.work / f"{device.source}.ksk"
        system.kiseki("export", device.name, "-o", out)
        run(KISEKI, "check", out, stdout=subprocess.DEVNULL)
        info = json.loads(run(KISEKI, "info", "--json", out, stdout=subprocess.PIPE).stdout)
        if (info["device"], info["origin"]) != (device.name, device.source):
            raise Failed(f"{out.name} is of {info['device']} by {info['origin']}")
        print(f"  {device.name}: {len(found)} events, each once")


def play(system):
    system.network.build()
    check_refusal(system)
    for program in [system.collector] + [d.agent for d in system.devices]:
        program.start()
    system.wait_states("idle", "idle")
    check_clocks(system)
    check_list(system, "idle", sources=False)
    said = system.kiseki("start", system.pattern)
    if sorted(said.splitlines()) != sorted(f"{d.name}: started" for d in system.devices):
        raise Failed(f"kiseki start: {said}")
    system.wait_states("tracing", "tracing")
    wait_for("their sources", lambda: [
        system.row(d)["status"]["source"] for d in system.devices] == ["tracefs", "bpf"])
    check_list(system, "tracing", sources=True)
    made = generate("a")
    for device in system.devices:
        wait_found(system, device, made)
    cut_one(system, made)
    stop_one_away(system, made)
    check_exports(system, made)
    for program in [d.agent for d in system.devices] + [system.collector]:
        program.stop()
    run(KISEKI, "check", system.work / "store", stdout=subprocess.DEVNULL)


def check_bpf():
    answer = run(AGENT, "doctor", "--json", check=False, stdout=subprocess.PIPE, text=True)
    if not json.loads(answer.stdout)["sources"]["bpf"]:
        skip("this machine cannot record by BPF")


def main():
    check_needs()
    check_bpf()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("netns: told to end"))
    work = Path(tempfile.mkdtemp(prefix="kiseki-netns-"))
    system = System(work)
    try:
        play(system)
        print("two devices, one collector, three networks")
    except (Failed, subprocess.SubprocessError) as e:
        for program in [d.agent for d in system.devices] + [system.collector]:
            print(f"{program.name}: {program.tail()}")
        sys.exit(f"netns: {e}")
    finally:
        system.remove()
        shutil.rmtree(work, ignore_errors=True)


main()

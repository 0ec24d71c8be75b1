# SPDX-License-Identifier: MIT
"""counters: what the board's kernel counted, from the files that measure.sh left.

Each is read twice, so everything here is a difference. Interrupts are summed by what a person would
call the source: the two local timers, the network card, interrupts between the CPUs, all others.
"""
import json
import re

TIMER, NETWORK = re.compile(r"twd|arch_timer"), re.compile(r"eth0")
EXPORTER = "kiseki"  # the driver's thread


def read(folder, name):
    path = folder / name
    return path.read_text() if path.exists() else ""


def busy_s(folder, when, cpus):
    """CPU seconds that were not idle, since the board was switched on."""
    up, idle = map(float, read(folder, f"uptime.{when}").split())
    return up * cpus - idle


def interrupt_rows(text):
    """Name of the source: counts of each CPU."""
    lines = text.splitlines()
    cpus = len(lines[0].split())
    rows = {}
    for line in lines[1:]:
        words = line.split()
        counts = words[1:1 + cpus]
        if len(counts) < cpus or not all(x.isdigit() for x in counts):
            continue  # a sum that has no CPUs
        name = words[0].rstrip(":")
        rows[f"{name} {' '.join(words[1 + cpus:])}"] = [int(x) for x in counts]
    return rows


def source_of(name):
    if TIMER.search(name):
        return "timer"
    if NETWORK.search(name):
        return "eth0"
    return "ipi" if name.startswith("IPI") else "other"


def interrupts(folder, since, until):
    first, last = (interrupt_rows(read(folder, f"interrupts.{x}")) for x in (since, until))
    sums = {"eth0": 0, "ipi": 0, "other": 0, "total": 0}
    for name, counts in last.items():
        added = [b - a for a, b in zip(first.get(name, [0] * len(counts)), counts)]
        source = source_of(name)
        if source == "timer":
            for cpu, count in enumerate(added):
                sums[f"timer{cpu}"] = sums.get(f"timer{cpu}", 0) + count
        else:
            sums[source] += sum(added)
        sums["total"] += sum(added)
    return sums


def network(folder, since, until):
    """Bytes and packets of eth0."""
    def row(when):
        words = re.search(r"eth0:\s*(.*)", read(folder, f"net.{when}"))[1].split()
        return {"rx_bytes": int(words[0]), "rx_packets": int(words[1]), "tx_bytes": int(words[8]),
                "tx_packets": int(words[9])}
    first, last = row(since), row(until)
    return {key: last[key] - first[key] for key in last}


def tasks(folder, when, name):
    """CPU seconds and switches of the tasks by this name that are there."""
    text = read(folder, f"tasks.{when}")
    cpu = switches = 0
    for pid in re.findall(rf"^/proc/(\d+)/comm:{name}$", text, re.M):
        ns = re.search(rf"^/proc/{pid}/schedstat:(\d+)", text, re.M)
        cpu += int(ns[1]) / 1e9 if ns else 0
        switches += sum(map(int, re.findall(
            rf"^/proc/{pid}/status:\w+_ctxt_switches:\s*(\d+)", text, re.M)))
    return cpu, switches


def programs(folder):
    """What spend.c wrote of each program of the method, less what it had used before the load: how it
    gets ready is not compared."""
    rows = {}
    for pid_file in folder.glob("*.pid"):
        cost = json.loads(pid_file.with_suffix("").read_text())
        cpu, count = tasks(folder, "before", pid_file.stem)
        rows[pid_file.stem] = {"cpu_s": cost["user_s"] + cost["system_s"] - cpu,
                               "switches": cost["voluntary"] + cost["involuntary"] - count}
    return rows


def ring_lost(folder):
    """Events that ftrace overwrote or refused."""
    return sum(map(int, re.findall(r"^(?:overrun|dropped events): (\d+)", read(folder, "ring"), re.M)))


def switches(folder, when):
    return int(re.search(r"^ctxt (\d+)", read(folder, f"stat.{when}"), re.M)[1])


def collect(folder):
    """All that does not depend on the method."""
    cpus = len(re.findall(r"^cpu\d", read(folder, "stat.before"), re.M))
    started = float(read(folder, "uptime.before").split()[0])
    ended = float(read(folder, "uptime.after").split()[0])
    cpu_before, switches_before = tasks(folder, "before", EXPORTER)
    cpu_after, switches_after = tasks(folder, "after", EXPORTER)
    return {"cpus": cpus, "window_s": ended - started,
            "stop_s": int(read(folder, "stopped.ms")) / 1000 -
            float(read(folder, "uptime.load").split()[0]),
            "busy_s": busy_s(folder, "after", cpus) - busy_s(folder, "before", cpus),
            "switches": switches(folder, "after") - switches(folder, "before"),
            "interrupts": interrupts(folder, "before", "after"),
            "network": network(folder, "before", "after"),
            "programs": programs(folder),
            "thread": {"cpu_s": cpu_after - cpu_before,
                       "switches": switches_after - switches_before},
            "load": json.loads(read(folder, "load"))}

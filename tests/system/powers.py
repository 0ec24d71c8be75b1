#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""powers: what of root the programs of a device keep while they run, and that they work with that.

	powers.py KISEKI AGENT GUEST BOOT

For each source: /proc/PID/status of a recorder that records; then it is stopped, started, told to use
the other source, loses its collector and finds it again, and its state is looked at once more. The
command that a profile starts keeps what its caller had. The guest's program is looked at before and
after a host has come, the recorder of a boot in each of its threads.
"""
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tools"))
from served import KISEKI, WAIT_S, Collector  # noqa: E402

AGENT, GUEST, BOOT = sys.argv[2:5]
SYS_PTRACE, SYS_ADMIN, DAC_OVERRIDE, DAC_READ_SEARCH = 19, 21, 1, 2
SYS_CHROOT, SYS_NICE, SYS_RESOURCE, MKNOD = 18, 23, 24, 27
NET_ADMIN, IPC_LOCK, SYSLOG, PERFMON, BPF = 12, 14, 34, 38, 39
LAST = int(Path("/proc/sys/kernel/cap_last_cap").read_text())
OLD = LAST < BPF  # CAP_SYS_ADMIN stands for the two


def bits(*numbers):
    numbers = {SYS_ADMIN if OLD and n in (PERFMON, BPF) else n for n in numbers}
    return sum(1 << n for n in numbers)


def state(pid):
    text = Path(f"/proc/{pid}/status").read_text()
    return {key: int(value, 16) for key, value in
            re.findall(r"^(Cap\w+|NoNewPrivs|Seccomp):\s+(\w+)$", text, re.M)}


MINE = state(os.getpid())


def check(pid, may):
    """Exactly those, of what we have to give."""
    now = state(pid)
    want = may & MINE["CapPrm"]
    assert now["CapPrm"] == now["CapEff"] == want, (hex(want), now)
    assert now["CapBnd"] == may & MINE["CapBnd"], (hex(may), now)
    assert now["CapInh"] == now["CapAmb"] == 0 and now["NoNewPrivs"] == 1, now


def until(what, ask):
    deadline = time.monotonic() + WAIT_S
    while time.monotonic() < deadline:
        if ask():
            return
        time.sleep(0.05)
    raise AssertionError(f"{what}: not within {WAIT_S} s")


def runs(collector):
    with urllib.request.urlopen(f"http://127.0.0.1:{collector.http_port}/api/v1/runs") as answer:
        return json.load(answer)["runs"]


def tell(collector, *words):
    subprocess.run([KISEKI, *words, "--server", f"http://127.0.0.1:{collector.http_port}"],
                   check=True, timeout=WAIT_S, stdout=subprocess.DEVNULL)


def wait_events(collector, pid, runs_before, may, what):
    until(what, lambda: len([r for r in runs(collector) if r["events"] > 0]) > runs_before)
    check(pid, may)


def agent_of(folder, collector, source, log):
    return subprocess.Popen(
        [AGENT, "--collector", f"127.0.0.1:{collector.port}", "--name", f"powers-{source}",
         "--source", source, "--start", "--spool-file", f"{folder}/{source}.spool",
         "--state-dir", f"{folder}/state", "--func-socket", "none", "--config", "/dev/null"],
        stderr=log)


def agent(folder, source, other):
    may = bits(PERFMON, BPF)
    collector = Collector(f"{folder}/{source}")
    name = f"powers-{source}"
    with open(f"{folder}/{source}.log", "w+") as log:
        process = agent_of(folder, collector, source, log)
        try:
            wait_events(collector, process.pid, 0, may, f"{source} records")
            tell(collector, "stop", name)
            tell(collector, "start", name)
            wait_events(collector, process.pid, 1, may, f"{source} is started again")
            tell(collector, "configure", name, "--source", other)
            wait_events(collector, process.pid, 2, may, f"{source} goes over to {other}")
            collector.stop()
            collector.again()
            tell(collector, "configure", name, "--source", source)
            wait_events(collector, process.pid, 3, may, f"{other} goes back to {source}")
        finally:
            process.terminate()
            code = process.wait(WAIT_S)
            log.seek(0)
            said = log.read()
    assert code == 0, said
    assert f"records by {other}" in said, said
    collector.stop()


def profile(folder):
    """With a collector it writes no files of others; the command of a profile has what its caller has."""
    may = bits(PERFMON, IPC_LOCK, SYSLOG, SYS_PTRACE, DAC_READ_SEARCH)
    collector = Collector(f"{folder}/profile")
    process = subprocess.Popen(
        [AGENT, "profile", "--all", "--collector", f"127.0.0.1:{collector.port}", "--name", "powers",
         "--state-dir", f"{folder}/state"], stderr=subprocess.PIPE, text=True)
    try:
        until("a profile comes", lambda: len(runs(collector)) > 0)
        check(process.pid, may)
        collector.stop()
        collector.again()
        until("it comes back", lambda: len(runs(collector)) > 0)
        check(process.pid, may)
    finally:
        process.terminate()
        assert process.wait(WAIT_S) == 0, process.stderr.read()
    collector.stop()
    out = subprocess.run([AGENT, "profile", "-o", f"{folder}/p.ksk", "--", "grep", "-E", "^Cap|^NoNew",
                          "/proc/self/status"], text=True, capture_output=True, timeout=WAIT_S, check=True)
    own = {key: int(value, 16) for key, value in re.findall(r"^(\w+):\s+(\w+)$", out.stdout, re.M)}
    assert own["CapPrm"] == MINE["CapPrm"] and own["NoNewPrivs"] == MINE["NoNewPrivs"], own
    assert Path(f"{folder}/p.ksk").stat().st_size > 0


def guest(options, more):
    """A host that listens later. What the program tells with these powers, vm_guests shows."""
    may = bits(NET_ADMIN, SYSLOG, SYS_PTRACE, DAC_READ_SEARCH, *more)
    with socket.socket() as host:
        host.bind(("127.0.0.1", 0))
        process = subprocess.Popen([GUEST, *options, f"tcp:127.0.0.1:{host.getsockname()[1]}"],
                                   stderr=subprocess.PIPE, text=True)
        try:
            assert "tried again" in process.stderr.readline()
            check(process.pid, may)
            host.listen()
            host.settimeout(WAIT_S)
            with host.accept()[0] as link:
                link.settimeout(WAIT_S)
                assert link.recv(1) == b"\x01", "no hello"
                check(process.pid, may)
        finally:
            process.terminate()
            assert process.wait(WAIT_S) == 0, process.stderr.read()


def boot(folder, options):
    """Its file is written while it records, by a thread of its own."""
    may = bits(NET_ADMIN, SYS_ADMIN, SYS_CHROOT, SYS_NICE, SYS_RESOURCE, MKNOD, SYS_PTRACE, DAC_READ_SEARCH, SYSLOG, DAC_OVERRIDE)
    (Path(folder) / "boot.conf").write_text("")
    ready, told = os.pipe()
    process = subprocess.Popen([BOOT, "--config", f"{folder}/boot.conf", "--idle", "no", "--time", "no", "--out", f"{folder}/boot.ksk",
                                "--ready-fd", str(told), *options], pass_fds=[told], stderr=subprocess.PIPE, text=True)
    os.close(told)
    try:
        assert os.read(ready, 6) == b"ready\n", process.stderr.read()
        threads = os.listdir(f"/proc/{process.pid}/task")
        for thread in threads:
            check(thread, may)
    finally:
        os.close(ready)
        process.terminate()
        assert process.wait(WAIT_S) == 0, process.stderr.read()
    subprocess.run([KISEKI, "check", f"{folder}/boot.ksk"], check=True, stdout=subprocess.DEVNULL)


def can(source):
    """Whether it records here."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        with open(log, "w") as out:
            process = subprocess.Popen(
                [AGENT, "--collector", "127.0.0.1:1", "--name", f"can-{source}", "--source", source,
                 "--start", "--spool-file", f"{folder}/spool", "--state-dir", f"{folder}/state",
                 "--func-socket", "none", "--config", "/dev/null"], stderr=out)
            until("it says so", lambda: "records by" in log.read_text() or "cannot" in log.read_text())
            process.terminate()
            process.wait(WAIT_S)
        return "records by" in log.read_text()


def main():
    if os.geteuid():
        print("skipped: not root")
        return 77
    if not can("tracefs"):
        print("skipped: no tracefs here")
        return 77
    has_bpf = can("bpf")
    with tempfile.TemporaryDirectory() as folder:
        agent(folder, "tracefs", "bpf" if has_bpf else "tracefs")
        if has_bpf:
            agent(folder, "bpf", "tracefs")
        profile(folder)
        boot(folder, [])
        boot(folder, ["--exact", "auto"])
    guest([], [PERFMON, BPF])
    guest(["--no-tables"], [])
    print(f"tracefs, {'bpf, ' if has_bpf else ''}profile, guest, boot: each with what it needs, and no more")
    return 0


sys.exit(main())

# SPDX-License-Identifier: MIT
"""The split of local time through an agent that is killed, and told to stop and to begin again.

func_split_agent.py KISEKI AGENT LIBRARY PROGRAM: PROGRAM sleeps, computes and calls the system until it is killed. What happened while nobody
watched is unknown, what happened before and after is known, and nothing stays in the kernel. No step depends on how long another
takes: each waits for what it needs.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

KISEKI, AGENT, LIBRARY, PROGRAM = sys.argv[1:]
INSTANCES = "/sys/kernel/tracing/instances"
PATIENCE = 120
NAME = f"split-{os.getpid()}"
INSTANCE = f"{INSTANCES}/kiseki-{NAME}-func"
folder = tempfile.mkdtemp(prefix="kiseki-split-")
data, socket = f"{folder}/data", f"{folder}/func.sock"
running = []


def wait_for(what, condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, f"{what}: nothing in {PATIENCE} s; now {figures()}"
        time.sleep(0.02)


def start(*words, **options):
    process = subprocess.Popen(words, text=True, **options)
    running.append(process)
    return process


def kiseki(*words):
    return subprocess.run([KISEKI, *words], check=True, text=True, stdout=subprocess.PIPE, env={**os.environ, "KISEKI_SERVER": url}).stdout


def start_agent():
    return start(AGENT, "--config", "/dev/null", "--collector", f"127.0.0.1:{port}", "--name", NAME, "--spool-file", f"{folder}/spool",
                 "--state-dir", folder, "--func-socket", socket, "--func", "split", stderr=subprocess.DEVNULL)


def report():
    """Of the run of programs, as far as it has arrived; None: nothing yet."""
    r = subprocess.run([KISEKI, "func", "report", NAME, "--json", "--limit", "0"], text=True, capture_output=True,
                       env={**os.environ, "KISEKI_SERVER": url})
    return json.loads(r.stdout) if r.returncode == 0 else None


def figures():
    r = report()
    f = r["all_functions"] if r else {}
    return {k: f.get(k + "_ns") or 0 for k in ("user", "kernel", "blocked", "unknown")}


def grow(what, *names):
    """Waits until there is more of each."""
    before = figures()
    wait_for(f"{what}, behind {before}", lambda: all(figures()[n] > before[n] for n in names))


try:
    hub = start(KISEKI, "serve", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", "--data", data, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    lines = []
    while "ready" not in lines:
        lines.append(hub.stdout.readline().strip())
        assert lines[-1], "no collector"
    port, url = lines[0].rsplit(":", 1)[1], lines[1].split()[1]
    agent = start_agent()
    wait_for("the socket", lambda: os.path.exists(socket))
    program = start(PROGRAM, env={**os.environ, "LD_PRELOAD": LIBRARY, "KISEKI_FUNC_AGENT": socket})
    grow("the split", "user", "kernel", "blocked")
    assert os.path.isdir(INSTANCE)
    assert report()["all"]["os_losses"] == 0, "something is lost, and nothing happened yet"

    agent.kill()
    agent.wait()
    assert os.path.isdir(INSTANCE), "the kernel forgets what nobody reads"
    agent = start_agent()
    wait_for("what the dead agent had to be told as lost", lambda: report()["all"]["os_losses"] > 0)
    grow("the split after a death", "user", "kernel", "blocked")

    kiseki("configure", NAME, "--func", "on")
    wait_for("the kernel's memory to be given back", lambda: not os.path.exists(INSTANCE))
    grow("calls that are not split", "unknown")
    kiseki("configure", NAME, "--func", "split")
    wait_for("the kernel to record again", lambda: os.path.isdir(INSTANCE))
    grow("the split, switched on again", "user", "kernel", "blocked")

    program.kill()
    program.wait()
    agent.terminate()
    assert agent.wait(timeout=PATIENCE) == 0
    assert not os.path.exists(INSTANCE), "the instance stayed"
    r = report()
    assert r["all"]["lost"] == 0, r["all"]
    f = r["all_functions"]
    assert sum(f[k + "_ns"] for k in ("user", "kernel", "preempted", "blocked", "unknown")) == f["local_ns"]
    by = {x["function"]: x for x in r["functions"]}
    assert by["nap"]["blocked_ns"] > by["nap"]["kernel_ns"] and by["ask"]["kernel_ns"] > by["ask"]["blocked_ns"]
    assert by["compute"]["user_ns"] > by["compute"]["kernel_ns"]
finally:
    for p in running:
        if p.poll() is None:
            p.kill()
            p.wait()
    if os.path.isdir(INSTANCE):
        with open(f"{INSTANCE}/events/enable", "w") as off:
            off.write("0")
        os.rmdir(INSTANCE)
    shutil.rmtree(folder)

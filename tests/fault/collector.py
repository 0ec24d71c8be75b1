# SPDX-License-Identifier: MIT
"""collector: one that has a fault while devices send to it (bench/fleet), and is started again without it if it ends.

What must come of it: whatever the collector does with the fault, it is not ended by a signal, and when the devices are done each of
their events is in the store or in the ledger once, and `kiseki check` finds a sound store.
"""
import http.client
import json
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from server import WAIT_S, Server, choose, count_server, dress, go_through, wait_until_up
from strike import count_struck

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "bench/fleet"), str(ROOT / "tests/tools")]

from account import account  # noqa: E402

DEVICES = 4
SECONDS = "0.6"


def make_recordings(tools, work):
    files = [work / "sched.ksk", work / "profile.ksk"]
    subprocess.run([tools.kiseki, "convert", tools.source / "tests/data/small-v6.dat", "-o", files[0]], check=True)
    subprocess.run([tools.sample_make, tools.source / "tests/golden/profile/before.profile", files[1]], check=True)
    return files


def ask(server, path):
    """A question meanwhile. It may get no answer, but nobody dies of it, and what says that it is right can be read. What is wrong, or None."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{server.http}{path}", timeout=10) as answer:
            text = answer.read()
            if answer.headers.get_content_type() == "application/json":
                json.loads(text)
    except (OSError, http.client.HTTPException):
        pass
    except ValueError as e:
        return f"{path}: no answer, but status 200: {e}"
    return None


def send(tools, server, files):
    """Devices that send all they have, while questions are asked. What is wrong with that, or None."""
    problem = wait_until_up(server)
    if problem:
        return problem
    fleet = subprocess.Popen([tools.fleet, "--devices", str(DEVICES), "--ramp", "0.1", "--patience", str(WAIT_S), "--runs",
                              server.work / "runs", "--seconds", SECONDS, f"127.0.0.1:{server.port}", *files], stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True)
    for path in ("/api/v1/devices", "/api/v1/runs", "/metrics"):
        time.sleep(0.15)
        problem = problem or ask(server, path)
    try:
        text = fleet.communicate(timeout=2 * WAIT_S)[0]
    except subprocess.TimeoutExpired:
        fleet.kill()
        fleet.wait()
        text = "it does not end"
    return f"the devices: {text.strip()[-300:]}" if fleet.returncode else problem


def settle(server):
    """What is wrong with the accounts, or None."""
    problem = wait_until_up(server)
    if problem:
        return problem
    try:
        wrong, _ = account(server.work / "runs", [f"http://127.0.0.1:{server.http}/"])
    except (OSError, http.client.HTTPException, SystemExit) as e:
        return f"cannot be asked afterwards: {e}"
    return f"account: {wrong[:2]}" if wrong else None


def judge(tools, files, fault):
    """(how often the fault came to be, what is wrong with how it was taken or None)."""
    with tempfile.TemporaryDirectory(prefix="kiseki-fault-") as folder:
        log = Path(folder) / "struck"
        server = Server(tools, Path(folder), dress(fault, tools.library, log))
        # What it says is stored must still be there when it is started again, without the fault that may be in its answer.
        problem = send(tools, server, files) or server.turn() or settle(server)
        problem = server.judge(fault, server.stop() or problem)
        if not problem:
            check = subprocess.run([tools.kiseki, "check", server.work / "store"], stdout=subprocess.PIPE, text=True)
            problem = f"kiseki check: {check.stdout.strip()[-300:]}" if check.returncode else None
        return count_struck(fault, log), problem


def campaign(tools, most, random, only=""):
    with tempfile.TemporaryDirectory(prefix="kiseki-fault-") as folder:
        files = make_recordings(tools, Path(folder))
        found = count_server(tools, lambda work, wear: Server(tools, work, wear), lambda server: send(tools, server, files))
        return go_through(tools, "collector", choose(found, most, random, only), lambda fault: judge(tools, files, fault))

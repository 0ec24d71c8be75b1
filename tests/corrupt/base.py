# SPDX-License-Identifier: MIT
"""base: a small collector's folder with every kind of file in it, and what a collector answers of it.

Recordings of the scheduler and of samples, many log files with their indices, catalog, summaries, facts, labels, what
devices were told, keys with an enrolled device, a user and a token, tables of symbols and an object.
"""
import json
import os
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(SOURCE / "tests/tools"), str(SOURCE / "bench/fleet")]

FILE_BYTES = "1500"  # of a log file
AGE_S = 600
WAIT_S = 120
FROM, TO = "from=2001-01-01T00:00:00Z", "to=2100-01-01T00:00:00Z"


class Server:
    """A collector of a folder. `problem` says why it does not run."""

    def __init__(self, tools, folder):
        self.folder, self.problem, self.url = folder, None, ""
        self.log = folder.parent / "serve.log"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen([tools.kiseki, "serve", "--data", folder, "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", "--config",
                                             "/dev/null", "--plain-http"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, text=True)
        for line in self.process.stdout:
            if line.startswith("devices"):
                self.port = int(line.rsplit(":", 1)[1])
            if line.startswith("web"):
                self.url = line.split()[1].rstrip("/")
            if line == "ready\n":
                return
        self.process.wait(WAIT_S)
        self.problem = f"exit {self.process.returncode}: {self.said()}"

    def said(self):
        """What it logged, but of what was done to it: that it was told to end, and a device without keys."""
        lines = self.log.read_text(errors="replace").splitlines()
        return "\n".join(line for line in lines if "stopping: " not in line and "a stranger (" not in line)

    def ask(self, path):
        """(status, body)."""
        try:
            with urllib.request.urlopen(self.url + path, timeout=WAIT_S) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as e:
            return e.code, e.read()
        except (OSError, ValueError) as e:
            return 0, str(e).encode()

    def stop(self):
        """Its exit status."""
        if self.process.poll() is None:
            self.process.terminate()
        try:
            status = self.process.wait(WAIT_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return "it does not end when told to"
        self.process.stdout.close()
        return status


def get_facts(server):
    """The figures of facts: (records, samples, ns, damaged) of each kind."""
    figures = {}
    for kind in ("profile", "sched"):
        status, body = server.ask(f"/api/v1/fleet/top?kind={kind}&{FROM}&{TO}&limit=1000")
        if status != 200:
            figures[kind] = f"status {status}"
            continue
        answer = json.loads(body)
        basis = answer["basis"]
        figures[kind] = (basis["events"], basis["lost"], basis["damaged"], json.dumps(basis["all"]), json.dumps(answer["rows"]))
    return figures


def get_runs(server):
    """{run: (device, blocks, events, losses by cause, of unknown number too, ended)}, or the status."""
    status, body = server.ask("/api/v1/runs?limit=1000")
    if status != 200:
        return f"status {status}"
    return {run["id"]: run for run in json.loads(body)["runs"]}


def get_events(server, run):
    """All lines of a run's export that are events, or the status."""
    status, body = server.ask(f"/api/v1/runs/{run['run']}/export?format=ndjson")
    if status != 200:
        return f"status {status}"
    return [line for line in body.decode(errors="replace").splitlines() if '"ns"' in line and '"kind":"lost"' not in line]


def get_others(server):
    """Answers that are compared as they are."""
    figures = {}
    for path in ("/api/v1/devices", "/api/v1/instructions"):
        status, body = server.ask(path)
        figures[path] = status, json.loads(body) if status == 200 else None
    return figures


def get_lists(tools, folder):
    """Who may come in, as the commands say it."""
    figures = {}
    for words in (("list",), ("user", "list"), ("token", "list")):
        done = subprocess.run([tools.kiseki, "keys", *words, "--json", "--dir", folder / "keys"], capture_output=True, timeout=WAIT_S)
        figures["keys " + " ".join(words)] = done.returncode, json.loads(done.stdout) if done.returncode == 0 else None
    return figures


def fill(tools, work, folder):
    """Runs in the log: real events, and samples."""
    now = int(time.time()) - AGE_S
    subprocess.run([tools.kiseki, "convert", SOURCE / "tests/data/small-v6.dat", "-o", work / "sched.ksk"], check=True)
    for name in ("before", "after"):
        subprocess.run([tools.sample_make, SOURCE / f"tests/golden/profile/{name}.profile", work / f"{name}.ksk"], check=True)
    for i, name in enumerate(("sched", "before", "after", "sched")):
        file = work / f"{i}.ksk"
        shutil.copyfile(work / f"{name}.ksk", file)
        subprocess.run([tools.fill_store, folder, f"board-{i}", file, str(now + i)], check=True, stdout=subprocess.DEVNULL,
                       env={**os.environ, "FILE_BYTES": FILE_BYTES})


def make(tools, work):
    """The folder."""
    import enroll
    folder = work / "base"
    fill(tools, work, folder)
    enroll.make_keys(tools.kiseki, folder)
    server = Server(tools, folder)
    assert not server.problem, server.problem
    enroll.enroll_device((tools.kiseki, tools.agent), folder, server.port, (work / "state", "11" * 16, "enrolled"))
    subprocess.run([tools.kiseki, "keys", "user", "add", "ann", "--dir", folder / "keys"], input="correct horse\n", text=True, check=True,
                   stdout=subprocess.DEVNULL)
    subprocess.run([tools.kiseki, "keys", "token", "add", "nightly", "--dir", folder / "keys"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([tools.kiseki, "label", "board-1", "place=lab", "--server", server.url], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([tools.kiseki, "configure", "board-0", "--events", "switch", "--server", server.url], check=False, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    for run in get_runs(server).values():
        server.ask(f"/api/v1/runs/{run['run']}/timeline?columns=100")
    wait_facts(server)
    assert server.stop() == 0, server.said()
    return folder


def wait_facts(server):
    """Until they stay what they are."""
    end, before = time.monotonic() + WAIT_S, None
    while time.monotonic() < end:
        now = get_facts(server)
        if now == before and all(f[0] for f in now.values()):
            return
        before = now
        time.sleep(1)
    raise SystemExit(f"corrupt: the facts are not worked out: {before}")

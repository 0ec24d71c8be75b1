# SPDX-License-Identifier: MIT
"""answers: a collector that has recordings of all kinds, and a fault while it is asked about them.

What must come of it: each answer is the right one, or none: a status that says so, or a connection that ends before the answer does. Whoever asks again after
an allocation has failed gets the right one, for the fault is over; from the same collector, or from one that was started again because it said that it cannot go on.
"""
import http.client
import json
import os
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

from server import WAIT_S, Server, choose, count_server, dress, go_through, wait_until_up
from strike import OURS, count_struck

MAY_LACK = {("pread64", "EIO")}  # a block that the disk does not give is damaged: what it had is counted as lost, in the same answer
COUNTED = "/export?format=ndjson"  # where both can be added up
FILE_BYTES = 16384  # of a log file
KINDS = ("sched", "profile", "vm", "boot", "func", "lossy")  # what sim-0, sim-1 … have


def exports(formats):
    return [f"/export?format={each}" for each in formats.split()]


# {device: what is asked about it}. Only what is the same at any time.
QUESTIONS = {
    "sim-0": ("", "/runs", "/labels", "/timeline?width=50", "/slices", "/events?limit=50", "/report/sched", "/report/latency", "/ledger",
              *exports("ksk ftrace json ndjson xml ctf trace.dat perfetto chrome csv")),
    "sim-1": ("/profile/report", "/profile/tree", "/profile/timeline?width=20", *exports("pprof folded speedscope firefox")),
    "sim-2": ("/vm/report", "/vm/steal", "/vm/correct", "/vm/tree", "/vm/slices"),
    "sim-3": ("/boot.html", "/boot.svg", "/boot.json", "/boot.chart.json", "/boot/report"),
    "sim-4": ("/calls/report", "/calls/tree", "/calls/slices", *exports("ksk perfetto chrome folded kft pprof")),
    "sim-5": ("/ledger", "/timeline?width=50", "/slices", "/events?limit=50", "/report/sched", "/report/latency", *exports("ksk json perfetto")),
}
PATHS = ["/", "/api/v1/formats", "/api/v1/runs", "/api/v1/instructions", "/api/v1/alerts", "/api/v1/labels", "/api/v1/openapi.json",
         *(f"/api/v1/runs/{1 + i}{what}" for i in range(len(KINDS)) for what in ("", "/ledger")),
         *(f"/api/v1/devices/{device}{what}" for device, questions in QUESTIONS.items() for what in questions)]


def make_recordings(tools, work):
    golden, files = tools.source / "tests/golden", {kind: work / f"{kind}.ksk" for kind in KINDS}
    subprocess.run([tools.kiseki, "convert", tools.source / "tests/data/small-v6.dat", "-o", files["sched"]], check=True)
    subprocess.run([tools.sample_make, golden / "profile/before.profile", files["profile"]], check=True)
    subprocess.run([tools.sample_make, golden / "vm/two.sample", files["vm"], "100", "400"], check=True)
    subprocess.run([tools.boot_make, tools.source / "tests/data/boot/small.boot", files["boot"]], check=True)
    shutil.copy(tools.source / "tests/data/func/sample.ksk", files["func"])
    subprocess.run([tools.kiseki, "convert", tools.source / "tests/data/ftrace_6.18_overwritten.txt", "-o", files["lossy"]], check=True)
    return list(files.values())


def make_store(tools, work):
    """A folder with a recording of each kind, in many log files: most of what a collector has is in such as are full."""
    environment = {**os.environ, "FILE_BYTES": str(FILE_BYTES)}
    for i, file in enumerate(make_recordings(tools, work)):
        subprocess.run([tools.fill_store, work / "store", f"sim-{i}", file], env=environment, stdout=subprocess.DEVNULL, check=True)
    return work / "store"


def ask(server, path):
    """(status, answer); 0: it broke off, or there was none."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{server.http}{path}", timeout=WAIT_S) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as e:
        return e.code, b""
    except (OSError, http.client.HTTPException):
        return 0, b""


def ask_again(server, path):
    """Of a collector that may have to come up again first."""
    end, got = time.monotonic() + WAIT_S, (0, b"")
    while got[0] == 0 and time.monotonic() < end:
        got = ask(server, path)
        time.sleep(0.02 * (got[0] == 0))
    return got


def count_events(text):
    """(events and what is lost of them, whether that is all) of lines of JSON."""
    lines = [json.loads(line) for line in text.splitlines()]
    lost = [line.get("count") for line in lines if line["kind"] == "lost"]
    return sum("common_pid" in line for line in lines) + sum(n for n in lost if n is not None), None not in lost


def judge_other(path, text, right, fault):
    """What is wrong with an answer that is not the right one, or None."""
    if (fault.kind, fault.what) not in MAY_LACK:
        return f"{path}: another answer: {text[:200]}"
    if not path.endswith(COUNTED):
        return None
    (n, is_known), (all_of_them, _) = count_events(text), count_events(right)
    return None if n == all_of_them or not is_known else f"{path}: {n} events and lost ones of {all_of_them}"


def judge_path(server, path, right, fault):
    """What is wrong with the answer, or None."""
    status, text = ask(server, path)
    if status == 200:
        return None if text == right else judge_other(path, text, right, fault)
    if 0 < status < 500:
        return f"{path}: {status}, as if the question were wrong"
    return judge_again(server, path, right) if fault.kind in OURS else None  # an error of a call strikes once in each thread


def judge_again(server, path, right):
    status, text = ask_again(server, path)
    return None if status == 200 and text == right else f"{path}: {status} again: {text[:200]}"


def serve(tools, store, wear, work):
    shutil.copytree(store, work / "store")
    return Server(tools, work, wear)


def learn(tools, store):
    """{path: its answer} of a collector without a fault. Each must be the same from another."""
    found = []
    for _ in range(2):
        with tempfile.TemporaryDirectory(prefix="kiseki-fault-") as folder:
            server = serve(tools, store, lambda line: (line, None), Path(folder))
            found.append({path: ask_again(server, path) for path in PATHS})
            server.stop()
    bad = [f"{path}: {found[0][path][0]}" for path in PATHS if found[0][path] != found[1][path] or found[0][path][0] != 200]
    if bad:
        raise SystemExit(f"fault: these have no answer that stays: {', '.join(bad)}")
    return {path: text for path, (_, text) in found[0].items()}


def judge(tools, store, right, fault):
    """(how often the fault came to be, what is wrong with how it was taken or None)."""
    with tempfile.TemporaryDirectory(prefix="kiseki-fault-") as folder:
        log = Path(folder) / "struck"
        server = serve(tools, store, dress(fault, tools.library, log), Path(folder))
        problem = wait_until_up(server)
        for path in PATHS:
            problem = problem or judge_path(server, path, right[path], fault)
        problem = server.stop() or problem
        return count_struck(fault, log), server.judge(fault, problem)


def campaign(tools, most, random, only=""):
    with tempfile.TemporaryDirectory(prefix="kiseki-fault-") as folder:
        store = make_store(tools, Path(folder))
        right = learn(tools, store)

        def use(server):
            for path in PATHS:
                ask_again(server, path)

        found = count_server(tools, lambda work, wear: serve(tools, store, wear, work), use)
        return go_through(tools, "answers", choose(found, most, random, only), lambda fault: judge(tools, store, right, fault))

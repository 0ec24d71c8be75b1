#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""torn: indexes of full log files are cut off while a collector, in its sandbox, has them mapped, which is what a disk that fails does to it.

    torn.py KISEKI KSK_RANDOM FILL_STORE

What is asked right then may fail; whoever asks again gets the right answer, from the same collector.
"""
import http.client
import os
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tools"))
from served import WAIT_S, Collector  # noqa: E402

KISEKI, KSK_RANDOM, FILL_STORE = sys.argv[1:4]
ASKED = ["export?format=ndjson", "events?limit=100", "report/sched", "ledger"]


def fill(folder):
    """A run in many log files."""
    subprocess.run([KSK_RANDOM, folder / "a.ksk", "20000", "4096"], check=True)
    subprocess.run([FILL_STORE, folder / "data", "box", folder / "a.ksk"], check=True, stdout=subprocess.DEVNULL, env={**os.environ, "FILE_BYTES": "40000"})


def ask(collector, what):
    """The answer, or None if there was none or it broke off."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{collector.http_port}/api/v1/runs/1/{what}", timeout=WAIT_S) as answer:
            return answer.read()
    except urllib.error.HTTPError as e:
        assert e.code >= 500, f"{what}: {e.code}: {e.read()}"
    except http.client.HTTPException:
        pass
    return None


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        fill(folder)
        collector = Collector(folder / "data")
        right = {what: ask(collector, what) for what in ASKED}
        assert all(right.values()), {what: bool(text) for what, text in right.items()}
        indexes = sorted((folder / "data/log").glob("*.kidx"))
        assert len(indexes) > 4, indexes
        mapped = [x for x in indexes if x.name in Path(f"/proc/{collector.process.pid}/maps").read_text()]
        assert mapped, "no index is mapped: nothing is tested"
        for index in indexes:
            os.truncate(index, 0)
        for what in ASKED * 2:  # whoever has it gives it back
            text = ask(collector, what)
            assert text in (None, right[what]), f"{what}: another answer: {text[:200]}"
        for what in ASKED:
            assert ask(collector, what) == right[what], f"{what}: not the right answer again"
        collector.stop()


main()

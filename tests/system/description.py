#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""description: a run whose description nobody understands has its ledger and its counts, and says what is wrong with it.

	description.py KISEKI FILL_STORE

A collector refuses such a description today (ingest.sh, bad_peers); one that kept it before still has it. The description
of tests/vectors/small.ksk loses the multiplier of its clock. What the vector lacks is in its small.ndjson.
"""
import json
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS / "tools"))
from ksk_decode import Cursor, File, crc32c  # noqa: E402
from served import Collector  # noqa: E402

FILL_STORE = sys.argv[2]
CLOCK = 6


def find_clock(payload):
    """Where the item begins in the description, and where its first field is."""
    c = Cursor(payload)
    while c.left():
        start, kind, length = c.at, c.varint(), c.varint()
        if kind == CLOCK:
            return start, c.at
        c.take(length)
    raise AssertionError("the vector has no clock")


def spoil(data):
    """Sets the clock's multiplier to 0, which no encoder writes, without a change of length. (file, offset of the item)"""
    data = bytearray(data)
    block = next(b for b in File(bytes(data)).blocks if not b.stream and b.codec == 0)
    start, field = find_clock(block.payload)
    at = block.end - len(block.payload) + field
    while data[at] & 0x80:
        data[at] = 0x80
        at += 1
    data[at] = 0
    data[block.at + 4:block.at + 8] = crc32c(bytes(data[block.at:block.at + 4] + data[block.at + 8:block.end])).to_bytes(4, "little")
    return bytes(data), start


def ask(collector, path):
    """(status, JSON)"""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{collector.http_port}/api/v1/{path}", timeout=60) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as refused:
        return refused.code, json.load(refused)


def check(collector, run, lost, offset):
    status, ledger = ask(collector, f"runs/{run}/ledger")
    assert status == 200, (status, ledger)
    same = "cpu", "to_tick", "count", "cause"
    rows, wanted = ([tuple(x[k] for k in same) for x in part] for part in (ledger["rows"], lost))
    assert rows == wanted, (rows, wanted)
    for row, item in zip(ledger["rows"], lost):  # it begins behind the block before, an export's behind its last event
        assert item["from_tick"] <= row["from_tick"] < row["to_tick"], (row, item)
    assert all(row["from_ns"] is None and row["to_ns"] is None for row in ledger["rows"]), ledger["rows"]
    assert sum(ledger["lost"].values()) == sum(item["count"] for item in lost), ledger
    assert ledger["uncovered"] is None, ledger
    reason = f"cannot read run {run}: block 0 of stream 0: item {CLOCK} (clock) at offset {offset} of the description is not understood"
    for path in ("export?format=json", "report/sched", "ledger?from=%2B1s"):
        assert (refused := ask(collector, f"runs/{run}/{path}"))[1]["error"] == reason, refused


def main():
    vector = TESTS / "vectors/small.ksk"
    items = map(json.loads, vector.with_suffix(".ndjson").read_text().splitlines())
    lost = [item for item in items if item["kind"] == "lost"]
    assert lost
    spoilt, offset = spoil(vector.read_bytes())
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        (work / "bad.ksk").write_bytes(spoilt)
        made = subprocess.run([FILL_STORE, work / "data", "board", work / "bad.ksk"], text=True, capture_output=True, check=True)
        collector = Collector(work / "data")
        try:
            check(collector, int(made.stdout), lost, offset)
        finally:
            collector.kill()


main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""account: whether collectors have what a fleet sent them, to the last event.

	account.py RUNS URL...

RUNS is what `fleet --runs` wrote, a line for each device; the URLs are those of the collectors, in the order in which the fleet got
them; a single one is asked for all runs (collectors with one store). Of each run: made = stored + ledger, and the blocks that are
stored are those that were not given up. Prints what is wrong, then the sums; exit 1 if anything is.
"""
import json
import sys
import urllib.request

RUNS_MOST = 100000


def get_runs(url):
    """All runs of a collector, by their identities."""
    with urllib.request.urlopen(f"{url.rstrip('/')}/api/v1/runs?limit={RUNS_MOST}", timeout=120) as answer:
        document = json.load(answer)
    if document["more"]:
        raise SystemExit(f"account: {url} has more than {RUNS_MOST} runs")
    return {run["id"]: run for run in document["runs"]}


def read_sent(path):
    """(device, run, collector, blocks, events, ledger, finished) of each device."""
    rows = []
    with open(path) as file:
        for line in file:
            device, run, target, blocks, events, ledger, state = line.split()
            rows.append((device, run, int(target), int(blocks), int(events), int(ledger), state == "finished"))
    return rows


def compare(sent, stored):
    """What is wrong with one run, or None."""
    device, run, _, blocks, events, ledger, finished = sent
    if not stored:
        return None if not blocks else f"run {run} is not there"
    have = stored["blocks"], stored["events"], sum(stored["lost"].values())
    if stored["device_id"] != device:
        return f"run {run} is of device {stored['device_id']}"
    if have != (blocks, events, ledger):
        return f"run {run}: blocks, events, ledger are {have}, sent were {(blocks, events, ledger)}"
    if stored["lost_unknown"] or finished != stored["ended"]:
        return f"run {run}: a loss that nobody counted, or no end"
    return None


def account(path, urls):
    """What is wrong, and the sums that are stored."""
    collectors = [get_runs(url) for url in urls]
    wrong, sums = [], dict.fromkeys(("runs", "blocks", "events", "ledger", "bytes"), 0)
    for sent in read_sent(path):
        stored = collectors[sent[2] if len(urls) > 1 else 0].get(sent[1])
        problem = compare(sent, stored)
        if problem:
            wrong.append(problem)
        if stored:
            sums["runs"] += 1
            sums["ledger"] += sum(stored["lost"].values())
            for name in ("blocks", "events", "bytes"):
                sums[name] += stored[name]
    return wrong, sums


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    wrong, sums = account(sys.argv[1], sys.argv[2:])
    for line in wrong[:20]:
        print(f"account: {line}")
    print(", ".join(f"{value} {name}" for name, value in sums.items()), "stored;", f"{len(wrong)} runs are wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

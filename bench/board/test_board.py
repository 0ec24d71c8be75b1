#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test_board: what the evaluation rests on and no board is needed for.

	test_board.py LOAD_FRAMES SPEND

That the load is the same work every time, that what a program cost is told, that the counters are
read as the kernel writes them, and that the page says "not met" of a goal that is not.
"""
import copy
import json
import subprocess
import sys
import tempfile
import unittest
import xml.dom.minidom
from pathlib import Path

sys.dont_write_bytecode = True

import counters  # noqa: E402
import report  # noqa: E402

LOAD, SPEND = sys.argv[1:3]
INTERRUPTS = """           CPU0       CPU1
 17:       {0}        {1}     GIC-0  29 Level     twd
 37:       {2}          0     GIC-0  47 Level     eth0
IPI4:       {3}         10  Function call interrupts
Err:          0
"""
NAMES = {"none": "no tracing", "text": "text, local", "text_net": "text, Ethernet",
         "gzip": "gzip, local", "gzip_net": "gzip, Ethernet", "bsf": "driver, bsf",
         "sched": "driver, sched"}


def run_load(seed):
    row = json.loads(subprocess.run([LOAD, "1", seed], check=True, stdout=subprocess.PIPE).stdout)
    return [row[key] for key in ("frames", "hops", "ticks", "sum")]


def row(method, seconds, size, cpu_s, eth0):
    """One run that is good in every respect."""
    return {"method": method, "seconds": seconds, "busy_s": 1 + cpu_s, "switches": 1000 + size // 100,
            "interrupts": {"timer0": 10, "timer1": 10, "eth0": eth0, "ipi": 1, "other": 0,
                           "total": 21 + eth0},
            "network": {"tx_bytes": size}, "programs": {}, "parts": {"compress": cpu_s},
            "thread": {"cpu_s": 0, "switches": 0},
            "exported": {"bytes": size, "text_bytes": 100000, "events": 1000, "lost": 0},
            "load": {"frames": 50, "sum": 1, "mean_us": 100.0, "late": 0, "cpu_s": 0.5}}


def good_figures():
    rows = []
    for seconds in (10, 20):
        rows += [row("none", seconds, 0, 0, 0), row("text", seconds, 100000, 1, 0),
                 row("text_net", seconds, 100000, 2, 1000), row("gzip", seconds, 9000, 3, 0),
                 row("gzip_net", seconds, 9000, 3, 100), row("bsf", seconds, 30000, 0.01, 100),
                 row("sched", seconds, 3000, 0.01, 100)]
    tracers = {t: {"instructions": 100.0 + i, "added": float(i), "rounds": [100.0 + i]}
               for i, t in enumerate(("off", "ftrace", "sched", "bsf"))}
    return {"date": "today", "is_trial": False, "machine": "m", "kernel": "k", "qemu": "q", "board": "b",
            "board_kernel": "l", "command": "c", "names": NAMES, "runs": rows,
            "counted": [r for r in copy.deepcopy(rows) if r["seconds"] == 10],
            "switch_cost": {"trips": 10, "tracers": tracers}}


def write(figures):
    with tempfile.TemporaryDirectory() as folder:
        report.write(figures, folder)
        for path in Path(folder).glob("*.svg"):
            xml.dom.minidom.parse(str(path))
        return (Path(folder) / "RESULTS.md").read_text()


class Load(unittest.TestCase):
    def test_same_seed_is_same_work(self):
        first = run_load("1")
        self.assertEqual(first, run_load("1"))
        self.assertNotEqual(first[-1], run_load("2")[-1])
        self.assertEqual(first[0], 50)

    def test_cost_of_a_program(self):
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "sh"
            code = subprocess.run([SPEND, out, "sh", "-c",
                                   "i=0; while [ $i -lt 50000 ]; do i=$((i+1)); done; exit 3"],
                                  check=False).returncode
            cost = json.loads(out.read_text())
        self.assertEqual(code, 3)
        self.assertEqual(cost["name"], "sh")
        self.assertGreater(cost["user_s"] + cost["system_s"], 0)


class Counters(unittest.TestCase):
    def test_interrupts_by_source(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "interrupts.before").write_text(INTERRUPTS.format(100, 200, 5, 7))
            (folder / "interrupts.after").write_text(INTERRUPTS.format(110, 230, 6, 9))
            self.assertEqual(counters.interrupts(folder, "before", "after"),
                             {"timer0": 10, "timer1": 30, "eth0": 1, "ipi": 2, "other": 0,
                              "total": 43})

    def test_lost_in_the_ring(self):
        with tempfile.TemporaryDirectory() as name:
            (Path(name) / "ring").write_text("entries: 1\noverrun: 3\ndropped events: 4\n" * 2)
            self.assertEqual(counters.ring_lost(Path(name)), 14)


class Report(unittest.TestCase):
    def test_good_figures_meet_all_goals(self):
        text = write(good_figures())
        self.assertNotIn("not met", text)
        for title in ("Goals", "Table 5", "Figure 8", "Figure 9", "Figure 10", "Figure 11",
                      "Instructions per switch"):
            self.assertIn(f"## {title}", text)
        self.assertIn("18,902,754", text)

    def test_each_bad_figure_is_said(self):
        for key, value in (("lost", 1), ("bytes", 8001)):
            figures = good_figures()
            figures["runs"][-1]["exported"][key] = value
            self.assertEqual(write(figures).count("not met"), 1, key)
        figures = good_figures()
        figures["runs"][-1]["interrupts"]["eth0"] = 301
        self.assertEqual(write(figures).count("not met"), 1)
        figures = good_figures()
        figures["counted"][-1]["parts"]["compress"] = 0.2
        self.assertEqual(write(figures).count("not met"), 1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test_boot: that the page of the boot recorders' bench says what was measured; no board is needed.

	test_boot.py
"""
import gzip
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True

import report  # noqa: E402
from methods import METHODS  # noqa: E402


def row(method, boot_s, cpu_s=0.1):
    made = {"method": method, "init_s": 1.0, "ready_s": 1.0 + boot_s, "boot_s": boot_s}
    if method != "none":
        made["recorder"] = {"cpu_s": cpu_s, "seconds": 10.0, "peak_kib": 500, "wakeups": 10,
                            "bytes": 20000, "raw_bytes": 20000}
    return made


def figures():
    runs = [row("none", 10.0), row("kiseki-20", 10.05), row("bootchartd-200", 10.3, 0.5)]
    return {"date": "today", "is_trial": False, "machine": "m", "board": "b", "command": "c",
            "names": {m: METHODS[m].name for m in ("none", "kiseki-20", "bootchartd-200")},
            "program_bytes": {"kiseki-boot": 300000, "bootchartd": 700000},
            "needs": {m: list(METHODS[m].needs) for m in METHODS},
            "runs": runs * 5, "counted": runs}


def page(result):
    with tempfile.TemporaryDirectory() as folder:
        return Path(report.write(result, folder)).read_text()


class Report(unittest.TestCase):
    def test_good_figures_meet_all_goals(self):
        text = page(figures())
        self.assertNotIn("not met", text)
        self.assertIn("| busybox bootchartd, 200 ms | 10.300 | 3.00 | 5.00 |", text)

    def test_each_bad_figure_is_said(self):
        for change in ({"cpu_s": 0.31}, {"peak_kib": 1000}):
            result = figures()
            result["counted"][1]["recorder"].update(change)
            self.assertEqual(page(result).count("not met"), 1, change)
        result = figures()
        result["counted"][1]["boot_s"] = 10.2
        self.assertEqual(page(result).count("not met"), 1)
        result = figures()
        result["program_bytes"]["kiseki-boot"] = 1100000
        self.assertEqual(page(result).count("not met"), 1)

    def test_what_was_not_measured_is_not_met(self):
        result = figures()
        result["counted"] = [x for x in result["counted"] if x["method"] == "none"]
        self.assertEqual(page(result).count("not met"), 3)

    def test_a_trial_says_so(self):
        self.assertIn("A trial", page({**figures(), "is_trial": True}))


class Methods(unittest.TestCase):
    def test_size_of_an_archive(self):
        data = gzip.compress(b"x" * 1000)
        self.assertEqual(METHODS["bootchartd-200"].recorded(data),
                         {"bytes": len(data), "raw_bytes": 1000})
        self.assertEqual(METHODS["kiseki-20"].recorded(b"abc"), {"bytes": 3, "raw_bytes": 3})


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""report: RESULTS.md of a bench of boot recorders, from the figures that run.py wrote.

	report.py FIGURES.json DIR

Nothing is on the page that is not in the figures. The goals at the top say what was measured, whether it is
met or not; a goal of which nothing was measured is not met.
"""
import json
import statistics
import sys
from pathlib import Path

sys.dont_write_bytecode = True

OURS = "kiseki-20"
GOALS = (("CPU", "at most 3 % of one CPU", 3.0, "%"),
         ("memory", "at most 1 MB at its peak", 1000.0, "KB"),
         ("program", "at most 1 MB, static", 1000.0, "KB"),
         ("longer boot", "at most 1 %", 1.0, "%"))


class Figures:
    """The boots of one kind, by method."""

    def __init__(self, result, kind):
        self.names, self.rows = result["names"], {}
        for row in result[kind]:
            self.rows.setdefault(row["method"], []).append(row)

    def median(self, method, value):
        rows = self.rows.get(method)
        return statistics.median(value(x) for x in rows) if rows else None

    def share(self, method):
        """Of one CPU, in percent."""
        return self.median(method, lambda x: 100 * x["recorder"]["cpu_s"] / x["recorder"]["seconds"])

    def boot(self, method):
        return self.median(method, lambda x: x["boot_s"])

    def longer(self, method):
        """Than without a recorder, in percent."""
        alone, there = self.boot("none"), self.boot(method)
        return 100 * (there / alone - 1) if alone and there else None

    def spread(self, method):
        """Half of the range in which the middle half of the boots is, in percent of the median."""
        times = sorted(x["boot_s"] for x in self.rows[method])
        if len(times) < 4:
            return None
        low, _, high = statistics.quantiles(times, n=4)
        return 100 * (high - low) / 2 / statistics.median(times)


def number(value, digits=2):
    return "–" if value is None else f"{value:,.{digits}f}"


def peak_kb(figures, method):
    value = figures.median(method, lambda x: x["recorder"]["peak_kib"] * 1.024)
    return value


def goal_rows(result, runs, counted):
    measured = {"CPU": counted.share(OURS), "memory": peak_kb(counted, OURS),
                "program": (result["program_bytes"].get("kiseki-boot") or 0) / 1000 or None,
                "longer boot": counted.longer(OURS)}
    for what, goal, limit, unit in GOALS:
        value = measured[what]
        is_met = value is not None and value <= limit
        yield f"| {what} | {goal} | {number(value)} {unit} | {'met' if is_met else '**not met**'} |"


def method_rows(result, figures):
    for key, name in result["names"].items():
        if key not in figures.rows:
            continue
        if key == "none":
            yield f"| {name} | {number(figures.boot(key), 3)} | – | – | – | – | – | – |"
            continue
        size = sum(result["program_bytes"][n] for n in result["needs"][key]) / 1000
        rate = figures.median(key, lambda x: x["recorder"]["bytes"] / x["recorder"]["seconds"])
        raw = figures.median(key, lambda x: x["recorder"]["raw_bytes"] / x["recorder"]["seconds"])
        yield (f"| {name} | {number(figures.boot(key), 3)} | {number(figures.longer(key))} | "
               f"{number(figures.share(key))} | {number(peak_kb(figures, key), 0)} | "
               f"{number(size, 0)} | {number(rate, 0)} | {number(raw, 0)} |")


def table(result, figures):
    return ["| recorder | ready after, s | longer, % | CPU, % of one | peak memory, KB | program, KB | "
            "recording, bytes/s | before gzip |", "|---|---|---|---|---|---|---|---|",
            *method_rows(result, figures)]


def page(result):
    runs, counted = Figures(result, "runs"), Figures(result, "counted")
    lines = ["# What recording a boot costs", ""]
    if result["is_trial"]:
        lines += ["**A trial: this machine did other things meanwhile. Times mean nothing.**", ""]
    lines += [f"{result['date']}, {result['machine']}; board: {result['board']}. "
              f"`{result['command']}`", "",
              "## Goals", "", "| | goal | measured, by instructions | |", "|---|---|---|---|",
              *goal_rows(result, runs, counted), "",
              "## By instructions", "",
              f"One CPU whose clock counts instructions, two nanoseconds each; median of "
              f"{len(counted.rows.get('none', []))} boots.", "", *table(result, counted), ""]
    if runs.rows:
        spread = runs.spread("none")
        lines += ["## By the clock", "",
                  f"Two CPUs, median of {len(runs.rows.get('none', []))} boots of each, in turns. The "
                  "board's CPUs are threads of this machine"
                  + (f": half of the boots without a recorder are within ± {spread:.1f} %."
                     if spread is not None else "."), "", *table(result, runs), ""]
    return "\n".join(lines)


def write(result, folder):
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "RESULTS.md").write_text(page(result))
    return folder / "RESULTS.md"


if __name__ == "__main__":
    print(write(json.loads(Path(sys.argv[1]).read_text()), sys.argv[2]))

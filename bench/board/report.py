#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""report: the page and the plots of one evaluation, from the figures that run.py wrote.

	report.py FIGURES.json DIR

Tables and figures have the paper's numbers, and its values stand beside ours where its text has any
(paper.json). Nothing is on the page that is not in the figures or in the paper. The goals at the
top say what was measured, whether it is met or not.
"""
import json
import statistics
import sys
from pathlib import Path

sys.dont_write_bytecode = True

import plot  # noqa: E402

HERE = Path(__file__).resolve().parent
PAPER = json.loads((HERE / "paper.json").read_text())
PARTS = (("compress", "compressor"), ("convert", "text conversion, copy to user"),
         ("record", "trace-cmd"), ("buffer", "export buffer"), ("network", "network"))
ROWS = ("timer0", "timer1", "eth0", "ipi", "other", "total")
ROW_NAMES = {"timer0": "timer, CPU 0", "timer1": "timer, CPU 1", "eth0": "eth0",
             "ipi": "between CPUs", "other": "others", "total": "total"}
DRIVER = ("bsf", "sched")
SIZE_GOAL, CPU_GOAL, ETH_GOAL = 8.0, 1.95, 30.0  # percent


class Figures:
    """The runs, by method and running time; of the load without a tracer, which ran twice, the mean."""

    def __init__(self, result, kind="runs"):
        self.result, self.names = result, result["names"]
        self.times = sorted({r["seconds"] for r in result[kind]})
        self.rows = {}
        for row in result[kind]:
            self.rows.setdefault((row["method"], row["seconds"]), []).append(row)
        ran = [r["method"] for r in result[kind]]
        self.methods = [m for m in self.names if m in ran]
        self.tracers = [m for m in self.methods if m != "none"]

    def get(self, method, seconds):
        return self.rows[method, seconds][0]

    def base(self, seconds, value):
        return statistics.mean(value(r) for r in self.rows["none", seconds])

    def added(self, method, seconds, value):
        """Of something that the load alone has, too: by how much more it is."""
        return value(self.get(method, seconds)) - self.base(seconds, value)

    def series(self, value, methods=None):
        return [(m, self.names[m], [(t, value(m, t)) for t in self.times])
                for m in methods or self.tracers]


def share(part, whole):
    return 100 * part / whole if whole else 0


def percent(value):
    return f"{value:.2f} %"


def saved(row):
    """The paper's percentage of compression: what is no longer there of the same events' text."""
    exported = row["exported"]
    return 100 - share(exported["bytes"], exported["text_bytes"])


def event_bytes(row, what="bytes"):
    return row["exported"][what] / max(row["exported"]["events"], 1)


def parts_percent(row):
    return {part: share(value, row["seconds"]) for part, value in row["parts"].items()}


def total_percent(row):
    return share(sum(row["parts"].values()), row["seconds"])


def added_percent(f, method, seconds):
    return share(f.added(method, seconds, lambda r: r["busy_s"]), seconds)


def table(head, rows):
    align = ["---"] + ["--:"] * (len(head) - 1)
    return ["| " + " | ".join(map(str, row)) + " |" for row in (head, align, *rows)] + [""]


# --- the goals ---

def worst(f, value, pick=max):
    """Over all running times."""
    return pick(value(t) for t in f.times)


def goal_size(f):
    short = PAPER["text_line_bytes"][0]
    ratio = worst(f, lambda t: 100 - saved(f.get("sched", t)))
    whole = worst(f, lambda t: share(f.get("sched", t)["exported"]["bytes"],
                                     f.get("text", t)["exported"]["bytes"]))
    yield (ratio <= SIZE_GOAL and whole <= SIZE_GOAL, "size of `sched` at most 8 % of ftrace text",
           f"{percent(ratio)} of the text of the same events, {percent(whole)} of what local text "
           f"exported, {percent(worst(f, lambda t: share(event_bytes(f.get('sched', t)), short)))} "
           f"of lines of {short} bytes, the shortest of the paper's")
    gzip = worst(f, lambda t: min(f.get(m, t)["exported"]["bytes"] for m in ("gzip", "gzip_net"))
                 / f.get("sched", t)["exported"]["bytes"], min)
    yield gzip > 1, "size of `sched` below that of gzip", f"gzip's is {gzip:.2f} times as large"


def goal_lost(f):
    lost = {m: sum(f.get(m, t)["exported"]["lost"] for t in f.times) for m in DRIVER}
    yield (not any(lost.values()), "no event lost",
           ", ".join(f"{m}: {n} lost" for m, n in lost.items()))


def goal_cpu_of(f, where):
    for m in DRIVER:
        ours = worst(f, lambda t, m=m: total_percent(f.get(m, t)))
        yield ours < CPU_GOAL, f"CPU cost of `{m}` below the paper's 1.95 %{where}", percent(ours)
    for m in DRIVER:
        pairs = [(total_percent(f.get(m, t)), total_percent(f.get("text", t))) for t in f.times]
        ours, text = max(pairs, key=lambda p: p[0] / max(p[1], 1e-9))
        yield ours < text, f"CPU cost of `{m}` below that of local text{where}", \
            f"{percent(ours)} beside {percent(text)}"
    for m in DRIVER:
        pairs = [(added_percent(f, m, t), added_percent(f, "text", t)) for t in f.times]
        ours, text = max(pairs, key=lambda p: p[0] - p[1])
        yield ours < text, \
            f"the whole board's added CPU time with `{m}` below that with local text{where}", \
            f"{percent(ours)} beside {percent(text)}"


def goal_cpu(f):
    yield from goal_cpu_of(f, "")
    if f.result["counted"]:
        yield from goal_cpu_of(Figures(f.result, "counted"), ", by instructions")


def goal_interrupts(f):
    for m in DRIVER:
        ratio = worst(f, lambda t, m=m: share(f.get(m, t)["interrupts"]["eth0"],
                                              f.get("text_net", t)["interrupts"]["eth0"]))
        yield ratio <= ETH_GOAL, f"eth0 interrupts of `{m}` at most 30 % of text over Ethernet", \
            percent(ratio)


def goal_switches(f):
    for m in DRIVER:
        pairs = [[f.added(x, t, lambda r: r["switches"]) for x in (m, "text")] for t in f.times]
        ours, text = max(pairs, key=lambda p: p[0] - p[1])
        yield ours < text, f"fewer added context switches with `{m}` than with local text", \
            f"{ours:,.0f} beside {text:,.0f}"


def goal_probe(f):
    tracers = f.result["switch_cost"]["tracers"]
    for m in DRIVER:
        if m in tracers:
            ours, ftrace = tracers[m]["added"], tracers["ftrace"]["added"]
            yield None, f"cost per switch of `{m}` beside ftrace's own recording", \
                f"{ours:.0f} instructions beside {ftrace:.0f}"


def put_goals(f):
    if not {"text", "text_net", "gzip", "gzip_net", *DRIVER} <= set(f.methods):
        return ["Not all methods were run, so the goals are not judged.", ""]
    marks = {True: "met", False: "**not met**", None: "stated"}
    rows = [(what, measured, marks[met]) for goal in
            (goal_lost, goal_size, goal_cpu, goal_interrupts, goal_switches, goal_probe)
            for met, what, measured in goal(f)]
    return ["## Goals", "", "The worst of all running times counts.", "",
            *table(("goal", "measured", ""), rows)]


# --- table 5 and the figures ---

def seconds_or_dash(value, seconds):
    return "" if value is None else f"{value:.3f} s ({percent(share(value, seconds))})"


def put_table5(f, paper):
    seconds = min(f.times, key=lambda t: abs(t - paper["table5"]["seconds"]))
    theirs, rows = paper["table5"]["methods"], []
    for m in f.tracers:
        row, old = f.get(m, seconds), theirs.get(m)
        exported, parts = row["exported"], row["parts"]
        rows.append((f"**{f.names[m]}**", f"{exported['bytes']:,}",
                     *(seconds_or_dash(parts.get(p), seconds) for p, _ in PARTS),
                     percent(total_percent(row)), percent(added_percent(f, m, seconds)),
                     f"{exported['lost']:,}"))
        if old:
            rows.append((f"paper: {old['name']}", f"{old['bytes']:,}",
                         *(seconds_or_dash(old.get(f"{p}_s"), paper["table5"]["seconds"])
                           for p, _ in PARTS), percent(old["total_percent"]), "", ""))
    return [f"## Table 5: cost of {seconds} s", "",
            f"The paper's rows are of {paper['table5']['seconds']} s. Shares are of the running time. "
            "*Parts* is the sum of the columns before it. *Board* is by how much more CPU time the "
            "whole board used than without a tracer, interrupts and the kernel's own recording "
            "included; it has the noise of two runs.", "",
            *table(("", "bytes", *(words for _, words in PARTS), "parts", "board", "events lost"),
                   rows), "![Table 5](table5.svg)", ""]


def plot_table5(f, title):
    paper, rows = PAPER["table5"], []
    seconds = min(f.times, key=lambda t: abs(t - paper["seconds"]))
    for m in f.tracers:
        values = parts_percent(f.get(m, seconds))
        rows.append((f.names[m], values, f"{sum(values.values()):.2f} %"))
        old = paper["methods"].get(m)
        if old:
            values = {p: share(old.get(f"{p}_s", 0), paper["seconds"]) for p, _ in PARTS}
            rows.append(("paper", values, f"{sum(values.values()):.2f} %, the sum of its parts"))
    return plot.stacks(f"{title}, {seconds} s (the paper: {paper['seconds']} s)", "% of the time", rows,
                       PARTS)


def plot_figure8(f, paper):
    at = paper["table5"]["seconds"]
    marks = [(m, f"paper: {f.names[m] if m != 'bsf' else 'proposed'}", at, v["bytes"])
             for m, v in paper["table5"]["methods"].items() if m in f.tracers]
    return plot.curves("Figure 8: exported size", ("running time, s", "bytes"),
                       f.series(lambda m, t: f.get(m, t)["exported"]["bytes"]), marks, is_log=True)


def plot_figure9(f):
    series = f.series(lambda m, t: f.get(m, t)["switches"], f.tracers)
    base = [(t, f.base(t, lambda r: r["switches"])) for t in f.times]
    return plot.curves("Figure 9: context switches", ("running time, s", "switches"),
                       [*series, ("none", f.names["none"], base)])


def interrupt_values(f, method, seconds):
    if method == "none":
        return [f.base(seconds, lambda r, k=k: r["interrupts"].get(k, 0)) for k in ROWS]
    return [f.get(method, seconds)["interrupts"].get(k, 0) for k in ROWS]


def plot_figure10(f):
    seconds = f.times[-1]
    return plot.bars(f"Figure 10: interrupts in {seconds} s", ("source", "interrupts"),
                     [ROW_NAMES[k] for k in ROWS],
                     [(m, f.names[m], interrupt_values(f, m, seconds)) for m in f.methods])


def plot_figure11(f, paper):
    marks = [(m, f"paper: {'proposed' if m == 'bsf' else 'gzip'}, about {v} %", None, v)
             for m, v in paper["figure11"]["saved_percent"].items()]
    return plot.curves("Figure 11: percentage of compression", ("running time, s", "% saved of the text"),
                       f.series(lambda m, t: saved(f.get(m, t))), marks)


def by_time(f, value, methods):
    return table(("", *(f"{t} s" for t in f.times)),
                 [(f.names[m], *(value(m, t) for t in f.times)) for m in methods])


def put_figure8(f, paper):
    words = paper["figure8"]
    return ["## Figure 8: exported size", "", "![Figure 8](figure8.svg)", "",
            *by_time(f, lambda m, t: f"{f.get(m, t)['exported']['bytes']:,}", f.tracers),
            "Bytes for each event that arrived, and the events:", "",
            *by_time(f, lambda m, t: "{:.2f} ({:,})".format(
                event_bytes(f.get(m, t)), f.get(m, t)["exported"]["events"]), f.tracers),
            "Bytes that left by eth0, with all headers:", "",
            *by_time(f, lambda m, t: f"{f.get(m, t)['network']['tx_bytes']:,}", f.tracers),
            f"The paper: {words['words']}. Its gzip over Ethernet made "
            f"{words['gzip_net_text_bytes']:,} bytes of text before compression, since the compressor "
            "itself is traced.", ""]


def own_switches(row):
    return row["thread"]["switches"] + sum(p["switches"] for p in row["programs"].values())


def put_figure9(f, paper):
    return ["## Figure 9: context switches", "", "![Figure 9](figure9.svg)", "",
            "All of the board:", "", *by_time(f, lambda m, t: f"{f.get(m, t)['switches']:,}", f.methods),
            "Added to those of the load alone, and of them the switches of the tracer's own tasks:", "",
            *by_time(f, lambda m, t: "{:,.0f} ({:,})".format(
                f.added(m, t, lambda r: r["switches"]), own_switches(f.get(m, t))), f.tracers),
            f"The paper prints no numbers of it; in its words {paper['figure9']['words']}.", ""]


def put_figure10(f, paper):
    seconds, words = f.times[-1], paper["figure10"]
    rows = [(f.names[m], *(f"{v:,.0f}" for v in interrupt_values(f, m, seconds))) for m in f.methods]
    ratios = []
    if {"text_net", *DRIVER} <= set(f.methods):
        for m in DRIVER:
            ours, text = (f.get(x, seconds)["interrupts"] for x in (m, "text_net"))
            timers = [sum(x[f"timer{c}"] for c in range(2)) for x in (ours, text)]
            ratios.append(f"{f.names[m]}: eth0 {percent(share(ours['eth0'], text['eth0']))}, timers "
                          f"{percent(share(*timers))} of those with text over Ethernet")
    return [f"## Figure 10: interrupts in {seconds} s", "", "![Figure 10](figure10.svg)", "",
            *table(("", *(ROW_NAMES[k] for k in ROWS)), rows),
            *(f"- {x}" for x in ratios),
            f"- paper: eth0 about {words['eth0_to_text_net_percent']} %, timers "
            f"{words['timer_to_text_net_percent']} %; timer interrupts beyond those of local text "
            f"{words['masked_timer_interrupts']['bsf']} against "
            f"{words['masked_timer_interrupts']['text_net']}", ""]


def put_figure11(f, paper):
    low, high = paper["text_line_bytes"]
    return ["## Figure 11: percentage of compression", "", "![Figure 11](figure11.svg)", "",
            "How much smaller than ftrace's text of the very same events:", "",
            *by_time(f, lambda m, t: percent(saved(f.get(m, t))), f.tracers),
            f"The paper: {paper['figure11']['words']}. Its kernel's lines had {low} to {high} bytes, "
            f"today's are longer (here {event_bytes(f.get(f.tracers[0], f.times[-1]), 'text_bytes'):.1f}"
            f"); how much less than {low} bytes an event takes:", "",
            *by_time(f, lambda m, t: percent(100 - share(event_bytes(f.get(m, t)), low)),
                     [m for m in DRIVER if m in f.methods])]


def put_load(f):
    def slower(m, t):
        return share(f.added(m, t, lambda r: r["load"]["mean_us"]),
                     f.base(t, lambda r: r["load"]["mean_us"]))
    sums = {(r["seconds"], r["load"]["sum"], r["load"]["frames"]) for r in f.result["runs"]}
    same = "the same" if len(sums) == len(f.times) else "**not the same**"
    return ["## The load", "",
            f"Its work was {same} in all runs of a running time (checksums). How long one frame takes "
            "more than without a tracer, and how many were late:", "",
            *by_time(f, lambda m, t: f"{slower(m, t):+.1f} % ({f.get(m, t)['load']['late']})",
                     f.tracers),
            "CPU time of the load's own tasks, seconds:", "",
            *by_time(f, lambda m, t: f"{f.get(m, t)['load']['cpu_s']:.2f}", f.methods)]


def put_counted(result):
    f = Figures(result, "counted")
    if not f.methods:
        return []
    seconds = f.times[0]
    rows = [(f.names[m], *(seconds_or_dash(f.get(m, seconds)["parts"].get(p), seconds)
                           for p, _ in PARTS), percent(total_percent(f.get(m, seconds))),
             percent(added_percent(f, m, seconds))) for m in f.tracers]
    apart = [r["busy_s"] for r in f.rows["none", seconds]]
    return [f"## The cost of {seconds} s, by instructions", "",
            "The board with one CPU, whose clock goes on by two nanoseconds with each instruction: "
            "500 million a second, about what the paper's CPU of 533 MHz does. The columns are "
            "those of table 5, and depend only on the instructions that were executed. The two runs of the "
            f"load alone differ by {percent(share(abs(apart[0] - apart[-1]), seconds))}.", "",
            *table(("", *(words for _, words in PARTS), "parts", "board"), rows),
            "![By instructions](instructions.svg)", ""]


def put_switch_cost(f):
    cost = f.result["switch_cost"]
    names = {"off": "no tracing", "ftrace": "ftrace, sched_switch into its ring"}
    rows = [(names.get(t) or f.names[t], f"{v['instructions']:.1f}", f"{v['added']:.1f}",
             f"{max(v['rounds']) - min(v['rounds']):.1f}") for t, v in cost["tracers"].items()]
    return ["## Instructions per switch", "",
            f"Two tasks on one CPU take turns {2 * cost['trips']:,} times; the board's clock counts "
            "instructions (`-icount shift=0`), so this does not depend on the machine. The middle one of "
            f"{len(cost['tracers']['off']['rounds'])} rounds.", "",
            *table(("", "in all", "added by the tracer", "longest - shortest round"), rows)]


def put_head(result):
    lines = ["# The paper's evaluation, repeated", "",
             "Written by `make bench-board`; do not edit. What is measured and how: "
             "[README.md](README.md). The paper's figures: [paper.json](paper.json).", ""]
    if result["is_trial"]:
        lines += ["**A trial: other programs were running on the machine. Times mean nothing, but "
                  "those by instructions.**", ""]
    return lines + [f"- {result['date']}", f"- Machine: {result['machine']}",
                    f"- Kernel: {result['kernel']}; qemu {result['qemu']}",
                    f"- Board: {result['board']}, Linux {result['board_kernel']}",
                    f"- Command: `{result['command']}`", ""]


def write(result, folder):
    f, folder = Figures(result), Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    plots = {"table5": plot_table5(f, "Table 5: CPU time by part"), "figure8": plot_figure8(f, PAPER),
             "figure9": plot_figure9(f), "figure10": plot_figure10(f),
             "figure11": plot_figure11(f, PAPER)}
    if result["counted"]:
        plots["instructions"] = plot_table5(Figures(result, "counted"), "CPU time by instructions")
    for name, text in plots.items():
        (folder / f"{name}.svg").write_text(text)
    lines = [*put_head(result), *put_goals(f), *put_table5(f, PAPER), *put_figure8(f, PAPER),
             *put_figure9(f, PAPER), *put_figure10(f, PAPER), *put_figure11(f, PAPER), *put_load(f),
             *put_counted(result), *put_switch_cost(f)]
    (folder / "RESULTS.md").write_text("\n".join(lines).rstrip("\n") + "\n")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: report.py FIGURES.json DIR")
    write(json.loads(Path(sys.argv[1]).read_text()), sys.argv[2])

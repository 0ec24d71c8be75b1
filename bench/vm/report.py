# SPDX-License-Identifier: MIT
"""report: RESULTS.md of a bench of recorded virtual machines, from the figures that run.py wrote.

Nothing is on the page that is not in the figures. The goals at the top say what was measured, whether it is met or not.
"""
GOALS = {1000: 0.3, 100: 3.0}  # percent of the guest's time, by the period in us
THESIS = {1000: 0.302, 100: 3.084}


class Figures:
    def __init__(self, result):
        self.result, self.without = result, min(result["without_ns"])

    def find(self, period, agent):
        return next((r for r in self.result["runs"] if r["period_us"] == period and r["agent"] == agent), None)

    def longer(self, run):
        """Percent of the time without."""
        return 100 * (run["ns"] / self.without - 1)

    def each(self, run):
        """Instructions that a sample cost the guest: a nanosecond is one."""
        return (run["ns"] - self.without) / run["samples"] if run["samples"] else 0


def goal_rows(figures):
    for period, goal in GOALS.items():
        run = figures.find(period, False)
        got = f"{figures.longer(run):.3f} %" if run else "–"
        is_met = run and figures.longer(run) < goal
        # So many instructions a second, in millions, at which the same work is just the goal.
        enough = f"{1000 * figures.longer(run) / goal:,.0f}" if run else "–"
        yield (f"| guest's time, a sample each {period / 1000:g} ms | below {goal:g} % | {got} | {THESIS[period]} % | "
               f"{'met' if is_met else '**not met**'} | {enough} |")


def run_rows(figures):
    for run in figures.result["runs"]:
        yield (f"| {run['period_us'] / 1000:g} ms | {'runs' if run['agent'] else 'stopped'} | {run['ns'] / 1e6:,.3f} | "
               f"{figures.longer(run):.3f} | {run['samples']:,} | {figures.each(run):,.0f} | "
               f"{run['sampling_ns'] / max(run['samples'], 1):,.0f} | {run['bytes'] / max(run['samples'], 1):.1f} |")


def page(result):
    figures = Figures(result)
    spread = max(result["without_ns"]) - figures.without
    lines = ["# What recording virtual machines costs their guests", ""]
    if result["is_try"]:
        lines += ["A try, with other work on the machine.", ""]
    lines += [
        f"`make bench-vm` on the board kvm-arm64 with one CPU (Linux {result['kernel']}), whose clock counts instructions, a nanosecond each: "
        "a CPU of a thousand million instructions a second. So these are figures of what was executed, whatever else the machine does that emulates it.",
        "", "| | goal | measured | thesis | | met from, million instructions/s |", "|---|---|---|---|---|---|",
        *goal_rows(figures), "",
        "A CPU of 2 GHz that executes one instruction in a cycle does 2,000 million.", "",
        f"Work of the guest: {result['rounds']:,} rounds, {figures.without / 1e6:,.3f} ms by its own clock while nobody records "
        f"(two runs, {spread / 1e6:.3f} ms apart).", "",
        "| period | agent | guest's time, ms | longer, % | samples in it | instructions for each | of them in *sampling* | bytes of file for each |",
        "|---|---|---|---|---|---|---|---|", *run_rows(figures), "",
        "*Instructions for each* are all that stand between the guest and its next instruction: the exit, the host's interrupt and "
        "timer, the record, the records of exit and entry, and the way back. *Sampling* is what `kiseki vm` tells of it by itself: from the sample to "
        "the next entry, without the interrupt's way to the sample. An agent that runs takes its time from the guest here, "
        "where there is one CPU for both; where a CPU is free it runs beside.", ""]
    return "\n".join(lines)

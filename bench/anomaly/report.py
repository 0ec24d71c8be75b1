# SPDX-License-Identifier: MIT
"""report: RESULTS.md of a bench of anomalies, from the figures that run.py wrote.

Nothing is on the page that is not in the figures.
"""
GOAL_S = 120


def seed_row(seed):
    """What was made slower, when it was told, and how it was called."""
    if seed["delay_s"] is None:
        return f"| {seed['function']}() of {seed['program']} | {GOAL_S} s | not told | | **not met** |"
    is_met = seed["delay_s"] <= GOAL_S
    return (f"| {seed['function']}() of {seed['program']} | {GOAL_S} s | {seed['delay_s']:.0f} s, in second {seed['second_of_minute']:.0f} of a minute | "
            f"{seed['alert']['text']} | {'met' if is_met else '**not met**'} |")


def sampled(part):
    return f"{part['date']}, {'all programs' if part['all'] else 'these programs alone'} sampled"


def listed(alerts):
    return [f"- {a['device']}: {a['text']}" for a in alerts]


def steady_lines(result):
    steady = result["steady"]
    return ["## Nothing happens", "",
            f"After {result['past_s'] // 60} minutes to know what is usual, {steady['seconds'] // 60} minutes of random load ({sampled(steady)}): "
            f"**{len(steady['alerts'])} alerts**; the goal is 0.", "",
            *listed(steady["alerts"]), *([""] if steady["alerts"] else []),
            *(["Beside them, of programs that others ran on this machine at that time, by the scheduler:", "", *listed(steady["others"]), ""]
              if steady["others"] else [])]


def seeds_lines(result):
    seeds = result["seeds"]
    lines = ["## Something happens", "", f"{sampled(seeds)[0].upper()}{sampled(seeds)[1:]}.", "",
             "| made slower | goal | told after | as | |", "|---|---|---|---|---|", *[seed_row(s) for s in seeds["rows"]], "",
             f"render() is slower by {result['slower_percent']} %; gc_mark() runs all the time, because the heap is full. Times are from the signal to the "
             "program until the collector's webhook was called.", ""]
    for seed in seeds["rows"]:
        if len(seed["told"]) > 1:
            lines += [f"With the seed in {seed['program']} these were told:", "", *[f"- {t}" for t in seed["told"]], ""]
    return lines


def page(result):
    lines = ["# What gets slower is told", ""]
    if result["is_try"]:
        lines += ["A try.", ""]
    lines += [f"`make bench-anomaly` on {result['machine']}, Linux {result['kernel']}; {result['rate']} samples a second. [README.md](README.md) says what runs.", ""]
    if "steady" in result:
        lines += steady_lines(result)
    if "seeds" in result:
        lines += seeds_lines(result)
    for note in result.get("notes", []):  # written by hand into the figures: what else was seen
        lines += [note, ""]
    return "\n".join(lines).rstrip() + "\n"

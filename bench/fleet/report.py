# SPDX-License-Identifier: MIT
"""report: RESULTS.md of a bench of many devices, from the figures that run.py wrote. Nothing is on the page that is not in them."""
DAY_S = 86400
INGEST = ("kiseki-ingest", "kiseki-commit", "kiseki-keep")  # threads that work for each block; the others decode or answer


class Point:
    """What one point comes to, for each device."""

    def __init__(self, row):
        self.row, self.n = row, row["devices"]
        self.start, self.end = row["start"], row["end"]
        self.seconds = self.end["at"] - self.start["at"]
        self.tally = row["tally"]

    def name(self):
        return " + ".join(self.row["kinds"]) + ("" if self.row["is_steady"] else " *")

    def grown(self, name):
        """By how much a metric grew in a second."""
        return (self.end["metrics"][name] - self.start["metrics"][name]) / self.seconds

    def cpu(self, names):
        """Seconds of CPU in a second."""
        return sum(self.end["cpu"].get(n, 0) - self.start["cpu"].get(n, 0) for n in names) / self.seconds

    def commit_ms(self):
        commits = self.grown("kiseki_commits_total")
        return 1000 * self.grown("kiseki_commit_seconds_total") / commits if commits else 0

    def memory_kib(self):
        return (self.end["rss_kib"] - self.row["before"]["rss_kib"]) / self.n

    def log_day(self):
        """Bytes of log of a device's day."""
        return self.grown("kiseki_store_used_bytes") / self.n * DAY_S


def number(value, digits=0):
    return f"{value:,.{digits}f}"


def recording_rows(result):
    for kind, r in result["recordings"].items():
        seconds = r["ns"] / 1e9
        yield (f"| {kind} | {number(r['events'] / seconds)} | {number(r['blocks'] / seconds, 1)} | {number(r['bytes'] / seconds)} | "
               f"{r['bytes'] / r['events']:.2f} | {number(r['streams'])} |")


def load_rows(points):
    for p in points:
        yield (f"| {p.name()} | {number(p.n)} | {number(p.grown('kiseki_events_total'))} | "
               f"{number(p.grown('kiseki_blocks_total'))} | {p.grown('kiseki_bytes_total') / 1e6:.3f} | "
               f"{number(p.grown('kiseki_bytes_total') / p.n)} | {p.log_day() / 1e6:,.0f} | {p.grown('kiseki_commits_total'):.1f} | "
               f"{p.commit_ms():.1f} | {p.tally['ack_ms_half']:.0f} / {p.tally['ack_ms_99']:.0f} |")


def cost_rows(points):
    for p in points:
        cpu = p.cpu(INGEST)
        yield (f"| {p.name()} | {number(p.n)} | {100 * cpu:.1f} | {1e6 * cpu / p.n:.0f} | "
               f"{1e6 * cpu / max(p.grown('kiseki_blocks_total'), 1e-9):.1f} | {100 * p.cpu(('kiseki-summary',)):.1f} | "
               f"{p.end['rss_kib'] / 1024:.1f} | {p.memory_kib():.1f} | {p.end['fds']} | {p.tally['latest_ms']:.0f} | {p.row['load']:.1f} |")


def summary_rows(points):
    for p in points:
        spent = p.row["summaries_cpu_s"]
        if spent is not None and p.n > 1 and p.row["kinds"] == ["sched"]:
            yield (f"Summaries, which decode every event once: {spent:.2f} s of CPU for {number(p.row['stored']['events'])} events of "
                   f"{p.n} devices, {1e9 * spent / p.row['stored']['events']:.0f} ns each.")


def disk_rows(points):
    p = points[-1]
    disk = p.row["disk"]
    yield (f"Beside the log of the last row, {disk['log'] / 1e6:,.0f} MB with its indexes, lay {disk['beside'] / 1e6:,.0f} MB of catalog and "
           "summaries, as far as those were made by then.")


def engine_rows(rows):
    for r in rows:
        sent, gb = r["sent"], r["sent"]["bytes"] / 1e9
        yield (f"| {r['engine']} | {r['kind']} | {sent['bytes'] / 1e6:.0f} | {sent['bytes'] / 1e6 / sent['seconds']:.1f} | "
               f"{number(sent['blocks'] / sent['seconds'])} | {sent['events'] / 1e6 / sent['seconds']:.1f} | "
               f"{sent['ingest_cpu_s'] / gb:.1f} | {sent['engine_cpu_s'] / gb:.1f} | {r['stored_bytes'] / sent['bytes']:.2f} |")


def fact_rows(rows):
    for r in rows:
        facts, minutes = r["facts"], r["devices"] * r["minutes"]
        yield (f"| {r['engine']} | {r['kind']} | {number(minutes)} | {number(r['sent']['events'] / minutes)} | {1000 * facts['cpu_s'] / minutes:.2f} | "
               f"{1000 * facts['engine_cpu_s'] / minutes:.2f} | {number(60 / (facts['cpu_s'] / minutes))} | {r['facts_bytes'] / minutes / 1000:.1f} |")


def engine_lines(rows):
    if not rows:
        return []
    return [
        f"Where it is kept: {rows[0]['devices']} devices that send as fast as they are acknowledged, into a folder and into one ClickHouse server on the same "
        "machine, without replicas:", "",
        "| engine | devices play | MB | MB/s, durable | blocks/s | M events/s | collector, s of CPU per GB | server, s of CPU per GB | bytes kept of a byte sent |",
        "|---|---|--:|--:|--:|--:|--:|--:|--:|", *engine_rows(rows), "",
        "The facts of that, made by one thread of `kiseki work` when all of it was there:", "",
        "| engine | devices played | minutes of a device | events in a minute | t2, ms of CPU for a minute | server, ms of CPU | devices for a core | "
        "kB of facts of a minute |",
        "|---|---|--:|--:|--:|--:|--:|--:|", *fact_rows(rows), "",
        "*Collector* is all of its threads but the one of summaries, *devices for a core* is 60 s / t2.", "",
    ]


def page(result):
    points = [Point(row) for row in result["points"]]
    m = result["machine"]
    priority = f", at a niceness of {m['niceness']}" if m["niceness"] else ""
    lines = ["# One collector and many devices", ""]
    if result["is_try"]:
        lines += ["A try.", ""]
    lines += [
        f"`make bench-fleet` on {m['cpus']} CPUs ({m['machine']}, Linux {m['kernel']}, {m['memory_kib'] / 2**20:.0f} GiB of memory){priority}, which the "
        "simulated devices have to share with the collector, and both with whatever else runs there: *load* is the machine's load "
        "average. Times of CPU stand that, latencies do not. Every row's account was exact: events made = stored + ledger, of each run.", "",
        "What a device sends, by the recordings of this machine:", "",
        "| | events/s | blocks/s | bytes/s | bytes/event | streams |", "|---|--:|--:|--:|--:|--:|", *recording_rows(result), "",
        "What came to the collector and became of it:", "",
        "| devices play | devices | events/s | blocks/s | MB/s | bytes/s of a device | MB of log of a device's day | commits/s | ms of a commit | "
        "ms to an ACK, half / 99 % |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|", *load_rows(points), "",
        "What it cost:", "",
        "| devices play | devices | CPU of ingest, % of a core | µs of a device's second | µs of a block | CPU of summaries, % | memory, MiB | "
        "KiB of a device | open files | ms that blocks were sent late, at most | load |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|", *cost_rows(points), "",
        "*CPU of ingest* is that of the threads `ingest`, `commit` and `keep`. Where blocks were sent late, the devices did not get their share of "
        "the machine, and the time to an ACK is theirs, too. "
        "With a * they did not come to send as much as they made within the time that they had for that.", "",
        *summary_rows(points), *disk_rows(points), "",
        *engine_lines(result["engines"]),
    ]
    return "\n".join(lines).rstrip("\n") + "\n"

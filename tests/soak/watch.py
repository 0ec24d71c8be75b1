# SPDX-License-Identifier: MIT
"""watch: memory and descriptors of processes, and whether they stay what they are.

Whoever is killed all the time shows nothing, so each process has a window in which it is left alive. Of that window the
first third is for warming up, and if there is time, WARM_S: a collector keeps what it knows of an ended run for five minutes
(FACT_TOLD_IDLE_NS), so it takes as long until as much goes as comes. At least a third counts. Through the rest a line is laid by least squares: from its beginning to its end it may
rise by RSS_KIB and RSS_SHARE of its mean, and by DESCRIPTORS.
"""
import re
import threading
from pathlib import Path

RSS_KIB, RSS_SHARE, DESCRIPTORS = 1024, 0.05, 2.0
WARM, WARM_MOST, WARM_S = 1 / 3, 2 / 3, 300
FEW = 8  # samples that say nothing
KEPT = 2000  # of a process in the report


def look(pid):
    """(RSS in KiB, open descriptors) or None if it is gone."""
    try:
        rss = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())
        return int(rss[1]), sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir())
    except (OSError, TypeError):
        return None


def fit(points):
    """How much the line through points (t, value) rises from the first to the last, and its mean."""
    n = len(points)
    mean_t, mean = sum(t for t, _ in points) / n, sum(v for _, v in points) / n
    spread = sum((t - mean_t) ** 2 for t, _ in points)
    slope = sum((t - mean_t) * (v - mean) for t, v in points) / spread if spread else 0
    return slope * (points[-1][0] - points[0][0]), mean


class Watch:
    """Looks at processes every so often, in a thread."""

    def __init__(self, clock, every_s, pids):
        """clock: seconds since the start; pids: gives {name: pid} of whom to look at."""
        self.clock, self.every_s, self.pids = clock, every_s, pids
        self.samples, self.windows, self.now = {}, {}, {}
        self.ends = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        while not self.ends.wait(self.every_s):
            for name, pid in self.pids().items():
                seen = look(pid)
                if seen:
                    self.now[name] = seen
                    self.samples.setdefault(name, []).append((self.clock(), pid, *seen))

    def stop(self):
        self.ends.set()
        self.thread.join()

    def open(self, name):
        self.windows[name] = [self.clock(), None]

    def shut(self, name):
        if name in self.windows and self.windows[name][1] is None:
            self.windows[name][1] = self.clock()

    def in_window(self, name):
        """The samples that count: of the process that lived to the window's end."""
        begin, end = self.windows[name]
        inside = [s for s in self.samples.get(name, []) if begin <= s[0] <= end]
        inside = [s for s in inside if s[1] == inside[-1][1]]
        if not inside:
            return []
        long = inside[-1][0] - inside[0][0]
        warm = min(max(WARM * long, WARM_S), WARM_MOST * long)
        return [s for s in inside if s[0] >= inside[0][0] + warm]

    def judge(self, name):
        """What is reported of a process; `problem` is None if it is flat."""
        points = self.in_window(name)
        if len(points) < FEW:
            return {"problem": f"{name}: {len(points)} samples in its window", "samples": self.thin(name)}
        (rss, rss_mean), (fds, fds_mean) = (fit([(p[0], p[i]) for p in points]) for i in (2, 3))
        bound, problem = RSS_KIB + RSS_SHARE * rss_mean, None
        if rss > bound:
            problem = f"{name}: its memory grew by {rss:.0f} KiB, at most {bound:.0f} may be"
        elif fds > DESCRIPTORS:
            problem = f"{name}: its descriptors grew by {fds:.1f}"
        return {"problem": problem, "window_s": [round(points[0][0], 1), round(points[-1][0], 1)], "pid": points[0][1],
                "rss_kib": {"mean": round(rss_mean), "rise": round(rss, 1), "bound": round(bound), "most": max(p[2] for p in points)},
                "descriptors": {"mean": round(fds_mean, 2), "rise": round(fds, 2), "bound": DESCRIPTORS, "most": max(p[3] for p in points)},
                "samples": self.thin(name)}

    def thin(self, name):
        rows = self.samples.get(name, [])
        return [[round(t, 1), pid, rss, fds] for t, pid, rss, fds in rows[::max(1, len(rows) // KEPT)]]

# SPDX-License-Identifier: MIT
"""collector: a `kiseki serve` that a bench looks at from outside: CPU by its threads, memory, open files, its own /metrics."""
import os
import re
import subprocess
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
BUILD = Path(os.environ.get("BUILD", ROOT / "build"))
KISEKI, FLEET = BUILD / "src/cli/kiseki", BUILD / "bench/fleet/fleet"
SETTLE_S = 3
STEADY_S, STEADY_PART, STEADY_BLOCKS = 40, 0.1, 4
QUIET_S, IDLE_CPU_S = 6, 0.02  # a thread that takes no more than this has done all
PATIENCE_S = 240


class Collector:
    """One with an empty store."""

    def __init__(self, folder, devices, *options):
        self.data = Path(folder) / "store"
        self.process = subprocess.Popen(
            [KISEKI, "serve", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", "--data", self.data, "--config", "/dev/null",
             "--connections", str(devices), *options],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        for line in self.process.stdout:
            if line.startswith("devices"):
                self.port = int(line.rsplit(":", 1)[1])
            elif line.startswith("web"):
                self.url = line.split()[1]
            elif line == "ready\n":
                return
        raise SystemExit("bench: the collector does not start")

    def cpu(self):
        """Seconds of each thread, by its name."""
        seconds = {}
        for task in Path(f"/proc/{self.process.pid}/task").iterdir():
            try:
                name, spent = (task / "comm").read_text().strip(), (task / "schedstat").read_text()
            except FileNotFoundError:
                continue  # one that answered, and is gone
            seconds[name] = seconds.get(name, 0) + int(spent.split()[0]) / 1e9
        return seconds

    def status(self, name):
        return int(re.search(rf"^{name}:\s+(\d+)", Path(f"/proc/{self.process.pid}/status").read_text(), re.M)[1])

    def metrics(self):
        """Those without labels."""
        with urllib.request.urlopen(f"{self.url}metrics?devices=no", timeout=PATIENCE_S) as answer:
            text = answer.read().decode()
        return {name: float(value) for name, value in re.findall(r"^(kiseki_\w+) (\S+)$", text, re.M)}

    def look(self):
        return {"at": time.monotonic(), "cpu": self.cpu(), "rss_kib": self.status("VmRSS"),
                "fds": len(os.listdir(f"/proc/{self.process.pid}/fd")), "metrics": self.metrics()}

    def wait_steady(self, blocks_per_s):
        """Until about as many blocks come as are made: what devices send at first, their descriptions above all, is behind them.
        Whether they did."""
        end = time.monotonic() + STEADY_S
        while time.monotonic() < end:
            before, since = self.metrics()["kiseki_blocks_total"], time.monotonic()
            time.sleep(SETTLE_S)
            came = self.metrics()["kiseki_blocks_total"] - before
            due = blocks_per_s * (time.monotonic() - since)
            if abs(came - due) < STEADY_PART * due + STEADY_BLOCKS:
                return True
        return False

    def wait_summaries(self):
        """CPU seconds of the summaries when they are complete, or None."""
        last, since, end = -1, time.monotonic(), time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            now = self.cpu().get("kiseki-summary", 0)
            if now > last + IDLE_CPU_S:
                last, since = now, time.monotonic()
            if time.monotonic() > since + QUIET_S:
                return now
            time.sleep(0.2)
        return None

    def stop(self):
        self.process.terminate()
        self.process.wait(PATIENCE_S)
        self.process.stdout.close()


def read_tally(text):
    """What `fleet` said at its end."""
    return {name: value if name == "exact" else float(value) for name, value in (line.split() for line in text.splitlines())}

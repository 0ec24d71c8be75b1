# SPDX-License-Identifier: MIT
"""served: a real `kiseki serve` for tests that talk to it, and tokens that are found again in its store.

The program is the first argument of whoever imports this.
"""
import atexit
import hashlib
import os
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path

from ports import free_ports

KISEKI = sys.argv[1]
WAIT_S = 150  # against a hang; LeakSanitizer alone takes seconds to end a program


def database(data):
    return "test_" + hashlib.md5(str(data).encode()).hexdigest()[:12]


def place(data):
    """Where the store of a test with this folder is: in it, or in a server (tools/clickhouse.py)."""
    server = os.environ.get("KISEKI_TEST_STORE")
    settings = os.environ.get("KISEKI_TEST_STORE_SETTINGS", "")
    return f"{server}/{database(data)}{settings}" if server else str(data)


class Collector:
    """A `kiseki serve`, with what it logged. It comes back at its port, which nobody else is handed meanwhile."""

    def __init__(self, data, *options, port=None):
        self.data, self.options = data, options
        self.log = []
        self.start(port or free_ports(1)[0])

    def start(self, port):
        self.process = subprocess.Popen(
            [KISEKI, "serve", "--listen", f"127.0.0.1:{port}", "--http", "127.0.0.1:0", "--data",
             self.data, "--store", place(self.data), "--config", "/dev/null", *self.options],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        atexit.register(self.process.kill)  # of a test that failed
        self.port = self.http_port = None
        for line in self.process.stdout:
            if line.startswith("devices"):
                self.port = int(line.rsplit(":", 1)[1])
            if line.startswith("web"):
                self.http_port = int(line.rsplit(":", 1)[1].rstrip("/\n"))
            if line == "ready\n":
                break
        else:
            raise AssertionError(f"it does not start: {self.process.stderr.read()}")
        self.reader = threading.Thread(target=self.read_log, args=(self.process.stderr,),
                                       daemon=True)
        self.reader.start()

    def read_log(self, pipe):
        for line in pipe:
            self.log.append(line.rstrip("\n"))

    def kill(self):
        self.process.kill()
        self.finish()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        assert self.finish() == 0, f"exit {self.process.returncode}: {self.log[-3:]}"

    def finish(self):
        code = self.process.wait(WAIT_S)
        self.reader.join()
        self.process.stdout.close()
        self.process.stderr.close()
        return code

    def again(self):
        self.start(self.port)

    def wait_log(self, pattern):
        """Waits until a line of the log matches."""
        deadline = time.monotonic() + WAIT_S
        while time.monotonic() < deadline:
            if any(re.search(pattern, line) for line in list(self.log)):
                return
            time.sleep(0.01)
        raise AssertionError(f"no line like {pattern!r} in the log: {self.log}")

    def count_log(self, pattern):
        return sum(bool(re.search(pattern, line)) for line in list(self.log))

    def resident_kib(self):
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status).group(1))


def ident(n):
    return n.to_bytes(16, "little")


def token(device, sequence):
    return b"<token %d %d>" % (device, sequence)


def read_blocks(data):
    """The blocks in the tables of a server, each once, as readers see them."""
    url = os.environ["KISEKI_TEST_STORE"].replace("clickhouse://", "http://").split(",")[0]
    sql = f"SELECT bytes FROM {database(data)}.blocks LIMIT 1 BY device, run, stream, sequence FORMAT RowBinary"
    with urllib.request.urlopen(url, data=sql.encode(), timeout=WAIT_S) as answer:
        return answer.read()


def stored(data):
    """How often each token is in the files of the store."""
    counts = {}
    if os.environ.get("KISEKI_TEST_STORE"):
        for found in re.findall(rb"<token \d+ \d+>", read_blocks(data)):
            counts[found] = counts.get(found, 0) + 1
        return counts
    for path in Path(data).rglob("*"):
        if not path.is_file():
            continue
        for found in re.findall(rb"<token \d+ \d+>", path.read_bytes()):
            counts[found] = counts.get(found, 0) + 1
    return counts

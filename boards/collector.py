# SPDX-License-Identifier: MIT
"""collector: `kiseki serve` on this machine, which a board reaches at 10.0.2.2, and questions to it.

It can be killed and started again on the same ports with the same data.
"""
import json
import re
import subprocess
import sys
import time
from pathlib import Path

from boards import child
from boards.catalog import BoardError

sys.path.append(str(Path(__file__).resolve().parent.parent / "tests/tools"))
from ports import free_ports  # noqa: E402

HOST = "10.0.2.2"  # this machine, as a board sees it
READY_S = 60


def at_port(address):
    """An address with a port that stays ours while the collector is down, if it asks for any (port 0)."""
    return f"{address[:-1]}{free_ports(1)[0]}" if address.endswith(":0") else address


class Collector:
    def __init__(self, program, data, log, listen="127.0.0.1:0", http="127.0.0.1:0", symbols=None):
        """`symbols` is a folder with devices' programs."""
        self.program, self.data, self.log = Path(program), Path(data), Path(log)
        self.options = ["--symbols", symbols] if symbols else []
        self.listen, self.http, self.process = at_port(listen), at_port(http), None

    @property
    def port(self):
        return int(self.listen.rpartition(":")[2])

    @property
    def url(self):
        return f"http://{self.http}"

    def start(self):
        out = self.log.with_suffix(".out")
        asks = ["--plain-http"] if (self.data / "keys").exists() else []  # tests ask on loopback, without a login
        with out.open("wb") as output, self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [self.program, "serve", "--data", self.data, "--listen", self.listen,
                 "--http", self.http, *asks, *self.options], stdin=subprocess.DEVNULL, stdout=output, stderr=log,
                **child.OPTIONS)
        try:
            self.wait_ready(out)
        except BaseException:
            self.stop()
            raise
        return self

    def wait_ready(self, out):
        end = time.monotonic() + READY_S
        while "ready\n" not in out.read_text():
            if self.process.poll() is not None or time.monotonic() > end:
                raise BoardError(f"the collector does not start: {self.tail()}")
            time.sleep(0.02)
        self.listen = re.search(r"^devices +(\S+)", out.read_text(), re.M)[1]
        self.http = re.search(r"^web +http://([^\s/]+)", out.read_text(), re.M)[1]

    def kill(self):
        if self.process.poll() is not None:
            raise BoardError(f"the collector ended by itself: {self.tail()}")
        self.process.kill()
        self.process.wait()

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(READY_S)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()

    def tail(self):
        return self.log.read_text(errors="replace")[-2000:].strip() if self.log.exists() else ""

    def client(self, *command):
        """A command of kiseki that asks this collector."""
        return subprocess.run([self.program, *map(str, command), "--server", self.url],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True)

    def device(self, name):
        """What it knows of a device, or None."""
        answer = self.client("devices", "--json")
        if answer.returncode:
            return None
        return next((d for d in json.loads(answer.stdout)["devices"] if d["name"] == name), None)

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop()

# SPDX-License-Identifier: MIT
"""methods: the ways to trace that are compared, as seen from the machine beside the board.

A method's steps on the board are in measure.sh under the same key; here is the other end: what
receives the trace, what it weighs, and how much text its events are. A receiver runs within `with`
and is asked only after that, when everything has arrived. The text of a method that does not export
text is what the kernel would have printed for the very same events, so percentages compare like
with like.
"""
import contextlib
import gzip
import json
import os
import re
import shutil
import socket
import subprocess
import threading
import time
from pathlib import Path

import counters
from boards.catalog import BoardError
from boards.collector import Collector, free_ports

PATIENCE_S = 60


class Method:
    """No tracing: all others are compared with it."""
    key, name, modules = "none", "no tracing", ()

    def __init__(self, work, kiseki):
        self.work, self.kiseki, self.port = Path(work), kiseki, 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def weigh(self, folder):
        """What it exported: bytes, events of which kept, lost, bytes of the same events as text."""
        return {"bytes": 0, "text_bytes": 0, "events": 0, "lost": 0}

    def parts(self, folder, programs):
        """CPU seconds by what they were spent for, in the paper's words."""
        names = {"cat": "convert", "gzip": "compress", "nc": "network", "trace-cmd": "record"}
        return {names[name]: cost["cpu_s"] for name, cost in programs.items()}


def split_text(lines):
    """Events and bytes of a text; the kernel's remarks about lost events are none."""
    events = size = 0
    for line in lines:
        size += len(line)
        events += b" EVENTS]" not in line and not line.startswith(b"#")
    return events, size


class LocalText(Method):
    key, name = "text", "text, local"

    def weigh(self, folder):
        lines, size = map(int, counters.read(folder, "file.text").split())
        return {"bytes": int(counters.read(folder, "file.bytes")), "text_bytes": size,
                "events": lines, "lost": counters.ring_lost(folder)}


class LocalGzip(LocalText):
    key, name = "gzip", "text + gzip, local"


class Sink:
    """Takes one connection's bytes into a file."""

    def __init__(self, path):
        self.path = path
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.listener.settimeout(PATIENCE_S)
        self.port = self.listener.getsockname()[1]
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        with contextlib.suppress(OSError):
            connection, _ = self.listener.accept()
            with connection, self.path.open("wb") as out:
                while data := connection.recv(1 << 16):
                    out.write(data)

    def close(self):
        self.thread.join(PATIENCE_S)
        self.listener.close()
        if self.thread.is_alive():
            raise BoardError("the board's connection does not end")


class NetText(Method):
    key, name = "text_net", "text, Ethernet"
    reader = staticmethod(open)

    def __enter__(self):
        self.sink = Sink(self.work / "stream")
        self.port = self.sink.port
        return self

    def __exit__(self, kind, *_):
        if not kind:
            self.sink.close()

    def weigh(self, folder):
        with self.reader(self.sink.path, "rb") as lines:
            events, size = split_text(lines)
        return {"bytes": self.sink.path.stat().st_size, "text_bytes": size, "events": events,
                "lost": counters.ring_lost(folder)}


class NetGzip(NetText):
    key, name = "gzip_net", "text + gzip, Ethernet"
    reader = staticmethod(gzip.open)


class TraceCmd(Method):
    key, name = "trace_cmd", "trace-cmd record, Ethernet"

    def __enter__(self):
        if not shutil.which("trace-cmd"):
            raise BoardError("trace-cmd is not installed (tools/setup bench)")
        self.folder, self.port = self.work / "listen", free_ports(1)[0]
        self.folder.mkdir()
        self.log = (self.work / "listen.log").open("wb")
        self.listener = subprocess.Popen(
            ["trace-cmd", "listen", "-p", str(self.port), "-d", self.folder, "-o", "bench"],
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        time.sleep(1)
        return self

    def find(self):
        return [x for x in self.folder.iterdir() if x.suffix == ".dat"]

    def is_writing(self):
        """A process of its own serves the board, and ends when the file is put together."""
        pid = self.listener.pid
        return bool(Path(f"/proc/{pid}/task/{pid}/children").read_text())

    def __exit__(self, kind, *_):
        end = time.monotonic() + PATIENCE_S
        while not kind and self.is_writing() and time.monotonic() < end:
            time.sleep(0.2)
        self.listener.terminate()
        self.listener.wait()
        self.log.close()
        if not kind and not self.find():
            raise BoardError("trace-cmd listen wrote no file: " +
                             (self.work / "listen.log").read_text(errors="replace")[-500:])

    def weigh(self, folder):
        trace = self.find()[0]
        events, size = split_text(convert(self.kiseki, trace))
        return {"bytes": trace.stat().st_size, "text_bytes": size, "events": events,
                "lost": counters.ring_lost(folder)}


def convert(kiseki, trace):
    """The lines that the kernel would have printed."""
    done = subprocess.run([kiseki, "convert", trace, "-f", "ftrace", "-o", "-"], check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode:
        raise BoardError(done.stderr.decode(errors="replace").strip())
    return done.stdout.splitlines(keepends=True)


class Driver(Method):
    """The collector is a real one; what it stored and what it misses is asked of it."""
    device = "bench"

    def __enter__(self):
        self.collector = Collector(self.kiseki, self.work / "data", self.work / "collector.log")
        self.collector.start()
        self.port = self.collector.port
        return self

    def __exit__(self, kind, *_):
        if not kind:
            self.ledger = self.ask("ledger", self.device)
            out = self.work / "export.txt"
            answer = self.collector.client("export", self.device, "-f", "ftrace", "-o", out)
            if answer.returncode:
                raise BoardError(f"export failed: {answer.stderr.strip()}")
        self.collector.stop()

    def ask(self, *command):
        answer = self.collector.client(*command, "--json")
        if answer.returncode:
            raise BoardError(f"{command[0]} failed: {answer.stderr.strip()}")
        return json.loads(answer.stdout)

    def weigh(self, folder):
        with (self.work / "export.txt").open("rb") as lines:
            events, size = split_text(lines)
        made, lost = read_statistics(folder, "statistics"), sum(self.ledger["lost"].values())
        if made["events"] != events + lost:
            raise BoardError(f"of {made['events']} events the collector stored {events} and misses "
                             f"{lost}: that does not add up")
        return {"bytes": made["bytes_sent"], "text_bytes": size, "events": events, "lost": lost}

    def parts(self, folder, programs):
        """All that the driver's thread does counts as network."""
        first, last = (read_statistics(folder, x) for x in ("statistics.before", "statistics"))
        probe, block, thread = (last[f"cpu_{x}_ns"] - first[f"cpu_{x}_ns"]
                                for x in ("probe", "block", "thread"))
        return {"compress": (probe - block) / 1e9, "buffer": block / 1e9, "network": thread / 1e9}


def read_statistics(folder, name):
    """The driver's own figures."""
    return {key: int(value) for key, value in
            re.findall(r"(\w+)=(\d+)", counters.read(folder, name))}


class DriverBsf(Driver):
    key, name = "bsf", "Kiseki driver, bsf"


class DriverSched(Driver):
    key, name = "sched", "Kiseki driver, sched"


METHODS = {m.key: m for m in (Method, LocalText, NetText, LocalGzip, NetGzip, TraceCmd, DriverBsf,
                              DriverSched)}


def kiseki_program(root):
    path = Path(os.environ.get("KISEKI") or root / "build/src/cli/kiseki")
    if not path.exists():
        raise BoardError(f"no {path}: run make first")
    return path

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""boot_driver: scenarios of tests/system/boot_collector.sh: a fake device that brings boot charts to a real
`kiseki serve`, and what the commands and the API say of them.

	boot_driver.py KISEKI SCENARIO FOLDER

FOLDER has small.ksk, a boot chart in several blocks, and small.dump, its records as text; BOOT_MAKE in
the environment is the program that made them. Each scenario has a folder and a collector of its own, and
fails by an exception.
"""
import http.client
import json
import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from pathlib import Path

import fake_device as fd
from ksk_decode import INDEX, Block
from served import KISEKI, Collector, ident

FOLDER = Path(sys.argv[3])
SAMPLE = FOLDER / "small.ksk"
BOOT = 32768  # the stream
BOOT_CODEC = 5
ROLE_BOOT = 1


def kiseki(*args, collector=None, code=0):
    """What the command prints, or says if it fails; it exits so."""
    env = dict(os.environ)
    if collector:
        env["KISEKI_SERVER"] = f"http://127.0.0.1:{collector.http_port}"
    done = subprocess.run([KISEKI, *map(str, args)], env=env, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL)
    assert done.returncode == code, (args, done.returncode, done.stdout[-2000:], done.stderr)
    return done.stderr if code else done.stdout


def dump(path):
    return subprocess.run([os.environ["BOOT_MAKE"], "--dump", path], check=True,
                          stdout=subprocess.PIPE, text=True).stdout


def get(collector, path, status=200):
    c = http.client.HTTPConnection("127.0.0.1", collector.http_port, timeout=60)
    c.request("GET", path)
    answer = c.getresponse()
    body = answer.read()
    c.close()
    assert answer.status == status, (path, answer.status, body[:500])
    return body


def get_json(collector, path, status=200):
    return json.loads(get(collector, path, status))


def file_blocks(path):
    """Each block but those of the index."""
    data, at = Path(path).read_bytes(), 16
    while (b := Block(data, at, check=False)).codec != INDEX:
        yield b, data[at:b.end]
        at = b.end


class Bringer:
    """A device's recorder of its boot, and where its streams end."""

    def __init__(self, collector, device, run, role=ROLE_BOOT):
        self.run, self.ends = ident(run), {}
        self.device = fd.Device(collector.port, ident(device), name="a9", runs=[self.run])
        self.device.send(fd.hello(ident(device), b"b" * 16, "a9", [self.run], state=0) if role is None
                         else self.hello(ident(device), role))
        self.welcome = fd.decode_welcome(self.device.wait_for(fd.WELCOME))
        self.device.run(self.run)

    def hello(self, device, role):
        whole = fd.hello(device, b"b" * 16, "a9", [self.run], state=0)
        kind, body, _ = fd.split_frame(whole)
        return fd.frame(kind, body + fd.varint(role))

    def send(self, b, data):
        events = self.ends.get(b.stream, (0, 0))[1] + b.events + b.told()
        self.ends[b.stream] = b.sequence + 1, events
        self.device.sent += 1
        self.device.send(fd.frame(fd.BLOCK, data))

    def finish(self):
        self.device.end([(stream, *end) for stream, end in sorted(self.ends.items())])
        self.device.wait_acknowledged()


def bring_all(collector, device=1, run=7):
    who = Bringer(collector, device, run)
    for b, data in file_blocks(SAMPLE):
        who.send(b, data)
    who.finish()
    who.device.close()


def records(text):
    return [line for line in text.splitlines() if line != "cut"]


def scenario_stored(folder):
    """What was brought is listed as a boot, and comes out as it went in; nothing else looks at it."""
    c = Collector(folder)
    bring_all(c)
    runs = get_json(c, "/api/v1/runs")["runs"]
    assert len(runs) == 1 and runs[0]["kinds"] == ["boot"] and runs[0]["ended"], runs
    number = runs[0]["run"]
    assert runs[0]["events"] == len(records((FOLDER / "small.dump").read_text())), runs
    assert [len(get_json(c, f"/api/v1/runs?kind={k}")["runs"]) for k in ("sched", "func", "boot")] == [0, 0, 1]
    assert get_json(c, "/api/v1/devices/a9/runs?kind=boot")["runs"][0]["run"] == number
    get_json(c, "/api/v1/runs?kind=boots", 400)
    assert "boot" in kiseki("runs", collector=c).splitlines()[1]
    out = Path(folder) / "out.ksk"
    kiseki("export", "--run", number, "-o", out, collector=c)
    assert dump(out) == (FOLDER / "small.dump").read_text()
    kiseki("export", "a9", "--kind", "boot", "-o", out, collector=c)
    assert dump(out) == (FOLDER / "small.dump").read_text()
    kiseki("boot", "export", "a9", "-o", out, collector=c)
    assert dump(out) == (FOLDER / "small.dump").read_text()
    assert "of the collector" in kiseki("boot", "export", "nobody", "-o", out, collector=c, code=1)
    text = get_json(c, f"/api/v1/runs/{number}/export?format=ftrace", 400)["error"]
    assert "boot chart" in text, text
    get_json(c, f"/api/v1/runs/{number}/export?cpu=1", 400)
    formats = {f["name"]: f["kinds"] for f in get_json(c, "/api/v1/formats")["formats"]}
    assert "boot" in formats["ksk"] and "boot" not in formats["csv"], formats
    assert "0 lost" in kiseki("ledger", number, collector=c)
    # Nothing of it is the scheduler's.
    assert "scheduler" in get_json(c, "/api/v1/devices/a9/timeline", 404)["error"]
    assert get_json(c, "/api/v1/devices/a9")["run"] is None
    c.stop()
    said = json.loads(kiseki("info", "--json", Path(folder)))
    assert said["runs"][0]["kind"] == "boot", said
    kiseki("check", Path(folder))
    check_stored_export(Path(folder), number)


def check_stored_export(folder, number):
    """The same of a store that nobody serves: the latest boot, a boot by its number, and what is none."""
    out = folder / "stored.ksk"
    for run in ([], ["--run", number]):
        kiseki("boot", "export", folder, *run, "-o", out)
        assert dump(out) == (FOLDER / "small.dump").read_text()
    kiseki("boot", "export", folder, "-o", folder / "stored.tgz")
    assert (folder / "stored.tgz").read_bytes()[:2] == b"\x1f\x8b"
    assert "not a number" in kiseki("boot", "export", folder, "--run", "x", "-o", out, code=1)
    kiseki("boot", "export", folder, "--run", number + 99, "-o", out, code=1)
    assert "not the folder of a store" in kiseki("boot", "export", out, "--run", number, "-o", folder / "b.ksk", code=1)


def fetch(collector, path):
    """The headers and the body of an answer."""
    c = http.client.HTTPConnection("127.0.0.1", collector.http_port, timeout=60)
    c.request("GET", path)
    answer = c.getresponse()
    body = answer.read()
    c.close()
    assert answer.status == 200, (path, answer.status, body[:500])
    return dict(answer.getheaders()), body


def scenario_charted(folder):
    """The chart of a boot as page, picture and JSON, of its run and of its device; and what is not one."""
    c = Collector(folder)
    bring_all(c)
    number = get_json(c, "/api/v1/runs")["runs"][0]["run"]
    for base in (f"/api/v1/runs/{number}", "/api/v1/devices/a9"):
        doc = get_json(c, f"{base}/boot.json")
        assert doc["format"] == "kiseki-boot" and doc["version"] == 1 and doc["device"] == "a9", doc["device"]
        comms = {p["names"][-1]["comm"] for p in doc["processes"]}
        assert {"init", "rcS", "mount", "fsck", "getty"} <= comms, comms
        headers, page = fetch(c, f"{base}/boot.html?path=&kernel=1&min=20ms")
        assert headers["Content-Type"].startswith("text/html"), headers
        assert "Content-Security-Policy" in headers and headers["X-Content-Type-Options"] == "nosniff", headers
        assert b"script-src 'sha256-" in page and b"fsck -p /dev/mmcblk0p2" in page
        headers, picture = fetch(c, f"{base}/boot.svg?width=900")
        assert headers["Content-Type"] == "image/svg+xml", headers
        assert ET.fromstring(picture).get("width") == "900"
        data = get_json(c, f"{base}/boot.chart.json?path=&with={number}")
        differs = [(k, doc[k], b["boot"].get(k)) for b in data["boots"] for k in doc if doc[k] != b["boot"].get(k)]
        assert len(data["boots"]) == 2 and not differs and data["path"]["steps"], (data["path"], differs)
        assert {(a, b) for a, b, *_ in data["pairs"]["list"]} == {(i, i) for i in range(len(doc["processes"]))}
        assert b'"pairs":' in fetch(c, f"{base}/boot.html?with={number}")[1]
    out = Path(folder) / "out.json"
    kiseki("boot", "chart", number, "-o", out, collector=c)
    assert json.loads(out.read_text()) == doc
    for bad in ("min=x", "kernel=2", "width=0", "sampled=yes", "path=no-such-process", "with=x", "with=0"):
        get_json(c, f"/api/v1/runs/{number}/boot.svg?{bad}", 400)
    get_json(c, f"/api/v1/runs/{number}/boot.json?width=9", 400)
    get_json(c, f"/api/v1/runs/{number}/boot.chart.json?width=9", 400)
    get_json(c, f"/api/v1/runs/{number}/boot.chart.json?with=999", 404)
    get_json(c, "/api/v1/runs/999/boot.html", 404)
    c.stop()
    kiseki("boot", "chart", Path(folder), "-o", out)
    assert json.loads(out.read_text()) == doc


def check_report(c, base, number, doc):
    """Why it took so long, and how it differs from itself: not at all."""
    said = get_json(c, f"{base}/boot/report?path=1")
    assert said["report"] == "boot" and said["boot"]["device"] == "a9" and said["sched"] is None, said["boot"]
    assert said["cpu"] and said["path"] and said["path"][-1]["to_ns"] == said["to_ns"], said["path"]
    assert get_json(c, f"{base}/boot/report")["path"] is None
    assert len(get_json(c, f"{base}/boot/report?limit=1")["cpu"]) == 1
    own = json.loads(kiseki("boot", "report", number, "--json", "--path", collector=c))
    assert own == {k: v for k, v in said.items() if k != "sched"}
    diff = get_json(c, f"{base}/boot/diff?with={number}")
    assert diff["report"] == "boot diff" and diff["target_change_ns"] == 0, diff
    assert diff["processes"] == [] and (diff["new"], diff["gone"]) == (0, 0), diff
    assert len(get_json(c, f"{base}/boot/diff?with={number}&min=0&kernel=1")["processes"]) <= len(doc["processes"])


def scenario_reported(folder):
    """The report and the comparison are those of the commands, and refuse what they cannot take."""
    c = Collector(folder)
    bring_all(c)
    number = get_json(c, "/api/v1/runs")["runs"][0]["run"]
    doc = get_json(c, f"/api/v1/runs/{number}/boot.json")
    for base in (f"/api/v1/runs/{number}", "/api/v1/devices/a9"):
        check_report(c, base, number, doc)
    for bad in ("min=x", "kernel=2", "path=2", "limit=0", "sampled=yes", "to=no-such-process", "width=9"):
        get_json(c, f"/api/v1/runs/{number}/boot/report?{bad}", 400)
    for bad in ("", "with=x", f"with={number}&min=x", f"with={number}&path=1"):
        get_json(c, f"/api/v1/runs/{number}/boot/diff?{bad}", 400)
    get_json(c, f"/api/v1/runs/{number}/boot/diff?with=999", 404)
    get_json(c, "/api/v1/runs/999/boot/report", 404)
    c.stop()


def scenario_resumed(folder):
    """A connection that breaks and a collector that is killed cost nothing."""
    c = Collector(folder)
    blocks = list(file_blocks(SAMPLE))
    assert len(blocks) > 6
    who = Bringer(c, 1, 9)
    for b, data in blocks[:4]:
        who.send(b, data)
    who.device.wait_acknowledged()
    c.kill()
    c.again()
    again = Bringer(c, 1, 9)
    rows = {stream: next_ for _, stream, next_ in again.welcome["rows"]}
    assert rows[BOOT] == max(b.sequence for b, _ in blocks[:4] if b.stream == BOOT) + 1, rows
    for b, data in blocks:  # the first of them once more
        again.send(b, data)
    again.ends = {}
    for b, _ in blocks:
        again.ends[b.stream] = b.sequence + 1, again.ends.get(b.stream, (0, 0))[1] + b.events + b.told()
    again.finish()
    out = Path(folder) / "out.ksk"
    kiseki("export", "a9", "--kind", "boot", "-o", out, collector=c)
    assert dump(out) == (FOLDER / "small.dump").read_text()
    c.stop()


def scenario_lost(folder):
    """A block that never comes is in the ledger, with its records and those that lean on it."""
    c = Collector(folder)
    blocks = list(file_blocks(SAMPLE))
    boot = [b for b, _ in blocks if b.stream == BOOT]
    who = Bringer(c, 1, 11)
    for b, data in blocks:
        if b is not boot[2]:
            who.send(b, data)
    who.ends[BOOT] = len(boot), sum(b.events for b in boot)
    who.finish()
    run = get_json(c, "/api/v1/runs")["runs"][0]
    missing = sum(b.events for b in boot[2:])
    assert run["events"] == sum(b.events for b in boot) - missing, run
    assert run["lost"]["spool"] == missing and not run["lost_unknown"], run
    rows = get_json(c, f"/api/v1/runs/{run['run']}/ledger")["rows"]
    assert rows[0]["cpu"] is None and rows[0]["stream"] == BOOT and rows[0]["count"] == missing, rows
    assert "boot" in kiseki("ledger", run["run"], collector=c)
    out = Path(folder) / "out.ksk"
    kiseki("export", "--run", run["run"], "-o", out, collector=c)
    lines = records(dump(out))
    assert lines[-1].split()[:3] == ["loss", "2", str(missing)], lines[-1]
    assert lines[:-1] == (FOLDER / "small.dump").read_text().splitlines()[:len(lines) - 1]
    c.stop()


def scenario_beside(folder):
    """The recorder of a boot leaves the agent's connection where it is, and is told nothing."""
    c = Collector(folder)
    agent = fd.Device(c.port, ident(1), name="a9", runs=[ident(3)])
    agent.come_in()
    agent.run(ident(3))
    agent.block(1, 0, before=0, events=0)
    agent.wait_acknowledged()
    bring_all(c, device=1, run=7)
    agent.block(1, 1, events=0)
    agent.wait_acknowledged()
    device = get_json(c, "/api/v1/devices/a9")
    assert device["online"] and device["session"] == 1, device
    assert len(get_json(c, "/api/v1/devices")["devices"]) == 1
    # One that says nothing of a role would be the agent, which is there.
    try:
        Bringer(c, 1, 8, role=None)
        raise AssertionError("a second agent was let in")
    except fd.Closed as e:
        assert e.bye[0] == 3, e.bye
    agent.block(1, 2, events=0)
    agent.wait_acknowledged()
    c.stop()


def scenario_hostile(folder):
    """What is no boot stream is refused, and a payload that is none costs only itself."""
    c = Collector(folder)
    who = Bringer(c, 1, 13)
    who.device.block(BOOT + 1, 0, before=0, codec=BOOT_CODEC)
    assert who.device.wait_bye()[0] == 1
    who = Bringer(c, 2, 14)
    who.device.block(BOOT, 0, before=0, events=5, payload=b"\xff" * 40, codec=BOOT_CODEC)
    who.ends[BOOT] = 1, 5
    who.finish()
    run = get_json(c, "/api/v1/runs?kind=boot")["runs"][0]
    out = Path(folder) / "out.ksk"
    kiseki("export", "--run", run["run"], "-o", out, collector=c)
    kiseki("check", out)
    said = json.loads(kiseki("info", "--json", out))["boot"]
    lost = sum(row["lost"] for row in said["ledger"].values())
    assert said["records"] < 5 and said["records"] + lost == 5, said
    c.stop()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as work:
        globals()["scenario_" + sys.argv[2]](work)
    print(f"boot_collector: {sys.argv[2]}: ok")

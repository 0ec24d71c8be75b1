#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""work: facts of recordings, against the reports of the same recordings; and a function that gets slower while a collector watches.

    work.py KISEKI SAMPLE_MAKE FILL_STORE
"""
import json
import random
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections import Counter
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tools"))
from profile_story import head, profile_lines, slower_from  # noqa: E402
from served import WAIT_S, Collector  # noqa: E402

KISEKI, SAMPLE_MAKE, FILL_STORE = sys.argv[1:4]
random.seed(11)
ALL_TIME = ["--from", "-1h", "--to", f"@{int(time.time()) + 7 * 86400}"]


def run(*words, code=0):
    out = subprocess.run([str(w) for w in words], capture_output=True, text=True)
    assert out.returncode == code, f"{words}: {out.returncode}, {out.stdout[-500:]}{out.stderr[-500:]}"
    return out


def make(folder, name, lines):
    """A recording that a script describes, in small blocks and segments."""
    script = folder / f"{name}.sample"
    script.write_text("\n".join(lines) + "\n")
    run(SAMPLE_MAKE, script, folder / f"{name}.ksk", 2000, 8000)
    return folder / f"{name}.ksk"


def vm_lines(seconds, every_ns=10_000_000):
    """Two machines that take turns on one CPU; one of them halts now and then."""
    lines = head(1, "host") + [f"sampling {every_ns} 0 1 2 1 31", "life 400 1 0 exec qemu-one", "life 500 1 0 exec qemu-two"]
    task = ["401/400/0/CPU%200/KVM", "501/500/0/CPU%200/KVM"]
    now, who = 1_000_000, 0
    lines.append(f"0 {now} entry {task[0]}")
    while now < seconds * 1_000_000_000:
        for _ in range(random.randrange(1, 4)):
            now += every_ns
            lines += [f"0 {now} sample {task[who]} guest-user {every_ns} pc=0x{0x400000 + random.randrange(8) * 256:x} table=0x{0x41000000 + who:x}",
                      f"0 {now + 400} exit {task[who]} 0", f"0 {now + 2000} entry {task[who]}"]
        halts = who == 1 and random.random() < 0.3
        lines += [f"0 {now + 5000} exit {task[who]} {'0x101 0x07e00000' if halts else '0'}",
                  f"0 {now + 6000} switch {task[who]} {task[1 - who]} {1 if halts else 0}"]
        if halts:
            lines += [f"0 {now + 2_000_000} wake {task[0]} {task[1]} 0"]
        who = 1 - who
        lines.append(f"0 {now + 8_000 if not halts else now + 2_500_000} entry {task[who]}")
        now += 3_000_000
    return lines


def top(folder, *options):
    return json.loads(run(KISEKI, "profile", "top", "--data", folder, "--limit", 0, "--json", *ALL_TIME, *options).stdout)


def check_profile(folder, file):
    report = json.loads(run(KISEKI, "profile", "report", file, "--limit", 0, "--json").stdout)
    want = {r["name"]: (r["self"]["samples"], r["self"]["weight"], r["total"]["samples"]) for r in report["rows"]}
    facts = top(folder, "--fleet")
    found = {r["name"]: (r["self"]["samples"], r["self"]["ns"], r["total"]["samples"]) for r in facts["rows"]}
    assert found == want, f"{found}\nnot\n{want}"
    assert facts["basis"]["minutes"] >= 3, facts["basis"]
    by = top(folder, "--fleet", "--by", "process")["rows"]
    assert [(r["name"], r["self"]["samples"]) for r in by] == [("server", sum(w[0] for w in want.values()))], by
    print(f"a profile: {len(want)} functions in {facts['basis']['minutes']} minutes, as the report has them")


def check_cycles(folder, file):
    """They are no time, and apart from it."""
    report = json.loads(run(KISEKI, "profile", "report", file, "--limit", 0, "--json").stdout)
    want = {r["name"]: (r["self"]["samples"], r["self"]["weight"]) for r in report["rows"]}
    facts = top(folder, "--fleet", "--kind", "cycles")
    assert {r["name"]: (r["self"]["samples"], r["self"]["ns"]) for r in facts["rows"]} == want, facts
    assert facts["kind"] == "cycles" and top(folder, "--fleet")["rows"] == []
    shown = run(KISEKI, "profile", "top", "--data", folder, "--fleet", "--kind", "cycles", *ALL_TIME).stdout
    assert str(max(w[1] for w in want.values())) in shown, shown
    trend = run(KISEKI, "profile", "trend", "copy", "--data", folder, "--fleet", "--kind", "cycles", *ALL_TIME).stdout
    assert " ms " not in trend and "000000 " in trend, trend
    print(f"by cycles: {len(want)} functions, as the report has them")


def check_vm(folder, file):
    report = json.loads(run(KISEKI, "vm", "report", file, "--json").stdout)
    want = Counter()
    for machine in report["machines"]:
        want.update(machine["classes_ns"])
    facts = top(folder, "--fleet", "--kind", "vm", "--by", "class")
    found = {r["name"]: r["self"]["ns"] for r in facts["rows"]}
    assert found == {w: n for w, n in want.items() if n}, f"{found}\nnot\n{want}"
    machines = {r["name"] for r in top(folder, "--fleet", "--kind", "vm", "--by", "machine")["rows"]}
    assert machines == {"qemu-one", "qemu-two"}, machines
    print(f"virtual machines: {len(found)} classes in {facts['basis']['minutes']} minutes, to the nanosecond")


def check_facts(folder, name, lines, check):
    """All of a recording, once and again."""
    store = folder / f"{name}-store"
    store.mkdir()
    file = make(folder, name, lines)
    run(FILL_STORE, store, name, file)
    done = json.loads(run(KISEKI, "work", "--data", store, "--json").stdout)
    assert done["errors"] == 0 and done["waiting"] == 0 and done["sets"] >= 3, done
    assert done["pace"]["t2_s"] > 0 and done["pace"]["hosts_max"] > 0, done
    check(store, file)
    again = json.loads(run(KISEKI, "work", "--data", store, "--json").stdout)
    assert again["sets"] == 0, again
    for path in store.glob("facts.sqlite*"):
        path.unlink()
    run(KISEKI, "work", "--data", store, "--workers", 1)
    check(store, file)


def check_misuse(folder):
    for words, code, text in ((["work"], 2, "--data is missing"), (["work", "--data", folder / "none"], 1, "cannot open"),
                              (["work", "--data", folder, "--workers", "0"], 2, "--workers"), (["alerts", "--server", "http://127.0.0.1:9"], 1, "cannot")):
        err = run(KISEKI, *words, code=code).stderr
        assert text in err and err.count("\n") <= 2, err


def check_late(folder):
    """Facts cannot be kept at first: the collector takes blocks all the same, and goes on with them when they can."""
    store = folder / "late"
    (store / "facts.sqlite").mkdir(parents=True)
    collector = Collector(str(store))
    collector.wait_log("facts.sqlite")
    try:
        get(collector, "work")
        raise AssertionError("there are workers without facts")
    except urllib.error.HTTPError as e:
        assert e.code == 501, e.code
    assert get(collector, "devices")["devices"] == []
    (store / "facts.sqlite").rmdir()
    collector.wait_log("facts are worked out again")
    assert get(collector, "work")["errors"] == 0
    collector.stop()


class Hook(BaseHTTPRequestHandler):
    """A webhook that is down at first."""
    posts, refused = [], 1

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if Hook.refused:
            Hook.refused -= 1
            self.send_response(503)
        else:
            Hook.posts.append(body)
            self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


def wait_for(what, condition):
    deadline = time.monotonic() + WAIT_S
    while time.monotonic() < deadline:
        if condition():
            return
        time.sleep(0.1)
    raise AssertionError(f"no {what}")


def get(collector, path):
    with urllib.request.urlopen(f"http://127.0.0.1:{collector.http_port}/api/v1/{path}", timeout=WAIT_S) as f:
        return json.load(f)


def check_alert(folder):
    """Half an hour until now in which `copy` becomes slower by half, in the 20th minute."""
    store = folder / "watched"
    store.mkdir()
    end = int(time.time()) // 60 * 60 - 1
    run(FILL_STORE, store, "box", make(folder, "slower", profile_lines(26 * 60, slower_from(20), 5_000_000)), str(end))
    server = HTTPServer(("127.0.0.1", 0), Hook)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    collector = Collector(str(store), "--alert-webhook", f"http://127.0.0.1:{server.server_port}/secret-path")
    wait_for("minutes", lambda: get(collector, "work")["minutes"] >= 26)
    wait_for("post", lambda: Hook.posts)
    work, alerts = get(collector, "work"), get(collector, "alerts")["alerts"]
    assert work["errors"] == 0 and work["pace"]["t1_s"] == 60 and work["pace"]["t2_s"] > 0, work
    assert [(a["kind"], a["scope"], a["name"]) for a in alerts] == [("function", "server", "copy")], alerts
    a = alerts[0]
    assert a["device"] == "box" and a["value"] > 1.25 * a["usual"] and a["until_s"] is None, a
    assert a["told_s"] - a["since_s"] <= 60, a
    assert f"&since={a['since_s']}&" in a["link"] and f"&baseuntil={a['since_s']}&" in a["link"] and a["id"] in a["link"], a
    assert Hook.posts[0]["name"] == "copy" and Hook.posts[0]["number"] == a["number"], Hook.posts
    assert not any("secret-path" in line for line in collector.log), collector.log
    collector.wait_log(r"alert on box: server: function copy")
    shown = run(KISEKI, "alerts", "--server", f"http://127.0.0.1:{collector.http_port}").stdout
    assert "box: server: function copy" in shown and shown.startswith("now"), shown
    assert get(collector, "alerts?open=1&device=box")["alerts"] == alerts
    collector.stop()
    server.shutdown()
    print(f"an alert: {a['text']}")


with tempfile.TemporaryDirectory() as name:
    check_facts(Path(name), "profile", profile_lines(190, lambda s: [5, 4, 3, 2, 1, 1, 6]), check_profile)
    check_facts(Path(name), "cycles", profile_lines(190, lambda s: [5, 4, 3, 2, 1, 1, 6], method=1), check_cycles)
    check_facts(Path(name), "vm", vm_lines(150), check_vm)
    check_misuse(Path(name))
    check_late(Path(name))
    check_alert(Path(name))

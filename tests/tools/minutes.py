# SPDX-License-Identifier: MIT
"""minutes: recordings of some seconds as minutes of one device, and what a collector has to tell about them.

An alert needs ten minutes of past, and no test has ten minutes. So each recording is put into a store at a minute of its own: what a recorder
with `--duty 2s/60s` would have sent. All else is real.
"""
import json
import subprocess
import time
import urllib.request

import served


def ask(collector, path):
    with urllib.request.urlopen(f"http://127.0.0.1:{collector.http_port}/api/v1/{path}", timeout=served.WAIT_S) as f:
        return json.load(f)


def watch(fill_store, store, files, *options):
    """When the first minute began, and the alerts, the first one first."""
    first_s = (int(time.time()) // 60 - len(files)) * 60
    for i, file in enumerate(files):
        subprocess.run([fill_store, store, "box", file, str(first_s + 60 * i + 30)], check=True, stdout=subprocess.DEVNULL)
    collector = served.Collector(str(store), *options)
    deadline = time.monotonic() + served.WAIT_S
    while (work := ask(collector, "work"))["minutes"] < len(files) or work["waiting"]:
        assert time.monotonic() < deadline and not work["errors"], work
        time.sleep(0.2)
    alerts = ask(collector, "alerts")["alerts"][::-1]
    collector.stop()
    return first_s, alerts

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""fake_api: an HTTP server that answers as a collector could, and as none should.

	fake_api.py LOG [PORT]   prints its port; every request goes into LOG, one line each

The real one is tested elsewhere; this one is for what it never does: answers that are cut off, that
are no JSON, names full of control characters, failures of every kind.
"""
import json
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

LOG = open(sys.argv[1], "a", buffering=1)
GOOD, EVIL, AWAY = "aa" * 16, "bb" * 16, "cc" * 16


def device(name, ident, **more):
    row = {"name": name, "id": ident, "kernel": "6.1", "machine": "armv7l", "agent": "0.1.0",
           "cpus": 2, "seen": "2026-11-15T05:00:00.123Z", "online": True, "state": "tracing",
           "desired": None, "run": 7, "sources": ["bpf"], "config": {},
           "received": {"events": 1000, "bytes": 2500, "events_per_s": 123, "bytes_per_s": 300},
           "status": {"source": "bpf", "lost": {"ring": 3, "spool": 4}, "spool_used": 1,
                      "spool_size": 8, "text": ""},
           "clock": {"offset_ns": -5, "error_ns": 1500, "round_trip_ns": 3000}}
    row.update(more)
    return row


DEVICES = [
    device("board-1", GOOD),
    device("evil\x1b[2J\u009b\n", EVIL, state="failed",
           status={"source": None, "lost": {}, "text": "no tracefs\x1b[31m"}, clock=None),
    device("away", AWAY, online=False, state="offline", seen=None,
           config={"pid": [3, 40], "comm": ["gen*\x1b"], "cgroup": []}),
]


def switch(ns, cpu, prev, nxt):
    return {"kind": "switch", "ns": ns, "tick": ns, "cpu": cpu, "common_pid": prev,
            "common_flags": 0, "common_preempt_count": 2, "prev_comm": f"t{prev}",
            "prev_pid": prev, "prev_prio": 120, "prev_state": 1, "prev_state_text": "S",
            "next_comm": f"t{nxt}", "next_pid": nxt, "next_prio": 120}


EVENTS = [switch(1_000_000_000, 0, 0, 10), switch(1_000_000_500, 1, 0, 20),
          {"kind": "lost", "ns": 1_000_000_500, "tick": 1, "cpu": 1, "from_ns": 1_000_000_500,
           "from_tick": 1, "to_ns": 1_000_000_900, "to_tick": 1, "count": 9, "cause": "ring"},
          switch(1_000_001_000, 0, 10, 0)]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, body, status=200, kind="application/json", length=None, headers=()):
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data) if length is None else length))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def live(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        lines = "".join(f"data: {json.dumps(e, separators=(',', ':'))}\n" for e in EVENTS)
        self.wfile.write((f"event: state\ndata: {json.dumps(DEVICES[0])}\n\n: beat\n\n"
                          "event: run\ndata: {\"run\": 7}\n\n"
                          f"event: later\ndata: what\n\nevent: events\n{lines}\n"
                          "event: left_out\ndata: {\"items\": 5}\n\n").encode())
        self.wfile.flush()
        time.sleep(0 if "away" in self.path else 600)  # longer than any test takes

    def do_GET(self):
        LOG.write(f"GET {self.path}\n")
        path, _, query = self.path.partition("?")
        if path == "/api/v1/devices":
            self.answer({"devices": DEVICES})
        elif path == "/api/v1/runs":
            self.answer({"more": 2, "runs": [
                {"run": 7, "device": "board-1", "first": "2026-11-15T05:00:00Z",
                 "last": "2026-11-15T05:01:00Z", "events": 1000, "bytes": 2500,
                 "lost": {"ring": 3}, "lost_unknown": True, "ended": False}]})
        elif path == "/api/v1/runs/7":
            self.answer({"run": 7, "device": "board-1", "device_id": GOOD})
        elif path == "/api/v1/runs/7/export":
            self.answer(b"run\n", kind="text/plain")
        elif path.endswith("/ledger"):
            self.answer({"run": 7, "events": 997, "lost": {"ring": 3}, "lost_uncounted": 1,
                         "ended": True, "rows": [
                             {"cpu": 0, "cause": "ring", "count": 3, "from_ns": 1000, "to_ns": 3000,
                              "from": "2026-11-15T05:00:00Z"},
                             {"cpu": None, "cause": "spool", "count": None, "from_ns": None,
                              "to_ns": 5000, "from": None}]})
        elif path.endswith("/export") and "/cut/" in path:
            self.answer(b"half", kind="text/plain", length=1000)
            self.close_connection = True
        elif path.endswith("/export") and "/board-1/" in path:
            self.answer(b"exported\n", kind="text/plain",
                        headers=[("Kiseki-Note", "it cannot hold all\x1b[2J")])
        elif path.endswith("/live") and "/nobody/" not in path:
            self.live()
        elif "/garbage" in path:
            self.answer(b"{\"runs\": [")
        elif "/broken" in path:
            self.answer(b"<html>", status=500)
        else:
            self.answer({"error": f"there is no device {path.split('/')[-2]}"}, status=404)

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        LOG.write(f"POST {self.path} {body}\n")
        self.answer({"results": [
            {"device": d["name"], "id": d["id"], "ok": d["id"] != EVIL, "deferred": d["id"] == AWAY,
             "code": 95 if d["id"] == EVIL else 0,
             "text": "no tracefs" if d["id"] == EVIL else ""}
            for d in DEVICES if d["id"] in self.path]})


server = ThreadingHTTPServer(("127.0.0.1", int((sys.argv + ["0"])[2])), Handler)
server.daemon_threads = True
print(server.server_port, flush=True)
server.serve_forever()

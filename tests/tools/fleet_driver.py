#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""fleet_driver: what tests/system/fleet_api.sh asks a real `kiseki serve` about several devices and hours.

	fleet_driver.py KISEKI FILL_FACTS FILE.ksk

Facts are put there by FILL_FACTS (FILE.ksk is for the drivers that are used); what must come out was added up by hand. The reader of facts.sqlite is written from
docs/format/facts.md alone. Fails by an exception.
"""
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import urllib.parse
from collections import Counter
from pathlib import Path

import fake_device as fd
import func_driver
from func_driver import kiseki
from api_driver import described
from served import Collector, ident

func_driver.CLI_ENV["ASAN_OPTIONS"] = "detect_leaks=0"
FILL = sys.argv[2]
HOUR = 1700000000 // 3600 * 3600
MALLOC = "malloc", "libc.so"


def fill(data, device, start_s, lines, kind="profile"):
    subprocess.run([FILL, data, ident(device).hex(), str(start_s), kind], input="\n".join(lines) + "\n", text=True,
                   check=True)


def fill_all(data):
    """Two devices; on the second malloc takes more from the second hour on."""
    for hour in range(2):
        for minute in (0, 1, 59):
            at = HOUR + hour * 3600 + minute * 60
            fill(data, 1, at, ["sh@process;main@sh;malloc@libc.so 1", "sh@process;main@sh 2", "cat@process;main@cat 1"])
            fill(data, 2, at, [f"sh@process;main@sh;malloc@libc.so {1 + 5 * hour}", "sh@process;main@sh;main@sh 3"])
    fill(data, 1, HOUR, ["one@machine;sh@process;guest@class;user@mode;sh@object;main@sh 3",
                         "one@machine;sh@process;steal@class;other@culprit 2", "one@machine;halt@class 5"], "vm")
    fill(data, 1, HOUR, ["sh 12 1000", "sh 3 70", "cat 1 5"], "sched")


# --- a second reader of the file ---


class Bytes:
    def __init__(self, data):
        self.data, self.at = data, 0

    def byte(self):
        self.at += 1
        return self.data[self.at - 1]

    def number(self):
        value = shift = 0
        while True:
            b = self.byte()
            value |= (b & 127) << shift
            shift += 7
            if b < 128:
                return value & (1 << 64) - 1

    def signed(self):
        n = self.number()
        return n >> 1 ^ -(n & 1)

    def text(self):
        n = self.number()
        self.at += n
        return self.data[self.at - n:self.at].decode()

    def values(self, period):
        samples = self.number()
        return samples, samples * period + self.signed()


def siphash(data):
    """SipHash-2-4 with a key of zeros."""
    mask = (1 << 64) - 1
    v = [0x736f6d6570736575, 0x646f72616e646f6d, 0x6c7967656e657261, 0x7465646279746573]

    def turn(x, n):
        return (x << n | x >> 64 - n) & mask

    def rounds(n):
        for _ in range(n):
            v[0] = v[0] + v[1] & mask
            v[1] = turn(v[1], 13) ^ v[0]
            v[0] = turn(v[0], 32)
            v[2] = v[2] + v[3] & mask
            v[3] = turn(v[3], 16) ^ v[2]
            v[0] = v[0] + v[3] & mask
            v[3] = turn(v[3], 21) ^ v[0]
            v[2] = v[2] + v[1] & mask
            v[1] = turn(v[1], 17) ^ v[2]
            v[2] = turn(v[2], 32)

    padded = data + bytes(7 - len(data) % 8) + bytes([len(data) & 255])
    for i in range(0, len(padded), 8):
        word = int.from_bytes(padded[i:i + 8], "little")
        v[3] ^= word
        rounds(2)
        v[0] ^= word
    v[2] ^= 0xff
    rounds(4)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def read_tree(data, names):
    """{path: (samples, ns)} of what is some stack's own."""
    b = Bytes(data)
    assert b.byte() == 1
    numbers, number = [], 0
    for _ in range(b.number()):
        number += b.number()
        numbers.append(number)
    nodes, period = b.number(), b.number()
    found, path = {}, []
    assert b.values(period) == (0, 0)
    for _ in range(nodes):
        head, at = b.number(), b.number()
        del path[len(path) - (head >> 1):]
        path.append("@".join(reversed(names[numbers[at]])))
        if head & 1:
            found[";".join(path)] = b.values(period)
    assert b.at == len(data)
    return found


def read_lists(data, names):
    """Of each list {name: (self, total)}."""
    b, lists = Bytes(data), []
    assert b.byte() == 1
    for _ in range(5):
        rows, n, length = {}, b.number(), b.number()
        end, number = b.at + length, 0
        period = b.number() if n else 0
        for _ in range(n):
            number += b.number()
            own = b.values(period)
            more = b.values(period)
            rows[names[number]] = own[0], own[0] + more[0]
            assert own[1] == own[0] * 1000000 and more[1] == more[0] * 1000000
        assert b.at == end
        lists.append(rows)
    assert b.at == len(data)
    return lists


def read_histogram(b):
    found = []
    octaves = b.number()
    if not octaves:
        return None
    head = b.number(), b.number(), b.number()
    for _ in range(octaves):
        octave, n, at = b.number(), b.number(), 0
        for _ in range(n):
            at += b.number()
            found.append((octave, at, b.number()))
            at += 1
    return head, found


def check_file(data):
    """What the specification says of the bytes is what is there."""
    db = sqlite3.connect(Path(data) / "facts.sqlite")
    assert db.execute("PRAGMA user_version").fetchone() == (1,)
    names = {}
    for number, value, obj, name in db.execute("SELECT number, hash, object, name FROM name"):
        names[number] = obj, name
        assert value & (1 << 64) - 1 == siphash(obj.encode() + b"\0" + name.encode()), (obj, name)
    flat, tree, objects = db.execute(
        "SELECT flat, tree, objects FROM fact JOIN body USING (id) WHERE kind = 0 AND length = 60 AND start = ? AND device = ?",
        (HOUR, ident(2))).fetchone()
    assert read_tree(tree, names) == {"sh@process;main@sh;malloc@libc.so": (1, 1000000),
                                      "sh@process;main@sh;main@sh": (3, 3000000)}
    lists = read_lists(flat, names)
    assert lists[0] == {("sh", "main"): (3, 4), ("libc.so", "malloc"): (1, 1)}
    assert lists[1] == {("process", "sh"): (4, 4)}
    assert lists[2] == {("sh", ""): (3, 4), ("libc.so", ""): (1, 1)}
    b = Bytes(objects)
    assert (b.byte(), b.number(), b.text(), b.byte(), b.byte(), b.byte(), b.number()) == (1, 1, "libc.so", 2, 0xab, 0xcd, 2)
    (tasks,) = db.execute("SELECT tasks FROM fact JOIN body USING (id) WHERE kind = 2").fetchone()
    b = Bytes(tasks)
    assert (b.byte(), b.number(), b.text(), b.number(), b.number(), b.number(), b.number()) == (1, 2, "cat", 1000000, 1, 0, 0)
    assert read_histogram(b) == ((5, 5, 0), [(0, 5, 1)]) and read_histogram(b) is None
    assert (b.text(), b.number(), b.number(), b.number(), b.number()) == ("sh", 15000000, 2, 0, 0)
    # 70 is in the octave from 64 on, 1000 in that from 512 on: 1000 >> 3 is 125
    assert read_histogram(b) == ((1070, 70, 930), [(1, 6, 1), (4, 61, 1)])
    db.close()


# --- questions ---


def ask(c, what, status=200, **params):
    path = f"/api/v1/fleet/{what}"
    return described(c, path, path + "?" + urllib.parse.urlencode(params), status)


def shown(answer):
    return {(r["name"], r["object"]): (r["self"]["samples"], r["total"]["samples"]) for r in answer["rows"]}


def check_top(c):
    both = {"from": f"@{HOUR}", "to": f"@{HOUR + 7200}"}
    top = ask(c, "top", **both)
    assert shown(top) == {MALLOC: (3 + 3 + 3 + 18, 27), ("main", "sh"): (12 + 18, 12 + 18 + 27), ("main", "cat"): (6, 6)}
    assert [r["name"] for r in top["rows"]] == ["main", "malloc", "main"]
    assert top["basis"]["devices"] == 2 and top["basis"]["all"] == {"samples": 63, "ns": 63000000}
    assert top["basis"]["covered_ns"] == 12 * 60 * 10**9
    assert shown(ask(c, "top", by="process", **both)) == {("sh", None): (57, 57), ("cat", None): (6, 6)}
    assert shown(ask(c, "top", by="object", sort="total", **both)) == {
        ("sh", None): (30, 57), ("libc.so", None): (27, 27), ("cat", None): (6, 6)}
    assert len(ask(c, "top", limit=1, **both)["rows"]) == 1
    first = {"from": f"@{HOUR}", "to": f"@{HOUR + 3540}"}  # without its last minute
    assert shown(ask(c, "top", devices="board", **first)) == {MALLOC: (2, 2), ("main", "sh"): (4, 6), ("main", "cat"): (2, 2)}
    by_class = ask(c, "top", kind="vm", by="class", **first)
    assert shown(by_class) == {("guest", None): (3, 3), ("steal", None): (2, 2), ("halt", None): (5, 5)}
    assert shown(ask(c, "top", kind="vm", **first)) == {("main", "sh"): (3, 3)}
    assert shown(ask(c, "top", last="1h")) == {}
    devices = ask(c, "top", by="device", **both)
    assert [(r["name"], r["device"], r["self"]["samples"]) for r in devices["rows"]] == [
        ("other", ident(2).hex(), 39), ("board", ident(1).hex(), 24)]
    assert devices["basis"] == top["basis"]
    assert [r["name"] for r in ask(c, "top", by="device", limit=1, **both)["rows"]] == ["other"]
    out, _ = kiseki("profile", "top", "--fleet", "--by", "device", "--from", f"@{HOUR}", "--to", f"@{HOUR + 7200}", collector=c)
    assert "61.90" in out and "other" in out, out
    out, _ = kiseki("profile", "top", "--fleet", "--from", f"@{HOUR}", "--to", f"@{HOUR + 7200}", "--json", collector=c)
    assert json.loads(out) == top
    out, _ = kiseki("profile", "top", "--fleet", "--from", f"@{HOUR}", "--to", f"@{HOUR + 7200}", "--json", "--data", c.data)
    assert json.loads(out) == top
    out, _ = kiseki("profile", "top", "board", "--from", f"@{HOUR}", "--to", f"@{HOUR + 3600}", collector=c)
    assert "malloc" in out and "25.00" in out, out


def check_trees(c):
    both = {"from": f"@{HOUR}", "to": f"@{HOUR + 7200}"}
    tree = ask(c, "tree", **both)
    assert [(n["depth"], n["name"], n["total"]["samples"]) for n in tree["nodes"]] == [
        (0, "sh", 57), (1, "main", 57), (2, "malloc", 27), (2, "main", 18), (0, "cat", 6), (1, "main", 6)]
    diff = ask(c, "diff/tree", at=f"@{HOUR + 3600}", last="1h", devices=ident(2).hex())
    found = {n["name"]: (n["before"]["total"]["samples"], n["after"]["total"]["samples"]) for n in diff["nodes"] if n["depth"] == 2}
    assert found == {"malloc": (3, 18), "main": (9, 9)}


def check_flames(c, folder):
    """What is drawn is what the tree has, from the collector and from the folder."""
    both = "--from", f"@{HOUR}", "--to", f"@{HOUR + 7200}"
    path = os.path.join(folder, "out.folded")

    def folded(*options, data=None):
        kiseki("profile", "flame", "-o", path, *options, *(("--data", data) if data else ()), collector=c)
        found = Counter()  # functions of one name in two objects are two lines
        for line in Path(path).read_text().splitlines():
            found[line.rsplit(" ", 1)[0]] += int(line.rsplit(" ", 1)[1])
        return found

    plain = {"sh;main;malloc": 27, "sh;main;main": 18, "sh;main": 12, "cat;main": 6}
    assert folded("--fleet", "--samples", *both) == plain
    assert folded("--fleet", "--samples", *both, data=c.data) == plain
    assert folded("--fleet", *both) == {k: v * 1000000 for k, v in plain.items()}
    assert folded("--fleet", "--samples", "--no-groups", *both) == {"main;malloc": 27, "main;main": 18, "main": 18}
    assert folded("--fleet", "--samples", "--callers", *both) == {
        "sh;malloc;main": 27, "sh;main;main": 18, "sh;main": 12, "cat;main": 6}
    assert folded("--devices", "board", "--kind", "vm", "--samples", *both) == {
        "one;sh;guest;user;sh;main": 3, "one;sh;steal;other": 2, "one;halt": 5}
    for ending, word in (("html", "</html>"), ("svg", "</svg>")):
        drawn = os.path.join(folder, f"out.{ending}")
        kiseki("profile", "flame", "--fleet", "-o", drawn, *both, collector=c)
        assert "malloc" in Path(drawn).read_text() and word in Path(drawn).read_text()
        out, _ = kiseki("profile", "diff", "--fleet", "--at", f"@{HOUR + 3600}", "--last", "1h", "--flame", drawn, collector=c)
        assert "malloc" in Path(drawn).read_text() and "+28.85" in out
    kiseki("profile", "flame", "--fleet", "-o", drawn, "--last", "1h", collector=c, code=1)  # nothing
    kiseki("profile", "flame", "--fleet", "--threads", "-o", drawn, *both, collector=c, code=2)
    kiseki("profile", "flame", "--fleet", "-o", drawn + ".png", *both, collector=c, code=2)
    kiseki("profile", "flame", collector=c, code=2)


def check_machines(c):
    both = {"from": f"@{HOUR}", "to": f"@{HOUR + 7200}"}
    answer = ask(c, "machines", **both)
    (row,) = answer["rows"]
    assert (row["name"], row["ns"], answer["machines"]) == ("one", 10000000, 1)
    assert {k: v for k, v in row["classes"].items() if v} == {"guest": 3000000, "steal": 2000000, "halt": 5000000}
    assert row["causes"] == [{"class": "steal", "name": "other", "ns": 2000000}]
    assert ask(c, "machines", devices="other", **both)["rows"] == []
    out, _ = kiseki("vm", "top", "--fleet", "--from", f"@{HOUR}", "--to", f"@{HOUR + 7200}", collector=c)
    line = [x for x in out.splitlines() if x.startswith("one")][0]
    assert line.split()[:9] == ["one", "10.0", "ms", "30.0", "0.0", "0.0", "20.0", "0.0", "50.0"] and "steal: other" in line, out
    out, _ = kiseki("vm", "top", "board", "--from", f"@{HOUR}", "--to", f"@{HOUR + 7200}", "--json", collector=c)
    assert json.loads(out)["rows"] == answer["rows"]


def check_diff(c):
    diff = ask(c, "diff", at=f"@{HOUR + 3600}", last="1h")
    assert [x["name"] for x in diff["changes"]][0] == "malloc"
    grown = diff["changes"][0]
    assert grown["before"]["self"]["samples"] == 6 and grown["after"]["self"]["samples"] == 21
    assert abs(grown["before_percent"] - 100 * 6 / 24) < 1e-9 and abs(grown["after_percent"] - 100 * 21 / 39) < 1e-9
    # The same by ranges, and by devices.
    assert ask(c, "diff", **{"from": f"@{HOUR + 3600}", "to": f"@{HOUR + 7200}", "with_from": f"@{HOUR}"})["changes"] == diff["changes"]
    sides = ask(c, "diff", **{"from": f"@{HOUR}", "to": f"@{HOUR + 3600}", "devices": "env=prod", "with_devices": "env=test"})
    assert {x["name"]: x["after"] is None for x in sides["changes"] if x["object"] == "cat"} == {"main": True}
    out, _ = kiseki("profile", "diff", "--fleet", "--at", f"@{HOUR + 3600}", "--last", "1h", collector=c)
    assert "+28.85" in out and "Smaller share" in out, out


def check_trend(c):
    both = {"from": f"@{HOUR}", "to": f"@{HOUR + 7200}"}
    minutes = ask(c, "trend", name="malloc", **both)["points"]
    assert [p["total"]["samples"] for p in minutes] == [2, 2, 2, 7, 7, 7]
    hours = ask(c, "trend", name="malloc", step="1h", **both)["points"]
    assert [(p["total"]["samples"], p["all"]["samples"]) for p in hours] == [(6, 24), (21, 39)]
    assert [p["total"]["samples"] for p in ask(c, "trend", name="sh", by="process", step="1h", **both)["points"]] == [21, 36]
    assert [p["self"]["samples"] for p in ask(c, "trend", name="main", object="cat", step="1h", **both)["points"]] == [3, 3]
    out, _ = kiseki("profile", "trend", "malloc", "--fleet", "--from", f"@{HOUR}", "--to", f"@{HOUR + 7200}", "--step", "1h", collector=c)
    assert "53.85" in out, out
    kiseki("profile", "trend", "--fleet", collector=c, code=2)


def put_labels(c, device, labels, status=200):
    return described(c, "/api/v1/devices/{device}/labels", f"/api/v1/devices/{device}/labels", status, "POST",
                     labels if isinstance(labels, str) else json.dumps({"labels": labels}))


def check_labels(c):
    assert put_labels(c, "board", {"env": "test", "rack": "7"}) == {"labels": {"env": "test", "rack": "7"}}
    assert put_labels(c, "board", {"rack": None}) == {"labels": {"env": "test"}}
    put_labels(c, ident(2).hex(), {"env": "prod"})
    for bad in ("", "{", "[]", "{}", '{"labels": 1}', '{"labels": {"a b": "x"}}', '{"labels": {"a": "x,y"}}', '{"labels": {"a": 1}}'):
        put_labels(c, "board", bad, 400)
    put_labels(c, "nobody", {"a": "b"}, 404)
    assert described(c, "/api/v1/labels", "/api/v1/labels") == {"labels": [
        {"device": ident(1).hex(), "labels": {"env": "test"}}, {"device": ident(2).hex(), "labels": {"env": "prod"}}]}
    out, _ = kiseki("label", "board", "color=red", "env=test", collector=c)
    assert out == "color=red env=test\n", out
    assert kiseki("label", "board", "color=", collector=c)[0] == "env=test\n"
    assert "board: env=test\n" in kiseki("label", collector=c)[0]
    kiseki("label", "board", "color", collector=c, code=2)


def check_refusals(c):
    for what, params in (("top", {"by": "nothing"}), ("top", {"kind": "nothing"}), ("top", {"from": "-1h", "to": "-2h"}),
                         ("top", {"last": "1s"}), ("top", {"devices": "=x"}), ("top", {"limit": "-1"}), ("trend", {}),
                         ("trend", {"name": "a", "step": "90s"}), ("diff", {}), ("diff", {"at": "-1h", "from": "-2h"}),
                         ("tree", {"kind": "sched"}), ("trend", {"name": "a", "by": "device"}), ("machines", {"kind": "vm"}), ("top", {"strange": "1"})):
        ask(c, what, 400, **params)
    ask(c, "top", 404, devices="nobody")


def main():
    with tempfile.TemporaryDirectory(prefix="kiseki-fleet-") as folder:
        data = os.path.join(folder, "store")
        os.mkdir(data)
        fill_all(data)
        check_file(data)
        c = Collector(data)
        for n, name in ((1, "board"), (2, "other")):
            d = fd.Device(c.port, ident(n), name=name)
            d.come_in()
            d.close()
        check_labels(c)
        check_top(c)
        check_trees(c)
        check_flames(c, folder)
        check_machines(c)
        check_diff(c)
        check_trend(c)
        check_refusals(c)
        c.stop()
        c.again()
        assert ask(c, "top", devices="env=prod", **{"from": f"@{HOUR}", "to": f"@{HOUR + 3600}"})["basis"]["devices"] == 1
        c.stop()
        # A file that cannot be read is kept beside, and the collector serves.
        (Path(data) / "facts.sqlite").write_bytes(b"no database" * 1000)
        c.again()
        assert ask(c, "top", **{"from": f"@{HOUR}", "to": f"@{HOUR + 7200}"})["rows"] == []
        assert c.count_log("facts.sqlite") == 1, c.log
        assert (Path(data) / "facts.sqlite.damaged").exists()
        c.stop()
    print("fleet: lists, trees, comparisons, trends and labels, over two devices and two hours")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""profile_check: whether what `kiseki profile` wrote is sound, and says the same as its JSON.

    profile_check.py FOLDED PPROF SPEEDSCOPE FIREFOX JSON HTML SVG    exports of one profile

The protocol buffer is taken apart here, by the rules of its format; of speedscope and the Firefox Profiler
the rules that their readers have are checked: lengths of columns, and that every number leads to a row.
"""
import gzip
import html
import json
import re
import sys
from collections import Counter
from xml.etree import ElementTree


def need(condition, what):
    if not condition:
        sys.exit(f"profile_check: {what}")


def fields(data):
    """The fields of a message: number, and a number or bytes."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if not byte & 0x80:
                return value

    while at < len(data):
        key = varint()
        need(key & 7 in (0, 2), f"wire type {key & 7} in the protocol buffer")
        if key & 7 == 0:
            yield key >> 3, varint()
        else:
            length = varint()
            need(at + length <= len(data), "a message reaches behind its end")
            yield key >> 3, data[at:at + length]
            at += length


def message(data):
    out = {}
    for number, value in fields(data):
        out.setdefault(number, []).append(value)
    return out


def read_pprof(path):
    """Stacks of names, outermost first, with their two values."""
    profile = message(gzip.open(path).read())
    strings = [s.decode() for s in profile[6]]
    need(strings[0] == "", "the first string of pprof is not empty")
    types = [[strings[message(t)[k][0]] for k in (1, 2)] for t in profile[1]]
    need(types == [["samples", "count"], ["cpu", "nanoseconds"]], f"types are {types}")
    need(strings[profile[14][0]] == "cpu", "the default is not the time")
    functions = {m[1][0]: strings[m[2][0]] for m in map(message, profile[5])}
    mappings = {m[1][0]: m for m in map(message, profile[3])}
    locations = {}
    for m in map(message, profile[4]):
        if 2 in m:
            mapping = mappings[m[2][0]]
            need(mapping[2][0] <= m[3][0] < mapping[3][0], "an address is outside of its mapping")
        locations[m[1][0]] = functions[message(m[4][0])[1][0]]
    # profile.proto: "By convention the main binary is at the first mapping": pprof names the file after it.
    order = [strings[message(m)[5][0]] for m in profile[3]]
    need(all(name.startswith("[") for name in order) or not order[0].startswith("["),
         f"the first mapping is {order[0]}")
    files = {strings[m[5][0]]: strings[m[6][0]] for m in mappings.values()}
    stacks = []
    for m in map(message, profile[2]):
        labels = {strings[label[1][0]]: strings[label[2][0]] if 2 in label else label[3][0]
                  for label in map(message, m[3])}
        stacks.append((labels, [locations[n] for n in reversed(m[1])], m[2]))
    return stacks, files


def read_folded(path):
    out = Counter()
    for line in open(path):
        stack, _, value = line.rstrip("\n").rpartition(" ")
        out[tuple(stack.split(";")[2:])] += int(value)
    return out


def read_speedscope(path):
    """As its schema says: sampled profiles with as many weights as samples, frames by number."""
    document = json.load(open(path))
    need(document["$schema"] == "https://www.speedscope.app/file-format-schema.json", "$schema")
    frames = [f["name"] for f in document["shared"]["frames"]]
    out = Counter()
    for profile in document["profiles"]:
        need(set(profile) == {"type", "name", "unit", "startValue", "endValue", "samples", "weights"}
             and profile["type"] == "sampled" and profile["unit"] == "nanoseconds", "a profile of speedscope")
        need(len(profile["samples"]) == len(profile["weights"]), "weights of speedscope")
        need(sum(profile["weights"]) == profile["endValue"] - profile["startValue"], "endValue of speedscope")
        for stack, weight in zip(profile["samples"], profile["weights"]):
            out[tuple(frames[n] for n in stack)] += weight
    return out


FIREFOX = {
    "stackTable": {"prefix": "stackTable", "frame": "frameTable", "category": None, "subcategory": None},
    "frameTable": {"func": "funcTable", "category": None, "subcategory": None, "address": None, "inlineDepth": None,
                   "nativeSymbol": None, "innerWindowID": None, "implementation": None, "line": None,
                   "column": None},
    "funcTable": {"name": "stringArray", "fileName": "stringArray", "isJS": None, "relevantForJS": None,
                  "resource": None, "lineNumber": None, "columnNumber": None},
    "samples": {"stack": "stackTable", "time": None, "weight": None},
    "resourceTable": {"lib": None, "name": None, "host": None, "type": None},
    "nativeSymbols": {"libIndex": None, "address": None, "name": None, "functionSize": None},
    "markers": {"data": None, "name": None, "startTime": None, "endTime": None, "phase": None, "category": None},
}


def check_tables(thread, categories):
    for name, columns in FIREFOX.items():
        table = thread[name]
        need(set(table) - {"length", "weightType"} == set(columns), f"columns of {name}: {set(table)}")
        for column, leads_to in columns.items():
            rows = table[column]
            need(len(rows) == table["length"], f"{name}.{column} has {len(rows)} rows of {table['length']}")
            if leads_to:
                other = thread[leads_to]
                most = len(other) if isinstance(other, list) else other["length"]
                need(all(row is None or 0 <= row < most for row in rows), f"{name}.{column} leads nowhere")
            if column == "category":
                need(all(0 <= row < categories for row in rows), f"{name}.category")
    prefixes = thread["stackTable"]["prefix"]
    need(all(p is None or p < i for i, p in enumerate(prefixes)), "a stack comes before its prefix")
    need(thread["samples"]["time"] == sorted(thread["samples"]["time"]), "times of a thread do not rise")


def read_firefox(path):
    document = json.load(open(path))
    meta = document["meta"]
    need(meta["preprocessedProfileVersion"] == 48 and meta["interval"] > 0 and meta["product"], "meta of Firefox")
    out = Counter()
    for thread in document["threads"]:
        check_tables(thread, len(meta["categories"]))
        need(isinstance(thread["pid"], str) and isinstance(thread["isMainThread"], bool), "pid of a thread")
        strings, stacks = thread["stringArray"], thread["stackTable"]
        for stack, weight in zip(thread["samples"]["stack"], thread["samples"]["weight"]):
            path_of = []
            while stack is not None:
                path_of.insert(0, strings[thread["funcTable"]["name"][thread["frameTable"]["func"][stacks["frame"][stack]]]])
                stack = stacks["prefix"][stack]
            out[tuple(path_of)] += round(weight * 1e6)
    return out


def read_json(path):
    document, out, names = json.load(open(path)), Counter(), []
    for node in document["nodes"]:
        names[node["depth"]:] = [node["name"]]
        if node["self"]["weight"]:
            out[tuple(names[2:])] += node["self"]["weight"]
    need(sum(out.values()) == document["totals"]["total"]["weight"], "own parts do not add up to all")
    return out


def read_html(path):
    """The data of the page; nothing in it could end the element that it is in."""
    page = open(path).read()
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)[1]
    need("<" not in data, "the data of the page has a '<'")
    need("script-src 'sha256-" in page and "http:" not in page.replace("http-equiv", ""), "the policy of the page")
    document, names, out = json.loads(data), [], Counter()
    for level, name, _, self in document["nodes"]:
        names[level - 1:] = [document["texts"][name]]
        out[tuple(names[1:])] += self
    return +out


def read_svg(path):
    root = ElementTree.parse(path).getroot()
    titles = [e.text for e in root.iter("{http://www.w3.org/2000/svg}title")]
    need(titles and all("%" in t for t in titles), "boxes of the SVG have no figures")
    return html.unescape(" ".join(titles))


def main():
    folded, pprof, speedscope, firefox, tree, page, svg = sys.argv[1:]
    wanted = read_json(tree)
    stacks, files = read_pprof(pprof)
    found = Counter()
    for labels, stack, (samples, weight) in stacks:
        need(samples > 0 and {"process", "thread", "pid", "tid"} == set(labels), f"labels {labels}")
        found[tuple(stack)] += weight
    need(files, "pprof has no mappings")
    for name, other in [("folded", read_folded(folded)), ("pprof", found), ("speedscope", read_speedscope(speedscope)),
                        ("firefox", read_firefox(firefox)), ("html", read_html(page))]:
        need(other == wanted, f"{name} differs:\n{other}\n{wanted}")
    text = read_svg(svg)
    for stack in wanted:
        need(stack[-1] in text, f"the SVG has no box of {stack[-1]}")
    print(f"{len(wanted)} stacks agree in all formats")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""vm_check: whether all exports of virtual machines say the same, to the nanosecond, and what the reports say.

    vm_check.py FOLDER   with report.json steal.json out.folded vcpus.folded out.pb.gz out.speedscope.json
                         out.firefox.json out.json out.html out.svg

Readers are our own (profile_check.py); those of the tools themselves are in tests/system/readers.sh.
"""
import gzip
import json
import sys
from collections import Counter

from profile_check import check_tables, message, need, read_html, read_speedscope, read_svg

CLASSES = ["unknown", "guest", "vmm-kernel", "vmm-user", "steal", "waiting", "halt", "halt-polling", "asleep"]
NOBODYS = ["halt", "halt-polling", "asleep", "unknown"]
VALUE_OF = {"guest": "true", "steal": "steal1", "waiting": "steal1", "vmm-kernel": "steal2", "vmm-user": "steal2",
            "halt": "halt", "halt-polling": "halt", "asleep": "other", "unknown": "other"}


def read_folded(path):
    out = Counter()
    for line in open(path):
        stack, _, value = line.rstrip("\n").rpartition(" ")
        out[tuple(stack.split(";"))] += int(value)
    return out


def read_tree(path):
    document, out, names = json.load(open(path)), Counter(), []
    for node in document["nodes"]:
        names[node["depth"]:] = [node["name"]]
        if node["self"]["weight"]:
            out[tuple(names)] += node["self"]["weight"]
    need(sum(out.values()) == document["totals"]["total"]["weight"], "own parts do not add up to all")
    return document, out


def class_of(stack):
    """Of what follows the machine: a class that is no process's, else the class behind the process."""
    return stack[0] if stack[0] in NOBODYS else stack[1]


def read_pprof(path):
    profile = message(gzip.open(path).read())
    strings = [s.decode() for s in profile[6]]
    need(strings[0] == "" and len(set(strings)) == len(strings), "strings of pprof")
    types = [tuple(strings[message(t)[k][0]] for k in (1, 2)) for t in profile[1]]
    need(types == [("samples", "count")] + [(t, "nanoseconds") for t in ("true", "steal1", "steal2", "halt", "other")],
         f"types are {types}")
    need(strings[profile[14][0]] == "true", "the default is not true time")
    functions = {m[1][0]: strings[m[2][0]] for m in map(message, profile[5])}
    locations = {m[1][0]: functions[message(m[4][0])[1][0]] for m in map(message, profile[4])}
    for m in map(message, profile[2]):
        labels = {strings[label[1][0]]: strings[label[2][0]] for label in map(message, m[3])}
        values = {t: v for (t, _), v in zip(types, m[2])}
        yield labels, [locations[n] for n in reversed(m[1])], values


def machines_of(report):
    """(machine, virtual CPU) as trees call them, with what the report says."""
    for vm in report["machines"]:
        for vcpu in vm["vcpus"]:
            yield f"VM {vm['vm']} {vm['name']}", f"vcpu {vcpu['vcpu']} ({vcpu['tid']})", vcpu


def check_folded(report, plain, vcpus):
    for vm, vcpu, said in machines_of(report):
        classes = Counter()
        for stack, ns in vcpus.items():
            if stack[1:3] == (vm, vcpu):
                classes[class_of(stack[3:])] += ns
        need({k: v for k, v in said["classes_ns"].items() if v} == dict(classes), f"classes of {vm} {vcpu}: {classes}")
        need(sum(classes.values()) == said["wall_ns"], f"{vm} {vcpu} is not its wall time")
    merged = Counter()
    for stack, ns in vcpus.items():
        merged[stack[:2] + stack[3:]] += ns
    need(merged == plain, "virtual CPUs together are not their machine")


def name_of(report, number):
    return next(f"VM {vm['vm']} {vm['name']}" for vm in report["machines"] if vm["vm"] == number)


def check_functions(report, plain, pprof):
    """What a function has in the report: below it in pprof, and its true time in the tree."""
    for row in report["function"]["rows"]:
        vm, function = name_of(report, row["vm"]), row["function"]
        mode = "kernel" if row["kernel"] else "user"
        ns = sum(v for stack, v in plain.items()
                 if stack[1:] == (vm, row["process"], "guest", mode, row["object"] or "[unknown]", function))
        need(ns == row["true_ns"], f"true time of {function}: {ns}, {row}")
        found = Counter()
        for labels, stack, values in pprof:
            if labels["vm"] == vm and labels.get("process") == row["process"] and stack[0] == function:
                found.update(values)
                found["samples_in"] += values["samples"] if labels["class"] == "guest" else 0
        got = (found["samples_in"], found["true"], found["steal1"], found["steal2"])
        need(got == (row["samples"], row["true_ns"], row["steal1_ns"], row["steal2_ns"]), f"{function}: {got}, {row}")


def check_pprof(report, pprof, vcpus):
    for vm, vcpu, said in machines_of(report):
        classes = Counter()
        for labels, _, values in pprof:
            if (labels["vm"], labels["vcpu"]) == (vm, vcpu):
                ns = {k: v for k, v in values.items() if v and k != "samples"}
                need(set(ns) <= {VALUE_OF[labels["class"]]}, f"values of a {labels['class']}: {values}")
                classes[labels["class"]] += sum(ns.values())
        need(+classes == Counter({k: v for k, v in said["classes_ns"].items() if v}), f"pprof of {vm} {vcpu}: {classes}")
    leaves = Counter()
    for labels, stack, values in pprof:
        leaves[labels["vm"], labels["class"], stack[-1]] += sum(v for k, v in values.items() if k != "samples")
    wanted = Counter()
    for stack, ns in vcpus.items():
        kind = class_of(stack[3:])
        wanted[stack[1], kind, f"[{kind}]" if kind in NOBODYS else stack[-1]] += ns
    need(+leaves == wanted, f"who took it differs: {leaves}, {wanted}")


def moments(vcpus, vm, vcpu):
    """A tree's stacks of one virtual CPU, as far as single moments have them: without the host's functions."""
    out = Counter()
    for stack, ns in vcpus.items():
        if stack[1:3] != (vm, vcpu):
            continue
        rest = stack[3:]
        out[rest[:3] if class_of(rest) in ("vmm-kernel", "vmm-user") else rest] += ns
    return out


def check_speedscope(report, path, vcpus):
    document = json.load(open(path))
    profiles = {p["name"]: p for p in document["profiles"]}
    frames = [f["name"] for f in document["shared"]["frames"]]
    read_speedscope(path)
    for vm, vcpu, said in machines_of(report):
        profile = profiles.pop(f"{vm}, {vcpu}")
        need(profile["endValue"] == said["wall_ns"], f"speedscope: {vm} {vcpu} is not its wall time")
        found = Counter()
        for stack, weight in zip(profile["samples"], profile["weights"]):
            found[tuple(frames[n] for n in stack)] += weight
        need(found == moments(vcpus, vm, vcpu), f"speedscope of {vm} {vcpu}: {found}")
    need(not profiles, "speedscope has more threads than there are virtual CPUs")


def stack_of(thread, stack):
    path = []
    while stack is not None:
        frame = thread["stackTable"]["frame"][stack]
        path.insert(0, thread["stringArray"][thread["funcTable"]["name"][thread["frameTable"]["func"][frame]]])
        stack = thread["stackTable"]["prefix"][stack]
    return tuple(path)


def check_firefox(report, steal, path, vcpus):
    document = json.load(open(path))
    threads = {(t["processName"], t["name"]): t for t in document["threads"]}
    schema = {s["name"] for s in document["meta"]["markerSchema"]}
    for vm, vcpu, said in machines_of(report):
        thread = threads.pop((vm, vcpu))
        check_tables(thread, len(document["meta"]["categories"]))
        found, markers, by = Counter(), Counter(), Counter()
        for stack, weight in zip(thread["samples"]["stack"], thread["samples"]["weight"]):
            found[stack_of(thread, stack)] += round(weight * 1e6)
        need(found == moments(vcpus, vm, vcpu), f"Firefox of {vm} {vcpu}: {found}")
        m = thread["markers"]
        for name, start, end, data in zip(m["name"], m["startTime"], m["endTime"], m["data"]):
            need(data["type"] in schema and start < end, f"a marker of Firefox: {data}")
            ns = round(end * 1e6) - round(start * 1e6)
            markers[thread["stringArray"][name]] += ns
            by[thread["stringArray"][name], data["detail"]] += ns
        need(markers == {k: v for k, v in said["classes_ns"].items() if v and k != "guest"}, f"markers: {markers}")
        for row in steal["culprits"]:
            if row["tid"] == said["tid"] and row["by"]:
                who = f"vcpu {row['by']['vcpu']} of VM {row['by']['pid']}"
                need((by["steal", who], by["waiting", who]) == (row["steal_ns"], row["waiting_ns"]), f"culprit {row}")
    need(not threads, "Firefox has more threads than there are virtual CPUs")


def main():
    at = sys.argv[1] + "/"
    report, steal = json.load(open(at + "report.json")), json.load(open(at + "steal.json"))
    plain, vcpus = read_folded(at + "out.folded"), read_folded(at + "vcpus.folded")
    document, tree = read_tree(at + "out.json")
    pprof = list(read_pprof(at + "out.pb.gz"))
    need(tree == plain, "JSON and folded differ")
    for name in ("machines", "exits", "culprits", "host_functions"):
        need(document[name] == steal[name], f"{name} of the JSON are not the report's")
    need(document["function"] == report["function"], "functions of the JSON are not the report's")
    check_folded(report, plain, vcpus)
    check_pprof(report, pprof, vcpus)
    check_functions(report, plain, pprof)
    check_speedscope(report, at + "out.speedscope.json", vcpus)
    check_firefox(report, steal, at + "out.firefox.json", vcpus)
    # The first level of the page is the host, which profile_check takes for a process.
    need(read_html(at + "out.html") == Counter({k[1:]: v for k, v in plain.items()}), "html differs")
    text = read_svg(at + "out.svg")
    for stack in plain:
        need(stack[-1] in text, f"the SVG has no box of {stack[-1]}")
    print(f"{len(plain)} stacks, {sum(plain.values())} ns agree in all formats")


if __name__ == "__main__":
    main()

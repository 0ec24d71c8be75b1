#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads a bootchart's archive as docs/format/bootchart.md describes it, with Python's own tarfile, and prints what a chart
would show: each process with its start, its first and last block, its states and times; rows of CPUs and disks where
they change. Times are hundredths of a second."""
import sys
import tarfile


def blocks(text):
    """Each block as (time, lines); every one must begin with a time and end with an empty line."""
    for block in text.split("\n\n"):
        if not block.strip("\n"):
            continue
        lines = block.strip("\n").split("\n")
        yield int(lines[0]), lines[1:]


def read_processes(text):
    found = {}
    for time, lines in blocks(text):
        for line in lines:
            head, rest = line.rsplit(")", 1)
            pid, name = head.split(" (", 1)
            fields = rest.split()
            if len(fields) < 22:
                sys.exit("a row of %d fields: %s" % (len(fields), line))
            state = fields[0].replace("I", "S").replace("t", "T")
            key = (int(pid), int(fields[19]))
            p = found.setdefault(key, {"from": time, "states": ""})
            p["name"] = name.rsplit("/", 1)[-1][:15].replace(") ", "_ ")
            p["to"] = time
            p["states"] += state
            p["parent"] = int(fields[1])
            p["times"] = (int(fields[11]), int(fields[12]))
    return found


def main(path):
    with tarfile.open(path, "r:gz") as archive:
        files = {m.name: archive.extractfile(m).read() for m in archive.getmembers() if m.isfile()}
    if next(iter(files)) != "header":
        sys.exit("the header is not the first file")
    header = dict(line.split(" = ", 1) for line in files["header"].decode().split("\n") if " = " in line)
    print("machine", header["title"].split(" (")[0], header["system.uname"].split()[1])
    for (pid, start), p in sorted(read_processes(files["proc_ps.log"].decode()).items()):
        print("process", pid, p["name"], "start", start, "seen", p["from"], p["to"], "parent", p["parent"],
              "states", p["states"], "times", *p["times"])
    told = {}

    def tell(kind, time, name, numbers):
        """Only what has changed: a block may repeat the one before."""
        if told.get((kind, name)) != numbers:
            print(kind, time, name, *numbers)
        told[(kind, name)] = numbers

    last = 0
    for time, lines in blocks(files["proc_stat.log"].decode()):
        if time < last:
            sys.exit("time goes back from %d to %d" % (last, time))
        last = time
        for row in (line.split()[:9] for line in lines if line.startswith("cpu") and line[3] != " "):
            tell("cpu", time, row[0], row[1:])
    for time, lines in blocks(files["proc_diskstats.log"].decode()):
        for f in (line.split() for line in lines):
            tell("disk", time, f[2], [f[i] for i in (3, 5, 7, 9, 11, 12, 13)])


main(sys.argv[1])

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""pprof_lines: whether a file for pprof has the file and the line of a function.

    pprof_lines.py FILE SOURCE LINE FUNCTION
"""
import gzip
import sys

from profile_check import message, need


def main():
    path, source, line, function = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
    profile = message(gzip.open(path).read())
    strings = [s.decode() for s in profile[6]]
    functions = {m[1][0]: (strings[m[2][0]], strings[m.get(4, [0])[0]]) for m in map(message, profile[5])}
    lines = [message(part) for m in map(message, profile[4]) for part in m.get(4, [])]
    found = {(*functions[m[1][0]], m.get(2, [0])[0]) for m in lines}
    need((function, source, line) in found, f"{function} {source}:{line} is not among {sorted(found)[:50]}")


if __name__ == "__main__":
    main()

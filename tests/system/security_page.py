#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""security_page: each claim of docs/security.md names tests, and they exist.

	security_page.py PAGE TESTS.json

A table whose last column is "shown by" makes claims: each of its rows has at least one test there. Every
name there is one of a test of this build, or of a board's, which builds without boards do not have.
"""
import json
import re
import sys
from pathlib import Path

BOARDS = re.compile(r"_(a9|arm64|x86_64|kvm-arm64)(-old)?$")


def claims(text):
    """(line number, names in the last column) of each row."""
    inside = False
    for number, line in enumerate(text.splitlines(), 1):
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.startswith("|"):
            inside = False
        elif cells[-1] == "shown by":
            inside = True
        elif inside and not set(cells[-1]) <= set("-: "):
            yield number, re.findall(r"`([\w-]+)`", cells[-1])


def main():
    page, tests = Path(sys.argv[1]), {t["name"] for t in json.loads(Path(sys.argv[2]).read_text())}
    text = page.read_text()
    problems, count = [], 0
    for number, names in claims(text):
        count += 1
        if not names:
            problems.append(f"{page}:{number}: no test shows this")
        problems += [f"{page}:{number}: there is no test {name}" for name in names
                     if name not in tests and not BOARDS.search(name)]
    problems += [f"{page}: there is no test {name}" for name in re.findall(r"`(fuzz_\w+)`", text) if name not in tests]
    print(*problems, sep="\n", end="\n" if problems else "")
    print(f"{count} claims, {len(problems)} problems")
    return 1 if problems or count < 20 else 0


sys.exit(main())

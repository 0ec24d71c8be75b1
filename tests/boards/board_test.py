# SPDX-License-Identifier: MIT
"""board_test: what the tests in boards share: where things are, and how a test ends.

SRC is the source tree, WORK a folder of the build for what is compiled for boards, KISEKI the program.
"""
import argparse
import json
import os
import signal
import sys
import time
from pathlib import Path

SRC = Path(os.environ.get("SRC") or Path(__file__).resolve().parents[2])
WORK = Path(os.environ.get("WORK") or SRC / "build/boards")
KISEKI = os.environ.get("KISEKI") or str(SRC / "build/bin/kiseki")
PATIENCE_S = 300  # until something that must happen counts as a failure
sys.dont_write_bytecode = True
sys.path.insert(0, str(SRC))

from boards import build  # noqa: E402
from boards.catalog import BoardError  # noqa: E402


class Failed(Exception):
    pass


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


def expect(what, got, wanted):
    if got != wanted:
        raise Failed(f"{what}: {str(got)[:500]!r} instead of {str(wanted)[:500]!r}")


def wait_for(what, condition):
    """Its value, as soon as it is true."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.1)
    raise Failed(f"waited {PATIENCE_S} s for {what}")


def export(collector, name):
    """All that the collector has of a device, as objects."""
    out = collector.data.parent / f"{name}.ndjson"
    answer = collector.client("export", name, "--format", "ndjson", "-o", out)
    expect(f"export ({answer.stderr.strip()})", answer.returncode, 0)
    with out.open() as lines:
        return [json.loads(line) for line in lines]


def build_driver(board):
    """kiseki.ko for the board; made once for all tests of a run."""
    if not (SRC / "tools/build-driver").exists():
        skip("this tree has no driver")
    return build.build_module(board, WORK / board.name)


def build_tool(board, source):
    """A static program for the board, from one C file of the source tree."""
    return build.compile_program(board, [SRC / source], WORK / board.name / Path(source).stem)


def main(test, about, add_options=lambda parser: None):
    parser = argparse.ArgumentParser(description=about.partition("\n")[0])
    parser.add_argument("board")
    add_options(parser)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("told to end"))
    try:
        test(parser.parse_args())
    except (Failed, BoardError) as e:
        print(e)
        return 1
    return 0

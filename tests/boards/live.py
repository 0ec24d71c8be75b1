#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""live: what `make board` does: a board traces itself next to a collector, and Ctrl-C ends both.

	live.py BOARD
"""
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from board_test import KISEKI, SRC, Failed, build_driver, main
from boards.catalog import get_board

PATIENCE_S = 240


def wait_for_events(process, log):
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        if re.search(r"^tracing by driver  [1-9]\d* events/s", log.read_text(), re.M):
            return
        if process.poll() is not None:
            break
        time.sleep(0.2)
    raise Failed(f"no event is shown:\n{log.read_text()}")


def test(arguments):
    build_driver(get_board(arguments.board))  # a tree without a driver skips here
    with tempfile.TemporaryDirectory() as work:
        log = Path(work, "log")
        with log.open("w") as out:
            process = subprocess.Popen(
                [SRC / "boards/board", "live", arguments.board], stdin=subprocess.DEVNULL, stdout=out,
                stderr=out, start_new_session=True,
                env={**os.environ, "LISTEN": "127.0.0.1:0", "HTTP": "127.0.0.1:0", "DATA": work,
                     "BIN": str(Path(KISEKI).parent)})
        try:
            wait_for_events(process, log)
            os.killpg(process.pid, signal.SIGINT)  # as a terminal does
            if process.wait(PATIENCE_S):
                raise Failed(f"Ctrl-C ends it with {process.returncode}:\n{log.read_text()}")
        finally:
            process.kill()
            process.wait()
        if not re.search(r"^http://127\.0\.0\.1:\d+$", log.read_text(), re.M):
            raise Failed(f"it does not say where to look:\n{log.read_text()}")
    print("the board was seen to trace itself")


if __name__ == "__main__":
    sys.exit(main(test, __doc__))

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""vm_compiled: kiseki_vm.ko can be built for the kernel of a board.

	vm_compiled.py BOARD
"""
import sys

from board_test import WORK, build, main
from boards.catalog import get_board


def test(arguments):
    print(f"  {build.build_vm_module(get_board(arguments.board), WORK / arguments.board)}")


if __name__ == "__main__":
    sys.exit(main(test, __doc__))

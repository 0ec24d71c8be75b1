#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""driver_ipv6: a collector that has an address of IPv6 only.

	driver_ipv6.py BOARD

The emulated network tells boards the prefix fec0::/64, and leads fec0::2 to this machine's ::1. The driver
is loaded before the board has an address: it must find its way as soon as there is one. Then it is loaded with
an address of an interface that is not there yet.
"""
import socket
import sys
import tempfile
from pathlib import Path

from board_test import KISEKI, Failed, build_driver, expect, export, main, skip, wait_for
from boards.catalog import get_board
from boards.collector import Collector
from boards.machine import Machine

NAME, LATE, FOLDER = "six", "late", "/sys/kernel/kiseki"
NO_IPV6 = "/proc/sys/net/ipv6/conf/eth0/disable_ipv6"


def has_loopback():
    try:
        with socket.create_server(("::1", 0), family=socket.AF_INET6):
            return True
    except OSError:
        return False


def record(machine, collector):
    where = f"[fec0::2]:{collector.port}"
    machine.check(f"echo 1 >{NO_IPV6}; insmod /kiseki.ko collector={where} name={NAME} start=1")
    wait_for("the driver to see that there is no way",
             lambda: machine.check(f"cat {FOLDER}/link").startswith("down cannot reach"))
    expect("the address that it shows", machine.check(f"cat {FOLDER}/collector").strip(), where)
    machine.check(f"echo 0 >{NO_IPV6}")
    wait_for("the driver to trace",
             lambda: (collector.device(NAME) or {}).get("state") == "tracing")
    print("  " + machine.check(f"cat {FOLDER}/link; netstat -tn | grep fec0").strip())
    machine.check("for i in $(seq 20); do sleep 0.01; done; rmmod kiseki")


def has_interface(machine):
    """The network leads nothing at fe80::2 to this machine; but the way there is known, or not."""
    link = machine.check(f"cat {FOLDER}/link")
    return "-ENODEV" not in link and "fe80::2" in link


def record_late(machine, collector):
    machine.check(f"insmod /kiseki.ko collector=[fe80::2%late0]:{collector.port} name={LATE} start=1")
    wait_for("the driver to see that there is no such interface",
             lambda: machine.check(f"cat {FOLDER}/link").strip().endswith("-ENODEV"))
    machine.check("ip link set eth0 down; ip link set eth0 name late0; ip link set late0 up")
    wait_for("the driver to go out over the interface that has come", lambda: has_interface(machine))
    print("  " + machine.check(f"cat {FOLDER}/link").strip())
    machine.check(f"echo '[fec0::2]:{collector.port}' >{FOLDER}/collector")
    wait_for("the driver to trace over it",
             lambda: (collector.device(LATE) or {}).get("state") == "tracing")
    machine.check("rmmod kiseki")


def test(arguments):
    if not has_loopback():
        skip("this machine has no ::1")
    board = get_board(arguments.board)
    files = [(build_driver(board), "/kiseki.ko")]
    with tempfile.TemporaryDirectory() as work:
        collector = Collector(KISEKI, Path(work, "store"), Path(work, "collector.log"),
                              listen="[::1]:0")
        with collector, Machine(board, files, timeout_s=300) as machine:
            record(machine, collector)
            record_late(machine, collector)
            if not any(x["kind"] == "switch" for x in export(collector, NAME)):
                raise Failed("no event came through")
    print(f"{board.name}: traces to a collector at fec0::2")


if __name__ == "__main__":
    sys.exit(main(test, __doc__))

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""driver_limits: what the driver keeps to itself, and when it does not record.

	driver_limits.py BOARD

Its files are root's. A run ends before the machine sleeps, and another begins after it has woken. In lockdown for confidentiality
nothing is recorded.
"""
import sys
import tempfile
from pathlib import Path

from board_test import KISEKI, Failed, build_driver, expect, export, main, wait_for
from boards.catalog import get_board
from boards.collector import HOST, Collector
from boards.machine import Machine

NAME, FOLDER = "limits", "/sys/kernel/kiseki"
MODES = {"state": "600", "settings": "600", "name": "600", "id": "600", "collector": "600", "socket": "200",
         "failure": "400", "run": "400", "collector_time": "400", "link": "400", "statistics": "400"}
# The kernel freezes all programs, waits a second instead of going on to sleep, and thaws them.
SLEEP = """
echo 1 >/sys/module/suspend/parameters/pm_test_delay
echo freezer >/sys/power/pm_test
echo mem >/sys/power/state
"""
LOCK = "mount -t securityfs none /sys/kernel/security; echo confidentiality >/sys/kernel/security/lockdown"


def read(machine, name):
    return machine.check(f"cat {FOLDER}/{name}").strip()


def check_modes(machine):
    said = machine.check(f"cd {FOLDER}; stat -c '%n %a %u' *").split("\n")
    expect("files", sorted(x for x in said if x), sorted(f"{name} {mode} 0" for name, mode in MODES.items()))
    for line in machine.check("stat -c '%a %n' /sys/module/kiseki/parameters/*").split("\n"):
        if line and not line.startswith("400 "):
            raise Failed(f"a parameter can be read by all: {line}")
    print(f"  {len(MODES)} files for root alone")


def is_up(machine):
    return read(machine, "link").startswith("up")


def check_sleep(machine, collector):
    if machine.call("test -w /sys/power/pm_test").code:
        print("  this kernel cannot pretend to sleep")
        return
    wait_for("a connection", lambda: is_up(machine))
    before = read(machine, "run")
    machine.check("dmesg -c >/dev/null")
    machine.check(SLEEP, 120)
    if "suspend debug: Waiting for 1 second" not in machine.check("dmesg"):
        raise Failed(f"the machine did not sleep: {machine.check('dmesg')}")
    wait_for("tracing after the sleep", lambda: read(machine, "state") == "tracing" and is_up(machine))
    after = read(machine, "run")
    if before == after:
        raise Failed(f"run {before} goes on after the machine has slept")
    machine.check("for i in $(seq 20); do sleep 0.01; done")
    machine.check(f"echo stop >{FOLDER}/state")
    wait_for("the collector to have both runs",
             lambda: machine.check(f"grep -o 'buffer_used=[0-9]*' {FOLDER}/statistics").strip() == "buffer_used=0")
    kinds = {x["kind"] for x in export(collector, NAME)}
    if "switch" not in kinds or "lost" in kinds:
        raise Failed(f"of the run after the sleep there is {kinds}")
    print("  a run ends with the sleep, and another one begins")


def check_lockdown(machine):
    machine.check(f"echo stop >{FOLDER}/state")
    if machine.call(LOCK).code:
        print("  this kernel has no lockdown")
        return
    answer = machine.call(f"echo start >{FOLDER}/state")
    if not answer.code or "not permitted" not in answer.text:
        raise Failed(f"a start in lockdown: {answer.code} {answer.text!r}")
    expect("the state", read(machine, "state"), "failed")
    expect("the reason", read(machine, "failure"), "cannot record: the kernel is locked down (confidentiality)")
    machine.check(f"echo stop >{FOLDER}/state; rmmod kiseki")
    print("  nothing is recorded in lockdown")


def test(arguments):
    board = get_board(arguments.board)
    with tempfile.TemporaryDirectory() as work:
        collector = Collector(KISEKI, Path(work, "store"), Path(work, "collector.log"))
        with collector, Machine(board, [(build_driver(board), "/kiseki.ko")], timeout_s=300) as machine:
            machine.check(f"insmod /kiseki.ko collector={HOST}:{collector.port} name={NAME} start=1")
            check_modes(machine)
            check_sleep(machine, collector)
            check_lockdown(machine)
    print(f"{board.name}: the driver keeps its limits")


if __name__ == "__main__":
    sys.exit(main(test, __doc__))

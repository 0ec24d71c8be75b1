#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""driver_load: kiseki.ko comes and goes, again and again, while the scheduler is busy.

	driver_load.py BOARD

KISEKI_LOADS times (20; fewer where it takes long) with a collector that listens, one that does not, and none; the kernel must
say nothing, and no memory, thread or file may stay behind. Then loads that must be refused: each says
why in one line, and leaves nothing either. Any warning of the kernel fails the test, at the latest
when the board is switched off.
"""
import os
import re
import socket
import sys
import tempfile
from pathlib import Path

from board_test import KISEKI, Failed, build_driver, build_tool, main
from boards.catalog import get_board
from boards.collector import HOST, Collector
from boards.machine import Machine

LOADS = int(os.environ.get("KISEKI_LOADS", 20))
SECONDS_PER_LOAD = 20  # far more than one takes, on a machine that is busy
SLACK_KB = 6000  # free memory goes up and down by itself

# Tasks that wake each other, tasks that come and go, a processor that is never idle, and who reads the driver's files while it comes and goes.
LOAD = """
/load_pairs 4 0 100000 >/dev/null 2>&1 &
(while :; do /bin/true; done) >/dev/null 2>&1 &
(while :; do cat /sys/kernel/kiseki/statistics /sys/kernel/kiseki/link || usleep 1000; done) >/dev/null 2>&1 &
"""

LOOP = """
i=0
while [ $i -lt {loads} ]; do
	case $((i % 3)) in
	0) where="collector={host}:{port}" ;;
	1) where="collector={host}:{closed}" ;;
	2) where= ;;
	esac
	insmod /kiseki.ko $where name=loads start=1 || exit 1
	[ -d /sys/kernel/kiseki ] || exit 2
	usleep $((i * 7919 % 150000))
	rmmod kiseki || exit 3
	[ -d /sys/kernel/kiseki ] && exit 4
	i=$((i + 1))
done
exit 0
"""

MEM_MOST_KIB = 262144

# Parameters, and a word of the reason.
REFUSED = (
    ("mem=1", "mem"),
    ("mem=99999999", "mem"),
    ("collector=nowhere.example:7077", "collector"),
    ("collector=10.0.2.2", "collector"),
    ("collector=10.0.2.2:0", "collector"),
    ("collector=10.0.2.2:70000", "collector"),
    ("collector=10.0.2.256:7077", "collector"),
    ("collector=[fec0::2]", "collector"),
    ("collector=[fec0::zz]:7077", "collector"),
    ("collector=[fe80::1%]:7077", "collector"),
    ("collector=10.0.2.2%eth0:7077", "collector"),
    (f"name={'n' * 300}", "name"),
    ("codec=zip", "codec"),
    ("nonsense=1 codec=zip", "codec"),
)


def closed_port():
    """One on which nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as s:
        return s.getsockname()[1]


def meminfo(machine):
    text = machine.check("sync; echo 3 >/proc/sys/vm/drop_caches; sleep 0.3; cat /proc/meminfo")
    return {key: int(kb) for key, kb in re.findall(r"^(\w+):\s+(\d+)", text, re.M)}


def free_kb(machine):
    return meminfo(machine)["MemFree"]


def check_clean(machine, after):
    left = machine.check("cat /proc/modules | grep ^kiseki; ls -d /sys/kernel/kiseki /sys/module/kiseki "
                         "2>/dev/null; ps | grep '\\[kiseki' | grep -v grep; true")
    if left.strip():
        raise Failed(f"after {after} there is still:\n{left}")


def check_loads(machine, port, loads):
    machine.check(LOOP.format(loads=3, host=HOST, port=port, closed=closed_port()),
                  3 * SECONDS_PER_LOAD + 60)  # what the kernel itself takes once
    before = free_kb(machine)
    answer = machine.call(LOOP.format(loads=loads, host=HOST, port=port, closed=closed_port()),
                          loads * SECONDS_PER_LOAD + 60)
    if answer.code:
        raise Failed(f"loading fails ({answer.code}): {answer.text}\n"
                     f"{machine.check('dmesg | tail -n 20')}")
    check_clean(machine, f"{loads} loads")
    lost = before - free_kb(machine)
    if lost > SLACK_KB:
        raise Failed(f"{lost} KB are gone after {loads} loads")
    print(f"  {loads} loads and unloads under load; {lost} KB less memory free")


def check_refused(machine, parameters, word):
    machine.check("dmesg -c >/dev/null")
    answer = machine.call(f"insmod /kiseki.ko {parameters}")
    # Busybox tries both system calls that load a module, one after the other: the same is said twice.
    said = {re.sub(r"^\[[^]]*\] ", "", x) for x in machine.check("dmesg -c").splitlines()
            if "kiseki: " in x and "taint" not in x and "unknown parameter" not in x}
    if not answer.code:
        raise Failed(f"{parameters[:40]} was taken")
    if len(said) != 1 or word not in next(iter(said)):
        raise Failed(f"{parameters[:40]} is refused, but the kernel says: {said}")
    check_clean(machine, parameters[:40])


def check_memory(machine):
    """More memory than there is: no program dies for it, and what was taken before is given back."""
    before = meminfo(machine)
    cpus = int(machine.check("cat /sys/devices/system/cpu/possible").strip().rpartition("-")[2]) + 1
    if MEM_MOST_KIB * cpus <= before["MemAvailable"]:
        print(f"  {before['MemAvailable']} KB is more than the driver can ask for")
        return
    check_refused(machine, f"mem={MEM_MOST_KIB}", f"no memory for {MEM_MOST_KIB} KiB")
    lost = before["MemFree"] - free_kb(machine)
    if lost > SLACK_KB:
        raise Failed(f"{lost} KB are gone after a load with mem={MEM_MOST_KIB}")
    print(f"  {MEM_MOST_KIB} KiB for each of {cpus} CPUs refused")


def test(arguments):
    board = get_board(arguments.board)
    files = [(build_driver(board), "/kiseki.ko"),
             (build_tool(board, "bench/load_pairs.c"), "/load_pairs")]
    loads = max(LOADS // board.patience, 5)
    with tempfile.TemporaryDirectory() as work:
        collector = Collector(KISEKI, Path(work, "store"), Path(work, "collector.log"))
        timeout_s = 300 + (loads + 3) * SECONDS_PER_LOAD
        with collector, Machine(board, files, timeout_s=timeout_s) as machine:
            for parameters, word in REFUSED:
                check_refused(machine, parameters, word)
            print(f"  {len(REFUSED)} loads refused")
            check_memory(machine)
            machine.check(LOAD)
            check_loads(machine, collector.port, loads)
    print(f"{board.name}: kiseki.ko comes and goes")


if __name__ == "__main__":
    sys.exit(main(test, __doc__))

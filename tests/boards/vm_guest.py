#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""vm_guest: a guest with kiseki-guest in it tells its host who is who.

	vm_guest.py BOARD

A real kernel as guest of an emulated host, with a serial port to its VMM. Programs start and end in it while the host is
recorded; the report must know them by name, know the functions of the guest's kernel, and not charge the kernel's own
threads to a process. Where this machine can link the guest's program with BPF, it tells page tables, too, and what they say of
each sample must be what the register with the process's number says, also where a table is used again. Within a switch of tasks the
register is ahead of the task, so there, and nowhere else, they may differ. Then the program in the guest is killed, and then the guest
itself: the report says since when.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from board_test import KISEKI, SRC, WORK, Failed, build, expect, main
from boards.catalog import get_board
from boards.guests import MAIN, SERIAL, Guest, teller_parts
from boards.machine import Machine
from vm_account import parse

sys.path.insert(0, str(SRC / "tests/tools"))
from ksk_decode import Cursor, File  # noqa: E402

SAMPLE_DUMP = os.environ.get("SAMPLE_DUMP") or str(SRC / "build/tests/sample_dump")
META_GUEST, META_TABLES = 22, 23
NAME = "the-guest"
PHASE_S = 600  # of this machine, until a phase counts as stuck
SPIN_MS = 1000
TALK_S = 20  # of the board, until the guest's program must have come
# Of Linux 6.1 for arm64: what runs between the register's change and the task's, with interrupts off; by what __switch_to calls.
SWITCH = ("__switch_to", "spectre_v4_enable_task_mitigation", "cpu_mitigations_off", "erratum_1418040_thread_switch",
          "this_cpu_has_cap", "is_affected_midr_range_list", "ptrauth_keys_install_user", "mte_thread_switch", "cpu_switch_to")
SCRIPT = f"""#!/bin/sh
tell() {{ /kiseki-guest --name {NAME} {SERIAL.address} & echo $! >/guest.pid; }}
tell
echo 1 >/sys/kernel/mm/ksm/run; echo 1000 >/sys/kernel/mm/ksm/pages_to_scan; echo 0 >/sys/kernel/mm/ksm/sleep_millisecs
echo guest ready
while read what how ms; do
	case $what in
	mute) kill -9 $(cat /guest.pid); echo done mute;;
	tell) tell; echo done tell;;
	where) grep -A2 -E " ({'|'.join(SWITCH)})$" /proc/kallsyms; echo done where;;
	*) /$what $how $ms; echo done $what;;
	esac
done
"""


class Bench:
    def __init__(self, machine, guest, work):
        self.machine, self.guest, self.work, self.number = machine, guest, Path(work), 0

    def start(self):
        """Records, until the guest's program talks."""
        self.number += 1
        self.machine.check(f"taskset 1 /kiseki-agent vm --name host --guests {SERIAL.door} -o /tmp/r{self.number} "
                           ">/tmp/r.log 2>&1 & echo $! >/tmp/r.pid")
        answer = self.machine.call(f"for i in $(seq {TALK_S * 5}); do grep -q {NAME} /tmp/r{self.number} && exit; sleep 0.2; "
                                   "done; cat /tmp/r.log; exit 1", PHASE_S)
        if answer.code:
            raise Failed(f"the guest's program does not talk: {answer.text} {self.guest.console()[-1000:]}")

    def tell(self, words):
        """What the guest answers."""
        seen = int(self.machine.check(f"wc -l <{self.guest.console_path}"))
        self.guest.tell(words)
        return self.machine.check(
            f"while [ -d /proc/{self.guest.pid} ]; do tail -n +{seen + 1} {self.guest.console_path} | "
            f"grep -q '^done {words.split()[0]}' && break; sleep 0.2; done; tail -n +{seen + 1} {self.guest.console_path}",
            PHASE_S)

    def find_switch(self):
        """The addresses of the functions of a switch, as ranges: each ends at the next symbol that is not a second name of it."""
        rows = [(int(x, 16), name) for x, name in re.findall(r"^([0-9a-f]{16}) \w (\S+)", self.tell("where"), re.M)]
        missing = {"__switch_to", "cpu_switch_to"} - {name for _, name in rows}
        if missing:
            raise Failed(f"the guest's kernel has no {' '.join(missing)}: {rows}")
        return [range(start, min((x for x, _ in rows if x > start), default=start)) for start, name in rows if name in SWITCH]

    def stop(self):
        self.machine.check("kill $(cat /tmp/r.pid); while [ -d /proc/$(cat /tmp/r.pid) ]; do sleep 0.1; done", PHASE_S)
        folder = self.work / f"r{self.number}"
        self.machine.check(f"mkdir -p /tmp/take; mv /tmp/r{self.number} /tmp/take/")
        self.machine.get("/tmp/take", folder)
        self.machine.check("rm -rf /tmp/take")
        return folder / f"r{self.number}"


def report(path, *options):
    done = subprocess.run([KISEKI, "vm", "report", path, "--limit", "0", *options], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)
    expect(f"report ({done.stderr.strip()})", done.returncode, 0)
    return done.stdout


def check_names(bench):
    """Processes that came and went are known, each with its own time; the kernel's threads are themselves."""
    switch = bench.find_switch()
    bench.start()
    ran = {}
    for words in (f"first spin {SPIN_MS}", f"second spin {SPIN_MS}", f"holder hold {2 * SPIN_MS}"):
        match = re.search(r"^ran /(\w+) (\d+) (\d+)", bench.tell(words), re.M)
        ran[f"{match[1]} ({match[2]})"] = int(match[3])
    path = bench.stop()
    print(report(path, "--by", "process"))
    rows = {x["process"]: x for x in json.loads(report(path, "--by", "process", "--json"))["process"]["rows"]}
    for name, ms in ran.items():
        got = rows[name]["true_ns"] / 1e6 if name in rows else 0
        print(f"  {name}: {got:.0f} ms by samples, {ms} by its own account")
        # Its account has the host's steal in it; samples are a millisecond apart.
        if abs(got - ms) > max(60, ms / 10):
            raise Failed(f"{name} has {got:.0f} ms of {ms}: {sorted(rows)}")
    merger = [x for name, x in rows.items() if name.startswith("ksmd (")]
    if not merger or merger[0]["true_ns"] < SPIN_MS * 1e6 / 4:
        raise Failed(f"the kernel's thread that merges pages is not there: {sorted(rows)}")
    expect("unnamed processes", [x for x in rows if x.startswith(("pid ", "space "))], [])
    check_tables(path, bench.guest, switch)
    check_functions(path)


def read_tables(path):
    """What the guest told of tables and tasks: rows (tick, is end, pid, table, task), in order of time."""
    rows = []
    for block in File(path.read_bytes()).blocks:
        items = Cursor(block.payload if block.stream == 0 else b"")
        while items.left():
            kind, guest = items.varint(), Cursor(items.take(items.varint()))
            if kind != META_GUEST:
                continue
            guest.signed()
            while guest.left():
                kind, item = guest.varint(), Cursor(guest.take(guest.varint()))
                while kind == META_TABLES and item.left():
                    pid, _, tick, flags, table, task = (item.signed(), item.signed(), *(item.varint() for _ in range(4)))
                    item.take(item.varint())
                    rows.append((tick, flags, pid, table, task))
    return sorted(rows)


def owner(rows, column, value, tick):
    """Whose it was then: a pid; 0: nobody's."""
    last = [x for x in rows if x[column] == value and x[0] <= tick][-1:]
    return last[0][2] if last and not last[0][1] else 0


def check_tables(path, guest, switch):
    """Tables and tasks against the number that the guest's kernel keeps in a register; `switch` are the addresses between the two."""
    rows = read_tables(path)
    users = {}
    for _, is_end, pid, table, _ in rows:
        if table and not is_end:
            users.setdefault(table, set()).add(pid)
    if not users:
        print("  the guest told no page tables")
        return
    text = subprocess.run([SAMPLE_DUMP, path], stdout=subprocess.PIPE, text=True, check=True).stdout
    samples = [s for s in parse(text.splitlines())[0] if s.task.pid == guest.pid and s.context]
    found = {"right": 0, "wrong": 0, "in a switch": 0, "not known": 0}
    for s in samples:
        is_user = s.mode == "guest-user"
        got = owner(rows, 3, s.table & 0xfffffffffffe, s.tick) if is_user else owner(rows, 4, s.current, s.tick)
        if not got:
            found["not known"] += 1
        elif got == s.context:
            found["right"] += 1
        elif not is_user and any(s.pc in x for x in switch):
            found["in a switch"] += 1
        else:
            found["wrong"] += 1
            print(f"  process {got} by what the guest told, {s.context} by its register: {s}")
    print(f"  by page table and task: {found}; {sum(len(x) > 1 for x in users.values())} tables were used again")
    expect("samples of another process", found["wrong"], 0)
    if found["right"] < 0.8 * len(samples):
        raise Failed(f"of {len(samples)} samples only {found['right']} have an owner")


def check_functions(path):
    """Nearly all of the guest's kernel has names."""
    rows = json.loads(report(path, "--by", "function", "--json"))["function"]["rows"]
    kernel = [x for x in rows if x["process"].startswith("ksmd (")]
    total = sum(x["true_ns"] for x in kernel)
    named = sum(x["true_ns"] for x in kernel if "unknown" not in x["function"])
    print(f"  {100 * named / total:.1f} % of ksmd in functions with a name, as {kernel[0]['function']}")
    if named < 0.9 * total:
        raise Failed(f"functions of the guest's kernel have no names: {kernel[:5]}")


def check_silent(bench):
    bench.start()
    bench.tell("mute")
    bench.tell("first spin 7000")
    text = report(bench.stop())
    if not re.search(rf"^machine {bench.guest.pid}: its guest program is silent since \+", text, re.M):
        raise Failed(f"nothing says that the guest's program is silent:\n{text}")
    print("  its program was killed: " + text.splitlines()[-1])


def check_gone(bench):
    bench.tell("tell")
    bench.start()
    bench.tell("first spin 300")
    bench.guest.stop()
    text = report(bench.stop())
    if not re.search(rf"^machine {bench.guest.pid}: its guest program is gone since \+", text, re.M):
        raise Failed(f"nothing says that the guest is gone:\n{text}")
    print("  the guest was killed: " + text.splitlines()[-1])


def build_program(board):
    """With BPF, if this machine has what it takes, else without."""
    folder = WORK.parent / "static-bpf"
    if board.is_native and subprocess.run([SRC / "tools/build-static-agent", "--bpf", folder], stdout=subprocess.DEVNULL,
                                          stderr=subprocess.DEVNULL).returncode == 0:
        return folder / "kiseki-guest"
    return build.build_guest(board)


def test(arguments):
    board = get_board(arguments.board)
    spin = build.compile_program(board, [SRC / "tests/tools/vm_spin.c"], WORK / board.name / "vm_spin")
    module = build.build_vm_module(board, WORK / board.name)
    agent = build.build_agent(board)
    program = build_program(board)
    with tempfile.TemporaryDirectory() as work:
        script = Path(work) / "main"
        script.write_text(SCRIPT)
        script.chmod(0o755)
        files = [(spin, "/first"), (spin, "/second"), (spin, "/holder"), (script, MAIN)]
        parts = teller_parts(board, files, program, work)
        parts["files"] += [(module, "/kiseki_vm.ko"), (agent, "/kiseki-agent")]
        with Machine(board.paced(), **parts, timeout_s=1800) as machine:
            machine.check("insmod /kiseki_vm.ko")
            guest = Guest(machine, "g1", way=SERIAL, tells=False)
            guest.wait_for("guest ready")
            bench = Bench(machine, guest, work)
            check_names(bench)
            check_silent(bench)
            check_gone(bench)
    print(f"{board.name}: a guest tells who is who")


if __name__ == "__main__":
    sys.exit(main(test, __doc__))

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""func_kernel: the calls of a board's kernel, recorded by kiseki-agent, against trace-cmd.

	func_kernel.py BOARD

What is recorded is read here, by us and by `trace-cmd report`: as many calls, and the same durations. After
each recording, whether it ended by itself, failed, was interrupted or killed, the kernel's switches are as
they were.
"""
import collections
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from board_test import Failed, build, expect, main, skip
from boards.catalog import get_board
from boards.machine import Machine

DUMP = os.environ.get("GRAPH_DUMP")
PATIENCE_S = 1800  # an emulated kernel needs seconds to patch its functions, a busy machine many times that
TRACING = "/sys/kernel/tracing"
SWITCHES = ("current_tracer tracing_on buffer_size_kb set_graph_function set_graph_notrace max_graph_depth "
            "tracing_thresh set_ftrace_pid tracing_cpumask trace_clock set_ftrace_filter set_event "
            "options/function-fork options/funcgraph-irqs options/sleep-time").split()
INTERRUPTS = ("gic_handle_irq", "handle_percpu_devid_irq", "handle_fasteoi_irq", "irq_exit")
SUMMARY = re.compile(r"(\d+) calls, (\d+) records lost")


class Board:
    def __init__(self, machine, work):
        self.machine, self.work = machine, work
        # Its rings are small until they are used for the first time; then they stay larger.
        machine.check(f"echo 1408 > {TRACING}/buffer_size_kb")
        self.found = self.switches()

    def switches(self):
        text = self.machine.check(f"cd {TRACING}; for f in {' '.join(SWITCHES)}; do echo == $f; "
                                  "head -n 5 $f; done; ls instances; ps | grep kiseki-guar[d]; true")
        return text.strip()

    def record(self, arguments, status=0):
        """The calls that the agent says it has."""
        output = self.machine.check(f"cd /tmp; kiseki-agent kernel {arguments} 2>&1 > /dev/null; "
                                    f"echo status $?", PATIENCE_S)
        expect(f"the switches after {arguments}", self.switches(), self.found)
        expect(f"kernel {arguments}: {output}", output.split()[-1], str(status))
        found = SUMMARY.search(output)
        if not found:
            return output
        expect("lost", found[2], "0")
        return int(found[1])

    def fetch(self, name):
        """A file of the board."""
        path = Path(self.work) / name
        path.write_bytes(self.machine.read(f"cat /tmp/{name}", PATIENCE_S))
        return path


def read_calls(path):
    done = subprocess.run([DUMP, path], stdout=subprocess.PIPE, text=True, check=True)
    lines = done.stdout.splitlines()
    counts = dict(zip(lines[-1].split()[1::2], map(int, lines[-1].split()[2::2])))
    for what in ("alone", "wrong", "back", "losses"):
        expect(f"{what} in {path.name}", counts[what], 0)
    return [line.split(None, 3) for line in lines[:-1]], counts


def printed(ns):
    """trace-cmd prints long times without nanoseconds."""
    return ns if ns < 100_000_000 else ns // 1000 * 1000


def report(path, *options):
    return subprocess.run(["trace-cmd", "report", *options, "-i", path], stdout=subprocess.PIPE, text=True,
                          check=True).stdout


def durations(path):
    """Those of trace-cmd's report."""
    return collections.Counter(printed(round(float(x) * 1000)) for x in
                               re.findall(r"funcgraph_.*?([\d.]+) us +\|", report(path)))


def compare(path):
    """Our calls beside trace-cmd's."""
    calls, counts = read_calls(path)
    text = report(path)
    theirs = durations(path)
    ours = collections.Counter(printed(int(call[2])) for call in calls)
    expect(f"calls in {path.name}", sum(ours.values()), sum(theirs.values()))
    expect(f"durations in {path.name} that only one has", (ours - theirs) + (theirs - ours),
           collections.Counter())
    names = set(re.findall(r"\|\s+([\w.]+)\(\)", text)) - {call[3] for call in calls}
    expect(f"functions in {path.name} that only trace-cmd has", names and
           {n for n in names if f" {n}();" in text}, set())
    return calls, counts


def read_exits(path):
    """What the kernel wrote of calls that are over: task, function, depth, begin and end."""
    lines = re.findall(r"-(\d+) +\[\d+\].* funcgraph_exit: +func=(\S+) depth=(\d+) .*calltime=(\w+) rettime=(\w+)",
                       report(path, "-R"))
    return [(tid, name, int(depth), int(begin, 16), int(end, 16)) for tid, name, depth, begin, end in lines]


def expect_depth(path, calls, most):
    """No call is deeper for the kernel. Before 6.11 it may be for us: an interrupt of a call that has given its depth back,
    and reads the clock for its end later, has the depth of that call, and is in it."""
    expect("the depth that the kernel wrote", max(map(int, re.findall(r" depth=(\d+)", report(path, "-R")))), most)
    expect("calls of that depth", any(int(call[1]) == most for call in calls), True)
    deeper = [call for call in calls if int(call[1]) > most]
    exits = read_exits(path) if deeper else []
    for tid, _, ns, name in deeper:
        found = [x for x in exits if (x[0], x[1], str(x[4] - x[3])) == (tid, name, ns)]
        chains = [[x[2] for x in exits if x[0] == tid and x[3] <= begin and x[4] >= end] for *_, begin, end in found]
        if not any(len(chain) > len(set(chain)) for chain in chains):
            raise Failed(f"{name} of {tid} is deeper than {most}, and in no call that has its depth: {chains}")


def check_tree(board):
    board.record("-o tree.dat -d 3 -s -- sh -c 'cat /proc/version; ls /'")
    path = board.fetch("tree.dat")
    calls, counts = compare(path)
    expect_depth(path, calls, 2)
    if not counts["os"]:
        raise Failed("no switches of tasks")
    print(f"  tree: {len(calls)} calls")


def check_filters(board):
    # --min-time: only exits, from which the tree is made; the command's status is the agent's.
    said = board.record("-o min.dat --min-time 100us -- sh -c 'ls / ; exit 3'", 3)
    calls, counts = compare(board.fetch("min.dat"))
    expect("calls and what the agent says", len(calls), said)
    expect("calls that took too little", [c for c in calls if int(c[2]) < 100_000], [])
    if max(int(c[1]) for c in calls) < 3:
        raise Failed("calls do not nest")
    board.record(f"-o only.dat --tree vfs_open,vfs_write --notree do_dentry_open -- cat {TRACING}/set_graph_function")
    calls, counts = compare(board.fetch("only.dat"))
    expect("functions at the top", {c[3] for c in calls if c[1] == "0"} - {"vfs_open", "vfs_write"}, set())
    expect("functions left out", [c for c in calls if c[3] == "do_dentry_open" and c[1] != "1"], [])
    print(f"  filters: {said} long calls, {len(calls)} of two functions")


def check_choices(board):
    """Of tasks, CPUs and times."""
    board.record("-o cpu.dat -d 2 -a --cpu 1 -- sh -c 'i=0; while [ $i -lt 8 ]; do ls / >/dev/null; i=$((i + 1)); done'")
    # What a task did elsewhere is missing, so no two readers agree about its calls.
    path = board.fetch("cpu.dat")
    cpus = set(re.findall(r"\[(\d{3})\]", report(path)))
    expect("CPUs of --cpu 1", cpus, {"001"})
    # The shell forks; only what it does itself is wanted, and on a slow board it waits for seconds. Enough that not all of it
    # are interrupts.
    board.machine.check("(while :; do cat /proc/version > /dev/null; done) & echo $! > /tmp/pid")
    board.record("-o pid.dat -d 1 --events 300 --time 120s --no-fork --pid $(cat /tmp/pid)")
    pid = board.machine.check("cat /tmp/pid; kill $(cat /tmp/pid)").split()[0]
    path = board.fetch("pid.dat")
    calls, _ = compare(path)
    if not calls:
        raise Failed("no calls of a process that works")
    # A switch to it still runs as the task before it; but nobody else comes into the kernel.
    expect("tasks of --pid that made system calls",
           set(re.findall(r"-(\d+) +\[\d{3}\].*\bdo_el0_svc\(", report(path))), {pid})
    board.record("-o irqs.dat -a -d 2 --no-irqs --time 1s")
    calls, _ = compare(board.fetch("irqs.dat"))
    expect("functions of interrupts", [c for c in calls if c[3] in INTERRUPTS], [])
    # Our times are those of the clock; without the time asleep they are trace-cmd's.
    longest = []
    for more in ("", "--no-sleep-time"):
        board.record(f"-o sleep.dat --tree '*nanosleep*' {more} -- sleep 1")
        path = board.fetch("sleep.dat")
        calls, _ = read_calls(path)
        expect("the sleep", max(int(c[2]) for c in calls) >= 1_000_000_000, True)
        longest.append(max(durations(path)))
    if longest[0] < 1_000_000_000 or longest[1] >= 500_000_000:
        raise Failed(f"a second's sleep has {longest[0]} ns, and without sleep time {longest[1]}")
    print(f"  choices: a CPU, a task, no interrupts, {longest[1]} ns of a sleep of {longest[0]}")


def check_ends(board):
    board.record("-o none.dat --tree no_such_function -- true", 1)
    board.record("-o none.dat --clock no_such_clock -- true", 1)
    calls = board.record("-o limit.dat --events 50 -d 2 -a -- ls /")
    if not 50 <= calls < 250:  # a page has fewer than 200
        raise Failed(f"{calls} calls instead of 50")
    # From a function to a function, in the life of one command.
    board.record("-o part.dat -d 1 -a --start vfs_statx --stop do_sys_openat2 -- ls -l /proc/version")
    part, _ = read_calls(board.fetch("part.dat"))
    print(f"  ends: {calls} calls of 50 asked for, {len(part)} between two functions")
    for signal, status in (("INT", 0), ("TERM", 0), ("KILL", 137)):
        end_by(board, signal, status)


def end_by(board, signal, status):
    """It records until a signal comes."""
    board.machine.check(f"""cd /tmp; kiseki-agent kernel -o signal.dat -d 1 --tree vfs_write 2> err & pid=$!
        until grep -q function_graph {TRACING}/current_tracer {TRACING}/instances/*/current_tracer 2> /dev/null
        do sleep 0.2; done
        sleep 1; kill -{signal} $pid; wait $pid; echo $? > status; while pidof kiseki-agent; do sleep 0.2; done""",
                        PATIENCE_S)
    expect(f"the status after SIG{signal} ({board.machine.check('cat /tmp/err').strip()})",
           board.machine.check("cat /tmp/status").strip(), str(status))
    expect(f"the switches after SIG{signal}", board.switches(), board.found)


def run(arguments):
    if not shutil.which("trace-cmd"):
        skip("there is no trace-cmd to compare with")
    board = get_board(arguments.board)
    agent = build.build_agent(board)
    with tempfile.TemporaryDirectory(prefix="kiseki-func-kernel-") as work, \
            Machine(board, [(agent, "/bin/kiseki-agent")], timeout_s=7000) as machine:
        print(f"  Linux {machine.check('uname -r').strip()}")
        if "function_graph" not in machine.check(f"cat {TRACING}/available_tracers"):
            skip("this board's kernel has no function_graph")
        it = Board(machine, work)
        check_tree(it)
        check_filters(it)
        check_choices(it)
        check_ends(it)


if __name__ == "__main__":
    sys.exit(main(run, __doc__))

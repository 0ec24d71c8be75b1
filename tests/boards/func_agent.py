#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""func_agent: a threaded program of a board, whose calls go through kiseki-agent to a collector.

	func_agent.py BOARD

The program keeps a list of its calls beside the hooks (tests/func/reference.c). What the collector has of it afterwards is
asked as a user asks it: every call of every thread and child is there, in its order and under its name, and
none is lost; also if the agent is killed while the program runs.
"""
import collections
import io
import json
import struct
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from board_test import KISEKI, SRC, WORK, build, expect, main, wait_for
from boards.catalog import get_board
from boards.collector import HOST, Collector
from boards.machine import Machine

NAME = "func"
SOURCES = ("calls.c", "calls_jump.c", "calls_process.c", "calls_thread.c", "reference.c")
OPTIONS = ("-O1", "-g", "-DNO_PLUGINS", "-w", "-finstrument-functions", "-fno-optimize-sibling-calls",
           "-finstrument-functions-exclude-file-list=reference.c", "-Wl,--build-id",
           "-Wl,--wrap=__cyg_profile_func_enter", "-Wl,--wrap=__cyg_profile_func_exit")
AGENT = (f"kiseki-agent --collector {HOST}:{{}} --name {NAME} --func on --func-socket /tmp/func.sock "
         "--state-dir /tmp --spool-file /tmp/spool >>/tmp/agent.log 2>&1 & echo $! >/tmp/agent.pid")
# A reference is a number of calls and as many words, in a file that is much longer.
CUT = ("cd /tmp/references; for f in *; do n=$(od -An -tu4 -N4 $f); head -c $((8 + 8 * n)) $f >/tmp/cut/$f; done; "
       "tar -c -f - -C /tmp/cut .")


def build_program(board):
    archive = build.build_func(board)
    return build.compile_program(board, [SRC / "tests/func" / x for x in SOURCES], WORK / board.name / "calls", [
        *OPTIONS, f"-Wl,--whole-archive,{archive},--no-whole-archive"])


class Board:
    def __init__(self, machine, collector):
        self.machine, self.collector = machine, collector
        machine.check("mkdir /tmp/references /tmp/cut")

    def start_agent(self):
        self.machine.check(AGENT.format(self.collector.port))
        self.machine.check("for i in $(seq 600); do [ -S /tmp/func.sock ] && exit 0; sleep 0.1; done; "
                           "cat /tmp/agent.log; exit 1", 90)

    def end_agent(self, signal):
        self.machine.check(f"kill -{signal} $(cat /tmp/agent.pid); for i in $(seq 600); do "
                           "kill -0 $(cat /tmp/agent.pid) 2>/dev/null || exit 0; sleep 0.1; done; exit 1", 90)

    def run(self, arguments, behind=""):
        """The program, which must end well and say nothing."""
        said = self.machine.check(
            "REFERENCE=/tmp/references KISEKI_FUNC_AGENT=/tmp/func.sock KISEKI_FUNC_POLICY=wait "
            f"KISEKI_FUNC_WAIT=0 calls {arguments} 2>&1 {behind}", 300)
        expect(f"what calls {arguments} says", said, "")

    def references(self):
        """{(pid, tid): [words]}: what was called, in order; address * 2, + 1 for a return."""
        lists = {}
        with tarfile.open(fileobj=io.BytesIO(self.machine.read(CUT))) as tar:
            for member in filter(tarfile.TarInfo.isfile, tar):
                pid, tid, _ = map(int, Path(member.name).name.split("."))
                data = tar.extractfile(member).read()
                lists[pid, tid] = struct.unpack_from(f"<{struct.unpack_from('<I', data)[0]}Q", data, 8)
        return lists


def read_names(program):
    text = subprocess.run(["readelf", "-sW", program], check=True, text=True, stdout=subprocess.PIPE).stdout
    fields = (line.split() for line in text.splitlines())
    return {int(f[1], 16): f[7] for f in fields if len(f) == 8 and f[3] == "FUNC"}


def expected_calls(words, names):
    """[(depth, function)] in the order of their begins."""
    calls, depth = [], 0
    for word in words:
        if word & 1:
            depth -= 1
        else:
            calls.append((depth, names[word >> 1]))
            depth += 1
    return calls


def recorded_calls(collector, work, program):
    """The same of all runs of the device, by process and thread; and how many calls they lost."""
    calls, lost = collections.defaultdict(list), 0
    answer = collector.client("runs", NAME, "--json")
    for run in json.loads(answer.stdout)["runs"]:
        expect(f"run {run['run']} has ended", run["ended"], True)
        path = work / f"{run['run']}.ksk"
        answer = collector.client("export", "--run", run["run"], "-o", path)
        expect(f"export ({answer.stderr.strip()})", answer.returncode, 0)
        done = subprocess.run([KISEKI, "func", "tree", path, "--json", "--limit", "0", "--symbols", program.parent],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        expect("what func tree says about names and losses", (done.returncode, done.stderr), (0, ""))
        tree = json.loads(done.stdout)
        lost += tree["all"]["lost"]
        for call in tree["calls"]:
            expect("how a call ends", call["end"], "returned")
            calls[call["pid"], call["tid"]].append((call["depth"], call["function"]))
        print(f"  run {run['run']}: {run['events']} events of {run['threads']} threads in {run['bytes']} bytes")
    return calls, lost


def check(board, collector, work, program):
    names = read_names(program)
    wanted = {who: expected_calls(words, names) for who, words in board.references().items()}
    got, lost = recorded_calls(collector, work, program)
    expect("calls that are lost", lost, 0)
    expect("threads", sorted(got), sorted(wanted))
    for who, calls in wanted.items():
        expect(f"how many calls thread {who} made", len(got[who]), len(calls))
        wrong = next((n for n, pair in enumerate(zip(calls, got[who])) if pair[0] != pair[1]), None)
        expect(f"the first wrong call of thread {who}", wrong, None)
    print(f"  {sum(map(len, wanted.values()))} calls of {len(wanted)} threads of "
          f"{len({pid for pid, _ in wanted})} processes, all there")


def test(arguments):
    board = get_board(arguments.board)
    agent, program = build.build_agent(board), build_program(board)
    with tempfile.TemporaryDirectory(prefix="kiseki-func-") as work:
        collector = Collector(KISEKI, Path(work) / "store", Path(work) / "collector.log").start()
        try:
            with Machine(board, [(agent, "/bin/kiseki-agent"), (program, "/bin/calls")], timeout_s=1800) as machine:
                on_board = Board(machine, collector)
                on_board.start_agent()
                on_board.run("threads 8")
                on_board.run("thread_fork 4")
                # It runs on while there is no agent, and its record waits for the next one.
                on_board.run("pace 300", ">/tmp/pace.log &")
                machine.check("while ! grep -q calls /tmp/func-*/*.maps; do sleep 0.1; done; killall -STOP calls")
                on_board.end_agent("KILL")
                machine.check("pidof calls && killall -CONT calls")
                on_board.start_agent()
                machine.check("while pidof calls >/dev/null; do sleep 0.2; done; [ ! -s /tmp/pace.log ]", 300)
                wait_for("the rest", lambda: not machine.check("ls /tmp/func-*/ | grep -v told; true").strip())
                on_board.end_agent("TERM")
                print(machine.check("cat /tmp/agent.log"))
                check(on_board, collector, Path(work), program)
        finally:
            collector.stop()


if __name__ == "__main__":
    sys.exit(main(test, __doc__))

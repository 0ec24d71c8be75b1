#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""collector: the collector itself on a board, behind its filter of system calls, with keys.

	collector.py BOARD

Which calls the C library and the others choose differs between machines, and one that the filter does not know is refused. So the
collector is built for the board, and lives there for a while: makes keys, lets an agent of the same board in, stores, is killed and starts again,
answers over HTTPS, exports, reads foreign files in its sandbox. Nothing may be refused, and nothing lost.
"""
import collections
import json
import sys

from board_test import SRC, WORK, Failed, build, expect, main, wait_for
from boards.catalog import get_board
from boards.machine import Machine

NAME, PROGRAMS = "itself", 40
DATA, KEYS, STATE = "/tmp/store", "/tmp/store/keys", "/tmp/state"
REFUSED = "refused the system call"
FOREIGN = ("small-v6.dat", "small-v7.dat", "ftrace_6.18.txt")
ASK = f"KISEKI_SERVER=https://127.0.0.1:8080 KISEKI_CA={KEYS}/ca.pem KISEKI_TOKEN_FILE=/tmp/token kiseki"


def start_collector(machine):
    machine.check(f"kiseki serve --data {DATA} >/tmp/collector.out 2>>/tmp/collector.log & echo $! >/tmp/collector.pid")
    wait_for("the collector", lambda: not machine.call("grep -qx ready /tmp/collector.out").code)
    expect("filter", machine.check("grep Seccomp: /proc/$(cat /tmp/collector.pid)/status").split(), ["Seccomp:", "2"])


def end_collector(machine, how):
    machine.check(f"kill -{how} $(cat /tmp/collector.pid)")
    wait_for("its end", lambda: machine.call("[ -d /proc/$(cat /tmp/collector.pid) ]").code)


def device(machine):
    answer = machine.call(f"{ASK} devices --json 2>/tmp/said")
    devices = [] if answer.code else json.loads(answer.text)["devices"]
    return next((d for d in devices if d["name"] == NAME), {})


def record(machine):
    machine.check(f"mkdir -p /var/tmp && kiseki keys init 127.0.0.1 --dir {KEYS} && umask 077 && "
                  f"kiseki keys token add tests --role admin --dir {KEYS} >/tmp/token")
    start_collector(machine)
    machine.check(f"kiseki keys enroll {NAME} --dir {KEYS} | "
                  f"kiseki-agent enroll --config /dev/null -c 127.0.0.1:7077 -n {NAME} --state-dir {STATE}")
    machine.check(f"kiseki-agent --config /dev/null -c 127.0.0.1:7077 -n {NAME} --start --source tracefs "
                  f"--state-dir {STATE} >/tmp/agent.log 2>&1 &")
    wait_for("the agent to trace", lambda: device(machine).get("state") == "tracing")
    for round in range(2):
        machine.check(f"for i in $(seq {PROGRAMS}); do sh -c 'exec true'; done")
        if not round:
            end_collector(machine, "KILL")
            start_collector(machine)
            wait_for("the agent again", lambda: device(machine).get("online"))
    machine.check(f"{ASK} stop {NAME}")
    wait_for("the rest", lambda: device(machine).get("state") == "idle" and
             (device(machine).get("status") or {}).get("spool_used") == 0)


def check_recording(machine):
    lines = machine.check(f"{ASK} export {NAME} --format ndjson -o - 2>/tmp/said", 300).splitlines()
    kinds = collections.Counter(json.loads(line).get("kind") for line in lines)
    expect("losses", kinds["lost"], 0)
    if kinds["exec"] < 2 * PROGRAMS:
        raise Failed(f"{kinds['exec']} of {2 * PROGRAMS} programs were recorded: {kinds}")
    print(f"  {kinds.total()} lines of a recording", flush=True)


def check_foreign(machine):
    """Each reader of a foreign file is a process that can do nothing else."""
    for name in FOREIGN:
        events = json.loads(machine.check(f"kiseki info --json /data/{name}"))["events"]
        machine.check(f"kiseki convert /data/{name} -o /tmp/foreign.ksk")
        expect(name, json.loads(machine.check("kiseki info --json /tmp/foreign.ksk"))["events"], events)
    machine.check(f"{ASK} export {NAME} -o /tmp/own.ksk && kiseki report sched /tmp/own.ksk")


def check_log(machine):
    log = machine.check("cat /tmp/collector.log")
    if REFUSED in log:
        raise Failed(log)
    expect("check", machine.call(f"kiseki check {DATA}", 300).code, 0)


def run(arguments):
    board = get_board(arguments.board)
    files = {there: here for here, there in build.build_collector_part(board, "src/cli/kiseki", WORK / board.name) +
             build.build_tls_agent(board)}
    files |= {f"/data/{name}": SRC / "tests/data" / name for name in FOREIGN}
    with Machine(board, [(here, there) for there, here in files.items()], memory="1536", timeout_s=1800) as machine:
        record(machine)
        check_recording(machine)
        check_foreign(machine)
        end_collector(machine, "TERM")
        check_log(machine)
        print(machine.check("kiseki doctor | grep -i sandbox").strip(), flush=True)


if __name__ == "__main__":
    sys.exit(main(run, __doc__))

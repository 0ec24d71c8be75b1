#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""vm_thesis: what kiseki vm says of virtual machines, beside what the machines themselves and the scheduler say.

	vm_thesis.py BOARD [--keep FOLDER]

The experiments of the thesis on profiling virtual machines, on an emulated host with KVM whose clock counts instructions: two
guests with Linux, and a third that comes and goes, share one CPU. One recording by kiseki-agent vm has it all; the
product's own commands judge it. Each figure is printed with what it should be and who says so: the guest's own clock and /proc/stat
(which mpstat prints), the scheduler's run_delay, the same program without a guest, and the test's own account of the events
(vm_account.py).

Bounds. Events are exact, so what they give has the bounds of the account it is compared with: a guest counts steal in hundredths
of a second, run_delay differs by up to 30 us at each switch. Shares by samples have four standard deviations of so
many samples; one in 16,000 right ones is further off.
"""
import json
import math
import sys
import tempfile
import time
from pathlib import Path

from board_test import KISEKI, SRC, WORK, Failed, build, expect, main
from boards.catalog import get_board
from boards.guests import Guest, guest_parts
from boards.machine import Machine
from vm_account import account
from vm_bench import NS, PROGRAM, Bench, Recording, Table, percent, run
from vm_module import check_chains, check_exits, check_guest, check_refused, check_unload, functions

ROUNDS = 1300  # of the work: 1.7 s of this board's
DUTY_S, DUTY_CYCLES, LINES = 2, 50, 30
CYCLE_S, EDGE_S = 0.03, 0.05
# What a switch may add to the scheduler's own account; what is cut off at both ends; what a move to another CPU takes, which is
# in no queue's account.
SWITCH_NS, ENDS_NS, MOVE_NS = 30_000, 1_000_000, 1_000_000
MOVES = 16
HEAVY = 80  # percent of the work


def chance(share, samples):
    """Four standard deviations of a share in percent, by so many samples."""
    return 400 * math.sqrt(share / 100 * (1 - share / 100) / max(samples, 1))


def between(start, end):
    return ["--from", f"{start:.3f}", "--to", f"{end:.3f}"]


# --- what is done on the board ---

MIGRATE = (f"for i in $(seq {MOVES // 2}); do "
           "taskset -p 1 {0} >/dev/null; sleep 0.03; taskset -p 2 {0} >/dev/null; "
           "sleep 0.03; done")


def do_all(bench, say):
    """The phases, by name, and the guests, of which the third has gone."""
    machine, done = bench.machine, {}
    bench.clear()
    first, second = guests = [Guest(machine, "g1"), Guest(machine, "g2")]
    for g in guests:
        g.wait_for("guest ready")
    say("guests ready")
    bench.load()
    check_refused(machine)
    bench.start("--buffer 8M")
    say("recording")
    start, _ = bench.mark([])
    machine.check(f"taskset 2 {PROGRAM} mix {ROUNDS}", 120)
    done["native"] = start, bench.mark([])[0]
    say("native")
    done["one"] = bench.do([first], f"mix {ROUNDS}")
    say("one")
    done["pair"] = bench.do([first], f"pair {ROUNDS // 2}")
    say("pair")
    done["duty"] = bench.do([first], f"duty {DUTY_S}")
    say("duty")
    done["write"] = bench.do([first], f"write {LINES}")
    say("write")
    done["two"] = bench.do(guests, f"mix {ROUNDS}")
    say("two")
    third = Guest(machine, "g3", is_bare=True)
    say("third guest")
    done["three"] = bench.do(guests, f"mix {ROUNDS}")
    third.stop()
    say("three")
    done["migration"] = bench.do([first], f"mix {ROUNDS // 2}", MIGRATE.format(first.tid))
    say("migration")
    bench.stop()
    say("recording taken")
    return done, (*guests, third)


def check_killed(bench, guest):
    """An agent that is killed leaves a file that can be read, and a module that can go."""
    bench.start("--period 500us")
    guest.tell("spin 1")
    bench.machine.check("sleep 2")
    expect("unloading while it is recorded", bench.machine.call("rmmod kiseki_vm").code != 0, True)
    bench.machine.check("kill -9 $(cat /tmp/r.pid); while [ -d /proc/$(cat /tmp/r.pid) ]; do sleep 0.1; done; rmmod kiseki_vm; "
                        "mv /tmp/vm.ksk /tmp/cut.ksk")
    bench.load()
    bench.take("/tmp/cut.ksk")
    rows = json.loads(run(KISEKI, "vm", "report", bench.work / "cut.ksk", "--json"))["machines"]
    expect("machines of a recording that was cut", guest.pid in [m["vm"] for m in rows], True)


# --- what comes out ---

class Result:
    """The recording, the phases, and where the figures go."""

    def __init__(self, recording, phases, guests):
        self.recording, self.phases, self.guests, self.table = recording, phases, guests, Table()
        self.machines = recording.machines()
        self.samples, self.events, self.lost = recording.dump()

    def switches(self, guest, phase):
        return sum(e.kind == "switch" and guest.tid in (e.task.tid, e.next.tid) and
                   phase.start <= e.tick / NS < phase.end for e in self.events)

    def span(self, name, number=0):
        """When the program of a guest ran in a phase, in seconds, by the first and the last sample in it."""
        phase, guest = self.phases[name], self.guests[number]
        ticks = [s.tick / NS for s in self.samples if s.task.tid == guest.tid and s.pc is not None and
                 s.context == phase.answers[number]["pid"] and phase.start <= s.tick / NS < phase.end]
        return ticks[0], ticks[-1]

    def classes(self, guest, window):
        """Of its virtual CPU, in ns; and their sum."""
        vcpu = self.recording.machines(window)[guest.pid]["vcpus"][0]
        expect(f"{guest.name}: sum of classes", sum(vcpu["classes_ns"].values()), vcpu["wall_ns"])
        return vcpu["classes_ns"], vcpu["wall_ns"]


def check_sums(r):
    """Every moment of a virtual CPU is in one class, to the nanosecond, and none of them is unknown, though machines came and
    went and moved to another CPU."""
    expect("lost records", r.lost, 0)
    expect("machines", set(r.machines), {g.pid for g in r.guests})
    for guest in r.guests:
        vcpu, own = r.machines[guest.pid]["vcpus"][0], account(r.events, guest.tid)
        expect(f"{guest.name}: events that cannot be", own.wrong[:1], [])
        expect(f"{guest.name}: sum of classes", sum(vcpu["classes_ns"].values()), vcpu["wall_ns"])
        expect(f"{guest.name}: time of which nothing is known", vcpu["classes_ns"]["unknown"], 0)
        expect(f"{guest.name}: whether it has ended", vcpu["ended"], guest is r.guests[2])
        r.table.note(f"{guest.name}: wall time, s", vcpu["wall_ns"] / NS, "the sum of its classes, to the nanosecond")


def check_host(r):
    """The host's side of the file is a profile as any other, with the names of the kernel's functions."""
    names = {row["name"] for row in r.recording.ask("profile", "report", "--limit", "0")["rows"]}
    if "[guest user]" not in names or not any(n.startswith("kvm_") for n in names):
        raise Failed(f"the profile has no function of KVM, or no guest: {sorted(names)[:50]}")


def check_shares(r):
    """Functions in a machine have the shares that they have without one."""
    rows = r.recording.ask("profile", "report", "--process", "vm_guest", "--limit", "0", "--samples",
                           *between(*r.phases["native"]))["rows"]
    native = {row["name"]: row["self"]["samples"] for row in rows}
    both = native["heavy"] + native["light"]
    r.table.near("heavy(), % of the program, without a machine", percent(native["heavy"], both), HEAVY,
                 chance(HEAVY, both), "the work")
    phase = r.phases["one"]
    _, functions = r.recording.process(r.guests[0], phase.answers[0]["pid"], phase.window())
    true = {name: functions[name]["true_ns"] for name in ("heavy", "light")}
    n = sum(functions[name]["samples"] for name in true)
    r.table.near("heavy(), % of the program, in a machine", percent(true["heavy"], sum(true.values())),
                 percent(native["heavy"], both), chance(HEAVY, n) + chance(HEAVY, both), "without a machine")
    phase = r.phases["pair"]
    pair = [r.recording.process(r.guests[0], phase.answers[0][x], phase.window())[0] for x in ("pid", "second")]
    r.table.near("first of two equal processes, % of both",
                 percent(pair[0]["true_ns"], sum(p["true_ns"] for p in pair)), 50,
                 chance(50, sum(p["samples"] for p in pair)), "the work")


def check_steal(r, name, share):
    """Of machines that share a CPU each waits for the others, who are named."""
    spans = [r.span(name, i) for i in (0, 1)]
    window = between(max(a for a, _ in spans) + EDGE_S, min(b for _, b in spans) - EDGE_S)
    for guest in r.guests[:2]:
        classes, wall = r.classes(guest, window)
        r.table.near(f"{name}: {guest.name}: steal, %", percent(classes["steal"] + classes["waiting"], wall), share, 2,
                     "machines on the CPU")
        culprits = r.recording.culprits(guest, window)
        taken = {c["by"]["pid"]: c["steal_ns"] + c["waiting_ns"] for c in culprits if c["by"]}
        others = sum(taken.get(g.pid, 0) for g in r.guests if g is not guest)
        r.table.near(f"{name}: {guest.name}: of it by other machines, %", percent(others, sum(taken.values())), 100, 3,
                     "nobody else computes there")
    if name != "three":
        return
    rows = r.recording.ask("profile", "report", "--by", "process", "--cpu", "1", "--limit", "0", *window)["rows"]
    weights = {row["name"]: row["self"]["weight"] for row in rows}
    mine = sum(w for n, w in weights.items() if str(r.guests[0].pid) in n)
    classes, wall = r.classes(r.guests[0], window)
    r.table.near("three: host's time outside g1, by samples, %", 100 - percent(mine, sum(weights.values())),
                 percent(wall - sum(classes[x] for x in ("guest", "vmm-kernel", "vmm-user", "halt-polling")), wall),
                 chance(67, sum(row["self"]["samples"] for row in rows)), "steal of g1, by events")


def check_delays(r):
    """Steal of type 1 is the scheduler's run_delay, and what the guest counts."""
    for name in ("one", "pair", "duty", "two", "three", "migration"):
        phase = r.phases[name]
        for guest, answer, delay in zip(r.guests, phase.answers, phase.delays):
            classes, _ = r.classes(guest, phase.window())
            steal = classes["steal"] + classes["waiting"]
            moves = MOVE_NS * MOVES * (name == "migration")
            slack = delay / 100 + r.switches(guest, phase) * SWITCH_NS + ENDS_NS + moves
            r.table.near(f"{name}: {guest.name}: steal of type 1, ms", steal / 1e6, delay / 1e6, slack / 1e6, "run_delay")
            r.table.near(f"{name}: {guest.name}: the same, % of the run", percent(steal, answer["ns"]),
                         percent(answer["steal"] * NS / 100, answer["ns"]), 2 + percent(moves, answer["ns"]), "the guest (mpstat)")


def check_idle(r):
    phase, start = r.phases["duty"], r.span("duty")[0] + EDGE_S
    classes, wall = r.classes(r.guests[0], between(start, start + DUTY_CYCLES * CYCLE_S))
    idle = percent(classes["halt"] + classes["halt-polling"] + classes["waiting"], wall)
    r.table.near("idle for two thirds: idle, %", idle, 200 / 3, 1.5, "the program")
    answer = phase.answers[0]
    r.table.near("idle for two thirds: idle, %", idle, percent(answer["idle"] * NS / 100, answer["ns"]), 2,
                 "the guest (mpstat)")


def check_type2(r):
    """A guest that writes to its console is left for each character, and has no name for where the time goes."""
    phase = r.phases["write"]
    answer = phase.answers[0]
    classes, wall = r.classes(r.guests[0], between(*r.span("write")))
    taken = percent(classes["vmm-kernel"] + classes["vmm-user"], wall)
    r.table.near("writing: steal of type 2, %", taken, 80, 20, "above 60")
    r.table.near("writing: steal that the guest sees, %", percent(answer["steal"] * NS / 100, answer["ns"]), 0, 15,
                 "the guest (mpstat)")


def check_corrected(r):
    """The time of a program without what was stolen, whoever was in its way. One alone is recorded as well: the sampler's own part, 3 % of
    so slow a CPU, is in its apparent time and in nobody's corrected one."""
    alone = r.phases["one"].answers[0]["ns"]
    for others, name in enumerate(("one", "two", "three")):
        phase = r.phases[name]
        answer = phase.answers[0]
        r.table.near(f"{name}: apparent time, times that of one alone", answer["ns"] / alone, others + 1,
                     0.05 * (others + 1), "machines on the CPU")
        row, functions = r.recording.process(r.guests[0], answer["pid"], phase.window())
        r.table.near(f"{name}: apparent time, ms", row["apparent_ns"] / 1e6, answer["ns"] / 1e6,
                     answer["ns"] / 50e6, "the guest's clock")
        r.table.near(f"{name}: corrected time, ms", row["true_ns"] / 1e6, alone / 1e6, alone / 20e6, "one alone")
        for function, share in (("heavy", HEAVY), ("light", 100 - HEAVY)):
            got, wanted = functions[function], alone * share / 100
            slack = wanted / 20 + alone * chance(share, got["samples"] * 100 / share) / 100
            r.table.near(f"{name}: corrected time of {function}(), ms", got["true_ns"] / 1e6, wanted / 1e6,
                         slack / 1e6, "one alone")


def check_migration(r):
    """A virtual CPU that moves between CPUs loses nothing. What moves it runs meanwhile, which is in its time here."""
    phase, guest = r.phases["migration"], r.guests[0]
    cpus = {s.cpu for s in r.samples if s.task.tid == guest.tid and s.pc is not None and
            phase.start <= s.tick / NS < phase.end}
    expect("CPUs on which it was seen", cpus, {0, 1})
    row, _ = r.recording.process(guest, phase.answers[0]["pid"], phase.window())
    alone = r.phases["one"].answers[0]["ns"] / 2
    r.table.near("moved to and fro: corrected time, ms", row["true_ns"] / 1e6, alone / 1e6, alone / 10e6, "one alone")


def check(recording, phases, guests, places):
    r = Result(recording, phases, guests)
    check_sums(r)
    check_host(r)
    check_chains(r.samples)
    check_guest(r.samples, r.events, guests[0], phases["one"], places, r.table)
    for guest in guests:
        check_exits(r.samples, r.events, guest)
    check_shares(r)
    check_steal(r, "two", 50)
    check_steal(r, "three", 200 / 3)
    check_delays(r)
    check_idle(r)
    check_type2(r)
    check_corrected(r)
    check_migration(r)
    if r.table.wrong:
        raise Failed(f"{len(r.table.wrong)} figures are wrong: {'; '.join(r.table.wrong)}")


def test(arguments):
    board = get_board(arguments.board)
    init = build.compile_program(board, [SRC / "tests/tools/vm_guest.c"], WORK / board.name / "vm_guest", ["-no-pie"])
    dump = build.compile_program(
        board, [SRC / x for x in ("tests/tools/vm_dump.c", "tests/tools/sample_text.c", "src/device/vm/vm_reader.c",
                                   "src/wire/sample_event.c", "src/wire/sched_event.c")],
        WORK / board.name / "vm_dump")
    module = build.build_vm_module(board, WORK / board.name)
    agent = build.build_agent(board)
    begin = time.monotonic()

    def say(what):
        print(f"  {time.monotonic() - begin:6.1f} s  {what}", flush=True)

    with tempfile.TemporaryDirectory() as work:
        work = Path(arguments.keep or work)
        work.mkdir(parents=True, exist_ok=True)
        parts = guest_parts(board, init, work)
        parts["files"] += [(module, "/kiseki_vm.ko"), (agent, "/kiseki-agent"), (init, PROGRAM), (dump, "/vm_dump")]
        with Machine(board.paced(), **parts, timeout_s=1800) as machine:
            say("board")
            bench = Bench(machine, work)
            done, guests = do_all(bench, say)
            check_killed(bench, guests[0])
            say("killed")
            check_unload(bench, guests[0])
            say("unloaded and loaded")
        check(Recording(bench, board, init), done, guests, functions(board, init))
    print(f"{board.name}: {time.monotonic() - begin:.0f} s")


def add_options(parser):
    parser.add_argument("--keep", help="leave the recording in this folder")


if __name__ == "__main__":
    sys.exit(main(test, __doc__, add_options))

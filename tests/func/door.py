#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""door: one case of a program that asks an agent for its record, with an agent of Python.

	door.py CASE

Programs, environment and exit codes are those of run.py, whose records are compared here, too: nobody drains them
unless the case does, so they hold all that was called.
"""
import contextlib
import os
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

E = os.environ
sys.path.insert(0, str(Path(E["SRC"]) / "tests" / "tools"))

import run  # noqa: E402
from fake_door import MAPS, OPEN, FakeDoor  # noqa: E402
from run import accounted, new_run, ok, program, same, skip  # noqa: E402

KEY, FREE = 1, 0


@contextlib.contextmanager
def door_of(a_run, **options):
    """The door of a run, and the setting that leads to it."""
    path = f"{a_run.records_at.parent}/s"
    with FakeDoor(path, a_run.records_at, **options) as door:
        yield door, {"AGENT": path, "FOLDER": "/nowhere"}


def each(*arguments, variants=("CALLS", "STATIC"), check=ok, **settings):
    """Runs a case linked with the library and with the archive; yields each run and its door."""
    for variant in variants:
        if E.get(variant):
            a_run = new_run()
            with door_of(a_run) as (door, where):
                check(a_run.run(E[variant], *arguments, **where, **settings))
                yield a_run, door


def chunks(record):
    """State and flags of each chunk."""
    data = record.path.read_bytes()
    count, size = struct.unpack_from("<II", data, 24)
    at, = struct.unpack_from("<Q", data, 40)
    for n in range(count):
        state, _, _, flags = struct.unpack_from("<4I", data, at + n * size)
        yield state, flags


def check_record(record, door):
    """What is special about a record that an agent gave."""
    data = record.path.read_bytes()
    assert struct.unpack_from("<I", data, 388)[0] == os.getpid(), "DRAINED is not the agent"
    used = [flags for state, flags in chunks(record) if state != FREE]
    assert used and all(flags & KEY for flags in used), "a chunk does not start a segment"
    request = next(r for r in door.requests if r.pid == record.pid and r.verb == OPEN)
    clock, shift = struct.unpack_from("<I", data, 92)[0], struct.unpack_from("<I", data, 88)[0]
    assert (request.clock, request.shift) == (clock, shift) and request.version == 1
    assert request.comm == record.path.name.split(".")[0]
    return len(used)


def case_open():
    for a_run, door in each("walk", 100000):
        record, = same(a_run)
        assert check_record(record, door) > 4
        assert record.path.stat().st_size == 4 << 20 and door.requests[0].bytes == 4 << 20
        assert record.maps == 1 or E.get("WRAPPER")
        assert [r.verb for r in door.requests] == [OPEN]
    for a_run, _ in each("errno", SIZE="8M"):
        record, = same(a_run)
        assert record.path.stat().st_size == 8 << 20


def case_deep():
    """Every chunk starts with what is open."""
    for a_run, _ in each("deep", 30000):
        same(a_run)


def case_threads():
    for a_run, door in each("threads", 24):
        record, = same(a_run)
        assert record.streams == 25
        check_record(record, door)
    for a_run, _ in each("cancel", 16):
        same(a_run)


def case_fork():
    for arguments, count in ((["fork"], 3), (["clone"], 2), (["thread_fork", 8], 2)):
        if arguments == ["clone"] and E.get("WRAPPER"):
            continue  # an emulator does not wipe pages
        for a_run, door in each(*arguments):
            records = same(a_run)
            assert len(records) == count and len(door.requests) == count
            for record in records:
                check_record(record, door)


def case_exec():
    for a_run, door in each("exec"):
        records = a_run.records()
        assert len(records) == 2 and len({r.pid for r in records}) == 1
        assert [r.verb for r in door.requests] == [OPEN, OPEN]
        run.accounted_together(a_run, records)
    for a_run, _ in each("vfork"):
        assert len(same(a_run)) == 2


def case_ends():
    """Whatever ends the process, all is in the record; also when it was about to close everything."""
    for a_run, _ in each("close"):
        same(a_run)
    for how in ("kill", "segv", "exit"):
        for a_run, _ in each("end", how, check=lambda r: r):
            assert a_run.status in (0, -signal.SIGKILL, -signal.SIGSEGV), a_run.status
            same(a_run)


def case_small():
    """The agent gives less than was asked for, and more; what does not fit is counted."""
    path = E.get("CALLS") or program("STATIC")
    for size, lost in ((512 << 10, True), (16 << 20, False)):
        a_run = new_run()
        with door_of(a_run, size=size) as (_, where):
            ok(a_run.run(path, "walk", 200000, **where))
        record, = a_run.records()
        assert record.path.stat().st_size == size
        assert (accounted(a_run) > 0) == lost
    for a_run, _ in each("limit"):
        same(a_run)


def case_wait():
    """A drain that frees chunks lets the program go on."""
    a_run = new_run()
    with door_of(a_run) as (_, where):
        run.run_drained(a_run, E.get("CALLS") or program("STATIC"), **where)


def wait_for(condition):
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def case_switch():
    """The agent says that it is off, and turns it on later; the program's own word counts, too."""
    path = E.get("CALLS") or program("STATIC")
    for on, settings in ((0, {}), (1, {"ON": 0})):
        a_run = new_run()
        with door_of(a_run, on=on) as (_, where):
            process = a_run.start(path, "pace", 250, **where, **settings)
            wait_for(lambda: [p for p in a_run.records_at.iterdir() if p.suffix != ".maps"])
            file, = [p for p in a_run.records_at.iterdir() if p.suffix != ".maps"]
            wait_for(lambda: file.read_bytes()[:8] == b"KSKFUNC\n")
            wait_for(lambda: a_run.made() > 1)  # the first one may still be about to look whether it is on
            with file.open("r+b") as f:
                f.seek(384)
                assert f.read(4) == bytes(4)
                f.seek(384)
                f.write((1).to_bytes(4, "little"))
            process.communicate()
            assert process.returncode == 0
        record, = a_run.records()
        wanted = a_run.references()[record.pid][record.threads[0].tid][0]
        got = record.threads[0].calls
        assert record.lost() == 0 and 0 < len(got) < len(wanted) and wanted[-len(got):] == got


def case_plugins():
    """Each generation of the maps comes through the door."""
    plugins = program("PLUGINS").split(":")
    order = plugins + plugins[::-1] + plugins
    a_run = new_run()
    with door_of(a_run) as (door, where):
        start = a_run.start
        a_run.start = lambda *c, **s: start(*c, **where, **s)
        generations = run.named_right(a_run, order)
    assert [r.verb for r in door.requests] == [OPEN] + [MAPS] * (max(generations) - 1)
    assert len(generations) == max(generations) > 2


def case_maps():
    """An agent that is there no more, or does not answer, costs names, not calls."""
    plugins = program("PLUGINS").split(":")
    for behaviour in ("refuse", "silent", "hang_up", "garbage", "nothing_comes", "no_maps"):
        a_run = new_run()
        with door_of(a_run) as (door, where):
            door.maps_behaviour = behaviour
            ok(a_run.run(program("CALLS"), "plugins", *plugins * 3, **where))
            asked = [r.verb for r in door.requests].count(MAPS)
        record, = a_run.records()
        generations = dict(run.read_maps(f"{record.path}.maps"))
        assert list(generations) == [1] and record.maps == 1 and record.lost() == 0
        # One that was silent is not asked again at once.
        assert asked == 1 if behaviour == "silent" else asked > 2, (behaviour, asked)
        made, = [s for t in a_run.references()[record.pid].values() for s in t]
        calls = record.threads[0].calls
        # What the plugins call is recorded, too, but not known to the reference of this program.
        assert [c for c in calls if c in set(made)] == made


def untraced(a_run, reason):
    """It went on as if nothing were, and said once why."""
    lines = a_run.err.splitlines()
    assert a_run.status == 0 and len(lines) == 1, (a_run.status, a_run.err)
    assert lines[0].startswith("libkiseki-func: cannot "), a_run.err
    assert lines[0].endswith(f"{reason}; this program is not traced"), a_run.err
    for path in a_run.records_at.iterdir():
        with path.open("rb") as f:
            assert path.suffix == ".maps" or f.read(8) != b"KSKFUNC\n", path


NONSENSE = ("garbage", "short", "long", "other_magic", "other_version", "no_errno", "nothing_comes", "one_comes",
            "three_come", "shorter", "longer", "no_size", "no_file", "no_maps")


def case_refused():
    path = E.get("CALLS") or program("STATIC")
    for behaviour, reason in (
            ("refuse", "cannot be traced by {}: this agent takes nobody??[31m"),
            ("refuse_silently", "cannot ask {}: No space left on device"),
            ("refuse_and_give", "cannot be traced by {}: no"),
            ("tiny", "cannot map what came from {}: Cannot allocate memory"),
            ("read_only", "cannot map what came from {}: Permission denied")):
        a_run = new_run()
        with door_of(a_run, behaviour=behaviour) as (door, where):
            untraced(a_run.run(path, "fork", **where), reason.format(door.path))
            assert len(door.requests) == 3, "each process asks once, for itself"


def case_nonsense():
    path = E.get("CALLS") or program("STATIC")
    for behaviour in NONSENSE:
        a_run = new_run()
        with door_of(a_run, behaviour=behaviour) as (door, where):
            untraced(a_run.run(path, "walk", 300, **where), "The answer makes no sense")
            assert len(door.requests) == 1, behaviour


def case_silent():
    path = E.get("CALLS") or program("STATIC")
    for behaviour, reason in (("silent", "No answer"), ("hang_up", "Closed without an answer"),
                              ("empty", "Closed without an answer"), ("close", "Closed without an answer")):
        a_run = new_run()
        with door_of(a_run, behaviour=behaviour) as (_, where):
            untraced(a_run.run(path, "walk", 300, **where), reason)
    # One that is closed on before it could say anything comes again.
    a_run = new_run()
    with door_of(a_run, behaviour="close_first") as (_, where):
        same(ok(a_run.run(path, "walk", 300, **where)))
    # Signals come all the time while it waits.
    a_run = new_run()
    with door_of(a_run, behaviour="silent") as (_, where):
        untraced(a_run.run(path, "signals", **where), "No answer")


def case_nobody():
    """There is no agent, or something else in its place."""
    path = E.get("CALLS") or program("STATIC")
    a_run = new_run()
    untraced(a_run.run(path, "fork", AGENT=f"{run.FOLDER}/none"), "No such file or directory")
    Path(f"{run.FOLDER}/file").touch()
    untraced(new_run().run(path, "fork", AGENT=f"{run.FOLDER}/file"), "Connection refused")
    for settings in ({"AGENT": "relative"}, {"AGENT": "/" + "x" * 107}, {"AGENT": "2"},
                     {"AGENT": "/s", "POLICY": "flight"}):
        untraced(new_run().run(path, "fork", **settings), "invalid value or unknown variable")
    same(ok(new_run().run(path, "walk", 300, AGENT=0)))
    if E.get("WRAPPER"):
        return  # an emulator needs descriptors of its own
    # A socket can be had, and one descriptor more, but not two.
    a_run = new_run()
    with door_of(a_run) as (_, where):
        untraced(a_run.run("env", "-u", "REFERENCE", "sh", "-c", 'ulimit -n 5; exec "$0" "$@"', path,
                           "walk", 300, **where), "Too many open files")


def case_secure():
    """A program with more rights than its user takes records from root alone."""
    if os.getuid() != 0:
        skip("only root can make such a program")
    nobody, folder = 65534, Path(tempfile.mkdtemp(dir=run.FOLDER))
    for p in (run.FOLDER, folder):
        os.chmod(p, 0o777)
    path = shutil.copy(program("STATIC"), folder / "secure")
    os.chmod(path, 0o4755)
    if os.statvfs(path).f_flag & os.ST_NOSUID:
        skip("this file system lends no rights")

    def run_as_nobody(where):
        env = {"KISEKI_FUNC_AGENT": str(where)}
        return subprocess.run([path, "walk", "300"], env=env, user=nobody, group=nobody, extra_groups=[],
                              stderr=subprocess.PIPE, text=True, timeout=60, check=True).stderr

    with FakeDoor(folder / "root", folder) as door:
        os.chmod(folder / "root", 0o777)
        assert run_as_nobody(folder / "root") == "" and len(door.requests) == 1
    child = os.fork()
    if not child:
        os.setgid(nobody)
        os.setuid(nobody)
        with FakeDoor(folder / "nobody", folder) as door:
            signal.sigwait({signal.SIGTERM})
        os._exit(len(door.requests))
    wait_for((folder / "nobody").exists)
    said = run_as_nobody(folder / "nobody")
    os.kill(child, signal.SIGTERM)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert said.endswith("Operation not permitted; this program is not traced\n"), said


def case_musl():
    for path in run.build_musl():
        for arguments in (["walk", 5000], ["threads", 8], ["fork"]):
            a_run = new_run()
            with door_of(a_run) as (_, where):
                same(ok(a_run.run(path, *arguments, **where)))
        a_run = new_run()
        with door_of(a_run, behaviour="silent") as (_, where):
            untraced(a_run.run(path, "walk", 300, **where), "No answer")


if __name__ == "__main__":
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM} if sys.argv[1:] == ["secure"] else ())
    run.main(globals())

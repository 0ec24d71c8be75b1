#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""run: one case of recording, against a reference of the same calls.

	run.py CASE

DUMP, CALLS, STATIC, THROWS, LIBRARY, PLAIN, PLUGINS and DRAIN in the environment name the programs, WRAPPER what
starts them. Exit 77 is a skip, with its reason as the last line.
"""
import concurrent.futures
import ctypes
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from record import Run, find_object, read_maps

E = os.environ
MAPS = 7  # FUNC_OS_MAPS
FOLDER = ""  # of this case


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


def new_run():
    folder = tempfile.mkdtemp(prefix="func-", dir=FOLDER)
    return Run(E["DUMP"], folder, E.get("WRAPPER", "").split())


def program(name):
    path = E.get(name, "")
    if not path:
        skip(f"this build has no {name.lower()}")
    return path


def same(run, records=None):
    """Every record has exactly the calls of its process, and none is lost."""
    references = run.references()
    records = run.records() if records is None else records
    by_pid = {}
    for r in records:
        by_pid.setdefault(r.pid, []).append(r)
    assert set(by_pid) == set(references), (set(by_pid), set(references))
    for pid, of_process in by_pid.items():
        got = {}
        for r in of_process:
            for tid, sequences in r.by_tid().items():
                got.setdefault(tid, []).extend(sequences)
        wanted = references[pid]
        assert sum(r.lost() for r in of_process) == 0, "something is lost"
        assert set(got) == set(wanted), (set(got), set(wanted))
        for tid, sequences in wanted.items():
            assert len(sequences) == len(got[tid]), (tid, len(sequences), len(got[tid]))
            for a, b in zip(sequences, got[tid]):
                compare(a, b)
    return records


def compare(wanted, got):
    for i, (a, b) in enumerate(zip(wanted, got)):
        assert a == b, f"event {i}: {a} was called, {b} is recorded"
    assert len(wanted) == len(got), (len(wanted), len(got))


def accounted(run, records=None, slack=0):
    """Calls made = recorded + lost + filtered, for each process; returns the total lost."""
    references = run.references()
    lost = 0
    for r in run.records() if records is None else records:
        made = sum(len(s) for sequences in references[r.pid].values() for s in sequences)
        have = r.calls() + r.lost() + r.filtered + sum(t.missing for t in r.threads)
        # Chunks that are missing count their OS records, too.
        system = sum(len(t.system) for t in r.threads)
        assert abs(have - made) <= slack + (system if any(t.missing for t in r.threads) else 0), \
            f"{made} made, {r.calls()} recorded, {r.lost()} lost, {r.filtered} filtered"
        lost += r.lost()
    return lost


def ok(run):
    assert run.status == 0, (run.status, run.err)
    assert run.err == "", run.err
    return run


def each(*arguments, variants=("CALLS", "STATIC"), check=ok, **settings):
    """Runs a case linked with the library and with the archive; yields the runs."""
    for variant in variants:
        if E.get(variant):
            yield check(new_run().run(E[variant], *arguments, **settings))


def case_walk():
    for run in each("walk", 100000):
        record, = same(run)
        assert record.ended == 1 and len(record.pairs) >= 2
        assert record.maps == 1 or E.get("WRAPPER")
        ticks = record.threads[0].ticks
        assert record.pairs[0][0] <= ticks[0] and ticks[-1] <= record.pairs[-1][0]
        name = record.path.name.rsplit(".", 1)
        assert name[1] == str(record.pid), name
    for run in each("errno"):
        same(run)


def case_preload():
    run = ok(new_run().run("env", f"LD_PRELOAD={program('LIBRARY')}", program("PLAIN"), "deep", 5000))
    record, = run.records()
    thread = record.threads[0]
    # Compilers differ in whether they instrument what comes from the C library's headers.
    assert Counter(a for _, a in thread.calls).most_common(1)[0][1] == 2 * 5001
    assert record.lost() == 0
    assert max(thread.depths) == 5002
    names = subprocess.run(["nm", E["PLAIN"]], check=True, text=True, stdout=subprocess.PIPE).stdout
    offset = next(int(x.split()[0], 16) for x in names.splitlines() if x.endswith(" calls_deep"))
    _, lines = read_maps(f"{record.path}.maps")[0]
    start = min(x for x in lines if x[3] == os.path.realpath(E["PLAIN"]))
    address = Counter(a for _, a in thread.calls).most_common(1)[0][0]
    assert (address - start[0] + start[2] - offset) % 4096 == 0
    notes = subprocess.run(["readelf", "-n", E["PLAIN"]], text=True, stdout=subprocess.PIPE).stdout
    assert start[4] and f"Build ID: {start[4]}" in notes


def case_deep():
    for run in each("deep", 30000):
        same(run)


def case_threads():
    for run in each("threads", 32):
        record, = same(run)
        assert record.streams == 33
    for run in each("cancel", 16):
        same(run)


def case_churn():
    for run in each("churn", 60, THREADS=4):
        record, = same(run)
        assert record.streams == 61


def case_slots():
    for run in each("threads", 40, THREADS=10, SIZE="16M"):
        record, = run.records()
        assert record.lost_threads > 0 and record.streams >= 10
        accounted(run)


def case_fork():
    for arguments, count in ((["fork"], 3), (["clone"], 2), (["thread_fork", 8], 2)):
        if arguments == ["clone"] and E.get("WRAPPER"):
            continue  # an emulator does not wipe pages
        for run in each(*arguments):
            assert len(same(run)) == count


def case_vfork():
    for run in each("vfork"):
        assert len(same(run)) == 2


def case_exec():
    for run in each("exec"):
        records = run.records()
        assert len(records) == 2 and len({r.pid for r in records}) == 1
        assert [r.path.name.endswith(f"{r.pid}.2") for r in records] == [False, True]
        assert all(Path(f"{r.path}.maps").exists() for r in records)
        accounted_together(run, records)


def accounted_together(run, records):
    made = sum(len(s) for p in run.references().values() for t in p.values() for s in t)
    assert made == sum(r.calls() for r in records) and not sum(r.lost() for r in records)


def case_close():
    for run in each("close"):
        same(run)


def case_jumps():
    for name in ("longjmp", "loop", "contexts"):
        for run in each(name):
            same(run)


def case_signals():
    for name in ("signals", "signal_stack"):
        for run in each(name):
            accounted(run)
            record, = run.records()
            made = Counter(c for s in run.references()[record.pid].values() for t in s for c in t)
            got = Counter(c for t in record.threads for c in t.calls)
            assert not got - made


def check_left(most_us, settings):
    """A hook that is left is recorded or lost once, or nowhere if it had only begun: never twice."""
    for run in each("siglongjmp", 500, most_us, **settings):
        left = int(run.out.removesuffix(" left\n"))
        record, = run.records()
        made = sum(len(s) for t in run.references()[record.pid].values() for s in t)
        missing = sum(t.missing for t in record.threads)
        uncounted = made - record.calls() - record.lost() - record.filtered - missing
        assert left >= 5 and record.calls() > 0
        assert 0 <= uncounted <= left, \
            f"up to {most_us} us, {settings}: {made} made, {record.calls()} recorded, {record.lost()} lost, " \
            f"{record.filtered} filtered, {missing} missing, {left} left"


def case_left():
    """Hooks that a handler jumps out of, with room for all of it, with hardly any, and where calls wait or are left out."""
    small = {"SIZE": "512K", "CHUNK": "12K"}
    for settings in ({}, small, {**small, "POLICY": "flight"}, {"DEPTH": "3"}, {"MIN": "1us"}):
        for most_us in (5, 50):
            check_left(most_us, settings)


def case_throws():
    for run in each(variants=("THROWS",)):
        same(run)
    program("THROWS")


def case_ends():
    def check(run):
        assert run.status in (0, -signal.SIGKILL, -signal.SIGSEGV, -signal.SIGABRT), run.status
        return run
    for how in ("kill", "segv", "abort", "exit", "overflow"):
        for run in each("end", how, check=check, SIZE="16M"):
            record, = run.records()
            assert record.ended == 0
            if how == "overflow":
                accounted(run, slack=1)
            else:
                same(run)


def case_killed():
    """Killed from outside, in the middle of whatever it does."""
    for turn in range(8):
        run = new_run()
        process = run.start(E.get("CALLS") or program("STATIC"), "forever")
        assert process.stdout.readline() == "running\n"
        time.sleep(turn * 0.003)
        process.kill()
        process.communicate()
        record, = run.records()
        wanted, = run.references()[process.pid][process.pid]
        got = record.threads[0].calls
        assert got == wanted[:len(got)] and len(wanted) - len(got) <= 1
        assert got and record.lost() == 0


def case_limits():
    for arguments in (["limit"], ["limit", "fork"], ["fsize"]):
        for run in each(*arguments):
            records = same(run)
            assert all(r.path.stat().st_size <= 9 << 20 for r in records)


def case_full():
    for run in each("walk", 100000, SIZE="512K", CHUNK="16K"):
        record, = run.records()
        assert accounted(run) > 50000
        wanted = run.references()[record.pid][record.threads[0].tid][0]
        got = record.threads[0].calls
        assert len(got) > 50000 and wanted[:len(got)] == got
    for run in each("threads", 8, SIZE="1M", CHUNK="12K"):
        accounted(run)


def mount_tmpfs(at, size):
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}k,mode=0755", "tmpfs", at], check=True)


def mount_ext4(at, size):
    """Of a file's bytes; what the file system needs for itself is not counted."""
    image = f"{at}.image"
    with open(image, "wb") as f:
        f.truncate(8 << 20)
    subprocess.run(["mke2fs", "-q", "-F", "-t", "ext4", "-b", "4096", "-m", "0", "-O", "^has_journal", image], check=True)
    subprocess.run(["mount", "-o", "loop", image, at], check=True)
    free = os.statvfs(at).f_bavail * 4
    if free > size:
        with open(f"{at}/filler", "wb") as f:
            os.posix_fallocate(f.fileno(), 0, (free - size) << 10)


def use_own_mounts():
    """This process alone sees what it mounts."""
    if os.getuid() != 0:
        skip("only root can mount")
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(0x20000) != 0 or libc.mount(b"none", b"/", None, 0x4c000, None) != 0:  # CLONE_NEWNS; MS_REC | MS_PRIVATE
        skip(f"this machine gives no mounts of its own: {os.strerror(ctypes.get_errno())}")


def try_full(mount, size, policy, variant, arguments):
    """A program whose record finds no more room in the file system: it ends as it would without."""
    run = new_run()
    at = run.records_at
    mount(str(at), size)
    try:
        run.records_at = at / "records"
        run.records_at.mkdir()
        run.run(variant, *arguments, POLICY=policy, SIZE="16M", WAIT=1)
        what = f"{' '.join(map(str, arguments))}, {policy}, {size} KiB"
        assert run.status == 0, (what, run.status, run.err)
        has_room = os.statvfs(at).f_bavail * 4 > size // 2
        # Who maps a file of a full tmpfs cannot even read its holes.
        copies = at.parent / "copies"
        subprocess.run(["cp", "-r", "--sparse=always", run.records_at, copies], check=True)
        run.records_at = copies
        records = run.records()
        if not run.err and not has_room:
            assert records, what
        for record in records:
            references = run.references()[record.pid]
            made = sum(len(s) for sequences in references.values() for s in sequences)
            # Chunks that are missing count their OS records, too.
            gone = sum(t.missing + t.cut_off for t in record.threads)
            system = sum(len(t.system) for t in record.threads) if gone else 0
            have = record.calls() + record.lost() + gone
            assert 0 <= have - made <= system, (what, record.pid, have, made)
        return sum(r.lost() for r in records)
    finally:
        subprocess.run(["umount", "-l", str(at)], check=True)
        shutil.rmtree(at.parent)


def try_all_full(mount):
    """20 sizes for each policy and kind of program."""
    lost = Counter()
    programs = (["walk", 200000], ["threads", 24], ["fork"])
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        jobs = {}
        for policy in ("oldest", "flight", "wait"):
            for arguments in programs:
                for n in range(20):
                    variant = E["CALLS"] if n % 2 else E["STATIC"]
                    job = pool.submit(try_full, mount, 300 + 85 * n + 4 * (n % 3), policy, variant, arguments)
                    jobs[job] = policy, arguments[0]
        for job, kind in jobs.items():
            lost[kind] += job.result()
    # Without a loss there was always room, and nothing was tried.
    assert lost["oldest", "walk"] > 100000 and lost["oldest", "threads"] > 100000, lost


def case_full_tmpfs():
    program("CALLS")
    use_own_mounts()
    try_all_full(mount_tmpfs)


def case_full_ext4():
    program("CALLS")
    use_own_mounts()
    if not shutil.which("mke2fs"):
        skip("no mke2fs")
    probe = new_run()
    try:
        mount_ext4(str(probe.records_at), 1000)
    except subprocess.CalledProcessError as e:
        skip(f"no ext4 in a file: {e}")
    subprocess.run(["umount", str(probe.records_at)], check=True)
    try_all_full(mount_ext4)


def case_sigfork():
    """A handler that interrupts a hook forks, and its child returns into that hook."""
    for settings in ({}, {"DEPTH": 1000}, {"POLICY": "flight", "SIZE": "512K"}):
        for variant in ("CALLS", "STATIC"):
            run = new_run()
            run.run("env", "-u", "REFERENCE", program(variant), "sigfork", 300, **settings)
            assert run.status == 0 and run.err == "" and run.out == "300 of 300\n", (settings, run.status, run.out, run.err)


def case_link():
    """Names of records can be foreseen: a link that lies there is not followed."""
    run = new_run()
    precious = Path(FOLDER) / "precious"
    precious.write_text("mine")
    # The shell becomes the program, whose process number is then known.
    script = f'ln -s {precious} "$KISEKI_FUNC_FOLDER/sh.$$.maps"; ' \
             f'ln -s {precious} "$KISEKI_FUNC_FOLDER/{Path(program("CALLS")).name[:15]}.$$.maps"; exec "$0" walk 300'
    ok(run.run("sh", "-c", script, E["CALLS"]))
    assert precious.read_text() == "mine", "the maps were written through a link"
    record, = [r for r in run.records() if r.calls()]
    maps = Path(f"{record.path}.maps")
    assert record.maps == 1 and not maps.is_symlink() and read_maps(maps)[0][1]


def case_secure():
    """A program with more rights than its user makes no files where that user says."""
    if os.getuid() != 0:
        skip("only root can make such a program")
    nobody, folder = 65534, Path(tempfile.mkdtemp(dir=FOLDER))
    os.chmod(FOLDER, 0o755)
    os.chmod(folder, 0o777)
    path = shutil.copy(program("STATIC"), folder / "secure")
    os.chmod(path, 0o4755)
    if os.statvfs(path).f_flag & os.ST_NOSUID:
        skip("this file system lends no rights")
    env = {"KISEKI_FUNC_FOLDER": str(folder)}
    done = subprocess.run([path, "walk", "300"], env=env, user=nobody, group=nobody, extra_groups=[],
                          stderr=subprocess.PIPE, text=True, timeout=60, check=True)
    assert sorted(p.name for p in folder.iterdir()) == ["secure"]
    assert done.stderr.endswith(f"cannot record into {folder}: Operation not permitted; this program is not traced\n"), done.stderr


def case_flight():
    for run in each("walk", 200000, SIZE="512K", POLICY="flight"):
        record, = run.records()
        thread, = record.threads
        accounted(run)
        wanted = run.references()[record.pid][thread.tid][0]
        assert thread.missing > 100000 and len(thread.calls) > 50000
        assert wanted[-len(thread.calls):] == thread.calls
        assert all(depth < 64 for depth, _ in thread.segments)
    for run in each("threads", 8, SIZE="1M", POLICY="flight"):
        for thread in run.records()[0].threads:
            wanted = run.references()[run.records()[0].pid].get(thread.tid, [[]])[0]
            assert thread.calls == wanted[len(wanted) - len(thread.calls):]


def run_drained(run, path, **settings):
    """A program that waits for a drain which empties its small record; it has all calls."""
    process = run.start(path, "walk", 150000, SIZE="512K", POLICY="wait", **settings)
    drained = Path(FOLDER) / "drained"
    with drained.open("wb") as out:
        drainer = subprocess.Popen([*run.wrapper, program("DRAIN"), str(run.records_at), str(process.pid)],
                                   stdout=out)
        _, err = process.communicate(timeout=100)
        assert process.returncode == 0 and err == "", err
        drainer.send_signal(signal.SIGTERM)
        assert drainer.wait(timeout=60) == 0
    wanted, = run.references()[process.pid].values()
    calls = [(x[0] == "X", int(x[1], 16)) for x in map(str.split, drained.read_text().splitlines())]
    compare(wanted[0], calls)


def case_wait():
    run_drained(new_run(), E.get("CALLS") or program("STATIC"))
    # Nobody drains: it goes on after a while, and counts.
    for run in each("walk", 100000, SIZE="512K", POLICY="wait", WAIT=1):
        assert accounted(run) > 10000


def need_maps(path):
    """Some emulators show a program no executable mappings."""
    run = ok(new_run().run(path, "walk", 10))
    record, = run.records()
    if E.get("WRAPPER") and record.maps == 0:
        skip("the emulator shows no executable mappings")
    return path


def function_at(name, path):
    """OBJECT+0xOFFSET of a function, as the settings want it."""
    symbols = subprocess.run(["readelf", "-sW", path], check=True, text=True,
                             stdout=subprocess.PIPE).stdout
    value = next(int(x.split()[1], 16) & ~(E.get("THUMB") == "1") for x in symbols.splitlines()
                 if x.split()[-1:] == [name])
    headers = subprocess.run(["readelf", "-lW", path], check=True, text=True,
                             stdout=subprocess.PIPE).stdout
    for fields in (x.split() for x in headers.splitlines() if x.strip().startswith("LOAD")):
        offset, address, size = int(fields[1], 16), int(fields[2], 16), int(fields[4], 16)
        if address <= value < address + size:
            return f"{Path(path).name}+{value - address + offset:#x}"
    raise AssertionError(f"{name} is in no segment")


def addresses(run, names, path):
    """The addresses of functions in a run, by their names."""
    record, = run.records()
    _, lines = read_maps(f"{record.path}.maps")[-1]
    result = {}
    for name in names:
        offset = int(function_at(name, path).split("+0x")[1], 16)
        result[name] = next(start - at + offset for start, end, at, file, _ in lines
                            if file == os.path.realpath(path) and at <= offset < at + end - start)
    return result


def tree(calls):
    """Calls as nested lists: [(address, [children])]."""
    root = (0, [])
    stack = [root]
    for is_exit, address in calls:
        if is_exit:
            assert stack[-1][0] == address
            stack.pop()
        else:
            stack[-1][1].append((address, []))
            stack.append(stack[-1][1][-1])
    assert len(stack) == 1
    return root[1]


def flat(forest, keep, depth=1):
    """The tree's calls again, of those that keep() says."""
    for address, children in forest:
        kept = keep(address, depth)
        if kept:
            yield False, address
        yield from flat(children, keep, depth + 1)
        if kept:
            yield True, address


def filtered_case(expected, settings, arguments=("walk", 20000)):
    """Runs with settings, which may name functions, and compares with expected(tree, addresses)."""
    path = E.get("CALLS") or program("STATIC")
    names = [f"node_{n}" for n in range(12)] + ["calls_walk", "calls_leaf", "calls_twice"]
    places = {n: function_at(n, path) for n in names}
    run = ok(new_run().run(path, *arguments, **{k: v.format(**places) for k, v in settings.items()}))
    record, = run.records()
    wanted = run.references()[record.pid][record.threads[0].tid][0]
    compare(list(expected(tree(wanted), addresses(run, names, path))), record.threads[0].calls)
    assert accounted(run) == 0
    return record


def case_filters():
    need_maps(E.get("CALLS") or program("STATIC"))
    filtered_case(lambda t, a: flat(t, lambda f, _: f in (a["node_3"], a["node_4"])),
                  {"ONLY": "{node_3},{node_4}"})
    filtered_case(lambda t, a: flat(t, lambda f, _: f != a["node_5"]), {"NOT": "{node_5}"})
    filtered_case(lambda t, a: flat(t, lambda f, depth: depth <= 3), {"DEPTH": "3"})
    filtered_case(lambda t, a: [], {"ONLY": "no-such-object*"})
    filtered_case(lambda t, a: flat(t, lambda f, _: True), {"ONLY": "*"})

    def below(forest, root, inside=False):
        for address, children in forest:
            here = inside or address == root
            if here:
                yield False, address
            yield from below(children, root, here)
            if here:
                yield True, address

    filtered_case(lambda t, a: below(t, a["node_7"]), {"TREE": "{node_7}"})

    def without(forest, root):
        for address, children in forest:
            if address != root:
                yield False, address
                yield from without(children, root)
                yield True, address

    filtered_case(lambda t, a: without(t, a["node_2"]), {"NOTREE": "{node_2}"})


def case_sampling():
    need_maps(E.get("CALLS") or program("STATIC"))
    def some(forest, root, n):
        turn = 0
        def go(forest, inside):
            nonlocal turn
            for address, children in forest:
                sampled = address == root and not inside
                if sampled:
                    turn += 1
                    if (turn - 1) % n:
                        continue
                yield False, address
                yield from go(children, inside or sampled)
                yield True, address
        return go(forest, False)

    filtered_case(lambda t, a: some(t, a["node_1"], 5), {"SAMPLE": "5", "SAMPLE_AT": "{node_1}"})

    def by_depth(forest, n):
        (walk, children), = forest
        yield False, walk
        yield from flat([c for i, c in enumerate(children) if i % n == 0], lambda *_: True)
        yield True, walk

    filtered_case(lambda t, a: by_depth(t, 10), {"SAMPLE": "10", "SAMPLE_DEPTH": "2"})


def case_triggers():
    path = need_maps(E.get("CALLS") or program("STATIC"))

    def window(settings, start, stop):
        places = {n: function_at(n, path) for n in ("node_3", "node_8")}
        run = ok(new_run().run(path, "walk", 20000, **{k: v.format(**places) for k, v in settings.items()}))
        record, = run.records()
        wanted = run.references()[record.pid][record.threads[0].tid][0]
        at = addresses(run, places, path)
        compare(list(between(wanted, (start[0], at[start[1]]), (stop[0], at[stop[1]]))),
                record.threads[0].calls)
        accounted(run)

    def between(calls, start, stop):
        """Entries that are triggers belong to it, exits that start do not."""
        on = False
        opened = []
        for call in calls:
            if call == start and not call[0]:
                on = True
            if not call[0]:
                opened.append(on)
                shown = on
            else:
                shown = opened.pop() and on
                if call == start:
                    on = True
            if shown:
                yield call
            if call == stop:
                on = False

    window({"START": "{node_3}", "STOP": "exit:{node_8}"}, (False, "node_3"), (True, "node_8"))
    window({"START": "exit:{node_3}", "STOP": "entry:{node_8}"}, (True, "node_3"), (False, "node_8"))

    run = ok(new_run().run(path, "walk", 20000, LIMIT=1234))
    record, = run.records()
    assert record.calls() == 1234
    wanted = run.references()[record.pid][record.threads[0].tid][0]
    assert record.threads[0].calls == wanted[:1234]


def case_min_time():
    path = need_maps(E.get("CALLS") or program("STATIC"))
    run = ok(new_run().run(path, "slow", MIN="10ms"))
    record, = run.records()
    at = addresses(run, ("case_slow", "slow", "sleep_ms"), path)
    names = {v: k for k, v in at.items()}
    got = [(is_exit, names.get(a)) for is_exit, a in record.threads[0].calls]
    one = [(False, "slow"), (False, "sleep_ms"), (True, "sleep_ms"), (True, "slow")]
    assert got == [(False, "case_slow")] + one * 3 + [(True, "case_slow")], got
    ticks = record.threads[0].ticks
    assert ticks == sorted(ticks)
    assert accounted(run) == 0 and record.filtered > 100
    # Calls that longjmp left are not long for that.
    run = ok(new_run().run(path, "loop", MIN="500ms"))
    accounted(run)


def slot_events(file):
    """What the first thread has recorded so far; it has no slot before its first call."""
    return int.from_bytes(file.read_bytes()[4096 + 24:4096 + 32], "little")


def case_switch():
    """Off at the start; turned on from outside, and off again."""
    path = E.get("CALLS") or program("STATIC")
    run = ok(new_run().run(path, "walk", 2000, ON=0))
    record, = run.records()
    assert record.calls() == 0 and record.lost() == 0

    run = new_run()
    process = run.start(path, "pace", 1000, ON=0)
    deadline = time.monotonic() + 60
    while not [p for p in run.records_at.iterdir() if p.suffix != ".maps"]:
        assert time.monotonic() < deadline
        time.sleep(0.005)
    file, = [p for p in run.records_at.iterdir() if p.suffix != ".maps"]
    while b"KSKFUNC\n" != file.read_bytes()[:8]:
        time.sleep(0.005)
    for on in (1, 0, 1, 0):
        before = slot_events(file)
        with file.open("r+b") as f:
            f.seek(384)
            f.write(on.to_bytes(4, "little"))
        while on and slot_events(file) == before and process.poll() is None:
            time.sleep(0.005)
        time.sleep(0.05)
    process.communicate()
    assert process.returncode == 0
    record, = run.records()
    thread, = record.threads
    assert record.lost() == 0 and len(thread.segments) >= 2, thread.segments
    wanted = run.references()[record.pid][thread.tid][0]
    bounds = [at for _, at in thread.segments] + [len(thread.calls)]
    position = 0
    for start, end in zip(bounds, bounds[1:]):
        position = find_run(wanted, thread.calls[start:end], position)
    assert 0 < len(thread.calls) < len(wanted)


def find_run(wanted, part, start):
    """Where a run of calls lies in the reference, at or behind a position."""
    n = len(part)
    while wanted[start:start + min(n, 40)] != part[:40] or wanted[start:start + n] != part:
        start += 1
        assert start + n <= len(wanted), "a segment has calls that were not made"
    return start + n


def case_plugins():
    plugins = program("PLUGINS").split(":")
    named_right(new_run(), plugins + plugins[::-1] + plugins)


def named_right(run, order):
    """Opens and closes these objects: each call lies in the object that the maps of its time say."""
    ok(run.run(program("CALLS"), "plugins", *order))
    record, = run.records()
    thread, = record.threads
    generations = dict(read_maps(f"{record.path}.maps"))
    assert record.maps == max(generations)
    told = [(value, at) for os_, value, at in thread.system if os_ == MAPS]
    functions = [int(line.split()[1], 16) for line in run.out.splitlines()]
    assert len(functions) == len(order)
    seen = []
    for number, (is_exit, address) in enumerate(thread.calls):
        generation = max((v for v, at in told if at <= number), default=1)
        name = find_object(generations[generation], address)
        assert name, f"call {number}, {address:#x}, is in no object of generation {generation}"
        if not is_exit and address in functions and name != Path(E["CALLS"]).name:
            seen.append(name)
    assert seen == [Path(p).name for p in order], seen
    assert record.lost() == 0
    return generations


def names(path, *options):
    out = subprocess.run(["nm", *options, "--defined-only", path], check=True, text=True,
                         stdout=subprocess.PIPE).stdout
    return {fields[2] for fields in map(str.split, out.splitlines()) if len(fields) == 3
            and fields[1].isupper()}


def case_names():
    """A program gets no name of ours but these, and the hooks call nothing that is theirs."""
    meant = {"__cyg_profile_func_enter", "__cyg_profile_func_exit", "kiseki_func_get",
             "kiseki_func_set"}
    assert names(program("LIBRARY"), "-D") == meant | {"dlclose"}
    assert names(program("ARCHIVE")) == meant
    needed = subprocess.run(["readelf", "-d", E["LIBRARY"]], check=True, text=True,
                            stdout=subprocess.PIPE).stdout
    libraries = [x.split("[")[1][:-1] for x in needed.splitlines() if "(NEEDED)" in x]
    assert all(x.startswith(("libc.", "libdl.", "ld-linux", "libpthread.")) for x in libraries), libraries
    code = subprocess.run(["objdump", "-d", E["LIBRARY"]], check=True, text=True,
                          stdout=subprocess.PIPE).stdout
    assert "__cyg_profile_func_enter@" not in code, "the library is instrumented itself"


def build_musl():
    """The programs with another C library, shared and static."""
    compiler = shutil.which("musl-gcc")
    if not compiler:
        skip("no musl-gcc")
    root, folder = Path(E["SRC"]), Path(tempfile.mkdtemp(dir=FOLDER))
    common = [compiler, "-std=gnu11", "-O2", "-D_GNU_SOURCE", "-D_FILE_OFFSET_BITS=64", "-fPIC",
              f"-I{root}/src", f"-I{root}/include", f"-I{root}/tests"]
    if os.uname().machine == "aarch64":
        common.append("-mno-outline-atomics")
    sources = [*map(str, root.glob("src/device/func/*.c")), f"{root}/src/wire/func_hook.c",
               f"{root}/src/wire/func_hook_encode.c"]
    calls = [str(p) for p in root.glob("tests/func/calls*.c")]
    wrap = [f"-Wl,--wrap=__cyg_profile_func_{x}" for x in ("enter", "exit")]
    def build(*arguments):
        subprocess.run([*common, *arguments], check=True, cwd=folder)
    build("-shared", "-fvisibility=hidden", "-o", "libfunc-musl.so", *sources)
    build("-c", *sources, f"{root}/tests/func/reference.c")
    objects = [str(p) for p in folder.glob("*.o") if p.name not in ("reference.o", "close.o")]
    build("-finstrument-functions", "-DNO_PLUGINS", "-c", *calls)
    calls = [f"{Path(c).stem}.o" for c in calls]
    build("-o", "shared", *wrap, *calls, "reference.o", "-L.", "-lfunc-musl", f"-Wl,-rpath,{folder}")
    build("-static", "-o", "static", *wrap, *calls, "reference.o", *objects)
    return folder / "shared", folder / "static"


def case_musl():
    for path in build_musl():
        for arguments in (["walk", 5000], ["threads", 8], ["fork"], ["thread_fork", 4], ["longjmp"],
                          ["close"]):
            same(ok(new_run().run(path, *arguments)))


def case_refused():
    path = E.get("CALLS") or program("STATIC")
    if not E.get("WRAPPER"):  # an emulator needs more
        run = new_run().run("env", "-u", "REFERENCE", path, "no_room")
        assert run.err.startswith("libkiseki-func: cannot map "), run.err
        assert len(run.err.splitlines()) == 1
    for settings in ({"FOLDER": "/no/such/folder"}, {"FOLDER": "/proc"}, {"SIZE": "1"},
                     {"POLICY": "newest"}, {"MISSPELLED": "1"}, {"ONLY": "x+0xzz"}):
        run = new_run().run(path, "fork", **settings)
        assert run.status == 0, run.status
        lines = run.err.splitlines()
        assert len(lines) == 1 and lines[0].startswith("libkiseki-func: cannot "), run.err
        assert lines[0].endswith("; this program is not traced"), run.err
        assert not run.records()


def main(names):
    """Runs the case that the command line asks for, of these."""
    cases = {name.removeprefix("case_"): f for name, f in names.items() if name.startswith("case_")}
    if len(sys.argv) != 2 or sys.argv[1] not in cases:
        sys.exit(f"usage: {sys.argv[0]} {'|'.join(cases)}")
    global FOLDER
    with tempfile.TemporaryDirectory(prefix="kiseki-func-") as FOLDER:
        cases[sys.argv[1]]()


if __name__ == "__main__":
    main(globals())

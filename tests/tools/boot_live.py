#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""boot_live: scenarios of tests/system/boot_record.sh: the recorder of boots on this machine.

	boot_live.py KISEKI SCENARIO FOLDER

RECORDER in the environment is kiseki-boot, BOOT_MAKE what prints the records of its files, WITHOUT what runs a
program without some system calls. A scenario has a
folder of its own, fails by an exception, and exits with 77 and a reason where the machine cannot do it. Nothing
waits for a time to pass, only for something to be there.
"""
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

from served import KISEKI, WAIT_S, Collector

FOLDER = Path(sys.argv[3]) / sys.argv[2]
RECORDER = os.environ["RECORDER"]
PASS, START, NAME, EXEC, TASK, WAIT, EXIT, ACCOUNT = range(8)
MARK = 13
MARKS = "KERNEL PHASE TARGET STOP CLOCK MISSING FACT".split()
PROCESSES = 500
BY_EVENT = 0


class Skip(Exception):
    pass


class Record:
    def __init__(self, line):
        words = line.split()
        self.tick, self.kind, self.key = map(int, words[:3])
        self.text = None
        if self.kind in (NAME, EXEC, WAIT, MARK, 10):
            self.text = b"" if words[-1] == "-" else bytes.fromhex(words[-1])
            words.pop()
        self.numbers = list(map(int, words[3:]))


class Chart:
    """A file's records, losses, and what is asked of them."""

    def __init__(self, path):
        done = subprocess.run([os.environ["BOOT_MAKE"], "--dump", str(path)], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert done.returncode == 0, done.stderr
        lines = done.stdout.splitlines()
        self.is_cut = "cut" in lines
        self.losses = [x for x in lines if x.startswith("loss")]
        self.records = [Record(x) for x in lines if x[0].isdigit()]

    def of(self, kind):
        return [x for x in self.records if x.kind == kind]

    def marks(self, kind):
        return [x.text.decode(errors="replace") for x in self.of(MARK) if MARKS[x.key] == kind]

    def has_mark(self, kind, part):
        return any(part in x for x in self.marks(kind))


def wait_for(what, condition):
    end = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < end, f"there is no {what}"
        time.sleep(0.01)


def start(*options, ready=True, **more):
    """A recorder, from when it is ready on."""
    reader, writer = os.pipe()
    process = subprocess.Popen([RECORDER, "--config", "/dev/null", "--idle", "no", "--time", "no", "--ready-fd",
                                str(writer), *map(str, options)], pass_fds=[writer],
                               stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, **more)
    os.close(writer)
    if ready:
        said = os.read(reader, 16)
        assert said == b"ready\n", process.communicate()
    os.close(reader)
    return process


def stop(process, code=0):
    process.send_signal(signal.SIGTERM)
    words = process.communicate(timeout=WAIT_S)[1]
    assert process.returncode == code, (process.returncode, words)
    return words


def check_file(path, code=0):
    done = subprocess.run([KISEKI, "check", str(path)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True)
    assert done.returncode == code, done.stdout
    return done.stdout


def needs_events(chart):
    if chart.has_mark("MISSING", "no process events"):
        raise Skip(f"this kernel tells nothing of processes: {chart.marks('MISSING')}")


# --- what is recorded ---

GENERATOR = """
import os, sys, time
pids = []
for i in range(int(sys.argv[2])):
    pids.append(os.spawnv(os.P_NOWAIT, "/bin/sleep", ["sleep", "0.00%d" % (1 + i % 9), ]))
    if len(pids) % 8 == 0:
        for p in pids[-8:]:
            os.waitpid(p, 0)
for p in pids[len(pids) // 8 * 8:]:
    os.waitpid(p, 0)
open(sys.argv[1], "w").write(" ".join(map(str, pids)))
"""


def processes():
    """Every process that a command starts is there, with its start, its program, its end and its account; and the
    command's exit status comes back."""
    out, pids = FOLDER / "a.ksk", FOLDER / "pids"
    code = f"exec(__import__('sys').stdin.read()); raise SystemExit(7)"
    done = subprocess.run([KISEKI, "boot", "record", "-o", str(out), "--", sys.executable, "-c", code, str(pids),
                           str(PROCESSES)], input=GENERATOR, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, env=dict(os.environ, KISEKI_BOOT=RECORDER))
    assert done.returncode == 7, (done.returncode, done.stderr)
    check_file(out)
    chart = Chart(out)
    needs_events(chart)
    assert not chart.losses, chart.losses
    wanted = set(map(int, pids.read_text().split()))
    assert len(wanted) == PROCESSES
    starts = {x.key: x for x in chart.of(START) if x.key in wanted}
    assert set(starts) == wanted, f"{len(wanted - set(starts))} processes have no start"
    parents = {x.numbers[0] for x in starts.values()}
    assert len(parents) == 1, parents
    execs = {x.key: x.text for x in chart.of(EXEC) if x.key in wanted}
    assert set(execs) == wanted, f"{len(wanted - set(execs))} have no program"
    # What was gone before its arguments could be read has none, but never wrong ones.
    assert all(x == b"" or x.startswith(b"sleep\x000.00") for x in execs.values())
    assert any(execs.values())
    exits = {x.key: x for x in chart.of(EXIT) if x.key in wanted}
    assert set(exits) == wanted, f"{len(wanted - set(exits))} have no end"
    for pid in wanted:
        assert starts[pid].numbers[2] <= exits[pid].tick, pid
    names = {x.key: x.text for x in chart.of(NAME) if x.key in wanted}
    assert set(names.values()) == {b"sleep"}, set(names.values())
    if not chart.has_mark("MISSING", "exit accounts"):
        accounts = {x.key: x for x in chart.of(ACCOUNT) if x.key in wanted}
        assert set(accounts) == wanted, f"{len(wanted - set(accounts))} have no account"
    with_args = sum(1 for x in execs.values() if x)
    print(f"processes: {PROCESSES} of {PROCESSES}, {with_args} with arguments")


def threads():
    """Threads are there if they are wanted, as parts of their process."""
    program = "import threading as t, sys\nx = [t.Thread(target=sys.stdin.readline) for _ in range(5)]\n" \
              "[y.start() for y in x]\nprint(*[y.native_id for y in x], flush=True)\n[y.join() for y in x]"
    out = FOLDER / "threads.ksk"
    recorder = start("--threads", "-o", out)
    child = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                             text=True)
    tids = set(map(int, child.stdout.readline().split()))
    child.communicate("\n" * 5)
    stop(recorder)
    chart = Chart(out)
    needs_events(chart)
    found = {x.key: x for x in chart.of(START) if x.key in tids}
    assert set(found) == tids
    assert all(x.numbers[1] == child.pid for x in found.values())
    assert tids <= {x.key for x in chart.of(EXIT)}


# --- as pid 1 ---

INIT = r"""#!{python}
import json, os, signal, sys, time
out = {folder!r}
def text(path):
    return open(path).read()
status = dict(x.split(":", 1) for x in text("/proc/self/status").splitlines() if ":" in x)
fds = {{}}
for fd in os.listdir("/proc/self/fd"):
    try:
        fds[fd] = os.readlink("/proc/self/fd/" + fd).split("[")[0]
    except OSError:
        pass
said = dict(argv=text("/proc/self/cmdline"), env=text("/proc/self/environ"), fds=fds, cwd=os.getcwd(),
            signals=[status[x] for x in ("SigPnd", "ShdPnd", "SigBlk", "SigIgn", "SigCgt")],
            umask=status["Umask"], pid=os.getpid(), sid=os.getsid(0), group=os.getpgid(0),
            limits=text("/proc/self/limits"), nice=os.nice(0), policy=os.sched_getscheduler(0),
            oom=text("/proc/self/oom_score_adj"),
            mounts=[x.split(" ", 3)[3] for x in text("/proc/self/mountinfo").splitlines()])
json.dump(said, open(out + "/said." + sys.argv[1], "w"))
# What an init does: it reaps whom it gets, and ends with a code of its own when all are gone.
if os.fork() == 0:
    os.execv("/bin/true", ["true", "of init"])
signal.alarm({wait})
while not os.path.exists(out + "/go." + sys.argv[1]):
    time.sleep(0.01)
if os.path.isdir("/proc/2") or len([x for x in os.listdir("/proc") if x.isdigit()]) > 1:
    os.kill(-1, signal.SIGTERM)
while True:
    try:
        os.waitpid(-1, 0)
    except ChildProcessError:
        break
sys.exit(3)
"""


def unshare(*command, **more):
    try:
        return subprocess.run(["unshare", "--pid", "--fork", "--mount", "--net", "--kill-child", *map(str, command)],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=WAIT_S, **more)
    except FileNotFoundError:
        raise Skip("unshare is not installed")


def init():
    """init finds itself as without us, ends as without us, and is in the chart."""
    script, out = FOLDER / "init", FOLDER / "init.ksk"
    script.write_text(INIT.format(python=sys.executable, folder=str(FOLDER), wait=WAIT_S))
    script.chmod(0o755)
    (FOLDER / "cmdline").write_text(f"quiet kiseki_boot.init={script} kiseki_boot.out={out} kiseki_boot.kmsg=new "
                                    "kiseki_boot.idle=no kiseki_boot.nonsense=1\n")
    prepare = f"mount --make-rprivate / && mount -t proc proc /proc && " \
              f"mount --bind {FOLDER}/cmdline /proc/cmdline && umask 027 && exec \"$@\""
    for name in ("with", "without"):
        (FOLDER / f"go.{name}").write_text("")
        program = RECORDER if name == "with" else script
        done = unshare("sh", "-c", prepare, "sh", program, name, "two words", "")
        if "unshare:" in done.stdout or "mount:" in done.stdout:
            raise Skip(f"no name spaces here: {done.stdout.strip()}")
        assert done.returncode == 3, (name, done.returncode, done.stdout)
    said = {x: json.loads((FOLDER / f"said.{x}").read_text()) for x in ("with", "without")}
    said["without"]["argv"] = said["without"]["argv"].replace("without", "with")
    counts = "__LLVM_PROFILE_RT_INIT_ONCE"  # of a recorder that was built to count its lines
    said["with"]["env"] = said["with"]["env"].replace(f"{counts}={counts}\0", "")
    assert said["with"]["pid"] == 1
    for key in said["with"]:
        assert said["with"][key] == said["without"][key], (key, said["with"][key], said["without"][key])
    chart = Chart(out)
    check_file(out)
    # In a name space of processes the kernel tells nothing of them, and the chart says so.
    assert chart.has_mark("MISSING", "no process events")
    assert chart.has_mark("FACT", "command_line=quiet kiseki_boot.init=")
    assert chart.has_mark("STOP", "told to")
    assert any(x.key == 1 and str(script).encode() in x.text for x in chart.of(EXEC)), "init is not in the chart"


BARE = r"""#!{python}
import ctypes, os, signal, sys, time
libc = ctypes.CDLL(None, use_errno=True)
def mount(source, to, kind, flags=0):
    assert libc.mount(source, to, kind, flags, None) == 0, os.strerror(ctypes.get_errno())
def names():
    return sorted(open("/proc/%s/cmdline" % x).read() for x in os.listdir("/proc") if x.isdigit() and x != "1")
open("/told", "w").write(" ".join(sys.argv[1:]) + "|" + ",".join(sorted(os.listdir("/proc"))))
mount(b"proc", b"/proc", b"proc")
mounts = open("/proc/self/mounts").read().splitlines()
open("/told", "a").write("|" + ";".join(x.split()[1] for x in mounts) + "|" + repr(names()))
os.mkdir("/new")
mount(b"tmpfs", b"/new", b"tmpfs")
os.mkdir("/new/run")
os.chroot("/new")
signal.alarm({wait})
while not os.path.exists("/run/kiseki/boot.ksk"):
    time.sleep(0.01)
while not os.path.getsize("/run/kiseki/boot.ksk") > 600:
    time.sleep(0.01)
os.kill(-1, signal.SIGTERM)
while True:
    try:
        os.waitpid(-1, 0)
    except ChildProcessError:
        break
sys.exit(5)
"""


def bare(without=""):
    """A root with nothing mounted, as in an initramfs: the recorder makes its own /proc and leaves none; it is called
    so that an init spares it; it follows init to another root, and its file does."""
    root = FOLDER / "root"
    (FOLDER / "setup").write_text(f"""
set -e
mount --make-rprivate /
mkdir -p {root}
mount -t tmpfs tmpfs {root}
cd {root}
mkdir proc run tmp usr etc
mount --rbind /usr usr
for x in bin sbin lib lib64; do
	if [ -L /$x ]; then ln -s "$(readlink /$x)" $x; elif [ -d /$x ]; then mkdir $x; mount --rbind /$x $x; fi
done
[ ! -e /etc/ld.so.cache ] || cp /etc/ld.so.cache etc/
cp {RECORDER} kiseki-boot
cp {FOLDER}/init init
set +e
{without} unshare --pid --fork --kill-child chroot . /kiseki-boot one "two words"
code=$?
cp told {FOLDER}/told
cp new/run/kiseki/boot.ksk {FOLDER}/after.ksk
exit $code
""")
    script = FOLDER / "init"
    python = os.path.realpath(sys.executable)
    if not python.startswith("/usr/"):
        python = "/usr/bin/python3"
    if not os.path.exists(python):
        raise Skip("there is no Python below /usr")
    script.write_text(BARE.format(python=python, wait=WAIT_S))
    script.chmod(0o755)
    done = unshare("sh", FOLDER / "setup")
    if "mount:" in done.stdout or "unshare:" in done.stdout or "deny calls" in done.stdout:
        raise Skip(f"no name spaces or filters here: {done.stdout.strip()}")
    assert done.returncode == 5, (done.returncode, done.stdout)
    argv, before, mounts, names = (FOLDER / "told").read_text().split("|")
    assert argv == "one two words"
    assert before == "", f"something is mounted on /proc: {before}"
    seen = mounts.split(";")
    assert seen.count("/proc") == 1 and "/dev" not in seen, seen
    assert names.startswith("['@kiseki-boot\\x00"), names
    check_file(FOLDER / "after.ksk")
    chart = Chart(FOLDER / "after.ksk")
    assert chart.has_mark("PHASE", "another root"), chart.marks("PHASE")
    assert any(x.key == 1 and b"/kiseki-boot" in x.text for x in chart.of(EXEC)), "not from the first moment on"
    assert any(x.key == 1 and b"/init" in x.text for x in chart.of(EXEC)), "init is not there"
    assert not chart.is_cut


def bare_old():
    """The same on a kernel before 5.2, which mounts nothing but on a folder."""
    bare(f"{os.environ['WITHOUT']} fsopen")


def messages():
    """Where there is no /dev/kmsg, the kernel's messages come by the older way; and if that is closed, too, that is said."""
    denied = {"all.ksk": "fsopen,mount", "none.ksk": "fsopen,mount,syslog"}
    (FOLDER / "none.conf").write_text("")
    for name, calls in denied.items():
        done = unshare("sh", "-c", f"mount --make-rprivate / && mount -t proc proc /proc && mount -t tmpfs tmpfs /dev && "
                       f"{os.environ['WITHOUT']} {calls} {RECORDER} --config {FOLDER}/none.conf --kmsg all --idle no "
                       f"--until file:{FOLDER}/{name} --linger 0s --out {FOLDER}/{name}; code=$?; exit $code")
        if "mount:" in done.stdout or "unshare:" in done.stdout or "deny calls" in done.stdout:
            raise Skip(f"no name spaces or filters here: {done.stdout.strip()}")
        assert done.returncode == 0, done.stdout
    if subprocess.run(["dmesg"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.count(b"\n") < 3:
        raise Skip("the kernel's messages cannot be read here, or there are none")
    chart = Chart(FOLDER / "all.ksk")
    assert len(chart.marks("KERNEL")) > 2, chart.marks("KERNEL")
    assert not chart.has_mark("MISSING", "no kernel messages"), chart.marks("MISSING")
    chart = Chart(FOLDER / "none.ksk")
    assert not chart.marks("KERNEL"), chart.marks("KERNEL")
    assert chart.has_mark("MISSING", "no kernel messages"), chart.marks("MISSING")


# --- when something goes wrong ---

def killed():
    """The recorder dies at any time, and the power with it: what is there can be read."""
    for i in range(4):
        out = FOLDER / f"{i}.ksk"
        # What it switches on in the kernel, it could not switch off again.
        recorder = start("--delays", "no", "-o", out)
        wait_for("file", lambda: out.exists() and out.stat().st_size > 2000 * (i + 1))
        # Where there are many processes, the first block is full before the first pass is over.
        wait_for("pass", lambda: Chart(out).of(PASS))
        recorder.kill()
        recorder.communicate()
        chart = Chart(out)
        assert chart.of(PASS) and chart.of(START) and chart.is_cut, i
        assert "no sound index" in check_file(out, 1)


def full():
    """A file system that is full: the file is whole, and says that it ends too early, and why."""
    (FOLDER / "small").mkdir()
    done = unshare("sh", "-c", f"mount --make-rprivate / && mount -t tmpfs -o size=256k tmpfs {FOLDER}/small && "
                   f"{RECORDER} --config /dev/null --idle no --time no --interval 1ms --threads "
                   f"--out {FOLDER}/small/a.ksk; code=$?; cp {FOLDER}/small/a.ksk {FOLDER}/; exit $code")
    if "mount:" in done.stdout or "unshare:" in done.stdout:
        raise Skip(f"no name spaces here: {done.stdout.strip()}")
    assert done.returncode == 0, done.stdout
    check_file(FOLDER / "a.ksk")
    chart = Chart(FOLDER / "a.ksk")
    assert chart.has_mark("STOP", "full"), chart.marks("STOP")
    assert chart.has_mark("MISSING", "is full"), chart.marks("MISSING")


def state():
    """No folder for the device's identity: it is tried again and again, and said once."""
    (FOLDER / "none").write_text("")
    done = unshare("sh", "-c", f"""mount --make-rprivate / && mount -t proc proc /proc &&
                   {{ [ ! -e /etc/machine-id ] || mount --bind {FOLDER}/none /etc/machine-id; }} || exit
                   {RECORDER} --config {FOLDER}/none --until file:/ --linger 0s --collector 127.0.0.1:9 \\
                        --state-dir {FOLDER}/no/state --ready-fd 1 & sleep 3; kill $!; wait $!""")
    if "mount:" in done.stdout or "unshare:" in done.stdout:
        raise Skip(f"no name spaces here: {done.stdout.strip()}")
    assert done.returncode == 0 and "ready" in done.stdout, (done.returncode, done.stdout)
    assert done.stdout.count("for the device's identity") == 1, done.stdout


def overflow():
    """The kernel's buffer is too small, and the recorder does not come: that is told."""
    out = FOLDER / "a.ksk"
    recorder = start("--buffer", "2K", "-o", out)
    recorder.send_signal(signal.SIGSTOP)
    for _ in range(100):
        subprocess.run(["/bin/true"])
    recorder.send_signal(signal.SIGCONT)
    marker = subprocess.Popen(["/bin/sleep", "1000"])
    wait_for("look", lambda: out.exists() and out.stat().st_size > 2000)
    stop(recorder)
    marker.kill()
    marker.wait()
    chart = Chart(out)
    needs_events(chart)
    bounds = [int(n) for m in chart.marks("MISSING") for n in re.findall(r"dropped some; at most (\d+) starts", m)]
    # Others may start something, too; the bound only grows by that.
    missing = 100 - len([x for x in chart.of(START) if x.numbers[0] == os.getpid()])
    assert bounds and sum(bounds) >= missing > 0, (bounds, missing, chart.marks("MISSING"))
    assert any(x.split()[1] == "0" for x in chart.losses), chart.losses
    assert any(x.key == marker.pid for x in chart.of(START)), "who came later is not there"
    assert chart.marks("STOP")


def table():
    """More processes than the table has rows: told, and starts and ends are still there."""
    out = FOLDER / "a.ksk"
    recorder = start("--processes", "16", "-o", out)
    pid = subprocess.Popen(["/bin/true"])
    pid.wait()
    stop(recorder)
    chart = Chart(out)
    assert chart.has_mark("MISSING", "table of 16 is full"), chart.marks("MISSING")
    needs_events(chart)
    assert pid.pid in {x.key for x in chart.of(START)} and pid.pid in {x.key for x in chart.of(EXIT)}


def memory():
    """What it takes, it takes at its start."""
    def size(process):
        text = Path(f"/proc/{process.pid}/status").read_text()
        return int(next(x for x in text.splitlines() if x.startswith("VmData")).split()[1])

    out = FOLDER / "a.ksk"
    recorder = start("-o", out)
    wait_for("file", lambda: out.exists() and out.stat().st_size > 1000)
    before = size(recorder)
    for _ in range(300):
        subprocess.run(["/bin/true"])
    grown = out.stat().st_size
    wait_for("growth", lambda: out.stat().st_size > grown)
    after = size(recorder)
    stop(recorder)
    if not os.environ.get("SANITIZED"):
        assert after == before, (before, after)


# --- when it ends ---

def ends():
    """Targets, and the command that ends it."""
    cases = [("file", f"file:{FOLDER}/target", lambda: (FOLDER / "target").write_text("")),
             ("process", "process:sleep-target", None)]
    for name, until, act in cases:
        out = FOLDER / f"{name}.ksk"
        recorder = start("--until", until, "-o", out)
        child = None
        if act:
            act()
        else:
            os.symlink("/bin/sleep", FOLDER / "sleep-target")
            child = subprocess.Popen([FOLDER / "sleep-target", "1000"])
        words = recorder.communicate(timeout=WAIT_S)[1]
        if child:
            child.kill()
            child.wait()
        assert recorder.returncode == 0, words
        chart = Chart(out)
        assert chart.marks("TARGET") == [until], (name, chart.marks("TARGET"))
        assert chart.marks("STOP") == ["the target is there"]
    script = f"{RECORDER} --config /dev/null --daemon --idle no --out {FOLDER}/daemon.ksk && " \
             f"{RECORDER} --stop && ! {RECORDER} --stop"
    done = unshare("sh", "-c", "mount -t proc proc /proc; " + script)
    if "unshare:" in done.stdout:
        raise Skip(f"no name spaces here: {done.stdout.strip()}")
    assert done.returncode == 0, done.stdout
    check_file(FOLDER / "daemon.ksk")
    assert Chart(FOLDER / "daemon.ksk").marks("STOP") == ["it was told to"]


def collector():
    """Recorded before there is a collector, kept, sent, acknowledged; the same as in the file."""
    (FOLDER / "data").mkdir()
    served = Collector(FOLDER / "data")
    served.stop()
    out = FOLDER / "a.ksk"
    recorder = start("--collector", f"127.0.0.1:{served.port}", "--name", "live", "--state-dir", FOLDER / "state",
                     "--out", out)
    wait_for("file", lambda: out.exists() and out.stat().st_size > 1000)
    recorder.send_signal(signal.SIGTERM)
    wait_for("end of the file", lambda: out.read_bytes().endswith(b"KSKINDEX"))
    assert recorder.poll() is None, "it does not wait for the collector"
    served.again()
    words = recorder.communicate(timeout=WAIT_S)[1]
    assert recorder.returncode == 0, words
    env = dict(os.environ, KISEKI_SERVER=f"http://127.0.0.1:{served.http_port}")
    runs = json.loads(subprocess.run([KISEKI, "runs", "--json"], env=env, stdout=subprocess.PIPE, check=True).stdout)
    runs = runs["runs"] if isinstance(runs, dict) else runs
    assert len(runs) == 1, runs
    subprocess.run([KISEKI, "export", "--run", str(runs[0]["run"]), "-o", str(FOLDER / "b.ksk")], env=env,
                   check=True, stdout=subprocess.DEVNULL)
    first, second = Chart(out), Chart(FOLDER / "b.ksk")
    assert not first.losses and not second.losses
    assert [vars(x) for x in first.records] == [vars(x) for x in second.records]
    served.stop()


def has_events(path):
    """Of the scheduler, as far as it has been written."""
    info = subprocess.run([KISEKI, "info", "--json", str(path)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return info.returncode == 0 and json.loads(info.stdout)["events"] > 0


def exact():
    """The scheduler's events are in the same file, and both are whole. Others may use tracefs just now: then it begins later, or,
    after ten seconds, says that it does not."""
    out, end = FOLDER / "a.ksk", time.monotonic() + 12
    recorder = start("--exact", "tracefs", "-o", out)
    wait_for("file", lambda: out.exists() and out.stat().st_size > 20000 and (time.monotonic() > end or has_events(out)) or
             recorder.poll() is not None)
    stop(recorder)
    chart = Chart(out)
    if chart.has_mark("MISSING", "no exact states"):
        raise Skip(f"tracefs cannot be used here: {chart.marks('MISSING')}")
    said = check_file(out)
    assert chart.of(PASS)
    info = subprocess.run([KISEKI, "info", "--json", str(out)], stdout=subprocess.PIPE, text=True, check=True).stdout
    assert json.loads(info)["events"], info
    assert "damage    none" in said, said


def main():
    FOLDER.mkdir()
    if os.geteuid() != 0:
        print("skipped: only root may record")
        return 77
    try:
        globals()[sys.argv[2]]()
    except Skip as e:
        print(f"skipped: {e}")
        return 77
    return 0


if __name__ == "__main__":
    sys.exit(main())

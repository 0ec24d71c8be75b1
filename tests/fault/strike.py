# SPDX-License-Identifier: MIT
"""strike: one fault, and the command that runs a program with it.

Memory and short reads and writes are fault.c's part; errors of system calls are injected by strace, so that what the C
library and other libraries do on their own account fails as well.

strace makes a call fail by giving it a number that no call has, and a filter of system calls refuses that with an error of its own: programs run
without their filters then (seccomp() answers 0 and does nothing). It counts the calls of each thread by itself: the fault strikes the Nth of each
that makes so many. Whether it did strike is looked up, for what was counted in one run need not be there in the next.
"""
import collections
import os
import re
import subprocess
import sys
from pathlib import Path

# What each call may well answer on a machine in trouble. EINTR is what a debugger or a signal makes of any wait.
ERRORS = {
    "openat": ("EMFILE", "EIO"), "read": ("EIO", "EINTR"), "pread64": ("EIO", "EINTR"), "write": ("ENOSPC", "EIO", "EINTR"),
    "pwrite64": ("ENOSPC", "EIO"), "writev": ("ENOSPC", "EINTR"), "mmap": ("ENOMEM",), "mremap": ("ENOMEM",),
    "fsync": ("EIO",), "fdatasync": ("EIO",), "ftruncate": ("ENOSPC",), "fallocate": ("ENOSPC",), "renameat": ("EIO",),
    "renameat2": ("EIO",), "rename": ("EIO",), "mkdirat": ("ENOSPC",), "mkdir": ("ENOSPC",), "unlinkat": ("EIO",),
    "unlink": ("EIO",), "getdents64": ("EIO",), "lseek": ("EIO",), "newfstatat": ("EIO",), "fstat": ("EIO",),
    "clone": ("EAGAIN",), "clone3": ("EAGAIN",), "pipe2": ("EMFILE",), "socket": ("EMFILE",), "accept4": ("EMFILE", "ECONNABORTED"),
    "accept": ("EMFILE",), "connect": ("ECONNREFUSED",), "recvfrom": ("ECONNRESET", "EINTR"), "recvmsg": ("ECONNRESET",),
    "sendto": ("ECONNRESET", "EINTR"), "sendmsg": ("ECONNRESET",), "epoll_pwait": ("EINTR",), "ppoll": ("EINTR",), "poll": ("EINTR",),
    "statfs": ("EIO",), "fstatfs": ("EIO",), "getrandom": ("EINTR",), "sendfile": ("EIO",), "flock": ("EINTR",), "fcntl": ("EIO",),
    "epoll_create1": ("EMFILE",), "epoll_ctl": ("ENOMEM",), "eventfd2": ("EMFILE",), "signalfd4": ("EMFILE",), "timerfd_create": ("EMFILE",),
    "memfd_create": ("EMFILE",), "socketpair": ("EMFILE",), "dup": ("EMFILE",), "dup3": ("EMFILE",), "bind": ("EADDRINUSE",),
    "listen": ("EADDRINUSE",), "setsockopt": ("ENOBUFS",), "getsockopt": ("ENOBUFS",), "getsockname": ("ENOBUFS",), "getpeername": ("ENOTCONN",),
    "faccessat": ("EIO",), "fchown": ("EPERM",), "statx": ("EIO",), "ioctl": ("EIO",), "mprotect": ("ENOMEM",),
    "rt_sigtimedwait": ("EINTR",), "wait4": ("EINTR",),
}

OURS = ("alloc", "site", "short")  # what fault.c does
STILL = ["setarch", "-R"]  # so that places are what they were in the run that found them

Fault = collections.namedtuple("Fault", "kind n what")  # kind: alloc, site, short, or a system call


def name(fault):
    return f"{fault.kind} {fault.n}" + (f" {fault.what}" if fault.what else "")


def wrap(fault, library, command, log):
    """The command with the fault, and its environment. The log is for count_struck()."""
    environment = {**os.environ, "LC_ALL": "C"}
    if fault is None:
        return command, environment
    if fault.kind in OURS:
        Path(log).write_bytes(bytes(8))
        return [*STILL, *command], {**environment, "LD_PRELOAD": library, "KISEKI_FAULT": f"{fault.kind}:{fault.n}", "KISEKI_FAULT_STRUCK": str(log)}
    return ["strace", "-f", "-qq", "-o", str(log), "-e", f"trace={fault.kind},seccomp", "-e", "signal=none", "-e", "inject=seccomp:retval=0", "-e",
            f"inject={fault.kind}:error={fault.what}:when={fault.n}", *command], environment


def count_struck(fault, log):
    """How often the call was made and failed as told; more than once if several threads made it."""
    if fault.kind in OURS:
        return int.from_bytes(Path(log).read_bytes(), sys.byteorder)
    lines = Path(log).read_text(errors="replace").splitlines()
    return sum(line.endswith("(INJECTED)") and f"-1 {fault.what} " in line for line in lines)


class Tally:
    """How many faults there were of each kind, and what was taken wrongly."""

    def __init__(self):
        self.struck, self.missed, self.wrong = collections.Counter(), 0, []

    def add(self, title, fault, struck, problem):
        self.struck["ENOMEM of malloc" if fault.kind in ("alloc", "site") else fault.what or fault.kind] += bool(struck)
        self.missed += not struck
        if problem:
            self.wrong.append(f"{title}, {name(fault)}: {problem}")
            print(f"  {self.wrong[-1]}", flush=True)


def wrap_count(library, command, file):
    """The command that counts its allocations into a file, and its environment."""
    return [*STILL, *command], {**os.environ, "LD_PRELOAD": library, "KISEKI_FAULT_COUNT": str(file)}


def count_allocations(library, command, work, environment):
    line, ours = wrap_count(library, command, work / "allocations")
    subprocess.run(line, env={**ours, **environment}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, check=True)
    return read_allocations(work / "allocations")


def read_allocations(file):
    """(how many, their places) of the process that had most of them. None at all: the library was not in the way, and no fault would be."""
    most, *places = max((line.split() for line in file.read_text().splitlines()), key=lambda words: int(words[0]))
    if not int(most):
        raise SystemExit("fault: it counts no allocations, so it can fail none")
    return int(most), places


def count_calls(command, work, environment):
    """{system call: how often in each thread}."""
    log = work / "calls"
    subprocess.run(["strace", "-f", "-qq", "-o", log, *command], env={**os.environ, **environment}, stdin=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    return read_calls(log)


def read_calls(log):
    """The same of a log that is there."""
    found = collections.Counter(re.findall(r"^(\d+) +(\w+)\(", log.read_text(errors="replace"), re.MULTILINE))
    calls = collections.defaultdict(list)
    for (_, call), n in found.items():
        if call in ERRORS:
            calls[call].append(n)
    return calls


def choose(numbers, most, random):
    """All of them, or as many as wanted by chance."""
    numbers = list(numbers)
    return sorted(set(numbers if len(numbers) <= most else random.sample(numbers, most)))


def plan(allocations, calls, before, most, random):
    """The faults to go through: of each kind at most so many. What happens before, in the loader of libraries, is not ours. Of allocations each one, or,
    where they are too many, the first of each place in the program: a hundred thousand of one loop are one."""
    n, places = allocations
    faults = [Fault("alloc", i, "") for i in range(1, n + 1)] if n <= most else [Fault("site", p, "") for p in choose(places, most, random)]
    faults += [Fault("short", n, "") for n in (1, 2, 3)]
    for call, threads in sorted(calls.items()):
        first = max(before.get(call, [0])) * (call != "write") + 1
        numbers = [i for n in threads for i in range(first, n + 1)]  # what many threads do comes more often
        for error in ERRORS[call]:
            faults += [Fault(call, i, error) for i in choose(numbers, max(most // 10, 3), random)]
    return faults

# SPDX-License-Identifier: MIT
"""strike: one fault, and the command that runs a program with it.

Memory and short reads and writes are fault.c's part; errors of system calls are injected by strace, so that what the C
library and other libraries do on their own account fails as well.
"""
import collections
import os
import re
import subprocess

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
}

Fault = collections.namedtuple("Fault", "kind n what")  # kind: alloc, short, or a system call


def name(fault):
    return f"{fault.kind} {fault.n}" + (f" {fault.what}" if fault.what else "")


def wrap(fault, library, command, log="/dev/null"):
    """The command with the fault, and its environment."""
    environment = {**os.environ, "LC_ALL": "C"}
    if fault is None:
        return command, environment
    if fault.kind in ("alloc", "short"):
        return command, {**environment, "LD_PRELOAD": library, "KISEKI_FAULT": f"{fault.kind}:{fault.n}"}
    return ["strace", "-f", "-qq", "-o", log, "-e", f"trace={fault.kind}", "-e", "signal=none", "-e",
            f"inject={fault.kind}:error={fault.what}:when={fault.n}", *command], environment


def count_allocations(library, command, work, environment):
    file = work / "allocations"
    subprocess.run(command, env={**os.environ, **environment, "LD_PRELOAD": library, "KISEKI_FAULT_COUNT": str(file)},
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, check=True)
    return read_allocations(file)


def read_allocations(file):
    """Of the process that had most of them. None at all: the library was not in the way, and no fault would be."""
    most = max(map(int, file.read_text().split()))
    if not most:
        raise SystemExit("fault: it counts no allocations, so it can fail none")
    return most


def count_calls(command, work, environment):
    """{system call: how often}."""
    log = work / "calls"
    subprocess.run(["strace", "-f", "-qq", "-o", log, *command], env={**os.environ, **environment}, stdin=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    return read_calls(log)


def read_calls(log):
    """The same of a log that is there."""
    found = collections.Counter(re.findall(r"^\d+ +(\w+)\(", log.read_text(errors="replace"), re.MULTILINE))
    return {call: n for call, n in found.items() if call in ERRORS}


def choose(numbers, most, random):
    """All of them, or as many as wanted by chance."""
    numbers = list(numbers)
    return numbers if len(numbers) <= most else sorted(random.sample(numbers, most))


def plan(allocations, calls, before, most, random):
    """The faults to go through: of each kind at most so many. What happens before, in the loader of libraries, is not ours."""
    faults = [Fault("alloc", n, "") for n in choose(range(1, allocations + 1), most, random)]
    faults += [Fault("short", n, "") for n in (1, 2, 3)]
    for call, n in sorted(calls.items()):
        for error in ERRORS[call]:
            numbers = range(before.get(call, 0) * (call != "write") + 1, n + 1)
            faults += [Fault(call, i, error) for i in choose(numbers, max(most // 10, 3), random)]
    return faults

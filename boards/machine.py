# SPDX-License-Identifier: MIT
"""machine: one board that runs: qemu, the channel to its init, its console, its cable.

	with Machine(get_board("a9"), files=[("kiseki.ko", "/kiseki.ko")]) as board:
	    board.check("insmod /kiseki.ko")
	    print(board.call("cat /proc/interrupts").text)

The channel is a serial line, not the network: it works without a driver, while the network is cut
and beside whatever is measured there. What goes over it is at the head of systems/channel. The kernel's
messages go to a file; a warning or an oops in them fails the run when the board is switched off. An
oops ends the board at once. Whatever happens, qemu does not outlive its time or this process.
"""
import gzip
import io
import json
import re
import secrets
import socket
import subprocess
import tarfile
import tempfile
import threading
import time
import zlib
from dataclasses import dataclass
from pathlib import Path

from boards import child, initramfs
from boards.catalog import BoardError
from boards.device_tree import remove_nodes
from boards.fetch import fetch_kernel

# Until init answers, on a machine that is busy with other things; systemd has more to do before.
BOOT_S, DEBIAN_BOOT_S = 180, 900
STOP_S = 20
SHOWN_LINES = 30

# What no kernel says when all is well.
TROUBLE = re.compile(
    r"cut here|WARNING: |BUG: |\bOops\b|Internal error|Unable to handle kernel|Kernel panic|"
    r"general protection fault|sleeping function called|scheduling while atomic|"
    r"INFO: task .* blocked|INFO: rcu|rcu: INFO|soft lockup|hard LOCKUP|possible recursive locking|"
    r"circular locking|inconsistent lock state|suspicious RCU usage|bad unlock balance|"
    r"KASAN|KFENCE|UBSAN|KCSAN|refcount_t: |list_(add|del) corruption|"
    r"board: cannot load|Objects remaining|module .* still has|unregister_netdevice: waiting")


@dataclass(frozen=True)
class Disk:
    """A disk of the board: a file of this machine. What the board writes is gone with it, or stays."""
    path: Path
    keeps: bool = False
    is_safe: bool = True  # what the board has flushed is in the file when its power goes

    def drive(self, number):
        cache = "writeback" if self.is_safe else "unsafe"
        return (f"id=disk{number},format=raw,file={str(self.path).replace(',', ',,')},cache={cache},"
                f"snapshot={'off' if self.keeps else 'on'}")


@dataclass
class Answer:
    """What a command on the board printed, and its exit code."""
    code: int
    output: bytes

    @property
    def text(self):
        return self.output.decode(errors="replace")


class Channel:
    """Our end of the serial line. A thread takes what comes, at once: qemu stands still while
    nobody takes it."""

    def __init__(self):
        self.socket, self.theirs = socket.socketpair()
        self.buffer, self.changed, self.over = bytearray(), threading.Condition(), False
        self.thread = threading.Thread(target=self.take, daemon=True)
        self.thread.start()

    def take(self):
        while True:
            try:
                data = self.socket.recv(65536)
            except OSError:
                data = b""
            with self.changed:
                self.buffer += data
                self.over |= not data
                self.changed.notify_all()
            if not data:
                return

    def send(self, data):
        try:
            self.socket.sendall(data)
        except OSError:
            pass  # the reader finds out as well, and knows what to say

    def read_until(self, pattern, end, output=None):
        """What comes before the pattern, and the pattern's groups; None: it does not come in time or
        the other end is gone. Gives what came to `output` as soon as it cannot be part of it."""
        pattern, done, given = re.compile(pattern), bytearray(), 0
        with self.changed:
            while True:
                match = pattern.search(self.buffer)
                if match:
                    groups = [bytes(x) for x in match.groups()]  # before the buffer changes
                    done += self.buffer[:match.start()]
                    del self.buffer[:match.end()]
                elif len(self.buffer) > 200:
                    done += self.buffer[:-100]
                    del self.buffer[:-100]
                if output and len(done) > given:
                    output(bytes(done[given:]))
                    given = len(done)
                if match:
                    return bytes(done), groups
                left = end - time.monotonic()
                if self.over or left <= 0:
                    return bytes(done + self.buffer), None
                self.changed.wait(min(left, 1))

    def close(self):
        self.socket.close()


class Monitor:
    """Qemu's own control: it can pull the cable."""

    def __init__(self):
        self.socket, self.theirs = socket.socketpair()
        self.lines = self.socket.makefile("r")
        self.is_greeted = False

    def order(self, name, /, **arguments):
        if not self.is_greeted:
            self.lines.readline()
            self.is_greeted = True
            self.order("qmp_capabilities")
        self.socket.sendall(json.dumps({"execute": name, "arguments": arguments}).encode())
        for line in self.lines:
            answer = json.loads(line)
            if "error" in answer:
                raise BoardError(f"qemu: {answer['error']['desc']}")
            if "return" in answer:
                return answer["return"]
        raise BoardError(f"qemu ended before it could {name}")

    def close(self):
        self.lines.close()
        self.socket.close()


class Machine:
    """A board, from power on to power off."""

    def __init__(self, board, files=(), modules=(), programs=(), *, system="plain", disks=(),
                 memory=None, forwards=(), append="", image=None, logs=None, timeout_s=600,
                 is_plugged=True, say=lambda text: None):
        """`system` is what init is there: initramfs.SYSTEMS; `is_plugged` whether the network's cable
        is when it is switched on."""
        self.board, self.timeout_s, self.say = board, timeout_s * board.patience, say
        self.boot_s = (DEBIAN_BOOT_S if system == "debian" else BOOT_S) * board.patience
        self.kernel = fetch_kernel(board, say)
        self.work = tempfile.TemporaryDirectory(prefix=f"kiseki-board-{board.name}-")
        self.logs = Path(logs or self.work.name)
        self.logs.mkdir(parents=True, exist_ok=True)
        self.console_path = self.logs / f"{board.name}.console"
        self.image = Path(image or self.kernel.image)
        self.initramfs = Path(self.work.name) / "initramfs"
        self.initramfs.write_bytes(
            initramfs.build(self.kernel, files, modules, programs, system=system, say=say))
        self.tree = Path(self.work.name) / "tree"
        if board.device_tree:
            self.tree.write_bytes(remove_nodes(self.kernel.device_tree.read_bytes(), board.without))
        self.memory, self.forwards, self.append = memory or board.memory, forwards, append
        self.disks, self.is_plugged = list(disks), is_plugged
        self.process = self.channel = self.monitor = self.watchdog = None
        self.late = False

    def command(self):
        """The whole command line of qemu."""
        board = self.board
        network = ",".join(["user,id=net0", *(f"hostfwd=tcp:127.0.0.1:{here}-:{there}"
                                              for here, there in self.forwards)])
        tree = ["-dtb", str(self.tree)] if board.device_tree else []
        words = f"console={board.console} oops=panic panic=-1 net.ifnames=0 {self.append}"
        disks = [x.format(disk.drive(n), id=f"disk{n}") for n, disk in enumerate(self.disks)
                 for x in board.drive]
        return [
            *board.qemu, "-m", self.memory, "-display", "none", "-no-reboot",
            "-kernel", str(self.image), *tree, "-initrd", str(self.initramfs), "-append", words, *disks,
            *(x.format(network) for x in board.nic), "-serial", f"file:{self.console_path}",
            "-chardev", f"socket,id=channel,fd={self.channel.theirs.fileno()}",
            *(x.format("channel") for x in board.serial),
            "-chardev", f"socket,id=monitor,fd={self.monitor.theirs.fileno()}",
            "-mon", "chardev=monitor,mode=control"]

    def start(self):
        self.channel, self.monitor = Channel(), Monitor()
        theirs = [self.channel.theirs, self.monitor.theirs]
        errors = self.logs / f"{self.board.name}.qemu"
        self.console_path.write_bytes(b"")
        try:
            with errors.open("wb") as log:
                self.process = subprocess.Popen(
                    self.command(), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                    pass_fds=[x.fileno() for x in theirs], **child.OPTIONS)
        except FileNotFoundError:
            raise BoardError(f"{self.board.qemu[0]} is not installed (tools/setup boards)") from None
        finally:
            for end in theirs:
                end.close()
        self.watchdog = threading.Timer(self.timeout_s, self.expire)
        self.watchdog.daemon = True
        self.watchdog.start()
        if not self.is_plugged:
            self.set_cable(False)
        _, ready = self.channel.read_until(rb"ready (\S+)\n", time.monotonic() + self.boot_s)
        if not ready:
            raise BoardError(self.explain(f"{self.board.name} does not boot",
                                          errors.read_text(errors="replace")))
        return self

    def expire(self):
        self.late = True
        self.process.kill()

    def explain(self, what, more=""):
        """One line about a board that is gone, and the last of what it said."""
        if self.late:
            what = f"{self.board.name} was not done after {self.timeout_s} s"
        lines = (self.console() + more).splitlines()[-SHOWN_LINES:]
        return "\n  | ".join([what, *lines])

    def call(self, command, timeout_s=60, output=None):
        """Runs a command on the board. What it leaves running must not hold on to its output."""
        if "\0" in command:
            raise BoardError("a command cannot hold a zero byte")
        word, timeout_s = secrets.token_hex(16), timeout_s * self.board.patience
        escaped = command.replace("\\", "\\\\").replace("\n", "\\n")
        self.channel.send(f"{word} {escaped}\n".encode())
        got, end = self.channel.read_until(rf"{word} (\d+)\n".encode(),
                                           time.monotonic() + timeout_s, output)
        if end:
            return Answer(int(end[0]), got)
        first = command.strip().splitlines()[0][:60]
        why = "is gone" if self.channel.over else f"has no answer after {timeout_s} s"
        raise BoardError(self.explain(f'{self.board.name} {why}: "{first}"'))

    def check(self, command, timeout_s=60):
        """The output of a command that must work."""
        answer = self.call(command, timeout_s)
        if answer.code:
            raise BoardError(f'{self.board.name}: "{command.strip()}" failed with {answer.code}: '
                             f"{answer.text.strip()[-1000:]}")
        return answer.text

    def read(self, command, timeout_s=300):
        """The bytes that a command writes, of which there may be many. The line's interrupts come to the first CPU; who writes to it
        on another one waits for that one in qemu, byte by byte, and takes ten times as long."""
        answer = self.call(f"({command}) 2>/dev/null | gzip -1 -c | taskset 1 cat", timeout_s)
        try:
            return gzip.decompress(answer.output)
        except (OSError, EOFError, zlib.error):
            raise BoardError(f'{self.board.name}: cannot read what "{command.strip()}" writes: {answer.text.strip()[-200:]}') from None

    def get(self, folder, target):
        """Copies what is in a folder of the board."""
        data = self.read(f"cd '{folder}' && tar -c -f - .")
        if not data:
            raise BoardError(f"{self.board.name}: cannot read {folder}")
        Path(target).mkdir(parents=True, exist_ok=True)
        with tarfile.open(fileobj=io.BytesIO(data)) as tar:
            for member in tar:
                take_member(tar, member, Path(target))

    def set_cable(self, plugged):
        self.monitor.order("set_link", name="net0", up=plugged)

    def console(self):
        return self.console_path.read_text(errors="replace").replace("\r", "")

    def trouble(self):
        """What the kernel complained about, if it did."""
        return [x for x in self.console().splitlines() if TROUBLE.search(x)]

    def stop(self):
        """Switches the board off. Its complaints are an error."""
        if self.process and self.process.poll() is None:
            self.channel.send(b"off poweroff -f\n")
            try:
                self.process.wait(STOP_S)
            except subprocess.TimeoutExpired:
                pass  # not every machine can; nothing is lost by pulling the plug
        self.close()
        trouble = self.trouble()
        if trouble:
            raise BoardError(self.explain(f"the kernel of {self.board.name} complains: {trouble[0]}"))

    def close(self):
        """Ends qemu, and leaves nothing but the logs."""
        if self.watchdog:
            self.watchdog.cancel()
        if self.process and self.process.poll() is None:
            self.process.kill()
        if self.process:
            self.process.wait()
        for end in (self.channel, self.monitor):
            if end:
                end.close()

    def __enter__(self):
        try:
            return self.start()
        except BaseException:
            self.__exit__(True)
            raise

    def __exit__(self, kind, *_):
        try:
            if kind:
                self.close()
            else:
                self.stop()
        finally:
            self.work.cleanup()


def take_member(tar, member, target):
    """Files and folders only, and nothing outside of the target."""
    place = (target / member.name).resolve()
    if not place.is_relative_to(target.resolve()):
        raise BoardError(f"a file of the board would land outside of {target}: {member.name}")
    if member.isdir():
        place.mkdir(parents=True, exist_ok=True)
    elif member.isfile():
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(tar.extractfile(member).read())

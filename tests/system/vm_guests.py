# SPDX-License-Identifier: MIT
"""vm_guests: programs of guests, good and bad ones, and a host that listens to them.

	vm_guests.py CASE...

A host without virtual machines (vm_guests_record) and a real kiseki-guest, which tells of this very machine. Where a VMM is
needed there is a folder that says so. CASES are functions below whose names begin with test_; none: all.
"""
import json
import os
import re
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.dont_write_bytecode = True
sys.path[:0] = [str(Path(__file__).resolve().parent.parent / "tools")]

from ports import free_ports  # noqa: E402

KISEKI, RECORD, GUEST = (os.environ[x] for x in ("KISEKI", "VM_GUESTS_RECORD", "KISEKI_GUEST"))
UUID = "8a2b7c1e-5d44-4f1b-9a63-0c55d2e7f910"
VM = "77777"  # of fake VMMs whose pid does not matter
WAIT_S = 180  # until something counts as stuck


class Failed(Exception):
    pass


def need(what, condition, text=""):
    if not condition:
        raise Failed(f"{what}: {text}")


def varint(v):
    out = b""
    while v > 127:
        out += bytes([v & 127 | 128])
        v >>= 7
    return out + bytes([v])


def frame(kind, body):
    return bytes([kind]) + varint(len(body)) + body


def text(s):
    return varint(len(s)) + s


def hello(version=1, uuid=UUID):
    return frame(1, b"KSKG" + varint(version) + varint(3) + bytes.fromhex(uuid.replace("-", "")) +
                 text(b"6.1") + text(b"aarch64") + text(b"bad"))


class Host:
    """vm_guests_record, and the report of what it wrote."""

    def __init__(self, work, addresses, vmms):
        self.file, self.proc = Path(work) / "host.ksk", Path(work) / "proc"
        for pid, words in vmms.items():
            folder = self.proc / str(pid)
            (folder / "fd").mkdir(parents=True)
            (folder / "fd/9").symlink_to("anon_inode:kvm-vm")
            (folder / "cmdline").write_bytes(b"\0".join(x.encode() for x in words) + b"\0")
        self.log = open(Path(work) / "log", "w+b")
        self.process = subprocess.Popen([RECORD, self.file, ",".join(addresses), self.proc, work], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=self.log)
        self.expect("ready")

    def expect(self, word):
        line = self.process.stdout.readline().decode().strip()
        need("the host's answer", line == word, f"{line!r} instead of {word!r}: {self.said()}")

    def said(self):
        self.log.flush()
        return Path(self.log.name).read_text()

    def wait_said(self, words, times=1):
        end = time.monotonic() + WAIT_S
        while self.said().count(words) < times:
            need("the host says", time.monotonic() < end and self.process.poll() is None, f"not {words!r} but {self.said()!r}; exit {self.process.poll()}")
            time.sleep(0.02)

    def tell(self, line):
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()
        self.expect("ok")

    def sample(self, vm, mode, pc, context):
        """A guest's moment, between an entry and an exit."""
        who = f"{int(vm) + 1}/{vm}/0/CPU"
        self.tell(f"1 0 entry {who}")
        time.sleep(0.002)
        self.tell(f"1 0 sample {who} {mode} 1000000 k=0xffff800080110010 pc={pc:#x} table=0x41003000 context={context}")
        time.sleep(0.002)
        self.tell(f"1 0 exit {who} 0")

    def stop(self):
        self.process.stdin.close()
        need("the host ends", self.process.wait(WAIT_S) == 0, self.said())

    def report(self, *options):
        done = subprocess.run([KISEKI, "vm", "report", self.file, "--limit", "0", *options], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True)
        need("report", done.returncode == 0, done.stderr)
        return done.stdout

    def links(self, what):
        return [x for x in json.loads(self.report("--json"))["guests"] if x["what"] == what]

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.log.close()


class Guest:
    """kiseki-guest; it waits until it may go."""

    def __init__(self, address, *options):
        self.process = subprocess.Popen(["/bin/sh", "-c", 'read x; exec "$@"', "sh", GUEST, *options, address],
                                        stdin=subprocess.PIPE, stderr=subprocess.PIPE)

    def go(self):
        self.process.stdin.write(b"\n")
        self.process.stdin.close()

    def close(self):
        if self.process.poll() is None:
            self.process.terminate()
        self.process.wait(WAIT_S)
        self.process.stderr.close()


def wait_for_talk(host, guest, seen):
    """Until the host wrote that the guest talks."""
    end = time.monotonic() + WAIT_S
    while seen not in host.file.read_bytes():
        need("the guest", guest.process.poll() is None and time.monotonic() < end, host.said())
        time.sleep(0.02)


def kernel_symbol():
    """A function of this kernel, if it says where they are."""
    with open("/proc/kallsyms", encoding="ascii") as f:
        for line in f:
            words = line.split()
            if words[1] in "tT" and int(words[0], 16) and words[2] == "schedule":
                return int(words[0], 16)
    return None


def own_code(host):
    """The smallest file with a build-id whose code this process has, an address of it, and the build-id."""
    found = []
    for line in Path("/proc/self/maps").read_text().splitlines():
        words = line.split()
        if "x" in words[1] and len(words) > 5 and words[5][0] == "/":
            notes = subprocess.run(["readelf", "-n", words[5]], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            match = re.search(r"Build ID: (\w+)", notes.stdout)
            if match:
                found.append((os.stat(words[5]).st_size, words[5], int(words[0].split("-")[0], 16), match[1]))
    return min(found)[1:]


def kept_object(host, vm, build_id):
    path = host.file.parent / str(vm) / ".build-id" / build_id[:2] / build_id[2:]
    return path.read_bytes() if path.exists() else None


def wait_for_object(host, vm, build_id, path):
    """Until the host has the file that a sample was in; it comes at low priority."""
    end = time.monotonic() + WAIT_S
    while kept_object(host, vm, build_id) != Path(path).read_bytes():
        need("the file that a sample was in", time.monotonic() < end, f"{path}: {host.said()}")
        time.sleep(0.02)


def tell_story(host, guest, vm):
    """Who was there before, who comes and goes, and what the kernel's functions are called."""
    guest.go()
    wait_for_talk(host, guest, b"story-guest")
    # A host samples all the time; a short-lived process is sampled while it lives.
    short = subprocess.Popen(["/bin/sh", "-c", "read x; exit 0"], stdin=subprocess.PIPE, executable="/bin/sh")
    time.sleep(0.3)
    host.sample(vm, "guest-user", 0x400000, short.pid)
    short.communicate(b"\n")
    time.sleep(0.3)
    host.sample(vm, "guest-user", 0x400000, os.getpid())
    address = kernel_symbol()
    host.sample(vm, "guest-kernel", (address or 0xffff800080000000) + 4, os.getpid())
    path, at, build_id = own_code(host)
    host.sample(vm, "guest-user", at, os.getpid())
    wait_for_object(host, vm, build_id, path)
    host.stop()
    own = Path(f"/proc/{os.getpid()}/comm").read_text().strip()
    report = host.report("--by", "process")
    need("a process of before", f"{own} ({os.getpid()})" in report, report)
    need("a process that came and went", f"sh ({short.pid})" in report, report)
    need("one that talks has no gap", "guest program" not in report, report)
    if address:
        need("a function of the guest's kernel", "schedule" in host.report(), host.report())
    clock = host.links("clock")
    need("the clock's error", len(clock) == 1 and 0 < clock[0]["error_ns"] < 10**8, clock)
    print(f"  {len(report.splitlines())} lines; error of the clock {clock[0]['error_ns']} ns")


def test_unix(work):
    """A VMM that connects: here the guest's program is its own VMM."""
    path = f"{work}/door"
    host = Host(work, [f"unix:{path}"], {})
    guest = Guest(f"unix:{path}", "--name", "story-guest")
    try:
        vmm = host.proc / str(guest.process.pid) / "fd"
        vmm.mkdir(parents=True)
        (vmm / "9").symlink_to("anon_inode:kvm-vm")
        tell_story(host, guest, guest.process.pid)
    finally:
        guest.close()
        host.close()


class Port(threading.Thread):
    """A serial port as a VMM makes it: this process listens for the host; behind it one guest's program after the other."""

    def __init__(self, host_path, guest_path):
        super().__init__(daemon=True)
        self.doors = [socket.socket(socket.AF_UNIX) for _ in range(2)]
        for door, path in zip(self.doors, (host_path, guest_path)):
            door.bind(path)
            door.listen()
        self.start()

    def run(self):
        host = self.doors[0].accept()[0]
        while True:
            guest = self.doors[1].accept()[0]
            while self.copy(host, guest):
                pass

    @staticmethod
    def copy(host, guest):
        """Takes what is there to the other side. False: the guest's program is gone."""
        for source, sink in ((host, guest), (guest, host)):
            if source not in select.select([host, guest], [], [], 0.01)[0]:
                continue
            try:
                data = source.recv(65536)
                sink.sendall(data)
            except OSError:
                data = b""
            if not data:
                return False
        return True


def test_port(work):
    """The host finds the port, whoever is behind it; its program is killed, and started anew in the same stream."""
    Path(work, "ports").mkdir()
    Port(f"{work}/ports/g1", f"{work}/inside")
    vm = os.getpid()
    host = Host(work, [f"unix:{work}/ports"], {vm: ["vmm"]})
    guests = [Guest(f"unix:{work}/inside", "--name", name) for name in ("early-guest", "story-guest")]
    try:
        guests[0].go()
        wait_for_talk(host, guests[0], b"early-guest")
        guests[0].process.kill()
        tell_story(host, guests[1], vm)
        need("both", [x["note"] for x in host.links("talks")] == ["early-guest", "story-guest"], host.links("talks"))
    finally:
        for guest in guests:
            guest.close()
        host.close()


def test_addresses(work):
    """What is none is refused at once, on both sides."""
    for bad in ("", "vsock:", "vsock:x", "tcp:1", "tcp:nowhere:1", "unix:", "udp:1.2.3.4:5", "unix:" + "x" * 200):
        done = subprocess.run([RECORD, f"{work}/x.ksk", bad, "/proc"], stderr=subprocess.PIPE, text=True)
        need(f"--guests {bad[:20]}", done.returncode == 1 and "cannot use --guests" in done.stderr, done.stderr)
    for bad in ("", "vsock:", "vsock:-1", "tcp:1", "here", "unix:"):
        done = subprocess.run([GUEST, "--once", bad], stderr=subprocess.PIPE, text=True)
        need(f"kiseki-guest {bad}", done.returncode == 2, (done.returncode, done.stderr))


def test_tcp(work):
    port = free_ports(1)[0]
    host = Host(work, [f"tcp:127.0.0.1:{port}"], {VM: ["qemu", "-uuid", UUID], "99": ["qemu", "-uuid", "0" * 32]})
    guest = Guest(f"tcp:127.0.0.1:{port}", "--name", "story-guest", "--uuid", UUID)
    try:
        tell_story(host, guest, VM)
    finally:
        guest.close()
        host.close()


def test_refused(work):
    """Who cannot be told apart, and who says what no guest's program says."""
    port = free_ports(1)[0]
    vmms = {VM: ["qemu", "-uuid", UUID], "500": ["a", "uuid=" + "1" * 32], "501": ["b", "uuid=" + "1" * 32]}
    host = Host(work, [f"tcp:127.0.0.1:{port}"], vmms)
    cases = (  # what it sends, what is said of it, whether its machine is known by then
        (b"GET / HTTP/1.0\r\n\r\n", "says what no guest's program says", False),
        (b"\0" * 64, "says what no guest's program says", False),
        (frame(2, b""), "says what no guest's program says", False),
        (frame(1, b"KSKG"), "says what no guest's program says", False),
        (bytes([1]) + varint(8193) + b"x" * 100, "says what no guest's program says", False),
        (hello(version=2), "of version 2", False),
        (hello(uuid="2" * 32), "no virtual machine has the UUID", False),
        (hello(uuid="0" * 32), "does not know its UUID", False),
        (hello(uuid="1" * 32), "more than one virtual machine has the UUID", False),
        (hello() + frame(17, b"\1"), "", True),  # before it is welcome nothing is taken
        (hello() + frame(3, varint(1 << 40) + varint(5)), "answers what nobody asked", True),
    )
    try:
        host.sample(VM, "guest-user", 0x400000, 5)
        for n, (sent, words, _) in enumerate(cases):
            with socket.create_connection(("127.0.0.1", port)) as s:
                s.settimeout(WAIT_S)
                s.sendall(sent)
                if not words:
                    continue
                host.wait_said(words, sum(words == x[1] for x in cases[:n + 1]))
                while s.recv(4096):
                    pass
        host.wait_said("its guest program is gone")
        send_bad_rows(host, port)
        host.stop()
        report = host.report()
        need("the gap", f"machine {VM}: its guest program is not listened to since" in report, report)
        need("the unknown", report.count("a guest program was refused at") == sum(bool(x[1]) and not x[2] for x in cases),
             report)
        print(f"  {len(cases)} refused")
    finally:
        host.close()


def answer_pings(s):
    """Plays a guest's program until it is welcome."""
    data, start = b"", time.monotonic_ns()
    while True:
        piece = s.recv(4096)
        need("the host", piece, "closed the connection")
        data += piece
        while len(data) > 4 and len(data) >= 4 + data[1] % 128:
            kind, body = data[0], data[4:4 + data[1] % 128]
            data = data[4 + len(body):]
            if kind == 16:
                return
            s.sendall(frame(3, body + varint(time.monotonic_ns() - start + 1)))


def send_bad_rows(host, port):
    """Welcome, but its rows are none; then too many of them."""
    for number, rows in enumerate((b"\x14\x04\x02\x02\x01\x07", b"\x17\x80\x80", b"\x17\x01\xff")):
        with socket.create_connection(("127.0.0.1", port)) as s:
            s.settimeout(WAIT_S)
            s.sendall(hello())
            answer_pings(s)
            s.sendall(frame(2, rows))
            host.wait_said("sends rows that no guest's program sends", number + 1)
    with socket.create_connection(("127.0.0.1", port)) as s:
        s.settimeout(WAIT_S)
        s.sendall(hello())
        answer_pings(s)
        s.sendall(frame(4, text(b"abc") + b"\5\0hello"))
        host.wait_said("sends a file that nobody asked for")


def test_flood(work):
    """One that never stops is read as fast as it may be, up to a ceiling; meanwhile the host goes on."""
    port = free_ports(1)[0]
    host = Host(work, [f"tcp:127.0.0.1:{port}"], {VM: ["qemu", "-uuid", UUID]})
    row = b"\x02\x02\x01\x00\x00\x00\x01x"  # pid 1, tid 1, tick 1
    rows = frame(2, b"\x17" + varint(1000 * len(row)) + 1000 * row)
    try:
        with socket.create_connection(("127.0.0.1", port)) as s:
            s.settimeout(WAIT_S)
            s.sendall(hello())
            answer_pings(s)
            s.settimeout(0.5)
            sent = 0
            try:
                while sent < 64 << 20:
                    sent += s.send(rows)
            except (TimeoutError, socket.timeout, OSError):
                pass
            need("it has to wait", sent < 48 << 20, sent)
            host.sample(VM, "guest-user", 0x400000, 5)
        host.stop()
        print(f"  {sent} bytes taken or waiting, {host.file.stat().st_size} in the file")
        need("the name that it told", "x (1)" not in host.report("--by", "process"), "of another process")
    finally:
        host.close()


def test_silent(work):
    """One that is stopped is silent, one that goes on talks again, one that is killed is gone."""
    port = free_ports(1)[0]
    host = Host(work, [f"tcp:127.0.0.1:{port}"], {VM: ["qemu", "-uuid", UUID]})
    guest = Guest(f"tcp:127.0.0.1:{port}", "--name", "story-guest", "--uuid", UUID)
    try:
        guest.go()
        wait_for_talk(host, guest, b"story-guest")
        host.sample(VM, "guest-user", 0x400000, 5)
        guest.process.send_signal(signal.SIGSTOP)
        end = time.monotonic() + WAIT_S
        while host.file.read_bytes().count(b"story-guest") < 2:
            need("silence is noted", time.monotonic() < end, "it is not")
            time.sleep(0.1)
        guest.process.send_signal(signal.SIGCONT)
        while host.file.read_bytes().count(b"story-guest") < 3:
            need("that it talks again is noted", time.monotonic() < end, "it is not")
            time.sleep(0.1)
        guest.process.kill()
        host.wait_said(f"machine {VM}: its guest program is gone")
        host.sample(VM, "guest-user", 0x400000, 5)
        host.stop()
        need("the gap", f"machine {VM}: its guest program is gone since +" in host.report(), host.report())
        need("silence", len(host.links("silent")) == 1 and len(host.links("talks")) == 2, host.report("--json"))
    finally:
        guest.close()
        host.close()


class Reader:
    """Numbers out of bytes."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def number(self):
        v = shift = 0
        while True:
            b = self.data[self.at]
            self.at += 1
            v |= (b & 127) << shift
            shift += 7
            if b < 128:
                return v

    def signed(self):
        v = self.number()
        return v >> 1 ^ -(v & 1)

    def bytes(self, n=None):
        n = self.number() if n is None else n
        self.at += n
        return self.data[self.at - n:self.at]

    def more(self):
        return self.at < len(self.data)


class PlainHost:
    """The host's side as docs/format/guest.md has it: tables, lives, mappings, names, objects."""

    def __init__(self, path):
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path)
        self.listener.listen()
        self.tables, self.lives, self.mapped, self.names, self.objects, self.pongs = [], [], [], [], [], []

    def accept(self):
        self.listener.settimeout(WAIT_S)
        self.link, self.data = self.listener.accept()[0], b""
        self.link.settimeout(WAIT_S)

    def send(self, kind, body):
        self.link.sendall(frame(kind, body))

    def take(self):
        """The next frame: its type and body."""
        while True:
            r = Reader(self.data)
            try:
                kind, length = r.number(), r.number()
                if len(self.data) >= r.at + length:
                    self.data = self.data[r.at + length:]
                    return kind, Reader(r.bytes(length))
            except IndexError:
                pass
            piece = self.link.recv(65536)
            need("the guest", piece, "closed the connection")
            self.data += piece

    def until(self, condition):
        end = time.monotonic() + WAIT_S
        while not condition():
            need("waited", time.monotonic() < end, "for nothing")
            kind, body = self.take()
            if kind == 2:
                self.take_rows(body)
            elif kind == 3:
                self.pongs.append((body.number(), body.number()))
            elif kind == 4:
                self.objects.append((body.bytes(), body.number(), body.number(), body.data[body.at:]))

    def take_rows(self, r):
        while r.more():
            kind, item = r.number(), Reader(r.bytes())
            while item.more():
                if kind == 0x13:
                    self.mapped.append((item.signed(), item.number(), item.number(), item.number(), item.number(),
                                        item.bytes(), item.bytes().decode()))
                elif kind == 0x14:
                    self.lives.append((item.signed(), item.signed(), item.number(), item.number(), item.bytes().decode()))
                elif kind == 0x15:
                    self.names.append((item.number(), item.number(), item.bytes().decode()))
                else:
                    need("item", kind == 0x17, kind)
                    self.tables.append((item.signed(), item.signed(), item.number(), item.number(), item.number(),
                                        item.number(), item.bytes().decode()))


def check_short(host):
    """A program that is gone before anybody could look: its rows are in order, within its life."""
    start = time.monotonic_ns()
    child = subprocess.Popen(["/bin/true"])
    child.wait()
    end = time.monotonic_ns()
    host.until(lambda: any(x[0] == child.pid and x[3] == 2 for x in host.lives))
    lives = [x for x in host.lives if x[0] == child.pid]
    need("its life", [x[3] for x in lives] == [0, 1, 2] and all(start <= x[2] <= end for x in lives), (start, end, lives))
    host.until(lambda: any(x[0] == child.pid and x[3] for x in host.tables))
    tables = [x for x in host.tables if x[0] == child.pid]
    task = tables[-1][5]
    if task:
        need("its name", lives[1][4] == "true", lives)
        need("its task", {x[5] for x in tables} == {task}, tables)
        known = {x[4] for x in tables} - {0}
        need("its page tables", len(known) in (0, 2) and tables[-1][4] in known | {0}, tables)
        print(f"  tasks are known{', and page tables' if known else ''}")
    return bool(task)


def check_object(host):
    """A file by its build-id, byte for byte; one that is nowhere."""
    own = [x for x in host.mapped if x[0] == os.getpid() and x[5]]
    need("mappings of this process", own, [x for x in host.mapped if x[0] == os.getpid()])
    path, build_id = min(((x[6], x[5]) for x in own), key=lambda x: os.stat(x[0]).st_size)
    for wanted in (build_id, b"\1\2\3"):
        host.objects.clear()
        host.send(19, text(wanted))
        host.until(lambda: host.objects and (not host.objects[0][1] or
                                             sum(len(x[3]) for x in host.objects) == host.objects[0][1]))
        content = b"".join(x[3] for x in host.objects)
        need("the file", content == (Path(path).read_bytes() if wanted == build_id else b""), path)
    print(f"  {path}: {os.stat(path).st_size} bytes")


def test_spoken(work):
    """The guest's side, by a host that was written from the specification."""
    host = PlainHost(f"{work}/door")
    guest = Guest(f"unix:{work}/door", "--name", "story-guest", "--uuid", UUID)
    try:
        guest.go()
        host.accept()
        kind, hello_said = host.take()
        need("HELLO", kind == 1 and hello_said.data == b"KSKG\1" + hello_said.data[5:6] +
             bytes.fromhex(UUID.replace("-", "")) + text(os.uname().release.encode()) +
             text(os.uname().machine.encode()) + text(b"story-guest"), hello_said.data)
        host.send(17, varint(1))
        host.until(lambda: host.pongs)
        need("the time", host.pongs[0][0] == 1 and 0 <= time.monotonic_ns() - host.pongs[0][1] < 10**10, host.pongs)
        need("before it is welcome", not host.tables, host.tables)
        host.send(16, varint(1))
        host.until(lambda: all(any(x[0] == os.getpid() for x in y) for y in (host.mapped, host.tables)))
        own = Path("/proc/self/comm").read_text().strip()
        need("this process", any(x[0] == x[1] == os.getpid() and x[6] == own for x in host.tables), host.tables[:5])
        if hello_said.data[5] & 1:
            check_short(host)
        address = kernel_symbol()
        if address:
            host.send(18, varint(address + 4) + varint(address + 8) + varint(12))
            host.send(17, varint(2))
            host.until(lambda: host.names)
            need("one name for two addresses", [x[0] for x in host.names] == [address] and "schedule" in host.names[0][2],
                 host.names)
        check_object(host)
        host.link.sendall(b"\0garbage")
        host.accept()  # it comes again
        need("HELLO again", host.take()[0] == 1)
    finally:
        guest.close()


def main():
    names = sys.argv[1:] or [x for x in globals() if x.startswith("test_")]
    failed = 0
    for name in names:
        print(name, flush=True)
        with tempfile.TemporaryDirectory() as work:
            try:
                globals()[name](work)
            except Failed as e:
                print(f"FAILED: {name}: {e}")
                failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(main())

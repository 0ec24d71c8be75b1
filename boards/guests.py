# SPDX-License-Identifier: MIT
"""guests: virtual machines on a board that has KVM.

	board = get_board("kvm-arm64").paced()
	with Machine(board, **guest_parts(board, init, work)) as machine:
	    guest = Guest(machine, "g1")
	    guest.wait_for("guest ready")
	    guest.tell("spin 6")

A guest boots the board's own kernel with one program as its init, on one virtual CPU or several; a bare one has no kernel and spins on
the spot from its first instruction on, which is enough to be in others' way. The VMM is the
distribution's qemu for the board's architecture, with its libraries in the board's initramfs, so the machine
that runs all this may have another. Its first CPU runs the VMM and everything else, the last one the virtual CPUs.

One that is to tell its host who is who has a shell and kiseki-guest besides (`teller_parts`), and a WAY to the host:

	guest = Guest(machine, "g1", way=SERIAL)
	machine.check(f"kiseki-agent vm --guests {SERIAL.door} …")

A guest's console is a file on the board, and what it is told comes through a pipe: each character is an exit of
the guest to its VMM, so both sides say little.
"""
import itertools
import re
import shlex
from dataclasses import dataclass
from pathlib import Path

from boards.catalog import BoardError
from boards.fetch import fetch_kernel
from boards.initramfs import Initramfs, Modules, module_name, read_module

QEMU = {"arm64": ("qemu-system-arm//qemu-system-aarch64", "-M virt,gic-version=3 -cpu host", "ttyAMA0")}
FOLDER = "/guest"
# Its driver of the serial line, its checks of ciphers and its search for hardware are most of its boot.
QUIET = "quiet loglevel=1 panic=-1 cryptomgr.notests nokaslr"
BOOT_S = 300  # seconds of this machine, which may be busy
POLL_S, ANSWER_S = 0.2, 0.4  # of the board; to look more often would take time from whoever computes
SPIN = {"arm64": bytes.fromhex("00000014") * 1024}  # a branch to itself
PORT = 7412
MAIN = "/main"  # in a guest that tells, what it does: init's last words
# Nobody makes links to serial ports there; the kernel hands words of its command line that it does not know to init, so $way and $tell are
# there if they were given.
TELLER_INIT = f"""#!/bin/sh
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev
while read m; do insmod $m; done </modules
case $way in
serial)
	until ls /sys/class/virtio-ports/*/name >/dev/null 2>&1; do sleep 0.1; done
	mkdir /dev/virtio-ports
	for n in /sys/class/virtio-ports/*/name; do p=${{n%/name}}; ln -s /dev/${{p##*/}} /dev/virtio-ports/$(cat $n); done;;
tcp)
	until ifconfig eth0 10.0.2.15 2>/dev/null; do sleep 0.1; done;;
esac
[ "$tell" ] && /kiseki-guest $tell >/tell.log 2>&1 &
exec {MAIN}
"""


@dataclass(frozen=True)
class Way:
    """From kiseki-guest to its host; {0} is the guest's number."""
    name: str
    options: str  # for its VMM
    address: str  # for kiseki-guest, and more words that it needs
    door: str  # for kiseki-agent vm --guests
    modules: tuple  # of the host's kernel


UUID = "6b697365-6b69-4000-8000-{0:012}"
SERIAL = Way("serial", f"-device virtio-serial-device -chardev socket,id=k,path={FOLDER}/ports/{{0}},server=on,wait=off "
             "-device virtserialport,chardev=k,name=kiseki", "/dev/virtio-ports/kiseki", f"unix:{FOLDER}/ports", ())
VSOCK = Way("vsock", "-device vhost-vsock-device,guest-cid={0}", f"vsock:{PORT}", f"vsock:{PORT}", ("vhost_vsock",))
# A kernel that no firmware has started is told no UUID by one.
TCP = Way("tcp", f"-uuid {UUID} -netdev user,id=n -device virtio-net-device,netdev=n",
          f"--uuid {UUID} tcp:10.0.2.2:{PORT}", f"tcp:127.0.0.1:{PORT}", ())
TELLER_MODULES = ("virtio_mmio", "virtio_console", "virtio_net", "vmw_vsock_virtio_transport")


def add_folders(fs):
    for folder in ("/dev", "/proc", "/sys", "/tmp"):
        fs.add_folder(folder)
    fs.add_device("/dev/console", 5, 1)


def guest_parts(board, init, work):
    """What a Machine needs to have guests: arguments for it. `init` is the guests' only program, static."""
    fs = Initramfs()
    add_folders(fs)
    fs.add_file(init, "/init")
    return machine_parts(board, fs, work)


def teller_parts(board, files, program, work):
    """The same for guests that tell: `program` is kiseki-guest, static, `files` are pairs (here, there) of which one is MAIN."""
    kernel, fs = fetch_kernel(board), Initramfs()
    add_folders(fs)
    fs.add_file(kernel.busybox, "/bin/busybox")
    for name in ("sh", "mount", "insmod", "grep", "cat", "kill", "sleep", "ls", "ln", "mkdir", "ifconfig"):
        fs.add_link(f"/bin/{name}", "busybox")
    places = []
    for path in Modules(kernel).order(TELLER_MODULES):
        places.append(f"/{module_name(path)}.ko")
        fs.add_bytes(places[-1], read_module(path))
    fs.add_bytes("/modules", "".join(x + "\n" for x in places).encode())
    fs.add_bytes("/init", TELLER_INIT.encode(), 0o755)
    for source, path in [*files, (program, "/kiseki-guest")]:
        fs.add_file(source, path)
    return machine_parts(board, fs, work)


def machine_parts(board, fs, work):
    archive = Path(work) / "guest.initramfs"
    archive.write_bytes(fs.archive())
    spin = Path(work) / "guest.spin"
    spin.write_bytes(SPIN[board.architecture])
    return {"files": [(fetch_kernel(board).image, f"{FOLDER}/vmlinuz"), (archive, f"{FOLDER}/initramfs"),
                      (spin, f"{FOLDER}/spin")],
            "programs": [QEMU[board.architecture][0]]}


class Guest:
    """A virtual machine, from power on to power off."""
    numbers = itertools.count(3)  # what is below is no guest's with vsock

    def __init__(self, machine, name, memory=192, *, vcpus=1, is_bare=False, way=None, tells=True):
        """`way` is how it may tell its host; `tells`: it does so from its start."""
        self.machine, self.name, self.number = machine, name, next(self.numbers)
        program, kind, console = QEMU[machine.board.architecture]
        self.console_path, self.input = f"{FOLDER}/{name}.console", f"{FOLDER}/{name}.input"
        words, options = f"console={console} {QUIET}", ""
        if way:
            options = way.options.format(self.number)
            self.tell_words = f"--name guest-{name} {way.address.format(self.number)}"
            words += f" way={way.name}" + (f' tell="{self.tell_words}"' if tells else "")
        linux = f"-kernel {FOLDER}/vmlinuz -initrd {FOLDER}/initramfs -append {shlex.quote(words)}"
        command = (f"{Path(program).name} -name {name},debug-threads=on {kind} -accel kvm -smp {vcpus} "
                   f"-m {32 if is_bare else memory} -nodefaults -display none -no-reboot -serial stdio "
                   f"{f'-kernel {FOLDER}/spin' if is_bare else linux} {options}")
        # A pipe that is open for reading and writing never ends.
        machine.check(f"mkdir -p {FOLDER}/ports; mkfifo {self.input}; "
                      f"taskset 1 {command} 0<>{self.input} >{self.console_path} 2>&1 &\n"
                      f"echo $! >{FOLDER}/{name}.pid")
        self.pid = int(machine.check(f"cat {FOLDER}/{name}.pid"))
        self.tids = self.find_threads(vcpus)
        self.tid = self.tids[0]
        last = machine.board.cpus - 1
        self.pin([last] * vcpus)

    def find_threads(self, count):
        """Those of its virtual CPUs, in their order."""
        found = self.machine.call(
            f"while [ -d /proc/{self.pid} ]; do n=$(grep -l '^CPU .*/KVM' /proc/{self.pid}/task/*/comm | wc -l)\n"
            f"[ $n = {count} ] && break; sleep {POLL_S}; done\n"
            f"for t in /proc/{self.pid}/task/*; do echo ${{t##*/}} $(cat $t/comm); done", BOOT_S)
        threads = sorted((int(n), int(tid)) for tid, n in re.findall(r"^(\d+) CPU (\d+)/KVM", found.text, re.M))
        if len(threads) != count:
            raise BoardError(f"the guest {self.name} does not start: {self.console() or found.text}")
        return [tid for _, tid in threads]

    def pin(self, cpus):
        """Puts its virtual CPUs on these of the board's."""
        self.machine.check("; ".join(f"taskset -p {1 << cpu:x} {tid} >/dev/null" for cpu, tid in zip(cpus, self.tids)))

    def console(self):
        return self.machine.check(f"cat {self.console_path}").replace("\r", "")

    def wait_for(self, words, timeout_s=BOOT_S):
        """The line of its console that begins so."""
        answer = self.machine.call(f"while [ -d /proc/{self.pid} ]; do grep '^{words}' {self.console_path} && exit; "
                                   f"sleep {POLL_S}; done; exit 1", timeout_s)
        if answer.code:
            raise BoardError(f"the guest {self.name} is gone: {self.console()[-1000:]}")
        return answer.text.splitlines()[0].rstrip()

    def telling(self, words):
        """The command for the board that tells it something; what it says from then on is the answer."""
        return f"wc -l <{self.console_path} >{self.console_path}.n; echo {shlex.quote(words)} >{self.input}"

    def tell(self, words):
        self.machine.check(self.telling(words))

    def answer(self, name, timeout_s=BOOT_S):
        """What a program like tests/tools/vm_guest.c says when it has done what it was told: numbers by name."""
        # A line that is not yet whole has no end.
        text = self.machine.check(
            f"end=$(printf '\\r'); while [ -d /proc/{self.pid} ]; do tail -n +$(($(cat {self.console_path}.n) + 1)) "
            f"{self.console_path} | grep \"^done {name} .*$end\" && exit; sleep {ANSWER_S}; done; exit 1", timeout_s)
        return {k: int(v) for k, v in re.findall(r"(\w+)=(\d+)", text)}

    def stop(self):
        """Ends its VMM."""
        self.machine.check(f"kill {self.pid}; while [ -d /proc/{self.pid} ]; do sleep {POLL_S}; done; "
                           f"rm -f {self.input}")

# SPDX-License-Identifier: MIT
"""guests: virtual machines on a board that has KVM.

	board = get_board("kvm-arm64").paced()
	with Machine(board, **guest_parts(board, init, work)) as machine:
	    guest = Guest(machine, "g1")
	    guest.wait_for("guest ready")
	    guest.tell("spin 6")

A guest boots the board's own kernel with one program as its init, on one virtual CPU; a bare one has no kernel and spins on
the spot from its first instruction on, which is enough to be in others' way. The VMM is the
distribution's qemu for the board's architecture, with its libraries in the board's initramfs, so the machine
that runs all this may have another. Its first CPU runs the VMM and everything else, the last one the virtual CPUs.

A guest's console is a file on the board, and what it is told comes through a pipe: each character is an exit of
the guest to its VMM, so both sides say little.
"""
import re
import shlex
from pathlib import Path

from boards.catalog import BoardError
from boards.fetch import fetch_kernel
from boards.initramfs import Initramfs

QEMU = {"arm64": ("qemu-system-arm//qemu-system-aarch64", "-M virt,gic-version=3 -cpu host", "ttyAMA0")}
FOLDER = "/guest"
# Its driver of the serial line, its checks of ciphers and its search for hardware are most of its boot.
QUIET = "quiet loglevel=1 panic=-1 cryptomgr.notests nokaslr"
BOOT_S = 300  # seconds of this machine, which may be busy
POLL_S, ANSWER_S = 0.2, 0.4  # of the board; to look more often would take time from whoever computes
SPIN = {"arm64": bytes.fromhex("00000014") * 1024}  # a branch to itself


def guest_parts(board, init, work):
    """What a Machine needs to have guests: arguments for it. `init` is the guests' only program, static."""
    fs = Initramfs()
    for folder in ("/dev", "/proc", "/sys", "/tmp"):
        fs.add_folder(folder)
    fs.add_device("/dev/console", 5, 1)
    fs.add_file(init, "/init")
    archive = Path(work) / "guest.initramfs"
    archive.write_bytes(fs.archive())
    spin = Path(work) / "guest.spin"
    spin.write_bytes(SPIN[board.architecture])
    return {"files": [(fetch_kernel(board).image, f"{FOLDER}/vmlinuz"), (archive, f"{FOLDER}/initramfs"),
                      (spin, f"{FOLDER}/spin")],
            "programs": [QEMU[board.architecture][0]]}


class Guest:
    """A virtual machine, from power on to power off."""

    def __init__(self, machine, name, memory=192, is_bare=False, options=""):
        """`options` are more words for its VMM."""
        self.machine, self.name = machine, name
        program, kind, console = QEMU[machine.board.architecture]
        self.console_path, self.input = f"{FOLDER}/{name}.console", f"{FOLDER}/{name}.input"
        linux = (f"-kernel {FOLDER}/vmlinuz -initrd {FOLDER}/initramfs "
                 f"-append {shlex.quote(f'console={console} {QUIET}')}")
        command = (f"{Path(program).name} -name {name},debug-threads=on {kind} -accel kvm -smp 1 "
                   f"-m {32 if is_bare else memory} -nodefaults -display none -no-reboot -serial stdio "
                   f"{f'-kernel {FOLDER}/spin' if is_bare else linux} {options}")
        # A pipe that is open for reading and writing never ends.
        machine.check(f"mkfifo {self.input}; taskset 1 {command} 0<>{self.input} >{self.console_path} 2>&1 &\n"
                      f"echo $! >{FOLDER}/{name}.pid")
        self.pid = int(machine.check(f"cat {FOLDER}/{name}.pid"))
        self.tid = self.pin()

    def pin(self):
        """Puts the virtual CPU on the board's last CPU; its thread."""
        found = self.machine.call(
            f"last=$(printf %x $((1 << ($(grep -c ^processor /proc/cpuinfo) - 1))))\n"
            f"while [ -d /proc/{self.pid} ]; do for t in /proc/{self.pid}/task/*; do case $(cat $t/comm) in\n"
            f"CPU*) taskset -p $last ${{t##*/}} >/dev/null && echo thread ${{t##*/}}; exit;; esac; done; "
            f"sleep {POLL_S}; done", BOOT_S)
        match = re.search(r"thread (\d+)", found.text)
        if not match:
            raise BoardError(f"the guest {self.name} does not start: {self.console() or found.text}")
        return int(match[1])

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

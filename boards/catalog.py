# SPDX-License-Identifier: MIT
"""catalog: the boards there are, and what each of them is made of.

A board is a kernel of the distribution and a machine of qemu that it runs on. All that differs from
one board to the next is in its row here; the rest of this folder asks the row. The machine that runs
the tests may have any architecture: what a board needs is fetched by the board's architecture, and
the compiler for it is the machine's own or the cross compiler.
"""
import os
import shutil
from dataclasses import dataclass, replace


class BoardError(Exception):
    """Something of a board does not work; the text is one line, for people."""


@dataclass(frozen=True)
class Board:
    name: str
    about: str
    architecture: str  # as the distribution calls it
    kbuild: str  # as the kernel's build calls it
    machine: str  # as uname -m calls it
    flavour: str  # of the kernel package: linux-image-<flavour>
    compiler: str  # prefix of the cross compiler's name
    qemu: tuple  # the program and what makes the machine
    console: str  # the tty of the kernel's messages
    channel: str  # the tty that init listens to
    modules: tuple  # of the network and what else the board cannot do without
    serial: tuple = ()  # how qemu gets the channel; {} is the character device
    nic: tuple = ("-nic", "{}")  # how it gets the network; {} is qemu's own
    away: str = "ip link set eth0 down"  # how the board loses its network by itself, and gets it back
    back: str = "ip link set eth0 up"
    memory: str = "512"
    disk: str = "/dev/vda"  # the first disk, if it is given one, and how qemu gets one
    drive: tuple = ("-drive", "if=none,{}", "-device", "virtio-blk-pci,drive={id}")
    disk_modules: tuple = ("virtio_pci", "virtio_blk", "crc32c_generic", "ext4")
    release: str = ""  # of the distribution; empty: the one of the machine that runs the tests
    device_tree: str = ""  # a file of the kernel package's
    without: tuple = ()  # nodes of it that the machine does not have
    source: str = ""  # package of the kernel's source, where it is compiled here
    config: tuple = ()  # how: files of this folder; and what comes out of it
    image: str = ""
    has_driver: bool = False  # in the kernel, not as a module
    slow: bool = False  # takes long to prepare: only when asked for
    patience: int = 1  # how many times as long as the others it may take for anything

    @property
    def is_native(self):
        return os.uname().machine == self.machine

    def tool(self, name):
        """The compiler and its companions that make programs of this board."""
        program = self.compiler + name
        if shutil.which(program):
            return program
        if self.is_native and shutil.which(name):
            return name
        raise BoardError(f"cannot build for {self.name}: {program} is not installed "
                         f"(tools/setup boards)")

    def counted(self, shift=0):
        """The same board with one CPU, whose clock goes on by 2^shift ns with each instruction: time there
        does not depend on what else this machine does. Of a board whose tree has a node per CPU."""
        return replace(self.alone(), qemu=(*self.alone().qemu, "-icount", f"shift={shift}"),
                       without=(*self.without, "/cpus/cpu@1"))

    @property
    def cpus(self):
        return int(self.qemu[self.qemu.index("-smp") + 1].partition(",")[0])

    def alone(self):
        """The same board with one CPU."""
        words = list(self.qemu)
        words[words.index("-smp") + 1] = "1"
        return replace(self, qemu=tuple(words))

    def paced(self, shift=3):
        """The same board, its CPUs in turn on one thread, and its clock on by 2^shift ns with each instruction;
        while nobody has anything to do it is set forward. Shares of time there do not depend on what else this
        machine does."""
        return replace(self, qemu=(*self.qemu, "-icount", f"shift={shift},sleep=off"))

    @property
    def kernel(self):
        """Name of the kernel's folder in the cache."""
        return f"{self.architecture}/kernel-" + "-".join(filter(None, (self.flavour, self.release)))


VIRT = ("qemu-system-aarch64", "-M", "virt", "-cpu", "cortex-a57", "-smp", "2", "-nodefaults")
SOURCE = "linux-source-6.12"
VIRTIO_NET = ("virtio_pci", "virtio_net")
VIRTIO_NIC = ("-netdev", "{}", "-device", "virtio-net-pci,netdev=net0,romfile=")

BOARDS = {board.name: board for board in (
    Board(
        name="a9",
        about="dual Cortex-A9, 32 bit, 512 MB, Ethernet (Versatile Express)",
        architecture="armhf", kbuild="arm", machine="armv7l", flavour="armmp",
        compiler="arm-linux-gnueabihf-",
        qemu=("qemu-system-arm", "-M", "vexpress-a9", "-smp", "2", "-audiodev", "none,id=a"),
        console="ttyAMA0", channel="ttyAMA1", serial=("-serial", "chardev:{}"),
        modules=("libphy", "fixed_phy", "smsc", "smsc911x"),
        # Its driver (smsc911x) now and then finds the emulated chip asleep when it comes up again, and
        # has been seen to crash then.
        away="ip addr flush dev eth0", back="ip addr add 10.0.2.15/24 dev eth0",
        # An SD card, as such boards have; more disks than this one cannot be had.
        disk="/dev/mmcblk0", drive=("-drive", "if=sd,{}"),
        disk_modules=("armmmci", "crc32c_generic", "ext4"),
        # The tree is that of the board with four.
        device_tree="vexpress-v2p-ca9.dtb", without=("/cpus/cpu@2", "/cpus/cpu@3")),
    Board(
        name="arm64",
        about="two Cortex-A57, 64 bit, virtio",
        architecture="arm64", kbuild="arm64", machine="aarch64", flavour="arm64",
        compiler="aarch64-linux-gnu-",
        qemu=VIRT,
        console="ttyAMA0", channel="ttyS0", serial=("-device", "pci-serial,chardev={}"),
        modules=VIRTIO_NET, nic=VIRTIO_NIC),
    Board(
        name="kvm-arm64",
        about="as arm64, with room for virtual machines: KVM with VHE (guests.py)",
        architecture="arm64", kbuild="arm64", machine="aarch64", flavour="arm64",
        compiler="aarch64-linux-gnu-",
        # Signed pointers by the emulator's own cipher: the architecture's takes most of its time.
        qemu=("qemu-system-aarch64", "-M", "virt,virtualization=on,gic-version=3", "-cpu",
              "max,pauth-impdef=on,sve=off,sme=off", "-smp", "2", "-nodefaults"),
        console="ttyAMA0", channel="ttyS0", serial=("-device", "pci-serial,chardev={}"),
        modules=VIRTIO_NET, nic=VIRTIO_NIC, memory="1536"),
    Board(
        name="builtin",
        about="as arm64, with a small kernel that has the driver in it",
        architecture="arm64", kbuild="arm64", machine="aarch64", flavour="builtin",
        compiler="aarch64-linux-gnu-",
        qemu=VIRT,
        console="ttyAMA0", channel="ttyS0", serial=("-device", "pci-serial,chardev={}"),
        modules=(), nic=VIRTIO_NIC, memory="256",
        source=SOURCE, config=("virt.config", "builtin.config"), image="Image", has_driver=True,
        slow=True),
    Board(
        name="debug",
        about="as arm64, with a kernel that watches its drivers: KASAN, lockdep, UBSAN",
        architecture="arm64", kbuild="arm64", machine="aarch64", flavour="debug",
        compiler="aarch64-linux-gnu-",
        qemu=VIRT,
        console="ttyAMA0", channel="ttyS0", serial=("-device", "pci-serial,chardev={}"),
        modules=(), nic=VIRTIO_NIC, memory="1024",
        source=SOURCE, config=("virt.config", "debug.config"), image="Image", slow=True, patience=10),
    Board(
        name="x86_64",
        about="two x86-64 CPUs and room for two more, q35, virtio",
        architecture="amd64", kbuild="x86_64", machine="x86_64", flavour="amd64",
        compiler="x86_64-linux-gnu-",
        qemu=("qemu-system-x86_64", "-M", "q35", "-accel", "tcg", "-cpu", "qemu64",
              "-smp", "2,maxcpus=4", "-nodefaults", "-vga", "none"),
        console="ttyS0", channel="ttyS1", serial=("-serial", "chardev:{}"),
        modules=VIRTIO_NET, nic=VIRTIO_NIC),
    Board(
        name="kvm-x86",
        about="as x86_64, with room for virtual machines: KVM with AMD's SVM",
        architecture="amd64", kbuild="x86_64", machine="x86_64", flavour="amd64",
        compiler="x86_64-linux-gnu-",
        qemu=("qemu-system-x86_64", "-M", "q35", "-accel", "tcg", "-cpu", "max,+svm", "-smp", "2",
              "-nodefaults", "-vga", "none"),
        console="ttyS0", channel="ttyS1", serial=("-serial", "chardev:{}"),
        modules=(*VIRTIO_NET, "kvm_amd"), nic=VIRTIO_NIC, memory="1024"),
)}

# The oldest kernel that the driver is for, and the newest of the distribution's.
for suffix, release, linux in (("old", "bullseye", "5.10"), ("new", "trixie", "6.12")):
    for made in [replace(BOARDS[name], name=f"{name}-{suffix}", release=release, slow=True,
                         about=f"as {name}, with Linux {linux}") for name in ("a9", "arm64", "x86_64")]:
        BOARDS[made.name] = made


def get_board(name):
    if name not in BOARDS:
        raise BoardError(f'no board "{name}": {", ".join(BOARDS)}')
    return BOARDS[name]

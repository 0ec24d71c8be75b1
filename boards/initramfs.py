# SPDX-License-Identifier: MIT
"""initramfs: the file system that a board boots into.

Busybox, the modules of the board with those that they depend on, init, and whatever the caller adds;
an archive of the kind "newc" (cpio), written here, since a device node in it then needs no root. The
same content gives the same bytes: names are sorted, owners and times are zero.
"""
import lzma
import stat
from pathlib import Path

from boards import elf
from boards.catalog import BoardError
from boards.fetch import fetch_root

HERE = Path(__file__).resolve().parent
# What may be process 1, each a folder in systems/: nothing but the channel; busybox' init; what leaves for
# the system on a disk. The second has no /init: rdinit= on the kernel's command line names its init.
SYSTEMS = ("plain", "busybox", "debian")

FOLDERS = ("/dev", "/proc", "/sys", "/tmp", "/run", "/mnt", "/var/lib", "/var/log")


class Initramfs:
    def __init__(self):
        self.nodes = {}  # path without the first slash: (mode, device, bytes)
        self.add_folder("/")

    def add_folder(self, path):
        self.put(path, stat.S_IFDIR | 0o755)

    def add_device(self, path, major, minor):
        self.put(path, stat.S_IFCHR | 0o600, (major, minor))

    def add_bytes(self, path, data, mode=0o644):
        self.put(path, stat.S_IFREG | mode, data=data)

    def add_file(self, source, path):
        """One file; or a folder and all in it."""
        source = Path(source)
        if source.is_dir():
            self.add_folder(path)
            for entry in sorted(source.iterdir()):
                self.add_file(entry, f"{path}/{entry.name}")
            return
        try:
            data, mode = source.read_bytes(), source.stat().st_mode & 0o755
        except OSError as e:
            raise BoardError(f"cannot read {source}: {e.strerror}") from None
        self.add_bytes(path, data, mode)

    def add_link(self, path, target):
        self.put(path, stat.S_IFLNK | 0o777, data=target.encode())

    def put(self, path, mode, device=(0, 0), data=b""):
        name = str(path).strip("/") or "."
        if name != ".":
            parent = str(Path(name).parent)
            if parent not in self.nodes:
                self.add_folder(parent)
        self.nodes[name] = mode, device, data

    def archive(self):
        out = bytearray()
        for number, (name, (mode, device, data)) in enumerate(sorted(self.nodes.items()), 1):
            put_entry(out, name, [number, mode, 0, 0, 1, 0, len(data), 0, 0, *device], data)
        put_entry(out, "TRAILER!!!", [0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0], b"")
        return bytes(out)


def put_entry(out, name, fields, data):
    encoded = name.encode() + b"\0"
    out += b"070701" + b"".join(b"%08x" % x for x in [*fields, len(encoded), 0])
    for part in (encoded, data):
        out += part + bytes(-(len(out) + len(part)) % 4)


class Modules:
    """A kernel's modules, by name, in the order in which they must be loaded."""

    def __init__(self, kernel):
        self.folder, self.paths, self.needs = kernel.modules, {}, {}
        for line in (kernel.modules / "modules.dep").read_text().splitlines():
            path, _, needs = line.partition(":")
            self.paths[module_name(path)] = path
            self.needs[module_name(path)] = [module_name(x) for x in needs.split()]
        self.builtin = {module_name(x) for x in
                        (kernel.modules / "modules.builtin").read_text().split()}

    def order(self, names):
        """The files of these modules and of those they need; what is built in needs none."""
        ordered = []
        for name in names:
            if name in self.builtin:
                continue
            if name not in self.paths:
                raise BoardError(f"this kernel has no module {name}")
            # modules.dep names the nearest need first, so the farthest goes in first.
            for each in [*reversed(self.needs[name]), name]:
                if each not in ordered:
                    ordered.append(each)
        return [self.folder / self.paths[x] for x in ordered]


def module_name(path):
    return Path(path).name.split(".")[0].replace("-", "_")


def read_module(path):
    data = path.read_bytes()
    return lzma.decompress(data) if path.suffix == ".xz" else data


def add_program(fs, board, program, say=lambda text: None):
    """PROGRAM, PROGRAM:PATH or PACKAGE//PROGRAM[:PATH] with all libraries that it wants."""
    package, _, rest = program.rpartition("//")
    name, _, path = rest.partition(":")
    roots = [f"/usr/{board.compiler[:-1]}"]
    source = Path(name)
    if package:
        root = fetch_root(board, package, say=say)
        roots.insert(0, root)
        source = next((root / d / name for d in ("usr/bin", "bin", "usr/sbin", "sbin")
                       if (root / d / name).exists()), None)
        if not source:
            raise BoardError(f"the package {package} has no program {name}")
    if board.is_native:
        roots.append("/")
    fs.add_file(source, path or f"/usr/bin/{source.name}")
    for library, place in elf.closure(source, roots):
        fs.add_file(library, place)


def build(kernel, files=(), modules=(), programs=(), *, system="plain", say=lambda text: None):
    """The archive for a board: `files` are pairs (here, there), `modules` names besides the board's
    own, `programs` as add_program() has them, `system` one of SYSTEMS."""
    board, fs = kernel.board, Initramfs()
    for folder in FOLDERS:
        fs.add_folder(folder)
    fs.add_device("/dev/console", 5, 1)
    fs.add_file(kernel.busybox, "/bin/busybox")
    fs.add_link("/bin/sh", "busybox")
    fs.add_link("/sbin/init", "../bin/busybox")
    fs.add_file(HERE / "systems/channel", "/sbin/channel")
    fs.add_file(HERE / "systems" / system, "/")
    fs.add_bytes("/etc/board.conf", f"board={board.name}\nchannel={board.channel}\n"
                 f"disk={board.disk}\n".encode())
    fs.add_bytes("/etc/files", "".join(f"{there}\n" for _, there in files).encode())
    places = []
    for path in Modules(kernel).order([*board.modules, *modules]):
        places.append(f"/lib/modules/{module_name(path)}.ko")
        fs.add_bytes(places[-1], read_module(path))
    fs.add_bytes("/etc/modules", "".join(x + "\n" for x in places).encode())
    for source, path in files:
        fs.add_file(source, path)
    for program in programs:
        add_program(fs, board, program, say)
    return fs.archive()

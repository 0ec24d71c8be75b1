# SPDX-License-Identifier: MIT
"""source_kernel: a kernel that is compiled here, once, for a board whose row names a source package.

The distribution's kernels have no lockdep, no KASAN and no check for sleeping in atomic context: these
cost too much for daily use, and find in a minute what a year in the field would. So the source of the
distribution's own package is built with a small configuration and all of them. It takes ten minutes on
two cores; the result lies in the cache beside the other kernels, in the same shape, with as much of the
tree as modules need to be built.

Nor has any of them the driver inside. For a board that has, the sources of the driver are put into the
kernel's, by the steps of docs/driver.md. Such a tree keeps what it was compiled from: each test takes
the driver as it is now, and make does what that changes.
"""
import os
import re
import shutil
import subprocess
from pathlib import Path

from boards.catalog import BoardError

HERE = Path(__file__).resolve().parent
# Behind the link, only sources of programs that Kbuild runs and headers are needed.
KEPT_SOURCES = ("scripts", "tools")
ROOT = HERE.parent
DRIVER = "drivers/misc/kiseki"  # in the kernel's tree
# What make's complaints say that something is wrong with; warnings may name files of any name.
REASON = re.compile(r"error: |undefined reference|multiple definition|\*\*\* ")
SOURCE_SUFFIXES = (".c", ".h", ".S", ".dts", ".dtsi", ".rst", ".json")


class Tree:
    """The unpacked source, and make in it."""

    def __init__(self, board, folder):
        self.board, self.folder = board, folder
        gcc = board.tool("gcc")
        self.words = [f"ARCH={board.kbuild}", f"CROSS_COMPILE={gcc.removesuffix('gcc')}"]
        self.image = folder / f"arch/{board.kbuild}/boot/{board.image}"

    def make(self, *goals):
        done = subprocess.run(["make", "-s", f"-j{os.cpu_count()}", *self.words, *goals],
                              cwd=self.folder, stdin=subprocess.DEVNULL, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if done.returncode:
            lines = [x for x in done.stderr.splitlines() if REASON.search(x)]
            raise BoardError(f"cannot build the kernel of {self.board.name}: "
                             f"{(lines or [done.stderr.strip()[-300:]])[0]}")
        return done.stdout

    def configure(self):
        wanted = "".join((HERE / x).read_text() for x in self.board.config)
        self.make("tinyconfig")
        with (self.folder / ".config").open("a") as config:
            config.write(wanted)
        self.make("olddefconfig")
        have = set((self.folder / ".config").read_text().splitlines())
        missing = [x for x in wanted.splitlines() if x.startswith("CONFIG_") and x not in have]
        if missing:
            raise BoardError(f"the kernel of {self.board.name} cannot have {' '.join(missing)}")

    def put_driver(self):
        """As docs/driver.md tells those who build their own kernel."""
        done = subprocess.run([ROOT / "tools/driver-source", self.folder / DRIVER],
                              stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if done.returncode:
            raise BoardError(f"cannot put the driver into the kernel: {done.stderr.strip()}")
        above = (self.folder / DRIVER).parent
        for name, line in (("Kconfig", f'source "{DRIVER}/Kconfig"\n'),
                           ("Makefile", "obj-$(CONFIG_KISEKI) += kiseki/\n")):
            text = (above / name).read_text()
            if line not in text:
                (above / name).write_text(text + line)

    def strip_unused(self):
        """Leaves what make looks at to compile this configuration again: of the sources, those that
        the commands it keeps have named, and all headers that the driver may ask for."""
        named = set()
        for path in self.folder.rglob(".*.cmd"):
            named.update(re.findall(r"[\w./+-]+\.[cSh]\b", path.read_text(errors="replace")))
        # Most are named from the top of the tree, some in full.
        named = {os.path.normpath(x.removeprefix(f"{self.folder}/")) for x in named}
        kept = (*KEPT_SOURCES, "include", f"arch/{self.board.kbuild}/include", DRIVER)
        for path in list(self.folder.rglob("*")):
            name = str(path.relative_to(self.folder))
            if path.suffix in SOURCE_SUFFIXES and name not in named and \
                    not name.startswith(kept) and not path.is_dir() and "/generated/" not in name:
                path.unlink()
        for name in ("Documentation", "tools/testing", "tools/perf"):
            shutil.rmtree(self.folder / name, ignore_errors=True)

    def strip(self):
        """Leaves what modules are built with."""
        for top in self.folder.iterdir():
            if top.name in KEPT_SOURCES or not top.is_dir():
                continue
            for path in top.rglob("*"):
                if path.is_file() and path.suffix in (".c", ".o", ".a", ".cmd", ".dts", ".dtsi", ".rst"):
                    path.unlink()
        for name in ("Documentation", "vmlinux", "vmlinux.o", "vmlinux.a"):
            path = self.folder / name
            shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)


def unpack_source(package, work):
    """The package holds one archive, and that one folder."""
    for command in (["dpkg-deb", "-x", package, work], ["tar", "-xf", None, "-C", work]):
        archive = next(work.glob("usr/src/*.tar.*"), None)
        done = subprocess.run([str(x or archive) for x in command], stderr=subprocess.PIPE, text=True)
        if done.returncode:
            raise BoardError(f"cannot unpack {package.name}: {done.stderr.strip()}")
    package.unlink()
    shutil.rmtree(work / "usr")
    return next(x for x in work.glob("linux-source-*") if x.is_dir())


def fill_source_kernel(board, archive, folder, work, unpack):
    """As fetch.fill_kernel() does it with packages of kernels."""
    busybox, source = archive.download([f"busybox-static:{board.architecture}", board.source], work)
    unpack(busybox, folder)
    tree = Tree(board, unpack_source(source, work))
    archive.say(f"compiling the kernel of {board.name}: this takes some minutes, once")
    if board.has_driver:
        tree.put_driver()
    tree.configure()
    tree.make(board.image, *([] if board.has_driver else ["modules"]))
    version = tree.make("kernelrelease").split()[-1]
    for path in ("boot", "usr/src", f"lib/modules/{version}"):
        (folder / path).mkdir(parents=True, exist_ok=True)
    shutil.copy(tree.image, folder / f"boot/vmlinuz-{version}")
    for name in ("modules.dep", "modules.builtin"):
        (folder / f"lib/modules/{version}" / name).touch()
    if board.has_driver:
        tree.strip_unused()
    else:
        tree.strip()
    tree.folder.rename(folder / f"usr/src/linux-headers-{version}")
    (folder / "version").write_text(version + "\n")


def update_source_kernel(kernel):
    """The image of a kernel in the cache, with the driver as it is here and now."""
    tree = Tree(kernel.board, kernel.headers)
    tree.put_driver()
    tree.make(kernel.board.image)
    return tree.image

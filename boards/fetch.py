# SPDX-License-Identifier: MIT
"""fetch: kernels and programs of other architectures, from the distribution's archive into a cache.

Nothing of this machine changes: apt runs with lists and state of its own in the cache, so that no
foreign architecture is added, nothing is installed and nobody must be root. apt verifies the
archive's signature and every package's checksum. Packages are unpacked and then removed.

	<cache>/apt/                 apt's own lists
	<cache>/<architecture>/      one tree per set of packages
	    kernel-<flavour>/        vmlinuz, device trees, modules with modules.dep; headers to build with
	    kernel-<flavour>-<release>/  the same, of another release of the distribution
	    root-<package>/          a program and all it depends on

A tree is unpacked beside its place and renamed when it is complete: one that is there is whole, and
another process that waits for the same one finds it ready. KISEKI_BOARDS names another cache.
"""
import contextlib
import fcntl
import os
import re
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from boards.catalog import BoardError
from boards.headers import LIBRARIES, adapt_headers, wants_library, wrap_programs
from boards.source_kernel import fill_source_kernel

KEYS = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
LISTS_AGE_S = 6 * 3600  # older lists may name packages that the archive no longer has
UPDATE_S = 180  # apt that tries again what a mirror in the middle of its own update gave can wait for nobody, forever
UPDATES = 3
# Of a kernel's modules: large, and for hardware that no emulated board has.
UNWANTED = ("drivers/gpu", "drivers/media", "drivers/net/wireless", "drivers/infiniband",
            "drivers/scsi", "drivers/staging", "drivers/usb", "drivers/iio", "drivers/hid",
            "drivers/input", "drivers/isdn", "sound")


def cache_folder():
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(os.environ.get("KISEKI_BOARDS") or Path(base) / "kiseki/boards")


@contextlib.contextmanager
def locked(folder):
    """Others wait: two that fetch the same would get in each other's way."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def run(*command, **options):
    """Runs a program quietly; its last line of complaint is the reason if it fails."""
    try:
        done = subprocess.run(list(map(str, command)), stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)
    except FileNotFoundError:
        raise BoardError(f"{command[0]} is not installed (tools/setup boards)") from None
    except subprocess.TimeoutExpired as e:
        raise BoardError(f"{Path(command[0]).name} {command[-1]}: no end after {e.timeout:.0f} s") from None
    if done.returncode:
        lines = [x for x in done.stderr.splitlines() if not x.startswith("W:")] or ["no reason given"]
        raise BoardError(f"{Path(command[0]).name} {command[-1]}: {lines[-1]}")
    return done.stdout


def native_architecture():
    return run("dpkg", "--print-architecture").strip()


def mirror():
    """Where this machine gets its packages from, and the keys of the distribution's releases."""
    rows = run("apt-get", "indextargets", "--format", "$(REPO_URI)",
               "Label: Debian", "Identifier: Packages").splitlines()
    if not rows:
        raise BoardError("apt knows no mirror of Debian: a kernel of another release comes from there")
    return f"[signed-by={KEYS}] {rows[0]}" if KEYS.exists() else rows[0]


def codename():
    """Of this machine's release."""
    return re.search(r"^VERSION_CODENAME=(\w+)", Path("/etc/os-release").read_text(), re.M)[1]


class Archive:
    """The distribution's packages, seen through apt: `name`, of this machine's architecture, or
    `name:architecture`. Each architecture has lists of its own, for a mirror that is in the middle of
    its own update can have one of them right and another wrong. Of another release than this
    machine's, they come from the same mirror."""

    def __init__(self, cache, say, release=""):
        self.folder, self.say, self.native = cache / "apt", say, native_architecture()
        self.release = release

    def options(self, architecture):
        folder = self.folder / "-".join(filter(None, (architecture, self.release)))
        (folder / "lists/partial").mkdir(parents=True, exist_ok=True)
        status = folder / "status"  # of the packages installed: none
        status.touch()
        options = ["-q", "-o", f"Dir::State={folder}", "-o", f"Dir::State::status={status}",
                   "-o", f"Dir::Cache={folder}", "-o", "Acquire::GzipIndexes=true",
                   "-o", "Acquire::Languages=none", "-o", "Acquire::Retries=3",
                   "-o", f"APT::Architecture={architecture}",
                   "-o", f"APT::Architectures={architecture}"]
        if not os.geteuid():
            options += ["-o", "APT::Sandbox::User=root"]
        if self.release:
            sources = folder / "sources.list"
            sources.write_text(f"deb {mirror()} {self.release} main\n")
            options += ["-o", f"Dir::Etc::sourcelist={sources}", "-o", "Dir::Etc::sourceparts=-"]
        self.update(folder, options)
        return options

    def update(self, folder, options):
        stamp = folder / "updated"
        if stamp.exists() and time.time() - stamp.stat().st_mtime < LISTS_AGE_S:
            return
        for left in reversed(range(UPDATES)):
            self.say(f"reading the package lists of {folder.name}")
            try:
                run("apt-get", *options, "update", timeout=UPDATE_S)
                break
            except BoardError as e:
                # The lists that are there were verified, and if they do not name a package, that is
                # said when it is wanted.
                if any([*folder.glob("lists/*_Packages*"), *folder.glob("lists/*_Sources*")]):
                    self.say(f"not all package lists are up to date: {e}")
                    break
                if not left:
                    raise
                self.say(f"once more: {e}")
        stamp.touch()

    def split(self, package):
        name, _, architecture = package.partition(":")
        return name, architecture or self.native

    def show(self, package):
        name, architecture = self.split(package)
        text = run("apt-cache", *self.options(architecture), "show", "--no-all-versions", name)
        return dict(re.findall(r"^(\S+): (.*)$", text, re.M))

    def download(self, packages, folder):
        """The packages' files, in the order of their names."""
        self.say(f"fetching {' '.join(packages)}")
        for package in packages:
            name, architecture = self.split(package)
            run("apt-get", *self.options(architecture), "download", name, cwd=folder)
        return sorted(folder.glob("*.deb"))

    def download_system(self, packages, folder, architecture):
        """The files of a whole system: what is essential, these packages, and all that they need, as apt
        would install them on an empty disk."""
        self.say(f"fetching a Debian of {architecture}")
        (folder / "partial").mkdir(parents=True, exist_ok=True)
        run("apt-get", *self.options(architecture), "-o", f"Dir::Cache::archives={folder}", "-o",
            "Debug::NoLocking=true", "install", "-y", "--no-install-recommends", "--download-only",
            "?essential", *packages)
        return sorted(folder.glob("*.deb"))

    def source(self, package, work):
        """The unpacked source of a package, as the distribution's patches leave it."""
        folder = self.folder / "source"
        (folder / "lists/partial").mkdir(parents=True, exist_ok=True)
        (folder / "status").touch()
        sources = folder / "sources.list"
        sources.write_text(f"deb-src {mirror()} {codename()} main\n")
        options = ["-q", "-o", f"Dir::Etc::sourcelist={sources}", "-o", "Dir::Etc::sourceparts=-",
                   "-o", f"Dir::State={folder}", "-o", f"Dir::State::status={folder / 'status'}",
                   "-o", f"Dir::Cache={folder}", "-o", "Acquire::Languages=none",
                   "-o", "Acquire::Retries=3"]
        if not os.geteuid():
            options += ["-o", "APT::Sandbox::User=root"]
        self.update(folder, options)
        self.say(f"fetching the source of {package}")
        run("apt-get", *options, "source", "--download-only", package, cwd=work)
        # apt has verified it by the archive's signature; the maintainer's key need not be here.
        run("dpkg-source", "--no-check", "-x", next(work.glob("*.dsc")), work / "source", cwd=work)
        return work / "source"

    def closure(self, packages, architecture):
        """Packages and all that they need."""
        text = run("apt-cache", *self.options(architecture), "depends", "--recurse",
                   "--no-recommends", "--no-suggests", "--no-conflicts", "--no-breaks",
                   "--no-replaces", "--no-enhances", *packages)
        return sorted({f"{x}:{architecture}" for x in text.splitlines() if x and x[0] not in " <|"})


def unpack(package, folder, unwanted=()):
    """Unpacks what is wanted of a package."""
    folder.mkdir(parents=True, exist_ok=True)
    deb = subprocess.Popen(["dpkg-deb", "--fsys-tarfile", package], stdout=subprocess.PIPE)
    tar = subprocess.run(["tar", "-x", "-C", folder, "--no-same-owner",
                          *(f"--exclude=*/{x}" for x in unwanted)], stdin=deb.stdout)
    deb.stdout.close()
    if deb.wait() or tar.returncode:
        raise BoardError(f"cannot unpack {package.name}")


def remove_stale(cache):
    """What a process left behind that was killed while it filled a tree. With the lock: whoever fills one
    holds it."""
    for work in cache.glob("*/.new-*"):
        shutil.rmtree(work, ignore_errors=True)


def clean_cache():
    with locked(cache_folder()):
        remove_stale(cache_folder())


def build_tree(name, fill, say, update=False, release=""):
    """The folder <cache>/<name>, filled by `fill(archive, folder, work)` if it is not there yet."""
    cache = cache_folder()
    tree = cache / name
    if tree.is_dir() and not update:
        return tree
    with locked(cache):
        if tree.is_dir() and not update:
            return tree
        remove_stale(cache)
        tree.parent.mkdir(parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(prefix=".new-", dir=tree.parent))
        try:
            archive = Archive(cache, say, release)
            (work / "packages").mkdir()
            fill(archive, work / "tree", work / "packages")
            shutil.rmtree(tree, ignore_errors=True)
            (work / "tree").rename(tree)
        finally:
            shutil.rmtree(work, ignore_errors=True)
    return tree


class Kernel:
    """A board's kernel in the cache: what to boot, its modules, and the headers to build with."""

    def __init__(self, board, folder):
        self.board, self.folder = board, folder
        self.version = (folder / "version").read_text().strip()
        self.image = folder / f"boot/vmlinuz-{self.version}"
        self.modules = folder / f"lib/modules/{self.version}"
        self.headers = folder / f"usr/src/linux-headers-{self.version}"
        self.busybox = folder / "bin/busybox"

    @property
    def device_tree(self):
        name = self.board.device_tree
        return self.folder / f"usr/lib/linux-image-{self.version}/{name}" if name else None


def fill_kernel(board, archive, folder, work):
    a, native = board.architecture, native_architecture()
    depends = archive.show(f"linux-image-{board.flavour}:{a}")["Depends"]
    version = re.match(r"linux-image-(\S+)", depends)[1]
    headers = archive.show(f"linux-headers-{version}:{a}")["Depends"]
    common = re.search(r"linux-headers-[^\s,]+-common", headers)[0]
    kbuild = re.search(r"linux-kbuild-[^\s:,]+", headers)[0]
    for package in archive.download([
            f"linux-image-{version}:{a}", f"linux-headers-{version}:{a}", common,
            f"{kbuild}:{native}", f"busybox-static:{a}"], work):
        unpack(package, folder, UNWANTED)
        package.unlink()
    for name in ("bin", "lib"):  # since trixie, what was there is in /usr
        if not (folder / name).exists():
            (folder / name).symlink_to(f"usr/{name}")
    (folder / "version").write_text(version + "\n")
    shutil.rmtree(folder / "usr/share", ignore_errors=True)
    run("depmod", "-b", folder, version)
    adapt_headers(folder, version, board)
    if wants_library(folder):
        for package in archive.download([f"{x}:{native}" for x in LIBRARIES], work):
            unpack(package, folder)
            package.unlink()
        wrap_programs(folder)


def fetch_kernel(board, say=lambda text: None, update=False):
    def fill(archive, folder, work):
        if board.source:
            fill_source_kernel(board, archive, folder, work, unpack)
        else:
            fill_kernel(board, archive, folder, work)
    tree = build_tree(board.kernel, fill, say, update, board.release)
    return Kernel(board, tree)


def fetch_root(board, *packages, name=None, say=lambda text: None, update=False):
    """A folder with packages of the board's architecture and everything they depend on. Many of them need a name for it."""
    def fill(archive, folder, work):
        for path in archive.download(archive.closure(packages, board.architecture), work):
            unpack(path, folder)
            path.unlink()
        shutil.rmtree(folder / "usr/share/doc", ignore_errors=True)
        libraries = [p for base in ("usr/lib", "lib", "lib64") for p in folder.glob(f"{base}/**/*.so*")]
        for link in (p for p in libraries if p.is_symlink() and p.readlink().is_absolute()):
            target = folder / link.readlink().relative_to("/")
            link.unlink()
            link.symlink_to(os.path.relpath(target, link.parent))
    return build_tree(f"{board.architecture}/root-{name or '+'.join(packages)}", fill, say, update)

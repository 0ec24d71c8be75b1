# SPDX-License-Identifier: MIT
"""debian: a disk with a Debian that systemd starts, as debootstrap makes it, for boards of any
architecture.

Everything essential, systemd, udev, dbus and a few tools: apt chooses and verifies the packages, dpkg's
own scripts configure them. Neither root nor a program of the other architecture is needed here for it:

1. the packages are unpacked with the owners that they want (fakeroot) and become an ext4 image,
   in which dpkg's database says "unpacked" of each;
2. a board mounts the image and runs `dpkg --configure -a` in it, which is what debootstrap does in its
   second stage. It is always the board arm64: its CPU and kernel run programs of armhf too, and its
   disk is fast.

The image is in the cache, by the digest of what makes it, so a change here makes another one:

	<cache>/<architecture>/debian-<digest>/disk.ext4

Its size is a power of two, as an SD card of qemu wants it, and most of it is a hole.
"""
import hashlib
import os
import re
import shutil
import subprocess
import tarfile
import time
from pathlib import Path

from boards.catalog import BoardError, get_board
from boards.fetch import build_tree, fetch_kernel
from boards.machine import Disk, Machine

HERE = Path(__file__).resolve().parent
PACKAGES = ("usr-is-merged", "systemd-sysv", "udev", "dbus", "kmod", "iproute2", "procps")
UNWANTED = ("usr/share/doc/*", "usr/share/man/*", "usr/share/locale/*", "usr/share/info/*",
            "usr/lib/udev/hwdb.d/*")
MERGED = ("bin", "sbin", "lib")
CONFIGURER = "arm64"  # the board that configures
CONFIGURE_S = 900
IMAGE_BYTES = 1 << 30
KEPT_S = 30 * 86400  # images that nobody has used for so long are removed

# In the image, besides packages. `channel` and what starts it are the tests' way in; the rest makes
# it a board that nobody types at.
FILES = {
    "etc/fstab": "# The first program of the initramfs has mounted all there is.\n",
    "etc/hostname": "board\n",
    "etc/hosts": "127.0.0.1 localhost board\n",
    "etc/systemd/network/eth0.network":
        "[Match]\nName=eth0\n\n[Network]\nAddress=10.0.2.15/24\nGateway=10.0.2.2\n"
        "IPv6AcceptRA=no\nLinkLocalAddressing=no\n",
    "etc/systemd/system/board-channel.service":
        "[Unit]\nDescription=Answers of the board\nAfter=basic.target\n\n"
        "[Service]\nExecStart=/sbin/channel\nRestart=always\nKillMode=process\n\n"
        "[Install]\nWantedBy=multi-user.target\n",
}
# dpkg's scripts may ask nothing and start nothing. The passwords' file must be there for the first
# package that looks up an owner.
CONFIGURE = r"""
set -e
mount -t proc none /debian/proc
mount -t devtmpfs none /debian/dev
cp -n /debian/usr/share/base-passwd/passwd.master /debian/etc/passwd
cp -n /debian/usr/share/base-passwd/group.master /debian/etc/group
printf '#!/bin/sh\nexit 101\n' >/debian/usr/sbin/policy-rc.d
chmod 755 /debian/usr/sbin/policy-rc.d
export DEBIAN_FRONTEND=noninteractive DEBCONF_NONINTERACTIVE_SEEN=true LC_ALL=C HOME=/
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
chroot /debian /usr/bin/dpkg --force-depends --force-unsafe-io --configure base-passwd base-files
chroot /debian /usr/bin/dpkg --force-unsafe-io --force-confold --configure -a
chroot /debian /usr/bin/systemctl enable board-channel.service systemd-networkd.service
chroot /debian /usr/bin/systemctl mask getty@.service serial-getty@.service apt-daily.timer \
    apt-daily-upgrade.timer dpkg-db-backup.timer e2scrub_all.timer fstrim.timer
rm -f /debian/usr/sbin/policy-rc.d /debian/etc/machine-id
: >/debian/etc/machine-id
chroot /debian /usr/bin/dpkg --audit
umount /debian/dev /debian/proc
"""


def digest():
    """Of all that makes the image, but for the packages' versions."""
    parts = [Path(__file__).read_bytes(), (HERE / "systems/channel").read_bytes()]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:12]


def fake_root(what, state, *command, **options):
    """Runs a program that believes to be root, and keeps in a file which owners it has given."""
    wrapped = ["fakeroot", "-i", state, "-s", state, "--", *map(str, command)]
    state.touch()
    try:
        done = subprocess.run(wrapped, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
                              **options)
    except FileNotFoundError:
        raise BoardError("fakeroot is not installed (tools/setup boards)") from None
    if done.returncode:
        raise BoardError(f"cannot {what}: {done.stderr.strip()[-500:]}")


def unpack(packages, folder, state):
    """All files, in one go, with the owners that they want."""
    excludes = " ".join(f"--exclude='./{x}'" for x in UNWANTED)
    script = (f'for p; do dpkg-deb --fsys-tarfile "$p" | tar -x -p -C "$ROOT" '
              f"--keep-directory-symlink {excludes} || exit 1; done")
    fake_root("unpack the packages", state, "sh", "-c", script, "sh", *packages,
              env={**os.environ, "ROOT": str(folder)})


def list_files(package):
    """In dpkg's way."""
    deb = subprocess.Popen(["dpkg-deb", "--fsys-tarfile", package], stdout=subprocess.PIPE)
    with tarfile.open(fileobj=deb.stdout, mode="r|") as tar:
        names = [x.name for x in tar]
    deb.stdout.close()
    deb.wait()
    return "".join((x.removeprefix(".").rstrip("/") or "/.") + "\n" for x in names)


def enter_package(package, folder):
    """What dpkg keeps of a package; returns its paragraph of the database."""
    control = folder / "var/lib/dpkg/new"
    subprocess.run(["dpkg-deb", "--control", package, control], check=True)
    paragraph = (control / "control").read_text().strip()
    fields = dict(re.findall(r"^(\S+): (.*)$", paragraph, re.M))
    name = fields["Package"]
    if fields.get("Multi-Arch") == "same":
        name += f":{fields['Architecture']}"
    info = folder / "var/lib/dpkg/info"
    info.mkdir(parents=True, exist_ok=True)
    for path in control.iterdir():
        if path.name != "control":
            shutil.move(path, info / f"{name}.{path.name}")
    (info / f"{name}.list").write_text(list_files(package))
    shutil.rmtree(control)
    return database_entry(paragraph, info / f"{name}.conffiles")


def database_entry(paragraph, conffiles):
    """What dpkg knows of a package that is unpacked and not configured."""
    lines = [paragraph, "Status: install ok unpacked"]
    names = conffiles.read_text().split("\n") if conffiles.exists() else []
    names = [x for x in names if x.startswith("/")]
    if names:
        # Of no known digest: dpkg then takes the one that is there.
        lines += ["Conffiles:", *(f" {x} newconffile" for x in names)]
    return "\n".join(lines) + "\n\n"


def make_image(packages, folder, work, say):
    """The first stage: an image of what is unpacked."""
    root, state = work / "root", work / "owners"
    (root / "var/lib/dpkg").mkdir(parents=True)
    for name in MERGED:
        (root / "usr" / name).mkdir(parents=True)
        (root / name).symlink_to(f"usr/{name}")
    say(f"unpacking {len(packages)} packages")
    unpack(packages, root, state)
    status = "".join(enter_package(x, root) for x in packages)
    (root / "var/lib/dpkg/status").write_text(status)
    for name in ("available", "diversions", "statoverride"):
        (root / "var/lib/dpkg" / name).touch()
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    shutil.copy(HERE / "systems/channel", root / "usr/sbin/channel")
    folder.mkdir()
    image = folder / "disk.ext4"
    with image.open("wb") as file:
        file.truncate(IMAGE_BYTES)
    fake_root("make a file system", state, "mke2fs", "-q", "-t", "ext4", "-L", "debian", "-m", "0",
              "-O", "^has_journal", "-E", "lazy_itable_init=1,root_owner=0:0", "-d", root, image,
              env={**os.environ, "PATH": f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"})
    return image


def configure(image, say):
    """The second stage, on a board."""
    board, began = get_board(CONFIGURER), time.monotonic()
    say(f"configuring on the board {board.name}, a few minutes")
    with Machine(board, modules=board.disk_modules, disks=[Disk(image, keeps=True, is_safe=False)],
                 timeout_s=CONFIGURE_S, say=say) as machine:
        machine.check(f"mkdir /debian && mount -t ext4 -o noatime {board.disk} /debian")
        answer = machine.call(CONFIGURE, CONFIGURE_S)
        if answer.code:
            raise BoardError(f"cannot configure Debian:\n{answer.text[-3000:]}")
        machine.check("umount /debian", 120)
    say(f"configured after {time.monotonic() - began:.0f} s")


def remove_old(folder):
    for tree in folder.glob("debian-*"):
        if time.time() - tree.stat().st_mtime > KEPT_S:
            shutil.rmtree(tree, ignore_errors=True)


def fetch_debian(board, say=lambda text: None, update=False):
    """The image for a board."""
    fetch_kernel(get_board(CONFIGURER), say)  # before the cache is locked

    def fill(archive, folder, work):
        remove_old(folder.parent.parent)
        packages = archive.download_system(PACKAGES, work, board.architecture)
        configure(make_image(packages, folder, work, say), say)
    tree = build_tree(f"{board.architecture}/debian-{digest()}", fill, say, update)
    os.utime(tree)
    return tree / "disk.ext4"

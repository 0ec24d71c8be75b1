# SPDX-License-Identifier: MIT
"""disk: small disks for boards, made and read without mounting them, so nobody must be root."""
import os
import subprocess
import tempfile
from pathlib import Path

from boards.catalog import BoardError

PATH = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"  # where the tools are, and not for everybody


def run(what, *command):
    try:
        done = subprocess.run(list(map(str, command)), stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env={**os.environ, "PATH": PATH})
    except FileNotFoundError:
        raise BoardError(f"{command[0]} is not installed (tools/setup boards)") from None
    if done.returncode:
        raise BoardError(f"cannot {what}: {done.stderr.decode(errors='replace').strip()[-300:]}")
    return done.stdout


def make_disk(path, mib=64, files=None):
    """An ext4 file system with these files, {path there: bytes}. `mib` is a power of two, as qemu wants
    it of an SD card."""
    with tempfile.TemporaryDirectory(prefix="kiseki-disk-") as work:
        for name, data in (files or {}).items():
            place = Path(work) / name.strip("/")
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)
        with Path(path).open("wb") as file:
            file.truncate(mib << 20)
        run(f"make {path}", "mke2fs", "-q", "-F", "-t", "ext4", "-m", "0", "-E",
            "lazy_itable_init=1,lazy_journal_init=1,root_owner=0:0", "-d", work, path)
    return Path(path)


def read_file(image, path):
    """A file of a disk that no board is using. The journal of a disk whose power went is applied first."""
    fixed = subprocess.run(["e2fsck", "-p", str(image)], stdin=subprocess.DEVNULL,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                           env={**os.environ, "PATH": PATH})
    if fixed.returncode > 1:  # 1: it had something to do
        raise BoardError(f"{image} is damaged: {fixed.stdout.strip()[-300:]}")
    with tempfile.TemporaryDirectory(prefix="kiseki-disk-") as work:
        target = Path(work) / "file"
        run(f"read {path}", "debugfs", "-R", f"dump {path} {target}", image)
        if not target.exists():
            raise BoardError(f"{image} has no {path}")
        return target.read_bytes()

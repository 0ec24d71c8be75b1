#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""driver_dkms: the folder of tools/driver-source is a DKMS package: added, built, installed, removed.

	driver_dkms.py BOARD

With the distribution's own dkms, for the kernel of a board, whose headers are in the cache; all of dkms's
folders are temporary ones, so nothing of this machine changes and nothing is signed. Nothing is booted
either: other tests load what the same sources make.
"""
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from board_test import SRC, Failed, expect, main, skip
from boards.catalog import get_board
from boards.fetch import fetch_kernel


def run(*command, env=None):
    done = subprocess.run(list(map(str, command)), stdin=subprocess.DEVNULL, text=True, env=env,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        raise Failed(f"{' '.join(map(str, command))}:\n{done.stdout.strip()[-4000:]}")
    return done.stdout


class Dkms:
    """dkms with folders of its own, for one kernel."""

    def __init__(self, kernel, version, work):
        board = kernel.board
        self.modules, self.package = work / "modules", f"kiseki/{version}"
        self.folders = ["--dkmstree", work / "tree", "--sourcetree", work / "src",
                        "--installtree", self.modules]
        self.kernel = ["-k", kernel.version, "-a", board.machine]
        self.build = ["--kernelsourcedir", kernel.headers]
        gcc = board.tool("gcc")
        self.environment = {**os.environ, "sign_file": "/nonexistent", "ARCH": board.kbuild,
                            "CROSS_COMPILE": gcc.removesuffix("gcc")}
        for path in ("tree", f"modules/{kernel.version}"):
            (work / path).mkdir(parents=True)

    def order(self, verb, *more):
        return run("dkms", verb, self.package, *self.folders, *more, env=self.environment)

    def status(self):
        return run("dkms", "status", *self.folders, env=self.environment).strip()


def check_module(path, version, kernel):
    def field(name):
        return run("modinfo", "-F", name, path).strip()
    expect("the module's version", field("version"), version)
    expect("the kernel it is for", field("vermagic").split()[0], kernel.version)


def test(arguments):
    if not shutil.which("dkms"):
        skip("dkms is not installed (tools/setup all)")
    kernel = fetch_kernel(get_board(arguments.board))
    with tempfile.TemporaryDirectory(prefix="kiseki-dkms-") as work:
        work = Path(work)
        run(SRC / "tools/driver-source", work / "driver")
        version = (work / "driver/VERSION").read_text().strip()
        (work / "src").mkdir()
        (work / "driver").rename(work / f"src/kiseki-{version}")
        dkms = Dkms(kernel, version, work)
        dkms.order("add")
        expect("the state", dkms.status(), f"kiseki/{version}: added")
        dkms.order("build", *dkms.kernel, *dkms.build)
        dkms.order("install", *dkms.kernel, *dkms.build, "--no-depmod")
        if "installed" not in dkms.status():
            raise Failed(f"dkms says: {dkms.status()}")
        module, = dkms.modules.rglob("kiseki.ko*")
        print(f"  {module.relative_to(work)}")
        check_module(module, version, kernel)
        dkms.order("remove", "--all", "--no-depmod")
        expect("what is left", [str(x) for x in dkms.modules.rglob("kiseki*")], [])
    print(f"{arguments.board}: dkms builds kiseki {version} for {kernel.version}")


if __name__ == "__main__":
    sys.exit(main(test, __doc__))

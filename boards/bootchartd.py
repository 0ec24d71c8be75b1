# SPDX-License-Identifier: MIT
"""bootchartd: busybox' recorder of boot charts for a board, to compare with.

The distribution's busybox has it left out. So it is built here from the distribution's own source, with
nothing else in it but what it calls: tar and gzip for its archive, a shell to run them. Once for each
architecture; it is in the cache:

	<cache>/<architecture>/bootchartd/bootchartd
"""
import os
import re
import shutil

from boards.catalog import BoardError
from boards.fetch import build_tree, run

CONFIG = """\
CONFIG_STATIC=y
CONFIG_BOOTCHARTD=y
CONFIG_FEATURE_BOOTCHARTD_BLOATED_HEADER=y
CONFIG_FEATURE_BOOTCHARTD_CONFIG_FILE=y
CONFIG_TAR=y
CONFIG_FEATURE_TAR_CREATE=y
CONFIG_FEATURE_SEAMLESS_GZ=y
CONFIG_GZIP=y
CONFIG_ASH=y
CONFIG_SH_IS_ASH=y
CONFIG_FEATURE_SH_STANDALONE=y
CONFIG_FEATURE_PREFER_APPLETS=y
CONFIG_LFS=y
"""


def build(board, source, target):
    gcc = board.tool("gcc")
    words = [f"CROSS_COMPILE={gcc.removesuffix('gcc')}", f"-j{os.cpu_count()}", "-s"]
    run("make", *words, "allnoconfig", cwd=source)
    names = set(re.findall(r"^(CONFIG_\w+)=", CONFIG, re.M))
    config = source / ".config"
    kept = [x for x in config.read_text().splitlines()
            if not any(re.search(rf"\b{n}\b", x) for n in names)]
    config.write_text("\n".join(kept) + "\n" + CONFIG)
    # Answers "no" to whatever these bring up: its configuration asks when it is not told.
    run("sh", "-c", f"yes '' | make {' '.join(words)} oldconfig", cwd=source)
    run("make", *words, "busybox", cwd=source)
    if "CONFIG_BOOTCHARTD=y" not in config.read_text():
        raise BoardError("busybox cannot be built with bootchartd")
    shutil.copy(source / "busybox", target)


def fetch_bootchartd(board, say=lambda text: None):
    """The program for a board."""
    def fill(archive, folder, work):
        source = archive.source("busybox", work)
        say(f"building bootchartd for {board.architecture}")
        folder.mkdir()
        build(board, source, folder / "bootchartd")
    return build_tree(f"{board.architecture}/bootchartd", fill, say) / "bootchartd"

# SPDX-License-Identifier: MIT
"""headers: what modules of a kernel are built with, made usable where it lies and by what is here.

The packages name folders of an installed system, and the compiler of their release. Those of a later release than this machine's name options that
our compiler does not know, and bring programs (modpost, objtool) that want a later C library than ours: the options are left out, as
the kernel's own configuration would, and the programs are run by a C library of their release.
"""
import os
import re
import subprocess

LIBRARIES = ("libc6", "libelf1t64", "libzstd1", "zlib1g")  # as the release calls them that needs them
WRAPPER = """\
#!/bin/sh
here=$(dirname "$(readlink -f "$0")")/{there}
exec "$here/{loader}" --argv0 "$0" --library-path "$here" "$(readlink -f "$0").elf" "$@"
"""


def link_headers(headers, common, kbuild):
    for path in (headers, common):
        for name in ("scripts", "tools"):
            link = path / name
            if link.is_symlink():
                link.unlink()
                link.symlink_to(os.path.relpath(kbuild / name, path))
    # It names the compiler of the kernel's release; modules are built with the one that is here.
    variables = headers / ".kernelvariables"
    variables.write_text(re.sub(r"(?<=gcc)-\d+", "", variables.read_text()))
    # This folder is renamed when it is complete, so the makefile must not name it.
    makefile = headers / "Makefile"
    text = makefile.read_text()
    there = f"$(dir $(abspath $(lastword $(MAKEFILE_LIST))))../{common.name}"
    makefile.write_text(text.replace(f"/usr/src/{common.name}", there))


def forget_alignment(headers, board):
    """An older compiler cannot align all functions; the kernel's makefiles and headers do without, if they are told."""
    files = [headers / "include" / name for name in ("config/auto.conf", "generated/autoconf.h")]
    if "CC_HAS_MIN_FUNCTION_ALIGNMENT" not in files[0].read_text():
        return
    done = subprocess.run([board.tool("gcc"), "-fmin-function-alignment=8", "-E", "-x", "c", "/dev/null"],
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for path in files if done.returncode else ():
        path.write_text(re.sub(r"^.*CONFIG_CC_HAS_(MIN|SANE)_FUNCTION_ALIGNMENT.*\n", "", path.read_text(), flags=re.M))


def kbuild_folder(folder):
    return next(folder.glob("usr/lib/linux-kbuild-*"))


def adapt_headers(folder, version, board):
    headers = folder / f"usr/src/linux-headers-{version}"
    link_headers(headers, next(folder.glob("usr/src/linux-headers-*-common")), kbuild_folder(folder))
    forget_alignment(headers, board)
    (headers / "vmlinux").unlink(missing_ok=True)  # types that a module's own would refer to: for them, make wants the pahole of that release


def wants_library(folder):
    """Whether the programs were made for a later C library than this machine's."""
    programs = kbuild_folder(folder).glob("scripts/mod/modpost*")  # the distribution has one for each kind of processor
    return any("GLIBC_" in subprocess.run([x], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True).stderr for x in programs)


def wrap_programs(folder):
    """Each becomes <name>.elf, and <name> a script that runs it with the libraries that were unpacked beside it."""
    loader = next(folder.glob("usr/lib/*/ld-linux-*.so.*"))
    for path in [x for x in kbuild_folder(folder).rglob("*") if x.is_file() and not x.is_symlink()]:
        if not os.access(path, os.X_OK) or path.open("rb").read(4) != b"\x7fELF":
            continue
        path.rename(f"{path}.elf")
        path.write_text(WRAPPER.format(there=os.path.relpath(loader.parent, path.parent), loader=loader.name))
        path.chmod(0o755)

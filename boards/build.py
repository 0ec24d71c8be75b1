# SPDX-License-Identifier: MIT
"""build: what is compiled for a board: the driver, a kernel with the driver in it, the agent, small
programs of the tests."""
import shutil
import subprocess
from pathlib import Path

from boards import elf
from boards.catalog import BoardError
from boards.fetch import fetch_kernel, fetch_root, locked
from boards.source_kernel import update_source_kernel

ROOT = Path(__file__).resolve().parent.parent
AGENT_OPTIONS = ("-Dcollector=false", "-Dbuildtype=minsize", "-Dwerror=false")
STATIC_OPTIONS = (*AGENT_OPTIONS, "-Dtls=disabled", "-Dprefer_static=true", "-Dc_link_args=-static -s")
TLS_PACKAGE, TLS_LIBRARY = "libgnutls28-dev", "libgnutls.so.30"
COLLECTOR_OPTIONS = ("-Dtests=false", "-Dweb=false", "-Dbpf=disabled", "-Dtls=disabled", "-Dwerror=false")
COLLECTOR_PACKAGES = ("libuv1-dev", "libsqlite3-dev", "libmicrohttpd-dev", "libcurl4-gnutls-dev", "libjansson-dev", "libzstd-dev", "zlib1g-dev",
                      "libxml2-dev", "libbabeltrace2-dev", "liblzma-dev", "libcrypt-dev", TLS_PACKAGE)
# What a kernel loads by itself where there is modprobe.
TLS_MODULES = {"arm": ("tls", "gcm", "ctr", "ghash_generic", "chacha_neon", "poly1305_arm", "chacha20poly1305"),
               "arm64": ("tls", "gcm", "ctr", "ghash_ce", "chacha_neon", "poly1305_neon", "chacha20poly1305"),
               "x86_64": ("tls", "gcm", "ctr", "ghash_generic", "chacha_generic", "poly1305_generic",
                          "chacha20poly1305")}
# In the words of Meson.
CROSS_FILE = """\
[binaries]
{more}c = '{gcc}'
ar = '{ar}'
objcopy = '{objcopy}'
strip = '{strip}'

[host_machine]
system = 'linux'
cpu_family = '{family}'
cpu = '{family}'
endian = 'little'
"""
# Where libbpf or GnuTLS and what they need is found: beside this machine's own, if it has any.
PACKAGE_FILE = """
[properties]
sys_root = '{root}'
pkg_config_libdir = '{root}/usr/lib/{triplet}/pkgconfig'
"""
# And where the compiler itself looks.
SYSTEM_FILE = """
[built-in options]
c_args = ['--sysroot={root}']
c_link_args = ['--sysroot={root}']
"""
FAMILIES = {"arm": "arm", "arm64": "aarch64", "x86_64": "x86_64"}


def run(what, *command):
    """Runs a builder; if it fails, its output is the reason."""
    done = subprocess.run(list(map(str, command)), stdin=subprocess.DEVNULL, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        raise BoardError(f"cannot build {what}:\n{done.stdout.strip()[-4000:]}")


def build_module(board, output=None, say=lambda text: None):
    """kiseki.ko for the kernel of the board."""
    kernel = fetch_kernel(board, say)
    folder = Path(output or ROOT / f"build/boards/{board.name}")
    board.tool("gcc")
    with locked(folder):
        run(f"kiseki.ko for {board.name}", ROOT / "tools/build-driver", "--arch", board.kbuild,
            "--kernel", kernel.headers, "-o", folder)
    return folder / "kiseki.ko"


def build_vm_module(board, output=None, say=lambda text: None):
    """kiseki_vm.ko for the kernel of the board."""
    kernel = fetch_kernel(board, say)
    folder = Path(output or ROOT / f"build/boards/{board.name}") / "vm"
    board.tool("gcc")
    with locked(folder):
        run(f"kiseki_vm.ko for {board.name}", ROOT / "tools/build-driver", "--vm", "--arch", board.kbuild,
            "--kernel", kernel.headers, "-o", folder)
    return folder / "kiseki_vm.ko"


def build_kernel(board, output=None, say=lambda text: None):
    """The kernel of a board that has the driver in it. The tree in the cache is everybody's, the image
    is the caller's own."""
    kernel = fetch_kernel(board, say)
    folder = Path(output or ROOT / f"build/boards/{board.name}")
    folder.mkdir(parents=True, exist_ok=True)
    with locked(kernel.folder):
        shutil.copy(update_source_kernel(kernel), folder / board.image)
    return folder / board.image


def compile_program(board, sources, output, options=()):
    """A static program: it needs nothing of the board."""
    Path(output).parent.mkdir(parents=True, exist_ok=True)
    run(output, board.tool("gcc"), "-O2", "-std=gnu11", "-D_GNU_SOURCE", "-static", "-pthread",
        f"-I{ROOT / 'src'}", f"-I{ROOT / 'tests'}", *options, *sources, "-o", output)
    return Path(output)


def build_part(board, folder, target, options, packages=None, is_system=False):
    """A file of a build for the board, in a folder of its own; `packages` is where its libraries are, if it needs any, and whether
    those are all of a system."""
    cross, name = folder / "cross.ini", Path(target).name
    text = CROSS_FILE.format(family=FAMILIES[board.kbuild], more="pkgconfig = 'pkg-config'\n" if packages else "",
                             **{x: board.tool(x) for x in ("gcc", "ar", "objcopy", "strip")})
    if packages:
        text += (PACKAGE_FILE + (SYSTEM_FILE if is_system else "")).format(root=packages, triplet=board.compiler[:-1])
    with locked(folder):
        if not cross.exists() or cross.read_text() != text:
            cross.write_text(text)
            shutil.rmtree(folder / "build", ignore_errors=True)  # made by other tools
        if not (folder / "build/build.ninja").exists():
            run(name, "meson", "setup", folder / "build", ROOT, "--cross-file", cross, *options)
        run(name, "ninja", "-C", folder / "build", target)
    return folder / "build" / target


def build_device_part(board, target, more=""):
    """A file of the device's part of the build, one for all boards of an architecture: static, and with BPF if `more` is
    "bpf", by the board's own libbpf; or with keys ("tls"), by its GnuTLS, which a static program could not load."""
    folder = ROOT / "build/boards" / f"for-{board.architecture}" / "-".join(filter(None, ("agent", more)))
    options = [*(AGENT_OPTIONS if more == "tls" else STATIC_OPTIONS), f"-Dbpf={'enabled' if more == 'bpf' else 'disabled'}"]
    if more == "tls":
        options.append("-Dtls=enabled")
    return build_part(board, folder, target, options,
                      more and fetch_root(board, "libbpf-dev" if more == "bpf" else TLS_PACKAGE))


def build_collector_part(board, target, output=None):
    """A program of the collector's part and its libraries: pairs (file here, path there), the program's the first."""
    root = fetch_root(board, *COLLECTOR_PACKAGES, name="collector")
    folder = Path(output or ROOT / f"build/boards/{board.name}") / "collector"
    program = build_part(board, folder, target, COLLECTOR_OPTIONS, root, True)
    return [(program, f"/bin/{program.name}"), *elf.closure(program, [root])]


def build_agent(board, has_bpf=False):
    """kiseki-agent, static, for the board."""
    return build_device_part(board, "src/device/agent/kiseki-agent", "bpf" if has_bpf else "")


def build_tls_agent(board):
    """What a board needs for an agent with keys: pairs (file here, path there)."""
    agent = build_device_part(board, "src/device/agent/kiseki-agent", "tls")
    root = fetch_root(board, TLS_PACKAGE)
    library = root / "usr/lib" / board.compiler[:-1] / TLS_LIBRARY
    files = {there: here for program in (agent, library) for here, there in elf.closure(program, [root])}
    return [(agent, "/bin/kiseki-agent"), (library, f"/lib/{TLS_LIBRARY}"),
            *((here, there) for there, here in files.items())]


def build_boot(board):
    """kiseki-boot, static, for the board."""
    return build_device_part(board, "src/device/boot/kiseki-boot")


def build_guest(board):
    """kiseki-guest, static, for the board."""
    return build_device_part(board, "src/device/guest/kiseki-guest")


def build_func(board):
    """libkiseki-func.a for programs of the board."""
    return build_device_part(board, "src/device/func/libkiseki-func.a")

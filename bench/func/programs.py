# SPDX-License-Identifier: MIT
"""programs: real programs from the distribution's sources, each built twice.

Once as anybody would, and once with -finstrument-functions and no other difference: its calls then
go to the empty hooks of the C library, until a tracer is preloaded. Sources come through apt with lists of
its own in the cache, so nothing of this machine changes and apt verifies what it fetches. The cache is
~/.cache/kiseki/bench-func, or KISEKI_BENCH_FUNC:

	apt/          lists
	src/          sources as fetched and unpacked
	bin/KEY/      programs; the key is made of compiler, flags and source version
"""
import hashlib
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
CACHE = Path(os.environ.get("KISEKI_BENCH_FUNC", Path.home() / ".cache/kiseki/bench-func"))
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
FLAGS = ["-O2", "-g"]
TRACED = ["-finstrument-functions"]


class ProgramError(Exception):
    pass


def run(*command, cwd=None):
    done = subprocess.run([str(c) for c in command], cwd=cwd, text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        last = "\n".join(done.stdout.splitlines()[-15:])
        raise ProgramError(f"cannot run {' '.join(map(str, command[:3]))} …:\n{last}")
    return done.stdout


def codename():
    for line in Path("/etc/os-release").read_text().splitlines():
        if line.startswith("VERSION_CODENAME="):
            return line.partition("=")[2].strip('"')
    raise ProgramError("cannot tell which release of Debian this is")


def mirror():
    """Where this machine gets its packages from."""
    rows = run("apt-get", "indextargets", "--format", "$(REPO_URI)", "Label: Debian",
               "Identifier: Packages").splitlines()
    if not rows:
        raise ProgramError("apt knows no mirror of Debian, where the programs' sources come from")
    return rows[0]


def apt_options():
    folder = CACHE / "apt"
    (folder / "lists/partial").mkdir(parents=True, exist_ok=True)
    (folder / "archives/partial").mkdir(parents=True, exist_ok=True)
    (folder / "status").touch()
    sources = folder / "sources.list"
    sources.write_text(f"deb-src [signed-by={KEYRING}] {mirror()} {codename()} main\n")
    options = ["-q", "-o", f"Dir::Etc::sourcelist={sources}", "-o", "Dir::Etc::sourceparts=-",
               "-o", f"Dir::State::lists={folder / 'lists'}", "-o", f"Dir::Cache={folder}",
               "-o", f"Dir::State::status={folder / 'status'}", "-o", "Acquire::Languages=none",
               "-o", "Acquire::Retries=3"]
    if not os.geteuid():
        options += ["-o", "APT::Sandbox::User=root"]
    return options


def fetch(package, say):
    """The unpacked source of a package; from the cache, if it is there."""
    folder = CACHE / "src" / package
    found = [p for p in folder.glob("*/") if (p / "debian").is_dir()]
    if found:
        return found[0]
    say(f"fetching the source of {package}")
    folder.mkdir(parents=True, exist_ok=True)
    options = apt_options()
    if not any((CACHE / "apt/lists").glob("*_Sources*")):
        run("apt-get", *options, "update")
    run("apt-get", *options, "source", "--download-only", package, cwd=folder)
    # apt has verified it by the archive's signature; the maintainer's key need not be here.
    run("dpkg-source", "--no-check", "-x", next(folder.glob("*.dsc")), cwd=folder)
    return next(p for p in folder.glob("*/") if (p / "debian").is_dir())


def compile_all(compiler, flags, sources, out):
    """One program of many files, compiled by as many compilers as there are CPUs."""
    work = out.with_suffix(".o.d")
    work.mkdir(parents=True, exist_ok=True)

    def compile_one(numbered):
        number, source = numbered
        run(compiler, *flags, "-c", source, "-o", work / f"{number}.o")
        return work / f"{number}.o"
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        objects = list(pool.map(compile_one, enumerate(sources)))
    run(compiler, *flags, "-o", out, *objects, "-lm", "-ldl", "-lpthread")
    for o in objects:
        o.unlink()
    work.rmdir()


class Lua:
    name, package, compiler = "lua", "lua5.4", "gcc"
    title = "Lua 5.4"
    rounds, few = 8, 1

    def build(self, source, flags, out):
        work = out.parent / "include"
        work.mkdir(exist_ok=True)
        # Debian's build writes this header; and strings must hash alike in every run.
        (work / "lua5.4-deb-multiarch.h").write_text('#define DEB_HOST_MULTIARCH "none"\n')
        files = sorted(p for p in (source / "src").glob("*.c") if p.name != "luac.c")
        compile_all(self.compiler, [*flags, f"-I{work}", "-DLUA_USE_LINUX",
                                    "-Dluai_makeseed(L)=1u"], files, out)

    def command(self, program, rounds):
        return [program, HERE / "workload.lua", rounds]


class Sqlite:
    name, package, compiler = "sqlite", "sqlite3", "gcc"
    title = "SQLite, speedtest1"
    rounds, few = 5, 1

    def build(self, source, flags, out):
        if not (source / "sqlite3.c").exists():
            run("./configure", "--disable-tcl", cwd=source)
            run("make", "sqlite3.c", cwd=source)
        compile_all(self.compiler, [*flags, f"-I{source}", "-DSQLITE_THREADSAFE=0",
                                    "-DSQLITE_OMIT_LOAD_EXTENSION"],
                    [source / "sqlite3.c", source / "test/speedtest1.c"], out)

    def command(self, program, rounds):
        return [program, "--memdb", "--size", rounds]


class Leveldb:
    name, package, compiler = "leveldb", "leveldb", "g++"
    title = "LevelDB, C++"
    rounds, few = 12, 2
    threads = 1
    defines = ["-DLEVELDB_PLATFORM_POSIX=1", "-DHAVE_FDATASYNC=1", "-DHAVE_FULLFSYNC=0",
               "-DHAVE_O_CLOEXEC=1", "-DHAVE_CRC32C=0", "-DHAVE_SNAPPY=0", "-DNDEBUG"]

    def build(self, source, flags, out):
        port = out.parent / "include/port"
        port.mkdir(parents=True, exist_ok=True)
        (port / "port_config.h").write_text("")  # what cmake would find out is above
        files = [p for d in ("db", "table", "util") for p in sorted((source / d).glob("*.cc"))
                 if not p.stem.endswith("_test") and
                 p.stem not in ("leveldbutil", "env_windows", "testutil")]
        files += [source / "helpers/memenv/memenv.cc", HERE / "workload_leveldb.cc"]
        compile_all(self.compiler, [*flags, "-std=c++11", *self.defines, f"-I{source}",
                                    f"-I{source / 'include'}", f"-I{port.parent}"], files, out)

    def command(self, program, rounds):
        return [program, rounds, self.threads]


class LeveldbThreads(Leveldb):
    """The same program: three threads that work at once, beside LevelDB's own."""
    name = "leveldb-threads"
    title = "LevelDB, C++, 4 threads"
    rounds, few = 4, 1
    threads = 3


PROGRAMS = (Lua(), Sqlite(), Leveldb(), LeveldbThreads())


def ensure(program, say):
    """The folder with `plain` and `traced`."""
    source = fetch(program.package, say)
    version = run(program.compiler, "--version").splitlines()[0]
    recipe = (HERE / "workload_leveldb.cc").read_text() + Path(__file__).read_text()
    key = hashlib.sha256("\n".join([program.package, source.name, version, *FLAGS, *TRACED,
                                    recipe]).encode()).hexdigest()[:16]
    folder = CACHE / "bin" / f"{program.package}-{key}"
    folder.mkdir(parents=True, exist_ok=True)
    for name, flags in (("plain", FLAGS), ("traced", FLAGS + TRACED)):
        if (folder / name).exists():
            continue
        say(f"building {program.package}, {name}")
        part = folder / f"{name}.part"
        program.build(source, flags, part)
        part.rename(folder / name)
    return folder

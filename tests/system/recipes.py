#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""recipes: what can be said of the Yocto layer and the Buildroot tree without either.

bitbake is no package of Debian, so nobody parses the recipes here. This reads them by the rules of its grammar that they use: assignments, functions, inherit,
require. Then what they name must be there: files, licences with their sums, options of Meson, units and settings that the build installs, and the version.

SRC is the source tree.
"""
import hashlib
import os
import re
import subprocess
import sys
from pathlib import Path

SRC = Path(os.environ["SRC"])
YOCTO, BUILDROOT = SRC / "packaging/yocto", SRC / "packaging/buildroot"
NAME = r"[A-Za-z_][\w.+/${}:-]*(?:\[[\w-]+\])?"
ASSIGNMENT = re.compile(rf'^(?:export )?({NAME})\s*(=|\?=|\?\?=|:=|\+=|=\+|\.=|=\.)\s*("(?:[^"\\]|\\.)*"|\'[^\']*\')\s*$', re.S)
FUNCTION = re.compile(rf"^(python )?({NAME})?\s*\(\)\s*\{{$")
WORDS = re.compile(r"^(inherit|require|include)\s+(\S.*)$")
problems = []


def complain(where, what):
    problems.append(f"{where}: {what}")


def check_body(where, is_python, lines):
    text = "\n".join(lines) + "\n"
    if is_python:
        try:
            compile("def body(d):\n" + text, str(where), "exec")
        except SyntaxError as e:
            complain(where, f"no Python: {e}")
        return
    # ${X} of bitbake is one of a shell as well.
    run = subprocess.run(["sh", "-n"], input=text, text=True, stderr=subprocess.PIPE, check=False)
    if run.returncode:
        complain(where, f"no shell: {run.stderr.strip()}")


def parse(path):
    """{variable: value}, and the words behind inherit and require."""
    values, words = {}, []
    lines = iter(path.read_text().splitlines())
    for line in lines:
        while line.endswith("\\"):
            line = line[:-1] + next(lines, "")
        if not line.strip() or line.startswith("#"):
            continue
        if m := FUNCTION.match(line):
            body = []
            for inner in lines:
                if inner == "}":
                    break
                body.append(inner)
            else:
                complain(path, f"{line}: its end is missing")
            check_body(path, bool(m.group(1)), body)
        elif m := ASSIGNMENT.match(line):
            values[m.group(1)] = values.get(m.group(1), "") + " " + m.group(3)[1:-1]
        elif m := WORDS.match(line):
            words.append((m.group(1), m.group(2).split()))
        else:
            complain(path, f"not understood: {line}")
    return values, words


def check_licences(path, values):
    found = re.findall(r"file://([^;\s]+);md5=([0-9a-f]{32})", values.get("LIC_FILES_CHKSUM", ""))
    if not found:
        complain(path, "names no licence")
    for name, md5 in found:
        file = SRC / name
        if not file.is_file() or hashlib.md5(file.read_bytes()).hexdigest() != md5:
            complain(path, f"{name} is not what its sum says")


def options_of_meson():
    own = re.findall(r"^option\('(\w+)'", (SRC / "meson_options.txt").read_text(), re.M)
    return {*own, "werror", "prefix"}


def check_options(path, text):
    for name in re.findall(r"-D(\w+)=", text):
        if name not in options_of_meson():
            complain(path, f"Meson has no option {name}")


def check_named(path, text):
    """Units and settings have a template or file in packaging/."""
    for name in re.findall(r"(kiseki-[a-z]+\.service)", text):
        if not (SRC / f"packaging/{name}.in").is_file():
            complain(path, f"there is no {name}")
    for name in re.findall(r"/etc/kiseki/(\w+\.conf)|\}/kiseki/(\w+\.conf)", text):
        if not (SRC / "packaging" / (name[0] or name[1])).is_file():
            complain(path, f"there is no {name[0] or name[1]}")
    for name in re.findall(r"\}/(tools/[\w-]+)|@D\)/(tools/[\w-]+)", text):
        if not os.access(SRC / (name[0] or name[1]), os.X_OK):
            complain(path, f"there is no {name[0] or name[1]}")


def check_version(path, text, version):
    found = re.search(r'^(?:PV|\w+_VERSION) = "?([\d.]+)', text, re.M)
    if found and found.group(1) != version:
        complain(path, f"is of {found.group(1)}, not {version}")


def check_yocto(version):
    recipes = sorted(YOCTO.rglob("*.bb"))
    for path in [*recipes, *sorted(YOCTO.rglob("*.inc")), YOCTO / "conf/layer.conf"]:
        values, words = parse(path)
        text = path.read_text()
        if path.suffix == ".bb":
            check_licences(path, values)
            for key in ("SUMMARY", "LICENSE"):
                if key not in values:
                    complain(path, f"has no {key}")
        for name in [each for word, names in words if word == "require" for each in names]:
            if not (YOCTO / name).is_file():
                complain(path, f"requires {name}, which is not there")
        check_options(path, text)
        check_named(path, text)
        check_version(path, text, version)
    return len(recipes)


def check_buildroot(version):
    """make reads the files as Buildroot's does, with its macros empty."""
    packages = sorted(BUILDROOT.glob("package/*/*.mk"))
    for path in packages:
        text = path.read_text()
        run = subprocess.run(["make", "-n", "-f", "-", "all"], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                             input=f"BR2_EXTERNAL_KISEKI_PATH := {BUILDROOT}\ninclude {path}\nall:\n\t@test -d $({path.stem.upper().replace('-', '_')}_SITE)\n")
        if run.returncode:
            complain(path, f"make does not read it: {run.stdout.strip()}")
        for name in re.findall(r"_LICENSE_FILES = (\S+)", text):
            if not (SRC / name).is_file():
                complain(path, f"there is no {name}")
        own = "BR2_PACKAGE_" + path.stem.upper().replace("-", "_")
        wanted = {x for x in re.findall(r"BR2_PACKAGE_\w+", text) if x.startswith(own)}  # others are Buildroot's
        known = set(re.findall(r"^config (BR2_PACKAGE_\w+)", (path.parent / "Config.in").read_text(), re.M))
        for name in sorted(wanted - known):
            complain(path, f"Config.in has no {name}")
        check_options(path, text)
        check_named(path, text)
        check_version(path, text, version)
    return len(packages)


def main():
    version = re.search(r"version: '([^']*)'", (SRC / "meson.build").read_text()).group(1)
    counts = check_yocto(version), check_buildroot(version)
    print(*problems, sep="\n", end="\n" if problems else "")
    print(f"{counts[0]} recipes of Yocto, {counts[1]} packages of Buildroot, {len(problems)} problems")
    return 1 if problems or not all(counts) else 0


sys.exit(main())

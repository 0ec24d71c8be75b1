# SPDX-License-Identifier: MIT
"""embed: an object file as an array of C.

	embed.py OBJECT HEADER [STRIP]

The array is called as the header is. STRIP, if it is not empty, is a program like llvm-strip that takes debugging sections out first;
it leaves BTF in, which the programs need.
"""
import shutil
import subprocess
import sys
from pathlib import Path

source, header, strip = sys.argv[1], sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else ""
if strip:
    shutil.copy(source, header + ".o")
    source = header + ".o"
    subprocess.run([strip, "-g", source], check=True)
with open(source, "rb") as f:
    data = f.read()
with open(header, "w", encoding="ascii") as f:
    name = Path(header).stem
    f.write(f"/* Made from {name.removesuffix('_object')}.bpf.c. */\n")
    f.write(f"static const unsigned char {name}[] __attribute__((aligned(8))) = {{\n")
    for at in range(0, len(data), 16):
        f.write("\t" + "".join(f"{b:#04x}," for b in data[at:at + 16]) + "\n")
    f.write("};\n")

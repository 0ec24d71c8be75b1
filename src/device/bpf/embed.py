# SPDX-License-Identifier: MIT
"""embed: an object file as an array of C.

	embed.py NAME OBJECT HEADER [STRIP]

NAME_object is the array's name, NAME.bpf.c what it was made from.

STRIP, if it is not empty, is a program like llvm-strip that takes debugging sections out first;
it leaves BTF in, which the programs need.
"""
import shutil
import subprocess
import sys

name, source, header, strip = *sys.argv[1:4], sys.argv[4] if len(sys.argv) > 4 else ""
if strip:
    shutil.copy(source, header + ".o")
    source = header + ".o"
    subprocess.run([strip, "-g", source], check=True)
with open(source, "rb") as f:
    data = f.read()
with open(header, "w", encoding="ascii") as f:
    f.write(f"/* Made from {name}.bpf.c. */\n")
    f.write(f"static const unsigned char {name}_object[] __attribute__((aligned(8))) = {{\n")
    for at in range(0, len(data), 16):
        f.write("\t" + "".join(f"{b:#04x}," for b in data[at:at + 16]) + "\n")
    f.write("};\n")

# SPDX-License-Identifier: MIT
"""elf: which libraries a program of any architecture wants.

ldd runs the program, which a foreign machine cannot. Here the file itself is read: the interpreter
and the names of the libraries that it needs, then those of each library.
"""
import struct
from pathlib import Path

from boards.catalog import BoardError

PT_LOAD, PT_DYNAMIC, PT_INTERP = 1, 2, 3
DT_NEEDED, DT_STRTAB = 1, 5


class Elf:
    """The interpreter and the needed libraries of one file."""

    def __init__(self, path):
        self.path, self.data = path, Path(path).read_bytes()
        if self.data[:4] != b"\x7fELF":
            raise BoardError(f"{path} is no program")
        self.wide = self.data[4] == 2
        self.order = "<" if self.data[5] == 1 else ">"
        self.interpreter, self.needed = None, []
        try:
            self.read_segments()
        except (struct.error, ValueError, IndexError):
            raise BoardError(f"{path} is damaged") from None

    def unpack(self, what, offset):
        return struct.unpack_from(self.order + what, self.data, offset)

    def string(self, offset):
        return self.data[offset:self.data.index(b"\0", offset)].decode()

    def segments(self):
        """(kind, offset, address, length in the file) of each."""
        start, = self.unpack("Q" if self.wide else "I", 32 if self.wide else 28)
        size, count = self.unpack("HH", 54 if self.wide else 42)
        for at in range(start, start + size * count, size):
            if self.wide:
                kind, _, offset, address, _, length = self.unpack("IIQQQQ", at)
            else:
                kind, offset, address, _, length = self.unpack("IIIII", at)
            yield kind, offset, address, length

    def read_segments(self):
        loads, dynamic = [], None
        for kind, offset, address, length in self.segments():
            if kind == PT_LOAD:
                loads.append((address, offset, length))
            elif kind == PT_INTERP:
                self.interpreter = self.string(offset)
            elif kind == PT_DYNAMIC:
                dynamic = offset, length
        if dynamic:
            self.read_dynamic(*dynamic, loads)

    def read_dynamic(self, offset, length, loads):
        step, form = (16, "QQ") if self.wide else (8, "II")
        entries = [self.unpack(form, at) for at in range(offset, offset + length, step)]
        address = dict(entries).get(DT_STRTAB, 0)
        table = next((o + address - a for a, o, n in loads if a <= address < a + n), None)
        if table is not None:
            self.needed = [self.string(table + value) for tag, value in entries if tag == DT_NEEDED]


def library_folders(root):
    return [p for pattern in ("lib", "lib/*-linux-*", "usr/lib", "usr/lib/*-linux-*")
            for p in Path(root).glob(pattern) if p.is_dir()]


def closure(program, roots):
    """What must be on the board for a program to run: [(file here, path there)], without the program
    itself. Libraries are looked for in `roots`, folders laid out like a file system."""
    folders = [f for root in roots for f in library_folders(root)]
    found, todo = {}, [Elf(program)]
    interpreter = todo[0].interpreter
    if interpreter:
        todo[0].needed.append(Path(interpreter).name)
    while todo:
        elf = todo.pop()
        for name in elf.needed:
            if name in found:
                continue
            path = next((f / name for f in folders if (f / name).exists()), None)
            if not path:
                raise BoardError(f"cannot put {program} on the board: {name} is nowhere")
            found[name] = path.resolve()
            todo.append(Elf(found[name]))
    return [(path, interpreter if interpreter and name == Path(interpreter).name else f"/lib/{name}")
            for name, path in sorted(found.items())]

# SPDX-License-Identifier: MIT
"""harm: what a bad disk, a power cut or a clumsy copy makes of a file; what is done is said, so that it can be done again by hand."""
import shutil

PAGE = 4096


def flip(path, dice, _):
    """A bit."""
    data = bytearray(path.read_bytes())
    at, bit = dice.randrange(len(data)), dice.randrange(8)
    data[at] ^= 1 << bit
    path.write_bytes(data)
    return f"bit {bit} of byte {at} of {len(data)}"


def burst(path, dice, _):
    """Some bytes of noise."""
    data = bytearray(path.read_bytes())
    at, n = dice.randrange(len(data)), dice.randrange(2, 64)
    data[at:at + n] = dice.randbytes(len(data[at:at + n]))
    path.write_bytes(data)
    return f"noise at {at} of {len(data)}"


def zero(path, dice, _):
    """A page that was never written."""
    data = bytearray(path.read_bytes())
    size = min(PAGE, max(len(data) // 4, 1))
    at = dice.randrange(-(-len(data) // size)) * size
    data[at:at + size] = bytes(len(data[at:at + size]))
    path.write_bytes(data)
    return f"zeros from {at} on"


def cut(path, dice, _):
    """The end is missing."""
    size = path.stat().st_size
    at = dice.choice([0, 1, size - 1, dice.randrange(size)])
    with path.open("r+b") as file:
        file.truncate(at)
    return f"cut at {at} of {size}"


def longer(path, dice, _):
    """Bytes behind the end."""
    with path.open("ab") as file:
        file.write(dice.randbytes(dice.randrange(1, 300)))
    return "noise behind the end"


def delete(path, _, __):
    path.unlink()
    return "deleted"


def swap(path, dice, others):
    """In the place of another of its kind, and that in its."""
    other = dice.choice(others)
    ours, theirs = path.read_bytes(), other.read_bytes()
    path.write_bytes(theirs)
    other.write_bytes(ours)
    return f"swapped with {other.name}"


def double(path, dice, others):
    """Another of its kind is a copy of it."""
    other = dice.choice(others)
    shutil.copyfile(path, other)
    return f"copied over {other.name}"


HARMS = {f.__name__: f for f in (flip, burst, zero, cut, longer, delete, swap, double)}

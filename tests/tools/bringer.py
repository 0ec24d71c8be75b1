#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bringer: a recorder that has a file, and sends it to a collector block by block.

	bringer.py PORT FILE.ksk

sends what the file says of itself, and then for each line of its input so many blocks of samples, and answers with how many are left. A
recording grows so for as long as a test wants it to. It ends with the input.
"""
import sys
from pathlib import Path

import fake_device as fd
from ksk_decode import INDEX, Block
from served import ident

ROLE_RECORDER = 1


def file_blocks(path):
    """Each block but those of the index."""
    data, at = Path(path).read_bytes(), 16
    while at < len(data) and (b := Block(data, at, check=False)).codec != INDEX:
        yield b, data[at:b.end]
        at = b.end


class Bringer:
    """The recorder, and where its streams end."""

    def __init__(self, port, run):
        self.run, self.ends = ident(run), {}
        self.device = fd.Device(port, ident(1), name="host", runs=[self.run])
        kind, body, _ = fd.split_frame(fd.hello(ident(1), b"b" * 16, "host", [self.run], state=0))
        self.device.send(fd.frame(kind, body + fd.varint(ROLE_RECORDER)))
        self.welcome = fd.decode_welcome(self.device.wait_for(fd.WELCOME))
        self.device.run(self.run)

    def send(self, b, data):
        events = self.ends.get(b.stream, (0, 0))[1] + b.events + b.told()
        self.ends[b.stream] = b.sequence + 1, events
        self.device.sent += 1
        self.device.send(fd.frame(fd.BLOCK, data))

    def finish(self):
        self.device.end([(stream, *end) for stream, end in sorted(self.ends.items())])
        self.device.wait_acknowledged()
        self.device.close()


def bring(port, path, run, times=1):
    who = Bringer(port, run)
    for b, data in file_blocks(path):
        for _ in range(times):
            who.send(b, data)
    who.finish()


def main():
    # A real recorder says first what it is about; stream 0 has that.
    blocks = sorted(file_blocks(sys.argv[2]), key=lambda x: x[0].stream != 0)
    about = [x for x in blocks if x[0].stream == 0]
    rest = blocks[len(about):]
    who = Bringer(int(sys.argv[1]), 77)
    for b, data in about:
        who.send(b, data)
    for line in sys.stdin:
        for b, data in rest[:int(line)]:
            who.send(b, data)
        del rest[:int(line)]
        who.device.wait_acknowledged()
        print(len(rest), flush=True)
    who.finish()


if __name__ == "__main__":
    main()

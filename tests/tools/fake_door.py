# SPDX-License-Identifier: MIT
"""fake_door: the agent's side of docs/format/func-door.md, for programs under test.

	with FakeDoor(path, folder) as door:
	    …                   # programs that ask at path leave COMM.PID and COMM.PID.maps in folder

	fake_door.py SOCKET FOLDER      # the same until standard input ends; prints "ready"

Nobody drains these records unless the test does. `behaviour` says how requests are answered: "open" as the format
has it, or one of the wrong ways below, which may be changed while programs run. Everything that was asked is in
`requests`.
"""
import os
import socket
import struct
import sys
import threading
from collections import namedtuple
from pathlib import Path

MAGIC = b"KSKDOOR\n"
OPEN, MAPS = 1, 2
REQUEST_BYTES = 64
SO_PEERCRED = 17

Request = namedtuple("Request", "pid version verb bytes comm clock shift")


def answer(code=0, size=0, on=1, text="", magic=MAGIC, version=1):
    return struct.pack("<8sIIQII96s", magic, version, code, size, on, os.getpid(), text.encode())


class FakeDoor:
    def __init__(self, path, folder, behaviour="open", size=None, on=1):
        self.path, self.folder = str(path), Path(folder)
        self.behaviour, self.size, self.on = behaviour, size, on
        self.maps_behaviour = "open"
        self.requests, self.kept, self.failure = [], [], None
        self.maps = {}  # path of the last record's maps, by pid
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.listener.bind(self.path)
        self.listener.listen(64)
        self.thread = threading.Thread(target=self.serve, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.thread.join()
        self.listener.close()
        for connection in self.kept:
            connection.close()
        os.unlink(self.path)
        if self.failure:
            raise self.failure

    def serve(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            try:
                self.take(connection)
            except (BrokenPipeError, ConnectionResetError):
                pass  # the program did not wait
            except Exception as e:  # pylint: disable=broad-except
                self.failure = e
            if connection not in self.kept:
                connection.close()

    def take(self, connection):
        credentials = connection.getsockopt(socket.SOL_SOCKET, SO_PEERCRED, 12)
        pid = struct.unpack("iII", credentials)[0]
        if self.behaviour == "close":
            return
        if self.behaviour == "close_first":
            self.behaviour = "open"
            return
        data = connection.recv(4096)
        if not data:
            return
        assert len(data) == REQUEST_BYTES and data[:8] == MAGIC, data
        version, verb, size, comm, clock, shift = struct.unpack_from("<IIQ16sII", data, 8)
        request = Request(pid, version, verb, size, comm.rstrip(b"\0").decode(), clock, shift)
        self.requests.append(request)
        behaviour = self.behaviour if verb == OPEN else self.maps_behaviour
        getattr(self, "do_" + behaviour)(connection, request)

    def send(self, connection, data, paths=(), flags=os.O_RDWR):
        descriptors = [os.open(p, flags) for p in paths]
        try:
            socket.send_fds(connection, [data], descriptors)
        finally:
            for fd in descriptors:
                os.close(fd)

    def create(self, request):
        """An empty record and its maps, under the first name that is free."""
        size = self.size or request.bytes
        for n in range(1, 1000):
            path = self.folder / (f"{request.comm}.{request.pid}" + (f".{n}" if n > 1 else ""))
            if not path.exists():
                break
        path.touch()
        os.truncate(path, size)
        self.maps[request.pid] = Path(f"{path}.maps")
        self.maps[request.pid].touch()
        return path, size

    # --- as it should be ---

    def do_open(self, connection, request):
        if request.verb == MAPS:
            self.send(connection, answer(), [self.maps[request.pid]])
            return
        path, size = self.create(request)
        self.send(connection, answer(size=size, on=self.on), [path, f"{path}.maps"])

    def do_refuse(self, connection, _):
        connection.send(answer(code=16, text="this agent takes nobody\n\x1b[31m"))

    def do_refuse_silently(self, connection, _):
        connection.send(answer(code=28))

    # --- and as it should not ---

    def do_silent(self, connection, _):
        self.kept.append(connection)

    def do_hang_up(self, connection, _):
        pass

    def do_garbage(self, connection, _):
        connection.send(bytes(range(128)))

    def do_empty(self, connection, _):
        connection.send(b"")

    def do_short(self, connection, request):
        path, size = self.create(request)
        self.send(connection, answer(size=size)[:-1], [path, f"{path}.maps"])

    def do_long(self, connection, request):
        path, size = self.create(request)
        self.send(connection, answer(size=size) + b"\0", [path, f"{path}.maps"])

    def do_other_magic(self, connection, request):
        path, size = self.create(request)
        self.send(connection, answer(size=size, magic=b"KSKFUNC\n"), [path, f"{path}.maps"])

    def do_other_version(self, connection, request):
        path, size = self.create(request)
        self.send(connection, answer(size=size, version=2), [path, f"{path}.maps"])

    def do_no_errno(self, connection, _):
        connection.send(answer(code=0x80000000))

    def do_nothing_comes(self, connection, request):
        connection.send(answer(size=request.bytes))

    def do_one_comes(self, connection, request):
        path, size = self.create(request)
        self.send(connection, answer(size=size), [path])

    def do_three_come(self, connection, request):
        path, size = self.create(request)
        self.send(connection, answer(size=size), [path, f"{path}.maps", "/dev/null"])

    def do_refuse_and_give(self, connection, request):
        path, size = self.create(request)
        self.send(connection, answer(size=size, code=16, text="no"), [path, f"{path}.maps"])

    def do_shorter(self, connection, request):
        path, size = self.create(request)
        self.send(connection, answer(size=size + 4096), [path, f"{path}.maps"])

    def do_longer(self, connection, request):
        path, size = self.create(request)
        self.send(connection, answer(size=size - 4096), [path, f"{path}.maps"])

    def do_no_size(self, connection, request):
        path, _ = self.create(request)
        os.truncate(path, 0)
        self.send(connection, answer(), [path, f"{path}.maps"])

    def do_tiny(self, connection, request):
        path, _ = self.create(request)
        os.truncate(path, 4096)
        self.send(connection, answer(size=4096), [path, f"{path}.maps"])

    def do_no_file(self, connection, request):
        path, size = self.create(request)
        self.send(connection, answer(size=size), ["/dev/zero", f"{path}.maps"])

    def do_no_maps(self, connection, request):
        if request.verb == MAPS:
            self.send(connection, answer(), ["/dev/null"])
            return
        path, size = self.create(request)
        self.send(connection, answer(size=size), [path, "/dev/null"])

    def do_read_only(self, connection, request):
        path, size = self.create(request)
        self.send(connection, answer(size=size), [path, f"{path}.maps"], os.O_RDONLY)


if __name__ == "__main__":
    with FakeDoor(sys.argv[1], sys.argv[2]):
        print("ready", flush=True)
        sys.stdin.read()

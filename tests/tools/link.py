# SPDX-License-Identifier: MIT
"""link: what is between devices and a collector, and is in trouble when somebody wants it to be.

A relay of TCP that knows nothing of what it carries: it can break all connections, let nothing through, let little
through, come late, and refuse new ones. What a reset finds under way is lost.
"""
import socket
import struct
import threading
import time

CHUNK = 16384
WAIT_S = 10


class Link:
    def __init__(self, target):
        """target: the port of the collector, which may be away."""
        self.target, self.pairs, self.lock = target, set(), threading.Lock()
        self.flowing = threading.Event()
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        self.connections = self.resets = 0
        self.clear()
        threading.Thread(target=self.serve, daemon=True).start()

    def clear(self):
        """All is well again."""
        self.delay_s, self.bytes_per_s, self.refusing = 0, 0, False
        self.flowing.set()

    def serve(self):
        while True:
            try:
                ours, _ = self.socket.accept()
            except OSError:
                return
            threading.Thread(target=self.open, args=(ours,), daemon=True).start()

    def open(self, ours):
        self.connections += 1
        try:
            if self.refusing:
                raise ConnectionRefusedError
            theirs = socket.create_connection(("127.0.0.1", self.target), WAIT_S)
            theirs.settimeout(None)
        except OSError:
            ours.close()
            return
        for end in (ours, theirs):
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        pair = ours, theirs
        with self.lock:
            self.pairs.add(pair)
        back = threading.Thread(target=self.carry, args=(theirs, ours), daemon=True)
        back.start()
        self.carry(ours, theirs)
        back.join()
        with self.lock:
            self.pairs.discard(pair)
        for end in pair:
            self.drain(end)
            end.close()

    @staticmethod
    def drain(end):
        """Closed with something unread it would be reset, and the other side might miss what it was told last."""
        try:
            end.settimeout(1)
            while end.recv(CHUNK):
                pass
        except OSError:
            pass

    def carry(self, a, b):
        try:
            while data := a.recv(CHUNK):
                self.note(a, b, data)
                self.flowing.wait()
                if self.delay_s:
                    time.sleep(self.delay_s)
                if self.bytes_per_s:
                    time.sleep(len(data) / self.bytes_per_s)
                b.sendall(data)
            b.shutdown(socket.SHUT_WR)  # the other direction ends by itself: what is under way there arrives
        except OSError:
            self.end(a, b)

    @staticmethod
    def end(*sockets):
        for one in sockets:
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def note(self, a, b, data):
        """What it carries from a to b; for those who want to know."""

    def reset(self):
        self.resets += 1
        with self.lock:
            pairs = list(self.pairs)
        for pair in pairs:
            for end in pair:
                try:
                    end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    end.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass

    def close(self):
        self.socket.close()
        self.clear()
        self.reset()

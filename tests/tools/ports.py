# SPDX-License-Identifier: MIT
"""ports: some that are free, for servers that are told their port.

Below those that the kernel hands out by itself: a port from there may belong to a neighbour, who has asked for any, before the
server that was meant has started.
"""
import random
import socket
from pathlib import Path

FIRST = 10000
RANGE = Path("/proc/sys/net/ipv4/ip_local_port_range")


def take(port):
    try:
        return socket.create_server(("127.0.0.1", port))
    except OSError:
        return None


def free_ports(n):
    sockets, end = [], max(FIRST + 1000, int(RANGE.read_text().split()[0]))
    while len(sockets) < n:
        taken = take(random.randrange(FIRST, end))
        sockets += [taken] if taken else []
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports

"""Ports that a server can give up and listen on again, as hubs do in these tests."""

import itertools
import os
import pathlib
import random
import re
import socket

# Each worker has its own, so that two never choose the same one.
COUNT = 500
FIRST = 12_000
# Below those of outgoing connections, which could be assigned the port while no server listens on it.
LOWEST_OUTGOING = int(pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])

worker = int(re.sub(r"\D", "", os.environ.get("PYTEST_XDIST_WORKER", "")) or 0)
start = FIRST + worker * COUNT
# Another run on this machine has the same ports: beginning at a random one, they rarely choose the same.
begin = random.randrange(start, start + COUNT)
numbers = itertools.cycle([*range(begin, start + COUNT), *range(start, begin)])


def free_port():
    """Returns a port of 127.0.0.1 on which nothing listens, and a different one each time."""
    for port in itertools.islice(numbers, COUNT):
        assert port < LOWEST_OUTGOING, f"{port} can be assigned to an outgoing connection"
        with socket.socket() as server:
            server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                server.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue
    raise RuntimeError("no port is free")

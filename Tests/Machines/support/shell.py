"""The root shell of a machine, over its second serial line."""

import base64
import select
import shlex
import time
from typing import NamedTuple

# Seconds. What takes two on a quiet computer takes a minute on one where all processors compile.
PATIENCE = 180


class Result(NamedTuple):
    status: int
    output: str


class NoAnswerError(Exception):
    pass


class Shell:
    def __init__(self, connection):
        self.connection = connection
        self.received = b""
        self.number = 0

    def run(self, command, seconds=PATIENCE):
        """Runs a command of bash. Status 124: the machine ended it after `seconds`."""
        self.number += 1
        words = base64.b64encode(command.encode()).decode()
        self.connection.sendall(f"{self.number} {seconds} {words}\n".encode())
        # The clock of a machine may be slow.
        end = time.monotonic() + seconds * 2 + 30
        while True:
            line = self.read_line(end, f"`{shlex.quote(command)[:200]}`").split(" ")
            if line[0] == str(self.number) and len(line) == 3:
                return Result(int(line[1]), base64.b64decode(line[2]).decode(errors="replace"))

    def wait_until_ready(self, seconds):
        """Waits for the shell's first line after a boot."""
        end = time.monotonic() + seconds
        while self.read_line(end, "the boot") != "ready":
            pass

    def wait_until_awake(self, seconds):
        """Asks until the shell answers: what arrives while the serial line wakes is lost."""
        end = time.monotonic() + seconds
        while True:
            self.number += 1
            self.connection.sendall(f"\nping {self.number}\n".encode())
            try:
                while self.read_line(min(end, time.monotonic() + 1), "the wake") != f"pong {self.number}":
                    pass
                return
            except NoAnswerError:
                if time.monotonic() > end:
                    raise

    def read_line(self, end, what):
        while b"\n" not in self.received:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.connection], [], [], left)[0]:
                raise NoAnswerError(f"no answer in time: {what}")
            data = self.connection.recv(65536)
            if not data:
                raise NoAnswerError(f"the machine has ended: {what}")
            self.received += data
        line, _, self.received = self.received.partition(b"\n")
        return line.decode(errors="replace").rstrip("\r\n")

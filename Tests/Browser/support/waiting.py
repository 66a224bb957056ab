"""Waiting for a condition, with an end."""

import time


SECONDS = 60


def eventually(condition, what="it"):
    end = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < end, f"not in {SECONDS} s: {what}"
        time.sleep(0.02)

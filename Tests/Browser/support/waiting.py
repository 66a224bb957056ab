"""Waiting for a condition, with an end."""

import time


def eventually(condition, what="it", seconds=20):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"not in {seconds} s: {what}"
        time.sleep(0.02)

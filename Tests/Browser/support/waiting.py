"""Waiting for a condition, with a time limit.

`what` names the condition in the failure: a text, or a function that returns it, called when the time is over."""

import time

# A computer that lost the hub waits for up to a minute before it tries again.
SECONDS = 120


def eventually(condition, what="it"):
    """Waits until `condition()` is true."""
    poll(condition, bool, what, "")


def eventually_equals(read, expected, what="it"):
    """Waits until `read()` returns `expected`."""
    poll(read, lambda value: value == expected, what, f" instead of {expected!r}")


def eventually_reported(page, condition, what="it"):
    """As `eventually`, of what Playwright's events and routes report: they are handled only while it is called."""
    eventually(lambda: page.evaluate("() => true") and condition(), what)


def poll(read, is_met, what, expectation):
    end = time.monotonic() + SECONDS
    while not is_met(value := read()):
        if time.monotonic() >= end:
            name = what() if callable(what) else what
            raise AssertionError(f"not in {SECONDS} s: {name}; the last value was {value!r}{expectation}")
        time.sleep(0.02)

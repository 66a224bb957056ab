"""What a machine must offer for a test. What it can't show is counted at the end of `make test`."""

import os
import sys


def has_root(behaviour):
    """Whether this program may hold launches. If not, reports that the behaviour is not shown."""
    if os.geteuid() == 0:
        return True
    line = f"NOT SHOWN {behaviour}: needs root\n"
    sys.stderr.write(line)
    if path := os.environ.get("APPLOCKER_NOT_SHOWN"):
        with open(path, "a") as file:
            file.write(line)
    return False

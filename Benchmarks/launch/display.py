"""An X server in memory."""

import os
import shlex

from processes import read_line


def start_display(start, **options):
    """The server's process and its number. `start` is called with the words of the command, and with these options."""
    reading, writing = os.pipe()
    command = shlex.split(f"Xvfb -displayfd {writing} -screen 0 1280x800x24 -nolisten tcp -noreset")
    process = start(command, pass_fds=[writing], **options)
    os.close(writing)
    with os.fdopen(reading, "rb", buffering=0) as pipe:
        number = read_line(pipe, 20)
    if not number:
        raise SystemExit("Benchmarks: Xvfb did not start.")
    return process, number

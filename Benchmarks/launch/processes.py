"""No process that was started outlives the run, however it ends."""

import contextlib
import ctypes
import os
import select
import signal
import subprocess
import time

_libc = ctypes.CDLL(None, use_errno=True)
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


def watch_over_descendants():
    """Orphaned descendants become children of this process, so that they can be found and ended."""
    _libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def with_parent(number=signal.SIGKILL):
    """For `preexec_fn`: the child gets this signal when the benchmark itself is killed."""

    def apply():
        _libc.prctl(_PR_SET_PDEATHSIG, number, 0, 0, 0)

    return apply


def children(process):
    found = []
    try:
        for thread in os.listdir(f"/proc/{process}/task"):
            with open(f"/proc/{process}/task/{thread}/children") as file:
                found += [int(word) for word in file.read().split()]
    except OSError:
        pass
    return found


def end_descendants():
    for _ in range(50):
        queue, found = children(os.getpid()), []
        while queue:
            process = queue.pop()
            found.append(process)
            queue += children(process)
        for process in found:
            with contextlib.suppress(OSError):
                os.kill(process, signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(0.02)


def start(arguments, ends_with=signal.SIGKILL, **options):
    return subprocess.Popen([str(word) for word in arguments], preexec_fn=with_parent(ends_with), **options)


def stop(process, seconds=10):
    """Sends SIGTERM, and SIGKILL to what does not end."""
    if process.poll() is None:
        process.terminate()
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        return None


def read_line(stream, seconds):
    """A line of an unbuffered pipe, or None at the time limit or the end of the pipe."""
    line = b""
    deadline = time.monotonic() + seconds
    while not line.endswith(b"\n"):
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([stream], [], [], left)[0]:
            return None
        byte = os.read(stream.fileno(), 1)
        if not byte:
            return None
        line += byte
    return line.decode().strip()

"""From the launch of a locked app to the prompt's window on the display, with the prompter resident."""

import os
import shutil
import signal
import subprocess
import time

from applocker import AppLocker, status
from display import start_display
from figures import percentile
from processes import read_line, start, stop

LAUNCHES = 30
# Smaller windows are helpers of the toolkit, not the prompt.
SMALLEST = 100


def measure(run):
    prompter = run.build / "applocker-prompt"
    if not os.access(prompter, os.X_OK):
        return run.figures.leave_out(
            "launch to prompt", f"{prompter} is missing (it is built where GTK 4's headers are)"
        )
    if not shutil.which("Xvfb"):
        return run.figures.leave_out("launch to prompt", "Xvfb is missing; install the package xvfb")
    if "window-watch" not in run.programs:
        return run.figures.leave_out("launch to prompt", "window-watch.c needs Xlib; install the package libx11-dev")
    program = run.directory / "prompted"
    shutil.copy(run.programs["tiny"], program)
    # Open until the last process of the display has ended.
    log = open(run.directory / "prompts.log", "ab")  # noqa: SIM115
    started = []
    try:
        server, number = start_display(start, stdout=log, stderr=log)
        started.append(server)
        home = run.directory / "home"
        home.mkdir(mode=0o700)
        # No session bus: the processes that it would start would outlive the run.
        environment = {
            "PATH": os.environ["PATH"],
            "DISPLAY": f":{number}",
            "HOME": str(home),
            "XDG_RUNTIME_DIR": str(home),
            "LANG": "C.UTF-8",
            "DBUS_SESSION_BUS_ADDRESS": f"unix:path={home}/no-bus",
            "GSETTINGS_BACKEND": "memory",
        }
        with AppLocker(run, "prompts-state") as applocker:
            applocker.set_up(program)
            watch = start([run.programs["window-watch"]], env=environment, stdout=subprocess.PIPE, bufsize=0)
            started.append(watch)
            if read_line(watch.stdout, 10) != "READY":
                raise SystemExit("Benchmarks/launch: the display can't be watched.")
            started.append(start([prompter, "--socket", applocker.socket], env=environment, stdout=log, stderr=log))
            deadline = time.monotonic() + 20
            while not (status(applocker.socket) or {}).get("prompterConnected"):
                if time.monotonic() > deadline:
                    raise SystemExit(f"Benchmarks/launch: the prompter did not connect; see {log.name}.")
                time.sleep(0.05)
            time.sleep(1)
            first = time_prompt(run, watch.stdout, program)
            times = [time_prompt(run, watch.stdout, program) for _ in range(run.rounds(LAUNCHES))]
    finally:
        for process in reversed(started):
            stop(process)
        log.close()
    for share, name in ((0.5, "p50"), (0.99, "p99")):
        run.figures.add(
            f"prompt_{name}_ms",
            percentile(times, share),
            "ms",
            f"launch to the prompt's window mapped, {name} of {len(times)}",
            goal="< 100",
            met=lambda value: value < 100,
        )
    run.figures.add("prompt_first_ms", first, "ms", "the same, the first one after login")


def time_prompt(run, events, program):
    """Starts the locked program, waits for the window, kills the waiting launch, waits until the window is gone."""
    launch = start([run.programs["launcher"], "stamp", program], stdout=subprocess.PIPE, bufsize=0)
    try:
        began = int(read_line(launch.stdout, 5))
        shown = None
        while shown is None:
            words = (read_line(events, 10) or "").split()
            if not words:
                raise SystemExit("Benchmarks/launch: no prompt appeared within 10 s.")
            if words[0] == "map" and min(int(words[3]), int(words[4])) >= SMALLEST:
                shown = int(words[1])
        if launch.poll() is not None:
            raise SystemExit("Benchmarks/launch: the launch was not held while the prompt showed.")
    finally:
        launch.send_signal(signal.SIGKILL)
        launch.wait()
        launch.stdout.close()
    while (words := (read_line(events, 10) or "").split()) and words[0] != "unmap":
        pass
    if not words:
        raise SystemExit("Benchmarks/launch: the prompt did not close with its launch.")
    time.sleep(0.3)
    return (shown - began) / 1e6

"""Resident memory and start-up time of the gate and the daemon."""

import os
import shutil
import signal
import socket
import statistics
import subprocess
import time
from pathlib import Path

from applocker import AppLocker, status
from figures import spread
from processes import start, stop

STARTS = 11


def resident(process):
    """Resident and private memory in MB; 1 MB = 1,000,000 bytes."""

    def kilobytes(file, *names):
        lines = Path(f"/proc/{process}/{file}").read_text().splitlines()
        return sum(int(line.split()[1]) for line in lines if line.split(":")[0] in names) * 1024 / 1e6

    return kilobytes("status", "VmRSS"), kilobytes("smaps_rollup", "Private_Clean", "Private_Dirty")


def measure(run):
    program = run.directory / "footprint-app"
    shutil.copy(run.programs["tiny"], program)
    applocker = AppLocker(run, "footprint-state")
    with applocker:
        applocker.set_up(program)
    measure_memory(run, applocker, program)
    measure_starts(run, applocker)


def measure_memory(run, applocker, program):
    goals = {"applocker-gate": ("gate", 8), "applockerd": ("daemon", 40)}
    rows = []
    with applocker:
        time.sleep(2)
        pids = applocker.pids()
        rows.append(("started", "after start", {name: resident(pids[name]) for name in goals}))
        applocker.command("unlock", program, "--for", "30s")
        applocker.command("lock", program)
        time.sleep(2)
        if applocker.pids() != pids:
            raise SystemExit("Benchmarks/launch: a process of AppLocker died while its memory was measured.")
        rows.append(("checked", "after a passcode check", {name: resident(pids[name]) for name in goals}))
    for program_name, (name, goal) in goals.items():
        for key, words, values in rows:
            whole, private = values[program_name]
            run.figures.add(
                f"{name}_resident_{key}_mb",
                whole,
                "MB",
                f"resident memory of the {name}, {words}",
                goal=f"< {goal}",
                met=lambda value, goal=goal: value < goal,
            )
            run.figures.add(f"{name}_private_{key}_mb", private, "MB", "  of it shared with no other process")


def measure_starts(run, applocker):
    gates, daemons, wholes = [], [], []
    cases = [
        lambda: gates.append(time_gate(run)),
        lambda: daemons.append(time_daemon(run, applocker)),
        lambda: wholes.append(time_whole(run, applocker)),
    ]
    for _ in range(run.rounds(STARTS)):
        for case in run.random.sample(cases, len(cases)):
            case()
    for name, times, words in (
        ("gate_start_ms", gates, "start of the gate until it reports READY"),
        ("daemon_start_ms", daemons, "start of the daemon until its control socket answers"),
        ("whole_start_ms", wholes, "start of `applocker up` until launches are held"),
    ):
        run.figures.add(name, statistics.median(times), "ms", words, spread=spread(times))


def time_gate(run):
    """Spawn to READY=1; this process holds the descriptor, as a service manager does."""
    place = run.directory / "gate"
    place.mkdir(mode=0o700, exist_ok=True)
    notify = place / "notify.sock"
    notify.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.bind(str(notify))
        listener.settimeout(10)
        began = time.monotonic()
        gate = start(
            [run.build / "applocker-gate", "--socket", place / "gate.sock", "--daemon-uid", os.getuid()],
            env={"NOTIFY_SOCKET": str(notify)},
            stdin=subprocess.DEVNULL,
        )
        kept = []
        try:
            while True:
                message, descriptors, _, _ = socket.recv_fds(listener, 4096, 4)
                lines = message.decode().splitlines()
                if "READY=1" in lines:
                    return (time.monotonic() - began) * 1000
                for descriptor in descriptors:
                    if "BARRIER=1" in lines:
                        os.close(descriptor)
                    else:
                        kept.append(descriptor)
        finally:
            stop(gate)
            for descriptor in kept:
                os.close(descriptor)


def time_daemon(run, applocker):
    """From starting the program to its first response. The gate is not running, and the daemon doesn't wait for it."""
    (applocker.state / "control.sock").unlink(missing_ok=True)
    with open(applocker.log, "ab") as log:
        began = time.monotonic()
        daemon = start(
            [run.build / "applockerd", "--state", applocker.state, "--no-hub"],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
    try:
        return until(lambda report: True, applocker, daemon, began)
    finally:
        stop(daemon)


def time_whole(run, applocker):
    (applocker.state / "control.sock").unlink(missing_ok=True)
    with open(applocker.log, "ab") as log:
        began = time.monotonic()
        up = start(
            [run.build / "applocker", "up", "--state", applocker.state, "--no-hub"],
            ends_with=signal.SIGTERM,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
    try:
        return until(lambda report: report["protection"] == "held", applocker, up, began)
    finally:
        stop(up)


def until(is_ready, applocker, process, began):
    """Milliseconds until the control socket's status has this value."""
    while time.monotonic() - began < 20:
        report = status(applocker.socket)
        if report and is_ready(report):
            return (time.monotonic() - began) * 1000
        if process.poll() is not None:
            break
        time.sleep(0.001)
    raise SystemExit(f"Benchmarks/launch: it did not start: {applocker.log.read_text()[-2000:]}")

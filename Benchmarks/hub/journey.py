"""From a blocked launch, through gate, daemon and hub, to a paired device with an open stream."""

import json
import os
import select
import shutil
import signal
import subprocess
import time

from applocker import PASSCODE, AppLocker
from figures import percentile, spread
from processes import read_line, start, stop

LAUNCHES = 200
PAUSE = 0.1  # seconds
# Launches of one app that are reported one by one; the next ones of a minute are reported as one, with their number.
BURST = 16


def measure(run):
    if os.geteuid() != 0:
        return run.figures.leave_out("journey", "AppLocker holds launches only where it is started by root")
    launches = run.rounds(LAUNCHES)
    programs = [run.directory / f"blocked-{number}" for number in range(-(-launches // BURST))]
    for program in programs:
        shutil.copy(run.programs["tiny"], program)
    with AppLocker(run, "journey", with_hub=True) as applocker:
        applocker.set_up(*programs)
        device = run.directory / "device"
        pair(run, applocker, device)
        # With a paired device the launch would be held; now it is denied at once and reported.
        applocker.command("settings", "set", "--ask-phone-only", "off")
        watch = start(
            [run.build / "hub-device", "watch", device],
            ends_with=signal.SIGTERM,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
        )
        try:
            time.sleep(2)
            drain(watch.stdout)
            times = [journey(watch.stdout, programs[number // BURST]) for number in range(launches)]
        finally:
            stop(watch)
    for share, goal in ((0.5, 20), (0.99, 100)):
        run.figures.add(
            f"journey_p{int(share * 100)}",
            percentile(times, share) * 1e3,
            "ms",
            f"blocked launch to a device that watches, p{int(share * 100)} of {len(times)}",
            f"< {goal}",
            lambda value, goal=goal: value < goal,
            spread([t * 1e3 for t in times]),
        )


def pair(run, applocker, device):
    reading, writing = os.pipe()
    os.write(writing, PASSCODE.encode() + b"\n")
    os.close(writing)
    pairing = start(
        [
            run.build / "applocker",
            "pair",
            "--unchecked",
            "--json",
            "--yes",
            "--passcode-fd",
            reading,
            "--socket",
            applocker.socket,
        ],
        pass_fds=[reading],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
    )
    os.close(reading)
    link = read_link(pairing)
    joining = subprocess.run(
        [str(run.build / "hub-device"), "join", str(device)],
        input=link + "\n",
        capture_output=True,
        text=True,
        timeout=60,
    )
    if joining.returncode != 0 or pairing.wait(30) != 0:
        raise SystemExit(f"Benchmarks/hub: no device was paired: {joining.stderr.strip()}")


def read_link(pairing):
    """Returns the link of the first JSON object that the command prints; it prints the second when a device has
    joined."""
    text = ""
    while (line := read_line(pairing.stdout, 30)) is not None:
        text += line + "\n"
        try:
            return json.loads(text)["link"]
        except json.JSONDecodeError:
            continue
    raise SystemExit(f"Benchmarks/hub: no invitation: {pairing.stderr.read().decode().strip()}")


def drain(stream):
    while select.select([stream], [], [], 0.2)[0]:
        os.read(stream.fileno(), 1 << 16)


def journey(stream, program):
    """Seconds from the start of the program to the first line that reports it."""
    time.sleep(PAUSE)
    drain_now(stream)
    began = time.monotonic()
    try:
        subprocess.run([str(program)], capture_output=True)
        raise SystemExit("Benchmarks/hub: a locked app ran.")
    except PermissionError:
        pass
    while True:
        line = read_line(stream, 10)
        if line is None:
            raise SystemExit("Benchmarks/hub: a blocked launch was not reported.")
        if line.startswith("event"):
            return time.monotonic() - began


def drain_now(stream):
    while select.select([stream], [], [], 0)[0]:
        os.read(stream.fileno(), 1 << 16)

"""A running AppLocker with its own state directory."""

import http.client
import json
import os
import signal
import socket
import subprocess
import time

from processes import start, stop, with_parent

PASSCODE = "benchmark"


class ControlConnection(http.client.HTTPConnection):
    """HTTP over the control socket."""

    def __init__(self, path, timeout=10):
        super().__init__("applocker", timeout=timeout)
        self.path = str(path)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


def status(path):
    """The response to `GET /v1/status`, or None if the daemon does not respond."""
    connection = ControlConnection(path)
    try:
        connection.request("GET", "/v1/status")
        answer = connection.getresponse()
        return json.loads(answer.read()) if answer.status == 200 else None
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()


class AppLocker:
    def __init__(self, run, name, with_hub=False):
        self.build = run.build
        self.arguments = [] if with_hub else ["--no-hub"]
        self.state = run.directory / name
        self.socket = self.state / "control.sock"
        self.log = run.directory / f"{name}.log"
        self.process = None

    def __enter__(self):
        with open(self.log, "ab") as log:
            self.process = start(
                [self.build / "applocker", "up", "--state", self.state, *self.arguments],
                ends_with=signal.SIGTERM,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        try:
            self.wait_until_it_holds()
        except BaseException:
            stop(self.process)
            raise
        return self

    def __exit__(self, *_):
        stop(self.process)

    def wait_until_it_holds(self):
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            report = status(self.socket)
            if report and report["protection"] == "weak":
                raise SystemExit(f"Benchmarks/launch: AppLocker runs in the weak mode: {' '.join(report['degraded'])}")
            if report and report["protection"] == "held":
                return
            if self.process.poll() is not None:
                break
            time.sleep(0.02)
        raise SystemExit(f"Benchmarks/launch: AppLocker did not start: {self.log.read_text()[-2000:]}")

    def command(self, *words, passcode=PASSCODE):
        """Runs `applocker WORDS`, with the passcode on a descriptor."""
        reading, writing = os.pipe()
        os.write(writing, passcode.encode() + b"\n")
        os.close(writing)
        where = ["--passcode-fd", str(reading), "--socket", str(self.socket)]
        try:
            result = subprocess.run(
                [str(self.build / "applocker"), *map(str, words), *where],
                pass_fds=[reading],
                preexec_fn=with_parent(),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
            )
        finally:
            os.close(reading)
        if result.returncode != 0:
            raise SystemExit(
                f"Benchmarks/launch: applocker {' '.join(map(str, words))} failed: {result.stdout}{result.stderr}"
            )
        return result.stdout

    def set_up(self, *locked):
        self.command("setup")
        for program in locked:
            self.command("add", program)

    def pids(self):
        """Process identifiers of the daemon and the gate, by program."""
        return {entry["name"]: entry["pid"] for entry in status(self.socket)["processes"]}

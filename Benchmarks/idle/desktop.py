"""A desktop session with AppLocker: an X server, message buses, a mock of logind, prompt and agent, one locked app."""

import os
import shutil
import signal
import subprocess
import time

from applocker import AppLocker, status
from display import start_display
from processes import children, read_line, start, stop


class Desktop:
    def __init__(self, run):
        self.run = run
        self.started = []
        # Open until the session ends: each of its processes writes there.
        self.log = open(run.directory / "desktop.log", "ab")  # noqa: SIM115

    def __enter__(self):
        try:
            self.begin()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for process in reversed(self.started):
            stop(process)
        self.log.close()

    def spawn(self, *arguments, **options):
        process = start(
            list(arguments),
            ends_with=signal.SIGTERM,
            stdin=subprocess.DEVNULL,
            **{"stdout": self.log, **options},
            stderr=self.log,
        )
        self.started.append(process)
        return process

    def message_bus(self):
        process = self.spawn(
            "dbus-daemon", "--session", "--print-address", "--nofork", stdout=subprocess.PIPE, bufsize=0
        )
        return read_line(process.stdout, 10).strip()

    def begin(self):
        missing = [name for name in ("Xvfb", "dbus-daemon", "dunst") if not shutil.which(name)]
        if missing:
            raise SystemExit(
                f"Benchmarks/idle: {', '.join(missing)} is missing; install it (`Scripts/setup test` does)."
            )
        self.system_bus = self.message_bus()
        self.session_bus = self.message_bus()
        os.environ["DBUS_SYSTEM_BUS_ADDRESS"] = self.system_bus
        self.spawn("/usr/bin/python3", "-m", "dbusmock", "--system", "--template", "logind")
        _, display = start_display(lambda command, **options: self.spawn(*command, **options))
        home = self.run.directory / "home"
        home.mkdir(mode=0o700)
        environment = {
            "PATH": os.environ["PATH"],
            "DISPLAY": f":{display}",
            "HOME": str(home),
            "XDG_RUNTIME_DIR": str(home),
            "LANG": "C.UTF-8",
            "DBUS_SESSION_BUS_ADDRESS": self.session_bus,
            "GSETTINGS_BACKEND": "memory",
            "DBUS_SYSTEM_BUS_ADDRESS": self.system_bus,
        }
        self.spawn("dunst", env=environment)
        program = self.run.directory / "locked"
        shutil.copy(self.run.programs["tiny"], program)
        self.applocker = AppLocker(self.run, "state", with_hub=True)
        self.applocker.__enter__()
        self.started.append(self.applocker.process)
        self.applocker.set_up(program)
        self.prompt = self.spawn(
            str(self.run.build / "applocker-prompt"), "--socket", str(self.applocker.socket), env=environment
        )
        self.agent = self.spawn(
            str(self.run.build / "applocker-agent"), "--socket", str(self.applocker.socket), env=environment
        )
        deadline = time.monotonic() + 20
        while not (status(self.applocker.socket) or {}).get("prompterConnected"):
            if time.monotonic() > deadline:
                raise SystemExit(f"Benchmarks/idle: the prompt did not connect; see {self.log.name}.")
            time.sleep(0.05)

    def processes(self):
        """Process identifiers of AppLocker's processes, by name."""
        numbers = {
            "applocker": self.applocker.process.pid,
            "applocker-prompt": self.prompt.pid,
            "applocker-agent": self.agent.pid,
        }
        for process in children(self.applocker.process.pid):
            with open(f"/proc/{process}/comm") as name:
                numbers[name.read().strip()] = process
        return numbers

"""A real hub and a real AppLocker on a state of their own, and the companion's core in Chromium between them."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

import pages

PASSCODE = "correct horse 9"


class Computer:
    """Programs of the project, and what the tests in the page ask them to do."""

    def __init__(self, programs, folder, beside=None):
        """`beside`: the computer whose household and hub it joins, called "attic" where the machine lets it be."""
        self.programs, self.folder = programs, folder
        self.state = folder / "state"
        self.environment = {"PATH": "/usr/bin:/bin", "HOME": str(folder), "APPLOCKER_SOCKET": str(self.state / "control.sock"),
                            "LD_LIBRARY_PATH": os.environ.get("LD_LIBRARY_PATH", "")}
        self.pairing = self.hub = None
        self.port = 0
        if not beside:
            self.serve()
            self.start_hub()
        arguments = ["up", "--state", str(self.state), "--no-hub"] + ([] if os.geteuid() == 0 else ["--user-mode"])
        named = ["unshare", "--uts", "sh", "-c", 'hostname attic && exec "$0" "$@"'] if beside and os.geteuid() == 0 else []
        self.applocker = subprocess.Popen(
            [*named, programs / "applocker", *arguments], env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.until(lambda: "gate_away" not in (self.run("status", "--json") or "gate_away"))
        self.run("setup", passcode=True)
        if beside:
            self.join(beside)
        else:
            self.run("hub", "connect", f"http://127.0.0.1:{self.port}", passcode=True)
        self.until(lambda: json.loads(self.run("hub", "status", "--json"))["connected"])
        diary = folder / "diary"
        shutil.copy("/usr/bin/true", diary)
        self.run("add", str(diary), passcode=True)
        self.run("vault", "unlock", passcode=True)
        # A camera that films nobody.
        self.run("settings", "set", "--camera", "lavfi:testsrc2=size=1920x1080", passcode=True)

    def join(self, other):
        letting = other.start("pair", "--computer", "--json", "--yes", passcode=True, stdin=subprocess.DEVNULL)
        link = json.loads(letting.stdout.readline())["link"]
        if self.run("hub", "join", passcode=True, given=link + "\n") is None:
            raise RuntimeError(self.errors)
        letting.communicate(timeout=60)

    def serve(self):
        self.web = self.folder / "web"
        # As it is installed.
        subprocess.run([pages.ROOT / "Packaging/make/web-files", self.web], check=True)
        shutil.copytree(pages.ROOT / "Tests/Browser", self.web / "tests", ignore=shutil.ignore_patterns("*.py", "__pycache__"))
        (self.web / "tests.html").write_bytes(pages.PAGE)
        if not (self.web / "index.html").exists():
            (self.web / "index.html").write_bytes(pages.PAGE)

    def start_hub(self):
        self.hub = subprocess.Popen(
            [self.programs / "applocker-hub", "--state", str(self.folder / "hub"), "--listen", f"127.0.0.1:{self.port}",
             "--web", str(self.web)],
            env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        for line in self.hub.stdout:
            if line.startswith("listening on 127.0.0.1:"):
                self.port = int(line.split(":")[1])
                return
        raise RuntimeError("the hub does not start")

    @staticmethod
    def until(condition, seconds=30):
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end:
                raise RuntimeError("AppLocker does not get ready")
            time.sleep(0.2)

    def start(self, *arguments, passcode=None, **options):
        """Passcodes go through a pipe, as descriptor 3 or whichever is free."""
        words = list(arguments)
        descriptors = ()
        if passcode:
            reading, writing = os.pipe()
            os.write(writing, ((PASSCODE if passcode is True else passcode) + "\n").encode())
            os.close(writing)
            words += ["--passcode-fd", str(reading)]
            descriptors = (reading,)
        child = subprocess.Popen(
            [self.programs / "applocker", *words], env=self.environment, pass_fds=descriptors, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
        for descriptor in descriptors:
            os.close(descriptor)
        return child

    def run(self, *arguments, passcode=None, given=None):
        """What the command printed; None where it was refused."""
        child = self.start(*arguments, passcode=passcode, stdin=subprocess.PIPE if given else subprocess.DEVNULL)
        output, self.errors = child.communicate(given, timeout=60)
        return output if child.returncode == 0 else None

    def asked(self, words):
        """A command of the page."""
        match words:
            case ["pair"]:
                self.pairing = self.start("pair", "--json", "--yes", passcode=True, stdin=subprocess.DEVNULL)
                return json.loads(self.pairing.stdout.readline())["link"]
            case ["wrong-passcode"]:
                return self.run("unlock", "diary", passcode="wrong one")
            case ["diary-state"]:
                return self.run("app", "diary", "--json")
            case ["show", title]:
                return self.run("note", "show", title, "--json") or "null"
            case ["edit", title, text]:
                if self.run("note", "edit", title, "-", given=text) is None:
                    raise RuntimeError(self.errors)
                return ""
            case ["stop-hub"]:
                self.hub.send_signal(signal.SIGKILL)
                self.hub.wait()
                return ""
            case ["start-hub"]:
                return self.start_hub()
            case ["revoke"]:
                return self.run("devices", "revoke", "Anna's phone", "--yes", passcode=True)
        raise RuntimeError(f"{words}?")

    def end(self):
        for process in (self.applocker, self.hub, self.pairing):
            if process and process.poll() is None:
                process.send_signal(signal.SIGINT)
                try:
                    process.wait(20)
                except subprocess.TimeoutExpired:
                    process.kill()


def with_computer(programs, act):
    """What `act` makes of a computer that was just set up."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="applocker-browser-"))
    computer = None
    try:
        computer = Computer(programs, folder)
        return act(computer)
    finally:
        if computer:
            computer.end()
        shutil.rmtree(folder, ignore_errors=True)


def run(browser, programs, run_module):
    return with_computer(programs, lambda computer: run_module(
        browser, f"http://127.0.0.1:{computer.port}", "story", {"isStory": True}, computer.asked))

"""A real hub and a real AppLocker with their own state."""

import contextlib
import http.client
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess

import pages
from ports import free_port
from waiting import eventually, eventually_equals

PASSCODE = "correct horse 9"


class Computer:
    """The project's programs with a directory of their own, and the commands that tests and pages run."""

    def __init__(self, programs, folder, port=None, costs_little=True):
        """`port`: where its hub listens, by default a free port; it stays the same. `costs_little`: a debug build
        derives keys from passcodes with less work than every installed program."""
        self.programs, self.folder, self.port = programs, folder, port or free_port()
        self.state = folder / "state"
        self.environment = {
            "PATH": "/usr/bin:/bin",
            "HOME": str(folder),
            # Apps that a test installs.
            "XDG_DATA_HOME": str(folder / "share"),
            "APPLOCKER_SOCKET": str(self.state / "control.sock"),
            "LD_LIBRARY_PATH": os.environ.get("LD_LIBRARY_PATH", ""),
        }
        if costs_little:
            self.environment["APPLOCKER_SMALLEST_PASSCODE_COST"] = "1"
        self.applocker = self.pairing = self.hub = None
        self.hub_options = []
        self.errors = ""

    def set_up(self, joins=None):
        """Sets up a connected computer with an unlocked vault, a locked program "diary" and a camera. `joins`: the
        computer whose household and hub it joins, called "attic" if this machine allows another host name."""
        self.folder.mkdir(parents=True, exist_ok=True)
        if not joins:
            self.start_hub()
        self.start_applocker(
            ["unshare", "--uts", "sh", "-c", 'hostname attic && exec "$0" "$@"'] if joins and os.geteuid() == 0 else []
        )
        self.expect("setup", passcode=True)
        if joins:
            self.join(joins)
        else:
            self.expect("hub", "connect", f"http://127.0.0.1:{self.port}", passcode=True)
        eventually(self.is_connected)
        shutil.copy("/usr/bin/true", self.folder / "diary")
        self.expect("add", str(self.folder / "diary"), passcode=True)
        self.open_vault()
        # A test pattern instead of a camera.
        self.expect("settings", "set", "--camera", "lavfi:testsrc2=size=1920x1080", passcode=True)
        return self

    def resume(self, is_on=True):
        """Starts with the state that `set_up` left. If `is_on` is false only its hub starts, until the first
        command."""
        self.start_hub()
        if is_on:
            self.turn_on()
        return self

    def turn_on(self):
        self.start_applocker()
        eventually(self.is_connected)

    def turn_off(self):
        """Until the next command that needs it; its hub keeps running."""
        self.applocker.send_signal(signal.SIGINT)
        self.applocker.wait(60)
        self.applocker = None

    def open_vault(self):
        """The vault is locked after each start: a test that reads notes or photos at the computer unlocks it first."""
        self.expect("vault", "unlock", passcode=True)

    @property
    def web(self):
        """The directory that the hub serves: the installed companion and the tests' modules. Computers in sibling
        directories share it."""
        web = self.folder.parent / "web"
        if not web.exists():
            subprocess.run([pages.ROOT / "Scripts/web-files", web], check=True)
            shutil.copytree(pages.ROOT / "Tests/JavaScript", web / "tests", ignore=shutil.ignore_patterns("*.mjs"))
            (web / "tests.html").write_bytes(pages.PAGE)
        return web

    def start_applocker(self, named=()):
        arguments = ["up", "--state", str(self.state), "--no-hub"] + ([] if os.geteuid() == 0 else ["--user-mode"])
        self.applocker = subprocess.Popen(
            [*named, self.programs / "applocker", *arguments],
            env=self.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        eventually(self.accepts, "the control socket accepts connections")
        eventually(lambda: self.asked("/v1/status")["protection"] != "gate_away", "the gate is connected")

    def accepts(self):
        """Whether the control socket accepts connections."""
        with socket.socket(socket.AF_UNIX) as connection:
            return connection.connect_ex(self.environment["APPLOCKER_SOCKET"]) == 0

    def asked(self, route):
        """What the control socket responds to GET. For a condition that is asked about again and again: a debug build
        of the command takes a fifth of a second to start."""
        if not self.applocker:
            self.turn_on()
        connection = http.client.HTTPConnection("applocker")
        connection.sock = socket.socket(socket.AF_UNIX)
        with contextlib.closing(connection):
            connection.sock.connect(self.environment["APPLOCKER_SOCKET"])
            connection.request("GET", route)
            response = connection.getresponse()
            content = response.read()
            assert response.status == 200, content
            return json.loads(content)

    def is_connected(self):
        return self.asked("/v1/hub")["connected"]

    def join(self, other):
        letting = other.start(
            "pair", "--computer", "--unchecked", "--json", "--yes", passcode=True, stdin=subprocess.DEVNULL
        )
        link = json.loads(letting.stdout.readline())["link"]
        self.expect("hub", "join", passcode=True, input=link + "\n")
        letting.communicate(timeout=60)

    def start_hub(self, web=None):
        """`web`: a directory to serve instead of the one that all tests share."""
        where = ["--state", self.folder / "hub", "--listen", f"127.0.0.1:{self.port}", "--web", web or self.web]
        self.hub = subprocess.Popen(
            [self.programs / "applocker-hub", *where, *self.hub_options],
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        for line in self.hub.stdout:
            if line.startswith(f"listening on 127.0.0.1:{self.port}"):
                return
        raise RuntimeError("the hub does not start")

    def stop_hub(self):
        """Kills it with SIGKILL."""
        self.hub.kill()
        self.hub.wait()

    def start(self, *arguments, passcode=None, **options):
        """A passcode is passed through a pipe, on descriptor 3 or the next free one."""
        if not self.applocker:
            self.turn_on()
        words = list(arguments)
        descriptors = ()
        if passcode:
            reading, writing = os.pipe()
            os.write(writing, ((PASSCODE if passcode is True else passcode) + "\n").encode())
            os.close(writing)
            words += ["--passcode-fd", str(reading)]
            descriptors = (reading,)
        child = subprocess.Popen(
            [self.programs / "applocker", *words],
            env=self.environment,
            pass_fds=descriptors,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            **options,
        )
        for descriptor in descriptors:
            os.close(descriptor)
        return child

    def run(self, *arguments, passcode=None, input=None):
        """Returns the command's output, or None if it failed, with the reason in `errors`."""
        child = self.start(*arguments, passcode=passcode, stdin=subprocess.PIPE if input else subprocess.DEVNULL)
        output, self.errors = child.communicate(input, timeout=240)
        return output if child.returncode == 0 else None

    def expect(self, *arguments, passcode=None, input=None):
        """Returns the command's output; raises an error if it failed."""
        output = self.run(*arguments, passcode=passcode, input=input)
        if output is None:
            raise RuntimeError(f"applocker {' '.join(arguments)}: {self.errors}")
        return output

    def pair(self):
        """Returns the link that `applocker pair` prints for a phone; the phone is admitted without confirmation."""
        self.pairing = self.start("pair", "--unchecked", "--json", "--yes", passcode=True, stdin=subprocess.DEVNULL)
        return json.loads(self.pairing.stdout.readline())["link"]

    def saved(self, title, folder, *words):
        """Saves the moment's photos into a new folder, and returns the files, as soon as all are here: a photo's record
        may arrive after its moment's."""

        def saves():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            return self.run("moments", "show", title, "--save", str(folder), "--json", *words)

        reports = []
        eventually(lambda: reports.append(saves()) or reports[-1], lambda: self.errors)
        return [pathlib.Path(one["file"]) for one in json.loads(reports[-1])["saved"]]

    def note(self, title):
        """The note at the computer as a dictionary, or None."""
        return json.loads(self.run("note", "show", title, "--json") or "null")

    def notes(self):
        """Titles and texts, sorted by title."""
        titles = [note["title"] for note in json.loads(self.expect("note", "list", "--json"))["notes"]]
        # One may be removed meanwhile.
        return sorted([title, (self.note(title) or {}).get("body")] for title in titles)

    def edit_note(self, title, text):
        self.expect("note", "edit", title, "-", input=text)

    def sent(self):
        """Waits until the hub has every change of this computer."""
        eventually_equals(lambda: self.asked("/v1/hub")["waiting"], 0)

    def run_command(self, words):
        """Runs a command for a test module in a page."""
        match words:
            case ["pair"]:
                return self.pair()
            case ["wrong-passcode"]:
                return self.run("unlock", "diary", passcode="wrong one")
            case ["diary-state"]:
                return self.run("app", "diary", "--json")
            case ["show", title]:
                return json.dumps(self.note(title))
            case ["edit", title, text]:
                self.edit_note(title, text)
                return self.sent()
            case ["stop-hub"]:
                return self.stop_hub()
            case ["start-hub"]:
                return self.start_hub()
            case ["revoke", name]:
                return self.expect("devices", "revoke", name, "--yes", passcode=True)
        raise RuntimeError(f"{words}?")

    def end(self):
        started = [
            process for process in (self.applocker, self.hub, self.pairing) if process and process.poll() is None
        ]
        for process in started:
            process.send_signal(signal.SIGINT)
        for process in started:
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        for process in (self.hub, self.pairing):
            if process:
                for stream in (process.stdout, process.stderr):
                    if stream:
                        stream.close()


class Household:
    """A computer that is set up once; each test gets a copy of it."""

    def __init__(self, programs, folder):
        self.programs, self.folder = programs, folder
        self.first = Computer(programs, folder / "first")
        self.count = 0

    @contextlib.contextmanager
    def copy(self, is_on=True):
        self.count += 1
        folder = self.folder / str(self.count)
        shutil.copytree(
            self.first.folder,
            folder,
            ignore=lambda where, names: [name for name in names if pathlib.Path(where, name).is_socket()],
        )
        computer = Computer(self.programs, folder, self.first.port)
        try:
            yield computer.resume(is_on)
        finally:
            computer.end()
            shutil.rmtree(folder, ignore_errors=True)

"""applocker-desktop on an X server of its own, operated by its accessibility tree as a screen reader does."""

import contextlib
import json
import os
import signal
import subprocess

import pages
from computer import PASSCODE
from waiting import eventually
from webkit import screen


class DesktopWindow:
    """The window of a computer, which is set up."""

    def __init__(self, computer, display, folder):
        self.folder = folder
        for name in ("config/gtk-4.0", "runtime"):
            (folder / name).mkdir(parents=True, mode=0o700)
        (folder / "config/gtk-4.0/settings.ini").write_text("[Settings]\ngtk-enable-animations=false\n")
        self.environment = {
            **computer.environment,
            "LC_ALL": "C.UTF-8",
            "DISPLAY": display,
            "GDK_BACKEND": "x11",
            "GSETTINGS_BACKEND": "memory",
            "XDG_CONFIG_HOME": str(folder / "config"),
            "XDG_RUNTIME_DIR": str(folder / "runtime"),
            "XDG_DATA_DIRS": "/usr/share",
        }
        self.processes = []
        bus = self.start("dbus-daemon", "--session", "--nofork", "--nopidfile", "--print-address")
        self.environment["DBUS_SESSION_BUS_ADDRESS"] = bus.stdout.readline().strip()
        # A window that is shown before openbox runs is never shown.
        self.start("openbox", "--sm-disable", "--startup", "echo started").stdout.readline()
        self.reader = self.start("/usr/bin/python3", pages.ROOT / "Tests/Desktop/accessibility.py")
        self.window = self.start(computer.programs / "applocker-desktop")
        eventually(lambda: self.shows("Overview"), "the window is shown")

    def start(self, *command):
        process = subprocess.Popen(
            command,
            env=self.environment,
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self.processes.append(process)
        return process

    def asked(self, what, **more):
        """The reply of the accessibility reader: parts, or an error."""
        self.reader.stdin.write(json.dumps({"do": what, "process": self.window.pid, **more}) + "\n")
        self.reader.stdin.flush()
        return json.loads(self.reader.stdout.readline())

    def texts(self):
        return [text for part in self.asked("list").get("parts", []) for text in (part["name"], part["text"])]

    def shows(self, words):
        return any(words in text for text in self.texts())

    def awaits(self, words):
        eventually(lambda: self.shows(words), lambda: f"{words}; the window shows {self.texts()}")

    def press(self, name):
        eventually(lambda: "error" not in self.asked("press", name=name), lambda: f"{name} is pressed")

    def enter_passcode(self, verb="Continue"):
        eventually(
            lambda: "error" not in self.asked("type", name="Passcode", text=PASSCODE), "the passcode is asked for"
        )
        self.press(verb)

    def keys(self, keys):
        subprocess.run(["xdotool", "key", keys], env=self.environment, check=True)

    def scanned(self):
        """What a phone's camera reads from the screen; "" if it shows no code."""
        picture = self.folder / "screen.png"
        subprocess.run(["import", "-window", "root", picture], env=self.environment, check=True)
        found = subprocess.run(["zbarimg", "--quiet", "--raw", picture], capture_output=True, text=True)
        return found.stdout.strip()

    def end(self):
        for process in reversed(self.processes):
            process.send_signal(signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(10)
            process.kill()
            process.wait()
            process.stdin.close()
            process.stdout.close()


@contextlib.contextmanager
def desktop_window(computer, folder):
    with screen() as display, contextlib.ExitStack() as stack:
        os.makedirs(folder, exist_ok=True)
        window = DesktopWindow(computer, display, folder)
        stack.callback(window.end)
        yield window

"""Chromium over the DevTools pipe, without Playwright, which keeps its pages visible."""

import contextlib
import json
import os
import shutil
import subprocess
import tempfile

CHROMIUM = "/usr/bin/chromium"


class RawChromium:
    def __init__(self):
        self.profile = tempfile.mkdtemp(prefix="applocker-chromium-")
        ours, theirs = os.pipe(), os.pipe()  # Commands, and responses.
        reading, writing = ours[0], theirs[1]

        def descriptors():
            # Chromium reads commands from 3 and writes responses to 4. Duplicates keep both from being overwritten.
            high_reading, high_writing = os.dup(reading), os.dup(writing)
            os.dup2(high_reading, 3)
            os.dup2(high_writing, 4)

        self.process = subprocess.Popen(
            [
                CHROMIUM,
                "--headless=new",
                "--no-sandbox",
                "--disable-dev-shm-usage",
                "--remote-debugging-pipe",
                f"--user-data-dir={self.profile}",
                "about:blank",
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            preexec_fn=descriptors,
            close_fds=False,
        )
        os.close(reading)
        os.close(writing)
        self.writing, self.reading = os.fdopen(ours[1], "wb", buffering=0), os.fdopen(theirs[0], "rb")
        self.number, self.rest = 0, b""

    def send(self, method, parameters=None, session=None):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters or {}}
        self.writing.write(json.dumps(message | ({"sessionId": session} if session else {})).encode() + b"\0")
        while True:
            while b"\0" not in self.rest:
                part = self.reading.read1(65536)
                if not part:
                    raise RuntimeError("Chromium ended")
                self.rest += part
            line, self.rest = self.rest.split(b"\0", 1)
            response = json.loads(line)
            if response.get("id") == self.number:
                if "navigated" in response.get("error", {}).get("message", ""):
                    raise PageIsGone(method)
                if "error" in response:
                    raise RuntimeError(f"{method}: {response['error']['message']}")
                return response["result"]

    def new_profile(self):
        return self.send("Target.createBrowserContext")["browserContextId"]

    def forget(self, profile):
        """Closes the profile and its tabs."""
        self.send("Target.disposeBrowserContext", {"browserContextId": profile})

    def open(self, address, profile=None):
        place = {"browserContextId": profile} if profile else {}
        return Tab(self, self.send("Target.createTarget", {"url": address, **place})["targetId"])

    def end(self):
        with contextlib.suppress(RuntimeError):
            self.send("Browser.close")
        self.process.wait(60)
        shutil.rmtree(self.profile, ignore_errors=True)


class PageIsGone(RuntimeError):
    """The page navigated while it was evaluating."""


class Tab:
    def __init__(self, chromium, target):
        self.chromium, self.target = chromium, target
        self.session = chromium.send("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]

    def send(self, method, **parameters):
        return self.chromium.send(method, parameters, self.session)

    def run(self, script):
        """Returns the value of an expression; awaits promises."""
        response = self.send("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in response:
            details = response["exceptionDetails"]
            raise RuntimeError(details.get("exception", {}).get("description", details["text"]))
        return response["result"].get("value")

    def show(self):
        self.chromium.send("Target.activateTarget", {"targetId": self.target})

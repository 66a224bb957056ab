"""A Chromium that nothing observes while it works. Over DevTools it also sends each request with its body to
Playwright, which takes as much time as the work."""

import json
import subprocess
import time
import urllib.request


class UnobservedChromium:
    def __init__(self, browser_type, profile):
        """Starts it with a profile of its own. `browser_type` is Playwright's, for `connected`."""
        self.browser_type = browser_type
        self.process = subprocess.Popen(
            [
                "/usr/bin/chromium",
                "--headless=new",
                "--no-sandbox",
                "--disable-dev-shm-usage",
                "--no-first-run",
                "--remote-debugging-port=0",
                f"--user-data-dir={profile}",
                "about:blank",
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        ports = profile / "DevToolsActivePort"
        while not (ports.exists() and ports.read_text().count("\n")):
            if self.process.poll() is not None:
                raise SystemExit("Benchmarks/everline: Chromium did not start.")
            time.sleep(0.05)
        self.address = f"http://127.0.0.1:{ports.read_text().split()[0]}"

    def connected(self):
        """Playwright's browser, which observes it until it is closed; Chromium runs on."""
        return self.browser_type.connect_over_cdp(self.address)

    def wait_for_title(self, words):
        while not any(words in page["title"] for page in self.pages()):
            if self.process.poll() is not None:
                raise SystemExit("Benchmarks/everline: Chromium ended.")
            time.sleep(0.1)

    def pages(self):
        with urllib.request.urlopen(f"{self.address}/json/list") as answer:
            return json.load(answer)

    def end(self):
        self.process.terminate()
        self.process.wait()

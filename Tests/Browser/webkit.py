"""The same modules in WebKit, the engine of every browser on an iPhone: WebKitGTK's MiniBrowser through WebKitWebDriver.

It has no push, no WebAuthn and no motion here; cryptography, storage, streams and service workers are the real ones."""

import argparse
import base64
import contextlib
import glob
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

import pages
import relay
import run
import story

BROWSERS = "/usr/lib/*/webkit2gtk-4.*/MiniBrowser"

# What the tests call on `window` waits in a queue until this program has done it: WebDriver has no way to call back.
CALLS = """
window.calls = [];
window.answers = new Map();
const ask = (name) => (...words) => new Promise((resolve, reject) => {
    const id = window.answers.size;
    window.answers.set(id, { resolve, reject });
    window.calls.push({ id, name, words });
});
for (const name of arguments[0]) window[name] = ask(name);
"""
RUN = """
const [module, given] = arguments;
window.results = null;
import("/tests/harness.js").then(async ({ run }) => {
    const { tests } = await import(`/tests/${module}.test.js`);
    window.results = await run(tests, given);
}).catch((error) => {
    window.results = [{ name: module, failure: String(error), milliseconds: 0 }];
});
"""
NEXT = "return { call: window.calls.shift() ?? null, results: window.results };"
ANSWER = """
const { resolve, reject } = window.answers.get(arguments[0]);
if (arguments[2] === null) resolve(arguments[1]);
else reject(new Error(arguments[2]));
"""


class WebKit:
    """One browser with a profile of its own."""

    def __init__(self, port):
        self.base = f"http://127.0.0.1:{port}"
        browser = sorted(glob.glob(BROWSERS))[-1]
        options = {"binary": browser, "args": ["--automation"]}
        answer = self.call("POST", "/session", {"capabilities": {"alwaysMatch": {"webkitgtk:browserOptions": options}}})
        self.session = f"/session/{answer['sessionId']}"
        self.call("POST", self.session + "/timeouts", {"script": 60_000, "pageLoad": 60_000})

    def call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=90) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(f"{path}: {error.read().decode()[:600]}") from None

    def goto(self, address):
        self.call("POST", self.session + "/url", {"url": address})

    def evaluate(self, script, *arguments):
        return self.call("POST", self.session + "/execute/sync", {"script": script, "args": list(arguments)})

    def picture(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("GET", self.session + "/screenshot")))

    def end(self):
        with contextlib.suppress(Exception):
            self.call("DELETE", self.session)


@contextlib.contextmanager
def started():
    """A browser on a screen that nobody sees."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    home = tempfile.mkdtemp(prefix="applocker-webkit-")
    environment = {**os.environ, "HOME": home, "XDG_RUNTIME_DIR": home, "XDG_DATA_HOME": home, "XDG_CACHE_HOME": home,
                   "WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS": "1", "LIBGL_ALWAYS_SOFTWARE": "1", "GDK_BACKEND": "x11"}
    driver = subprocess.Popen(
        ["xvfb-run", "-a", "-s", "-screen 0 1280x900x24", "WebKitWebDriver", f"--port={port}"], env=environment,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    browser = None
    try:
        end = time.monotonic() + 30
        while True:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            if time.monotonic() > end:
                raise RuntimeError("WebKitWebDriver does not start")
            time.sleep(0.1)
        browser = WebKit(port)
        yield browser
    finally:
        if browser:
            browser.end()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(driver.pid, 15)
        driver.wait(10)
        shutil.rmtree(home, ignore_errors=True)


def run_module(address, module, given, asked):
    """As run.py's: the results of one module. `asked`: what the tests may ask this program, functions by name."""
    with started() as browser:
        browser.goto(address + "/tests.html")
        browser.evaluate(CALLS, list(asked))
        browser.evaluate(RUN, module, given)
        while True:
            state = browser.evaluate(NEXT)
            if state["call"]:
                call, answer, problem = state["call"], None, None
                try:
                    answer = asked[call["name"]](*call["words"])
                except Exception as error:  # It is the test's to fail by it.
                    problem = str(error)
                browser.evaluate(ANSWER, call["id"], answer, problem)
            elif state["results"] is not None:
                return state["results"]
            else:
                time.sleep(0.02)


def in_story(_, address, module, given, computer):
    """Between the browser and the hub lies a network that can be cut."""
    hub = address.rsplit(":", 1)[1]
    network = relay.Relay(int(hub))

    def asked(words):
        answer = computer(words)
        return answer.replace(f":{hub}/", f":{network.port}/") if words == ["pair"] else answer

    return run_module(f"http://127.0.0.1:{network.port}", module, given, {"computer": asked, "offline": network.cut})


def main():
    parser = argparse.ArgumentParser(description="Runs modules of this folder in WebKit.")
    parser.add_argument("--programs", help="the folder of the programs, for story and app")
    parser.add_argument("modules", nargs="+")
    options = parser.parse_args()
    failures = 0
    for module in options.modules:
        if module == "story":
            results = story.run(None, pathlib.Path(options.programs), in_story)
        elif module == "app":
            import webkit_app
            results = story.with_computer(pathlib.Path(options.programs), webkit_app.run)
        else:
            with pages.served() as address:
                results = run_module(address, module, {}, {"reader": run.independent_reader})
        failures += run.report(f"webkit.{module}", results)
    print(json.dumps({"failures": failures}))
    sys.exit(failures > 0)


if __name__ == "__main__":
    main()

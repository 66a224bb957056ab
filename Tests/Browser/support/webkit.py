"""WebKit, the engine of every browser on an iPhone: WebKitGTK's MiniBrowser, controlled by Selenium through
WebKitWebDriver.

It has no push messages, no WebAuthn and no motion sensors here; cryptography, storage, streams and service workers are
real."""

import contextlib
import glob
import os
import subprocess
import tempfile
import time

from selenium.webdriver import WebKitGTK, WebKitGTKOptions
from selenium.webdriver.webkitgtk.service import Service

import javascript
from storage import STRETCH_LITTLE

BROWSERS = "/usr/lib/*/webkit2gtk-4.*/MiniBrowser"

# Calls of the tests on `window` are queued until this program has processed them: WebDriver has no callbacks.
START = """
const [module, name, arg, functions, hasRealCost] = arguments;
window.hasRealCost = hasRealCost;
window.calls = [];
window.pendingCalls = new Map();
const ask = (name) => (...words) => new Promise((resolve, reject) => {
    const id = window.pendingCalls.size;
    window.pendingCalls.set(id, { resolve, reject });
    window.calls.push({ id, name, words });
});
for (const name of functions) window[name] = ask(name);
window.outcome = null;
import("/tests/harness.js").then(({ run }) => run(module, name, arg)).then(
    (failure) => { window.outcome = { failure }; }, (error) => { window.outcome = { failure: String(error) }; });
"""
NEXT = "return { call: window.calls.shift() ?? null, outcome: window.outcome };"
RESOLVE = """
const { resolve, reject } = window.pendingCalls.get(arguments[0]);
if (arguments[2] === null) resolve(arguments[1]);
else reject(new Error(arguments[2]));
"""


@contextlib.contextmanager
def screen():
    """Runs a virtual X server; yields its DISPLAY."""
    reading, writing = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(writing), "-screen", "0", "1280x900x24", "-nolisten", "tcp"],
        pass_fds=[writing],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(writing)
    try:
        with os.fdopen(reading) as number:
            yield f":{number.readline().strip()}"
    finally:
        server.terminate()
        server.wait()


@contextlib.contextmanager
def started(display):
    """Starts a browser with a profile of its own."""
    with tempfile.TemporaryDirectory(prefix="applocker-webkit-", ignore_cleanup_errors=True) as home:
        options = WebKitGTKOptions()
        options.binary_location = sorted(glob.glob(BROWSERS))[-1]
        options.add_argument("--automation")
        environment = {
            **os.environ,
            "DISPLAY": display,
            "HOME": home,
            "XDG_RUNTIME_DIR": home,
            "XDG_DATA_HOME": home,
            "XDG_CACHE_HOME": home,
            "WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS": "1",
            # Without OpenGL, whose software renderer would take more of the processor than the tests.
            "WEBKIT_DISABLE_COMPOSITING_MODE": "1",
            "GDK_BACKEND": "x11",
        }
        browser = WebKitGTK(options=options, service=Service(env=environment))
        browser.set_script_timeout(60)
        browser.set_page_load_timeout(60)
        try:
            yield browser
        finally:
            browser.quit()


def run(browser, module, name, functions, arg=None):
    """Runs one test of Tests/JavaScript in the open page; `functions`: what it may call, by name."""
    browser.execute_script(f"({STRETCH_LITTLE})();")
    has_real_cost = javascript.has_real_cost(module, name)
    browser.execute_script(START, module, name, arg or {}, list(functions), has_real_cost)
    while True:
        state = browser.execute_script(NEXT)
        if call := state["call"]:
            result, problem = None, None
            try:
                result = functions[call["name"]](*call["words"])
            except Exception as error:  # Makes the test in the page fail.
                problem = str(error)
            browser.execute_script(RESOLVE, call["id"], result, problem)
        elif state["outcome"]:
            assert state["outcome"]["failure"] is None, state["outcome"]["failure"]
            return
        else:
            time.sleep(0.02)

#!/usr/bin/env python3
"""Runs the tests of this folder in Chromium, each module in a page and a profile of its own.

    run.py MODULE...                 "vectors published ...": modules that need no hub
    run.py --programs FOLDER story app_gate ...   the modules that need a hub and a daemon, with the programs built there

Prints a line for each test; exits with 1 where one failed."""

import argparse
import base64
import importlib
import json
import pathlib
import subprocess
import sys
import tempfile

from playwright.sync_api import sync_playwright

import pages
from authenticator import virtual_authenticator

CHROMIUM = "/usr/bin/chromium"


def report(module, results):
    for result in results:
        print(f"{'FAILED' if result['failure'] else 'ok'}  {module}.{result['name']}  {result['milliseconds']} ms")
        if result["failure"]:
            print("        " + result["failure"].replace("\n", "\n        "))
    return sum(1 for result in results if result["failure"])


def independent_reader(things):
    """What Vectors/reader.py finds in what the page sealed. It needs the system's Python, which has `cryptography`."""
    with tempfile.TemporaryDirectory() as folder:
        manifest = []
        for index, thing in enumerate(things):
            file = f"{index}.sealed"
            (pathlib.Path(folder) / file).write_bytes(base64.b64decode(thing["sealed"]))
            manifest.append({**thing["entry"], "file": file})
        (pathlib.Path(folder) / "manifest.json").write_text(json.dumps(manifest))
        read = subprocess.run(
            ["/usr/bin/python3", "-B", str(pages.ROOT / "Vectors/reader.py"), folder], capture_output=True, text=True)
    return json.loads(read.stdout) if read.stdout else read.stderr


def run_module(browser, address, module, given, computer=None):
    """What the tests of one module found; a page that breaks or writes to the console is a failure too."""
    context = browser.new_context()
    page = context.new_page()
    noise = []
    page.on("pageerror", lambda error: noise.append(f"page error: {error}"))
    page.on("console", lambda message: noise.append(message.text) if "Content Security" in message.text else None)
    page.on("console", lambda message: print("    " + message.text) if message.type == "log" else None)
    page.expose_function("reader", independent_reader)
    session = context.new_cdp_session(page)

    def quota(count):
        """What the browser lets this page keep, in bytes; None: as much as it likes."""
        size = {} if count is None else {"quotaSize": count}
        session.send("Storage.overrideQuotaForOrigin", {"origin": address, **size})

    def authenticator(options):
        """A new one in the place of those from before; None: none at all."""
        session.send("WebAuthn.disable")
        session.send("WebAuthn.enable")
        if options is not None:
            authenticators.append(virtual_authenticator(session, **options))

    def verified(is_verified):
        """Whether the newest authenticator knows the person."""
        session.send("WebAuthn.setUserVerified", {"authenticatorId": authenticators[-1], "isUserVerified": is_verified})

    authenticators = []
    page.expose_function("quota", quota)
    page.expose_function("authenticator", authenticator)
    page.expose_function("verified", verified)
    if computer:
        page.expose_function("computer", computer)
        page.expose_function("offline", context.set_offline)
    page.goto(address + "/tests.html")
    results = page.evaluate(
        """async ([module, given]) => {
            const { run } = await import("/tests/harness.js");
            const { tests } = await import(`/tests/${module}.test.js`);
            return run(tests, given);
        }""", [module, given])
    if noise:
        results.append({"name": "aQuietPage", "failure": "\n".join(noise), "milliseconds": 0})
    context.close()
    return results


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs")
    parser.add_argument("modules", nargs="+")
    options = parser.parse_args()
    failures = 0
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-dev-shm-usage"])
        for module in options.modules:
            if module == "story":
                import story
                failures += report(module, story.run(browser, pathlib.Path(options.programs), run_module))
                continue
            if module in ("hidden", "offline", "notices", "installable"):
                failures += report(module, importlib.import_module(module).run(browser))
                continue
            if module in ("moments_hub", "moments_computer"):
                failures += report(module, importlib.import_module(module).run(browser, pathlib.Path(options.programs)))
                continue
            if module.startswith("app_"):
                import app
                failures += report(module, app.run(browser, pathlib.Path(options.programs), module))
                continue
            with pages.served() as address:
                failures += report(module, run_module(browser, address, module, {}))
        browser.close()
    print(json.dumps({"failures": failures}))
    sys.exit(failures > 0)


if __name__ == "__main__":
    main()

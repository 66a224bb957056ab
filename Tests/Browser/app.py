"""The companion as a person has it: its real pages in Chromium, a real hub and a real AppLocker behind them.

    run.py --programs FOLDER app_overview app_vault ...

A module app_*.py holds functions `test_*(phone, computer)`, run in the order in which they stand there, on one household
and one paired phone; `phone.another()` is a second device or size. A test fails by an exception. With APPLOCKER_PICTURES=FOLDER
`phone.picture("home")` is kept there as home-393-light.png."""

import importlib
import inspect
import json
import os
import pathlib
import shutil
import tempfile
import time
import traceback

from axe_playwright_python.base import AXE_SCRIPT

import story
from authenticator import virtual_authenticator

PIN = "739184"
# Of the page, as a person who turns away for a moment: Playwright pins pages visible.
TURN_AWAY = """() => {
    Object.defineProperty(document, "visibilityState", { value: "hidden", configurable: true });
    Object.defineProperty(document, "hidden", { value: true, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
    delete document.visibilityState;
    delete document.hidden;
    document.dispatchEvent(new Event("visibilitychange"));
}"""
IPHONE, DESKTOP = (393, 659), (1280, 800)


def eventually(condition, what="it", seconds=20):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"not in {seconds} s: {what}"
        time.sleep(0.1)


def traced(phone, body, least=100):
    """What `body` gives, and how long the page's own thread worked at most on one task meanwhile, in milliseconds of its processor's
    time: on a machine that is busy with something else a task waits, and that is not its own. At least `least` tasks were seen."""
    phone.browser.start_tracing(page=phone.page, categories=["toplevel"])
    try:
        result = body()
    finally:
        events = json.loads(phone.browser.stop_tracing())["traceEvents"]
    mains = {(one["pid"], one["tid"]) for one in events if one["name"] == "thread_name" and one["args"]["name"] == "CrRendererMain"}
    tasks = [one["tdur"] / 1000 for one in events if one["name"] == "ThreadControllerImpl::RunTask" and (one["pid"], one["tid"]) in mains and "tdur" in one]
    assert len(tasks) > least, f"{len(tasks)} tasks were seen"
    return result, max(tasks)


class Phone:
    def __init__(self, browser, computer, size=IPHONE, theme="light", name="Anna's phone", context=None):
        self.browser, self.computer, self.size, self.theme, self.name = browser, computer, size, theme, name
        self.address = f"http://127.0.0.1:{computer.port}"
        self.context = context or browser.new_context(
            viewport={"width": size[0], "height": size[1]}, color_scheme=theme, has_touch=size == IPHONE, device_scale_factor=2)
        self.context.set_default_timeout(15_000)
        self.noise = []
        self.page = self.open_page()

    def open_page(self):
        """A tab of this browser. What it complains about is a failure of the test that runs."""
        page = self.context.new_page()
        page.on("pageerror", lambda error: self.noise.append(f"page error: {error}"))
        page.on("console", lambda message: self.noise.append(message.text) if message.type == "error" and "net::ERR" not in message.text
                and "Failed to load resource" not in message.text else None)
        return page

    def another(self, size=IPHONE, theme="light", name="Desk"):
        return Phone(self.browser, self.computer, size, theme, name)

    def pair(self):
        """By the link that `applocker pair` prints, through the pages; ends on the first screen."""
        self.page.goto(self.computer.asked(["pair"]).replace(f"http://127.0.0.1:{self.computer.port}", self.address))
        self.page.get_by_label("Name of this device").fill(self.name)
        self.page.get_by_role("button", name="Pair this device").click()
        self.page.get_by_role("heading", name="Choose a PIN").wait_for(timeout=60_000)
        self.type_pin()
        self.page.get_by_role("heading", name="Type it again").wait_for()
        self.type_pin()
        self.page.get_by_role("heading", name="Home", level=1).wait_for(timeout=30_000)
        return self

    def type_pin(self, pin=PIN):
        """On the round keys, then the one that goes on."""
        pad = self.page.locator(".keypad").last
        pad.locator("button:not([disabled])").first.wait_for()
        for digit in pin:
            pad.get_by_role("button", name=digit, exact=True).click()
        pad.locator(".key-go").click()

    def unlock(self, pin=PIN):
        self.page.get_by_role("heading", name="AppLocker is locked").wait_for()
        self.type_pin(pin)
        self.page.locator(".tabs").wait_for(timeout=30_000)

    def go(self, screen, heading=None):
        self.page.evaluate("(address) => { location.hash = `#/${address}`; }", screen)
        if heading:
            self.page.get_by_role("heading", name=heading, level=1).wait_for()

    def picture(self, name, page=None):
        folder = os.environ.get("APPLOCKER_PICTURES")
        if not folder:
            return
        pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
        (page or self.page).screenshot(path=f"{folder}/{name}-{self.size[0]}-{self.theme}.png", animations="disabled")

    def has_authenticator(self):
        """That knows the person's finger; the page's address must be a name. `WebAuthn.disable` in what it returns takes it away."""
        session = self.context.new_cdp_session(self.page)
        virtual_authenticator(session)
        return session

    def becomes(self, theme):
        self.theme = theme
        self.page.emulate_media(color_scheme=theme)

    def check(self, page=None):
        """Both themes: nothing that axe finds, and nothing wider than the screen. Themes differ in their colours alone."""
        page, before = page or self.page, self.theme
        if not page.evaluate("() => 'axe' in window"):
            page.evaluate(AXE_SCRIPT)
        other = "dark" if before == "light" else "light"
        for theme, rules in ((other, {"runOnly": ["color-contrast", "link-in-text-block"]}), (before, {})):
            page.emulate_media(color_scheme=theme)
            # A colour on its way from one theme to the other is neither, nor is that of a button that may be pressed from now on: what is
            # found is looked at once more when it has come.
            for _ in range(2):
                page.evaluate("() => Promise.all(document.getAnimations().map((one) => one.finished.catch(() => {})))")
                found = page.evaluate("async (options) => (await axe.run(document, options)).violations", {"resultTypes": ["violations"], **rules})
                told = [f"{one['id']}: {node['html'][:160]} {node.get('failureSummary', '')[:300]}" for one in found for node in one["nodes"]]
                if not told:
                    break
            assert not told, f"axe, {theme}: " + "\n".join(told)
        widths = page.evaluate("() => [innerWidth, document.scrollingElement.scrollWidth]")
        assert widths[0] == self.size[0] and widths[1] <= widths[0], f"wider than the screen: {widths}"

    def quiet(self):
        noise, self.noise = self.noise, []
        assert not noise, "the page complained: " + "\n".join(noise)

    def close(self):
        self.context.close()


def told(error):
    """What went wrong, and where in these files: the frames of the library between tell nothing."""
    frames = [one for one in traceback.extract_tb(error.__traceback__) if pathlib.Path(one.filename).parent == pathlib.Path(__file__).parent]
    return "".join([*traceback.format_list(frames), *traceback.format_exception_only(error)])


def run(browser, programs, module):
    """The results of one module, as harness.js has them."""
    tests = [one for name, one in inspect.getmembers(importlib.import_module(module), inspect.isfunction) if name.startswith("test_")]
    tests.sort(key=lambda one: one.__code__.co_firstlineno)
    only = os.environ.get("APPLOCKER_ONLY", "")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="applocker-app-"))
    computer, phone, results = None, None, []
    try:
        computer = story.Computer(programs, folder)
        phone = Phone(browser, computer)
        phone.pair()
        for test in tests:
            if only not in test.__name__:
                continue
            start, failure = time.monotonic(), None
            try:
                test(phone, computer)
                phone.quiet()
            except Exception as error:  # Whatever it is, the test failed by it.
                failure = told(error)
                phone.picture(f"failed-{test.__name__}")
                phone.noise.clear()
            results.append({"name": test.__name__[5:], "failure": failure, "milliseconds": round((time.monotonic() - start) * 1000)})
            print(f"    {test.__name__[5:]}: {'FAILED' if failure else 'ok'}", flush=True)
    except Exception as error:
        if phone:
            phone.picture("failed-pairing")
        noise = "\n".join(phone.noise if phone else [])
        results.append({"name": "the phone is paired", "failure": f"{told(error)}{noise}", "milliseconds": 0})
    finally:
        if computer:
            computer.end()
        shutil.rmtree(folder, ignore_errors=True)
    return results

"""The companion as a person has it: its real pages in Chromium, a real hub and a real AppLocker behind them.

With APPLOCKER_PICTURES=FOLDER `phone.picture("home")` is kept there as home-393-light.png."""

import json
import os
import pathlib

from axe_playwright_python.base import AXE_SCRIPT

import storage
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


class Phone:
    """A browser of its own with the companion in it. `new_context` is the fixture's: what failed leaves a trace."""

    def __init__(self, new_context, computer, size=IPHONE, theme="light", name="Anna's phone", context=None, host="127.0.0.1",
                 has_service_worker=False, has_clock=False):
        self.new_context, self.computer, self.size, self.theme, self.name = new_context, computer, size, theme, name
        self.address = f"http://{host}:{computer.port}"
        self.has_service_worker, self.has_clock = has_service_worker, has_clock
        # Nothing moves: what is looked at stays as it is. What moves on purpose is looked at in contexts that say so.
        self.context = context or new_context(
            viewport={"width": size[0], "height": size[1]}, color_scheme=theme, has_touch=size == IPHONE, device_scale_factor=2,
            reduced_motion="reduce", service_workers="allow" if has_service_worker else "block")
        self.context.set_default_timeout(60_000)
        self.noise = []
        self.page = self.open_page()

    @property
    def browser(self):
        return self.context.browser

    def open_page(self):
        """A tab of this browser. What it complains about is a failure of the test that runs."""
        page = self.context.new_page()
        if self.has_clock:
            page.clock.install()
        page.on("pageerror", lambda error: self.noise.append(f"page error: {error}"))
        page.on("console", lambda message: self.noise.append(message.text) if message.type == "error" and "net::ERR" not in message.text
                and "Failed to load resource" not in message.text else None)
        return page

    def another(self, size=IPHONE, theme="light", name="Desk", host="127.0.0.1"):
        return Phone(self.new_context, self.computer, size, theme, name, None, host, self.has_service_worker, self.has_clock)

    def begin(self, taken):
        """With what the paired phone of the household kept (storage.py), unlocked, on the first screen."""
        self.page.goto(self.address + "/tests.html")
        # It was paired at 127.0.0.1; its hub is where its own pages come from.
        storage.put(self.page, json.loads(json.dumps(taken).replace(f"http://127.0.0.1:{self.computer.port}", self.address)))
        self.page.goto(self.address)
        self.unlock()
        self.page.get_by_role("heading", name="Home", level=1).wait_for()
        return self

    def pair(self, type_pin=None):
        """By the link that `applocker pair` prints, through the pages; ends on the first screen."""
        type_pin = type_pin or self.type_pin
        self.page.goto(self.computer.pair().replace(f"http://127.0.0.1:{self.computer.port}", self.address))
        self.page.get_by_label("Name of this device").fill(self.name)
        self.page.get_by_role("button", name="Pair this device").click()
        self.page.get_by_role("heading", name="Choose a PIN").wait_for()
        type_pin()
        self.page.get_by_role("heading", name="Type it again").wait_for()
        type_pin()
        self.page.get_by_role("heading", name="Home", level=1).wait_for()
        return self

    def tap_pin(self, pin=PIN):
        """On the round keys, then the one that goes on."""
        pad = self.page.locator(".keypad").last
        pad.locator("button:not([disabled])").first.wait_for()
        for digit in pin:
            pad.get_by_role("button", name=digit, exact=True).click()
        pad.locator(".key-go").click()

    def type_pin(self, pin=PIN):
        """On the keyboard, which takes a tenth of the time."""
        self.page.locator(".keypad").last.locator("button:not([disabled])").first.wait_for()
        self.page.keyboard.type(pin)
        self.page.keyboard.press("Enter")

    def unlock(self, pin=PIN):
        self.page.get_by_role("heading", name="AppLocker is locked").wait_for()
        self.type_pin(pin)
        self.page.locator(".tabs").wait_for()

    def go(self, screen, heading=None):
        self.page.evaluate("(address) => { location.hash = `#/${address}`; }", screen)
        if heading:
            self.page.get_by_role("heading", name=heading, level=1).wait_for()

    def inside(self, body, given=None, pin=PIN):
        """Runs a function's body in the page, with another companion on what this browser keeps, unlocked: `companion`, `given`. What
        it changed is sent before it ends, unless the hub is away."""
        return self.page.evaluate("""async ([pin, given]) => {
            const { Companion } = await import("/core/companion.js");
            const companion = await Companion.open();
            await companion.unlockWithPIN(pin);
            try {
                const result = await (async () => { BODY })();
                for (let round = 0; round < 300 && (await companion.report()).waiting > 0; round += 1) await new Promise((done) => setTimeout(done, 10));
                return result;
            } finally {
                companion.close();
            }
        }""".replace("BODY", body), [pin, given])

    def lock(self):
        """As another tab of this browser would."""
        self.page.evaluate("() => new BroadcastChannel('applocker').postMessage({ kind: 'lock' })")
        self.page.get_by_role("heading", name="AppLocker is locked").wait_for()

    def confirm(self, question):
        """The gate is asked once more by a sheet of this heading."""
        heading = self.page.get_by_role("heading", name=question)
        heading.wait_for()
        self.type_pin()
        heading.wait_for(state="detached")

    def online_again(self):
        self.page.evaluate("() => window.dispatchEvent(new Event('online'))")

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
            # A colour on its way from one theme to the other, or of a button that may be pressed from now on, is neither.
            page.evaluate("() => Promise.all(document.getAnimations().map((one) => one.finished.catch(() => {})))")
            found = page.evaluate("async (options) => (await axe.run(document, options)).violations", {"resultTypes": ["violations"], **rules})
            violations = [f"{one['id']}: {node['html'][:160]} {node.get('failureSummary', '')[:300]}" for one in found for node in one["nodes"]]
            assert not violations, f"axe, {theme}: " + "\n".join(violations)
        widths = page.evaluate("() => [innerWidth, document.scrollingElement.scrollWidth]")
        assert widths[0] == self.size[0] and widths[1] <= widths[0], f"wider than the screen: {widths}"

    def quiet(self):
        noise, self.noise = self.noise, []
        assert not noise, "the page complained: " + "\n".join(noise)

    def close(self):
        self.context.close()

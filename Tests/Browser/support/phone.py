"""The companion as a person uses it: its real pages in Chromium, with a real hub and a real AppLocker.

With APPLOCKER_PICTURES=FOLDER, `phone.picture("home")` saves a screenshot there as home-393-light.png."""

import json
import os
import pathlib

from axe_playwright_python.base import AXE_SCRIPT

import storage
from authenticator import virtual_authenticator

PIN = "739184"
# Hides the page for a moment, as if the person switched apps: Playwright keeps pages visible.
TURN_AWAY = """() => {
    Object.defineProperty(document, "visibilityState", { value: "hidden", configurable: true });
    Object.defineProperty(document, "hidden", { value: true, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
    delete document.visibilityState;
    delete document.hidden;
    document.dispatchEvent(new Event("visibilitychange"));
}"""
# The size of text, in percent of a browser's default size.
ROOT_SIZE = "(percent) => document.documentElement.style.setProperty('font-size', `${0.16 * percent}px`)"
IPHONE, DESKTOP = (393, 659), (1280, 800)


class Phone:
    """A browser of its own with the companion. `new_context` is the fixture's, which keeps a trace of a failure."""

    def __init__(
        self,
        new_context,
        computer,
        size=IPHONE,
        theme="light",
        name="Anna's phone",
        context=None,
        host="127.0.0.1",
        has_service_worker=False,
        has_clock=False,
        is_sharp=False,
        zone=None,
    ):
        self.new_context, self.computer, self.size, self.theme, self.name = new_context, computer, size, theme, name
        self.address = f"http://{host}:{computer.port}"
        self.has_service_worker, self.has_clock = has_service_worker, has_clock
        # Two pixels a point, as phones have. Most tests look at no pixels, and drawing four times as many takes a tenth
        # of their time.
        self.is_sharp = is_sharp or "APPLOCKER_PICTURES" in os.environ
        # Animations are off, so that a test sees a stable page. Tests of animations use contexts of their own.
        self.context = context
        if context is None:
            self.context = storage.companion_context(
                new_context,
                viewport={"width": size[0], "height": size[1]},
                color_scheme=theme,
                has_touch=size == IPHONE,
                device_scale_factor=2 if self.is_sharp else 1,
                # Without one it is midday (conftest.py).
                timezone_id=zone,
                reduced_motion="reduce",
                service_workers="allow" if has_service_worker else "block",
            )
        self.context.set_default_timeout(60_000)
        self.noise = []
        self.page = self.open_page()

    @property
    def browser(self):
        return self.context.browser

    def open_page(self):
        """Opens a tab of this browser. Errors on its console fail the test."""
        page = self.context.new_page()
        if self.has_clock:
            page.clock.install()
        page.on("pageerror", lambda error: self.noise.append(f"page error: {error}"))
        page.on(
            "console",
            lambda message: (
                self.noise.append(message.text)
                if message.type == "error"
                and "net::ERR" not in message.text
                and "Failed to load resource" not in message.text
                else None
            ),
        )
        return page

    def another(self, size=IPHONE, theme="light", name="Desk", host="127.0.0.1"):
        return Phone(
            self.new_context, self.computer, size, theme, name, None, host, self.has_service_worker, self.has_clock
        )

    def begin(self, stored):
        """Starts with the stored data of the household's paired phone (storage.py), unlocked, on the first screen."""
        self.page.goto(self.address + "/tests.html")
        # The data names the hub at 127.0.0.1; here the hub has the address of the pages.
        storage.restore(
            self.page, json.loads(json.dumps(stored).replace(f"http://127.0.0.1:{self.computer.port}", self.address))
        )
        self.page.goto(self.address)
        self.unlock()
        self.page.get_by_role("heading", name="Home", level=1).wait_for()
        return self

    def pair(self, type_pin=None):
        """Pairs through the pages with the link that `applocker pair` prints; ends on the first screen."""
        type_pin = type_pin or self.type_pin
        self.page.goto(self.computer.pair().replace(f"http://127.0.0.1:{self.computer.port}", self.address))
        self.page.get_by_label("Name of this device").fill(self.name)
        self.page.get_by_role("button", name="Pair this device").click()
        self.page.get_by_role("heading", name="Choose a PIN").wait_for()
        type_pin()
        self.page.get_by_role("heading", name="Repeat the PIN").wait_for()
        type_pin()
        self.page.get_by_role("heading", name="Home", level=1).wait_for()
        return self

    def tap_pin(self, pin=PIN):
        """Taps the PIN on the keypad."""
        pad = self.page.locator(".keypad").last
        pad.locator("button:not([disabled])").first.wait_for()
        for digit in pin:
            pad.get_by_role("button", name=digit, exact=True).click()
        pad.locator(".key-go").click()

    def type_pin(self, pin=PIN):
        """Types the PIN on the keyboard, ten times as fast as on the keypad."""
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

    def inside(self, body, arg=None, pin=PIN):
        """Runs `body` as a function in the page, with `arg` and a second companion on the same stored data, unlocked:
        `companion`. Its changes are sent to the hub before this returns; it fails if they aren't within some minutes.
        """
        return self.page.evaluate(
            """async ([pin, arg]) => {
            const { Companion } = await import("/session/companion.js");
            const companion = await Companion.open();
            await companion.unlockWithPIN(pin);
            try {
                const result = await (async () => { BODY })();
                for (let round = 0; ; round += 1) {
                    const { waiting } = await companion.report();
                    if (waiting === 0) return result;
                    if (round === 20_000) throw new Error(`${waiting} changes were not sent to the hub.`);
                    await new Promise((done) => setTimeout(done, 10));
                }
            } finally {
                companion.close();
            }
        }""".replace("BODY", body),
            [pin, arg],
        )

    def stored(self, fact, otherwise=None):
        """A fact that this browser stores, which can be read while AppLocker is locked."""
        return self.page.evaluate(
            """async ([fact, otherwise]) => {
            const { CompanionStore } = await import("/store/store.js");
            const store = await CompanionStore.open();
            try { return await store.fact(fact, otherwise); } finally { store.close(); }
        }""",
            [fact, otherwise],
        )

    def lock(self):
        """Locks the app as another tab of this browser would."""
        self.page.evaluate("() => new BroadcastChannel('applocker').postMessage({ kind: 'lock' })")
        self.page.get_by_role("heading", name="AppLocker is locked").wait_for()

    def confirm(self, heading=None):
        """Enters the PIN in the sheet that asks for it again; `heading`: the sheet's heading, if the test checks it."""
        sheet = self.page.get_by_role("heading", name=heading) if heading else self.page.locator("dialog")
        sheet.wait_for()
        self.type_pin()
        sheet.wait_for(state="detached")

    def online_again(self):
        self.page.evaluate("() => window.dispatchEvent(new Event('online'))")

    def picture(self, name, page=None):
        folder = os.environ.get("APPLOCKER_PICTURES")
        if not folder:
            return
        pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
        (page or self.page).screenshot(path=f"{folder}/{name}-{self.size[0]}-{self.theme}.png", animations="disabled")

    def has_authenticator(self):
        """Adds an authenticator that verifies the user; the page's address must be a host name. `WebAuthn.disable` in
        the returned session removes it."""
        session = self.context.new_cdp_session(self.page)
        virtual_authenticator(session)
        return session

    def becomes(self, theme):
        self.theme = theme
        self.page.emulate_media(color_scheme=theme)

    def check(self, page=None):
        """In both themes: axe finds no violation, and nothing is wider than the screen. Themes differ in their colours
        only."""
        page, before = page or self.page, self.theme
        if not page.evaluate("() => 'axe' in window"):
            page.evaluate(AXE_SCRIPT)
        other = "dark" if before == "light" else "light"
        for theme, rules in ((other, {"runOnly": ["color-contrast", "link-in-text-block"]}), (before, {})):
            page.emulate_media(color_scheme=theme)
            # axe would measure the colours of a transition, from one theme to the other or of a button that was just
            # enabled.
            page.evaluate("() => Promise.all(document.getAnimations().map((one) => one.finished.catch(() => {})))")
            found = page.evaluate(
                "async (options) => (await axe.run(document, options)).violations",
                {"resultTypes": ["violations"], **rules},
            )
            violations = [
                f"{one['id']}: {node['html'][:160]} {node.get('failureSummary', '')[:300]}"
                for one in found
                for node in one["nodes"]
            ]
            assert not violations, f"axe, {theme}: " + "\n".join(violations)
        self.check_width(page)

    def check_width(self, page=None):
        """Nothing is wider than the screen."""
        widths = (page or self.page).evaluate("() => [innerWidth, document.scrollingElement.scrollWidth]")
        assert widths[0] == self.size[0] and widths[1] <= widths[0], f"wider than the screen: {widths}"

    def quiet(self):
        noise, self.noise = self.noise, []
        assert not noise, "errors on the console: " + "\n".join(noise)

    def close(self):
        self.context.close()

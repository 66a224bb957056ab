"""Panic gestures lock immediately and show a calculator: keys, shaking, laying the phone face down, three fingers."""

import math
import time

import pytest

import clock
from disguise_steps import disguised, escapes, harmless, hold, open_with, press, wait_until_handled
from phone import PIN, Phone
from settings_steps import page_of
from waiting import eventually, eventually_equals

pytestmark = pytest.mark.computer_is_off

# What the service worker reads before it shows a notification.
WORKER_IDENTITY = """async () => {
    const [{ CompanionStore }, { factNames, identityOf }] =
        await Promise.all([import("/store/store.js"), import("/workers/notification-text.js")]);
    const store = await CompanionStore.open();
    const identity = identityOf(await store.fact(factNames.identity, "applocker"));
    store.close();
    return identity;
}"""


@pytest.fixture
def phone_with_sensors(new_whole_context, household, computer):
    """In the whole browser: the headless shell has no sensors. The test moves the clock."""
    phone = Phone(new_whole_context, computer, has_clock=True).begin(household.paired)
    yield phone
    phone.quiet()


def leave_calculator(phone):
    """Returns from the calculator by holding its display. Where the test moves the clock, by keys: there a hold has no
    length, because events get the page's time when it reads them."""
    page = phone.page
    if phone.has_clock:
        page.keyboard.press("Shift+Enter")
    else:
        hold(page, page.locator(".calculator-display"))
    phone.unlock()
    assert page.title().endswith("AppLocker"), page.title()


def switch(phone, name):
    page = page_of(phone, "panic", "Panic")
    page.get_by_role("switch", name=name).click()
    # The setting is effective once it is stored.
    eventually(lambda: "true" in (page.evaluate("() => localStorage.getItem('applocker-panic-ways')") or ""), name)
    return page


def still_shown(page, heading):
    page.get_by_role("heading", name=heading, level=1).wait_for()
    assert page.locator(".calculator").count() == 0


class Fingers:
    """Fingers on the screen, by timestamps of the events: a slow machine makes no tap longer."""

    def __init__(self, phone):
        self.page, self.session = phone.page, phone.context.new_cdp_session(phone.page)
        # Not before the page was loaded: browsers clamp timestamps to that.
        self.time = time.time()
        # Runs after the page's own listeners, which act at once.
        self.page.evaluate("""() => {
            window.handled = { taps: 0, holds: 0 };
            window.addEventListener("touchend", ({ touches }) => void (handled.taps += touches.length === 0));
            window.addEventListener("pointerup", () => void (handled.holds += 1));
        }""")

    def handled(self, kind):
        return self.page.evaluate("(kind) => handled[kind]", kind)

    def send(self, kind, points, later):
        self.time += later
        self.session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points, "timestamp": self.time})

    def tap(self, fingers):
        before = self.handled("taps")
        self.send("touchStart", [{"x": 80 + 70 * index, "y": 330, "id": index} for index in range(fingers)], 0.08)
        self.send("touchEnd", [], 0.04)
        eventually(lambda: self.handled("taps") > before, f"{fingers} fingers tapped")

    def hold(self, x, y, seconds):
        """Holds with slight movement."""
        before = self.handled("holds")
        self.send("touchStart", [{"x": x, "y": y}], 1)
        self.send("touchMove", [{"x": x + 4, "y": y + 3}], seconds / 2)
        self.send("touchEnd", [], seconds / 2)
        eventually(lambda: self.handled("holds") > before, f"held for {seconds} s")


def directed(beta, gamma):
    """The direction of a phone with these angles: several angles mean the same direction."""
    beta, gamma = math.radians(beta), math.radians(gamma)
    return [-math.cos(beta) * math.sin(gamma), math.sin(beta), math.cos(beta) * math.cos(gamma)]


class Sensors:
    """The phone's motion and orientation. The browser delivers sensor readings at any time, and the gestures depend on
    time: the clock is paused, and the test advances it."""

    kinds = ("accelerometer", "linear-acceleration", "gyroscope")

    def __init__(self, phone):
        self.page, self.session = phone.page, phone.context.new_cdp_session(phone.page)
        for kind in self.kinds:
            self.session.send(
                "Emulation.setSensorOverrideEnabled",
                {"enabled": True, "type": kind, "metadata": {"available": True, "maximumFrequency": 60}},
            )
        self.page.evaluate("""() => {
            window.received = { times: 0, motion: [], heavy: [], held: [] };
            const parts = ({ x, y, z }) => [x, y, z];
            window.addEventListener("devicemotion", ({ acceleration, accelerationIncludingGravity }) => {
                received.times += 1;
                if (!acceleration) return;
                [received.motion, received.heavy] = [parts(acceleration), parts(accelerationIncludingGravity)];
            });
            window.addEventListener("deviceorientation", ({ beta, gamma }) => void (received.held = [beta, gamma]));
        }""")

    def pause(self, milliseconds):
        self.page.clock.fast_forward(milliseconds)

    def wait_for_motion(self):
        """Waits for a motion event; browsers send them continuously."""
        before = self.page.evaluate("() => received.times")
        eventually(lambda: self.page.evaluate("() => received.times") > before, "the page receives motion events")

    def are(self, name, values, conversion=lambda *values: values):
        found = self.page.evaluate("(name) => received[name]", name)
        # Browsers round to a tenth.
        return (
            bool(found)
            and None not in found
            and all(abs(one - other) < 0.1 for one, other in zip(conversion(*found), conversion(*values), strict=True))
        )

    def moved(self, x, y, z, gravity=(0, 0, 9.8)):
        heavy = [one + other for one, other in zip((x, y, z), gravity, strict=True)]
        for kind, values in zip(self.kinds, (heavy, (x, y, z), (0, 0, 0)), strict=True):
            reading = {"xyz": dict(zip("xyz", values, strict=True))}
            self.session.send("Emulation.setSensorOverrideReadings", {"type": kind, "reading": reading})
        eventually(lambda: self.are("motion", (x, y, z)) and self.are("heavy", heavy), f"moved {x} {y} {z}")

    def held(self, beta, gamma):
        self.session.send("DeviceOrientation.setDeviceOrientationOverride", {"alpha": 0, "beta": beta, "gamma": gamma})
        eventually(lambda: self.are("held", (beta, gamma), directed), f"held {beta} {gamma}")

    def shake(self):
        for _ in range(8):
            for x in (25, -25):
                self.moved(x, 0, 0)
                self.pause(90)


def test_escape_three_times_locks_every_tab(phone):
    page = phone.page
    phone.go("notes", "Notes")
    # The app requests the PIN without a click.
    page.get_by_role("heading", name="Open your notes").wait_for()
    other = phone.open_page()
    other.goto(phone.address)
    other.get_by_role("heading", name="AppLocker is locked").wait_for()
    escapes(page, (0, 0.1, 1.2))
    still_shown(page, "Notes")
    escapes(page, (5, 5.1, 5.2))
    harmless(page)
    harmless(other)
    assert page.evaluate("() => location.hash") == ""
    phone.check()
    phone.picture("panic")
    for one in (page, other):
        one.reload()
        harmless(one)
    eventually_equals(lambda: page.evaluate(WORKER_IDENTITY), "calculator", "notifications show it too")
    # The previous screen is not behind the calculator.
    page.go_back()
    page.wait_for_url(f"{phone.address}/#/notes")
    harmless(page)
    leave_calculator(phone)
    other.get_by_role("heading", name="AppLocker is locked").wait_for()
    eventually_equals(lambda: page.evaluate(WORKER_IDENTITY), "applocker", "notifications show it again")


def test_the_panic_gesture_hides_the_page_immediately(phone):
    state = phone.page.evaluate("""() => {
        for (let count = 0; count < 3; count++) {
            window.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", code: "Escape" }));
        }
        // In the same task: nothing of what was open was drawn in between.
        const number = document.querySelector(".calculator-number").textContent;
        return [document.title, document.querySelector(".tabs"), number];
    }""")
    assert state == ["Calculator", None, "0"], state
    # The PIN also unlocks it.
    open_with(phone.page)
    assert phone.page.title().endswith("AppLocker")
    phone.page.reload()
    phone.unlock()


def test_a_sheet_is_closed_too(phone):
    page = page_of(phone, "unlock", "PIN, Face ID and fingerprint")
    page.get_by_role("switch", name="Require the PIN for notes").click()
    page.locator("dialog[open]").wait_for()
    escapes(page)
    harmless(page)
    assert page.locator("dialog[open]").count() == 0
    # A closed one is removed with the next frame.
    page.locator("dialog").wait_for(state="detached")
    leave_calculator(phone)


def test_the_lock_screen_is_hidden_too(phone):
    phone.lock()
    escapes(phone.page)
    harmless(phone.page)
    leave_calculator(phone)


def test_a_chosen_shortcut_replaces_escape(phone):
    page = page_of(phone, "panic", "Panic")
    phone.check()
    phone.picture("settings-panic")
    page.get_by_role("button", name="Other keys").click()
    page.get_by_role("heading", name="Press the keys").wait_for()
    page.keyboard.press("l")
    page.get_by_text("Use Control, Alt or Command with another key").wait_for()
    phone.check()
    page.keyboard.press("Control+Shift+L")
    page.get_by_text("Ctrl + Shift + L").wait_for()
    phone.check()
    phone.picture("settings-panic-keys")
    escapes(page)
    still_shown(page, "Panic")
    page.keyboard.press("Control+Shift+L")
    harmless(page)
    leave_calculator(phone)
    page = page_of(phone, "panic", "Panic")
    page.get_by_role("button", name="Off", exact=True).click()
    page.keyboard.press("Control+Shift+L")
    escapes(page)
    still_shown(page, "Panic")
    page.get_by_role("button", name="Escape three times").click()
    # Earlier presses no longer count.
    escapes(page, (5, 5.1, 5.2))
    harmless(page)
    leave_calculator(phone)


def test_try_it_now_shows_the_calculator(phone):
    page = page_of(phone, "panic", "Panic")
    page.get_by_role("button", name="Try it now").click()
    harmless(page)
    page.keyboard.press("Shift+Enter")
    phone.unlock()


def test_a_shake_locks_and_a_walk_does_not(phone_with_sensors):
    phone = phone_with_sensors
    page = phone.page
    sensors = Sensors(phone)
    with clock.paused(sensors.page):
        sensors.shake()
    # Off by default.
    still_shown(page, "Home")
    switch(phone, "Shake the phone")
    with clock.paused(sensors.page):
        for step in range(40):
            sensors.moved(2, 8 * math.sin(step), 1)
            sensors.pause(50)
        still_shown(page, "Panic")
        sensors.shake()
    harmless(page)
    leave_calculator(phone)


def test_laying_the_phone_face_down_locks_and_face_up_does_not(phone_with_sensors):
    phone = phone_with_sensors
    page = phone.page
    sensors = Sensors(phone)
    sensors.held(45, 0)
    sensors.moved(0, 0, 0)
    switch(phone, "Lay it face down")
    with clock.paused(sensors.page):
        sensors.held(60, 5)
        sensors.pause(200)
        sensors.held(1, 0)
        sensors.pause(1500)
        sensors.wait_for_motion()
        still_shown(page, "Panic")
        for beta in (90, 140):
            sensors.held(beta, 2)
            sensors.pause(100)
        sensors.moved(0, 0, 0, (0, 0, -9.8))
        sensors.held(179, 1)
        sensors.wait_for_motion()
        still_shown(page, "Panic")
        sensors.pause(1500)
    harmless(page)
    leave_calculator(phone)


def test_three_fingers_three_times_lock_and_two_do_not(phone):
    page = switch(phone, "Tap with three fingers")
    fingers = Fingers(phone)
    for count in (1, 1, 1, 2, 2, 2, 4, 4, 4, 3, 3):
        fingers.tap(count)
    still_shown(page, "Panic")
    fingers.time += 2
    for _ in range(3):
        fingers.tap(3)
    harmless(page)
    leave_calculator(phone)


def test_in_disguise_the_panic_shows_the_disguise(phone):
    page = phone.page
    disguised(phone)
    escapes(page)
    harmless(page)
    # In the disguise, holding the display doesn't open the lock screen.
    hold(page, page.locator(".calculator-display"))
    wait_until_handled(page)
    harmless(page)
    press(page, PIN + "==")
    page.locator(".tabs").wait_for()
    assert page.title() == "Calculator"
    page_of(phone, "disguise", "Disguise")
    page.get_by_label("Its own name and icon").click()
    page.get_by_text("Disguise turned off").wait_for()


def test_with_letters_in_the_pin_the_lock_screen_is_reachable(phone):
    page = phone.page
    page.evaluate("() => localStorage.setItem('applocker-panic-ways', 'no JSON')")
    page.reload()
    phone.unlock()
    escapes(page)
    harmless(page)
    box = page.locator(".calculator-display").bounding_box()
    fingers = Fingers(phone)
    fingers.hold(box["x"] + 120, box["y"] + 80, 0.3)
    harmless(page)
    fingers.hold(box["x"] + 120, box["y"] + 80, 0.9)
    page.get_by_role("button", name="Use letters").click()
    page.get_by_label("PIN", exact=True).fill(PIN)
    page.keyboard.press("Enter")
    page.locator(".tabs").wait_for()
    eventually(lambda: page.evaluate("() => localStorage.getItem('applocker-panic')") is None)

"""What locks at once and shows a calculator: keys, a shake, the phone on its face, three fingers."""

import contextlib
import datetime
import math
import time

import pytest

from disguise_steps import asked_nothing, disguised, escapes, harmless, hold, open_with, press
from phone import PIN, Phone
from settings_steps import page_of
from waiting import eventually

pytestmark = pytest.mark.computer_is_off


@pytest.fixture
def phone_with_sensors(new_whole_context, household, computer):
    """In the whole browser: the engine alone has no sensors. The test moves its time."""
    phone = Phone(new_whole_context, computer, has_clock=True).begin(household.paired)
    yield phone
    phone.quiet()


def comes_back(phone):
    """By the display that is held, through the gate; by keys where the test moves time, as nothing is held there: events are stamped
    when the page looks at their time, not when they happen."""
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
    # Heeded as soon as it is kept.
    eventually(lambda: "true" in (page.evaluate("() => localStorage.getItem('applocker-panic-ways')") or ""), name)
    return page


def still_shown(page, heading):
    page.get_by_role("heading", name=heading, level=1).wait_for()
    assert page.locator(".calculator").count() == 0


class Fingers:
    """On the screen, at times of their own: a busy machine makes no tap longer than it was."""

    def __init__(self, phone):
        self.page, self.session = phone.page, phone.context.new_cdp_session(phone.page)
        # Not before the page began: browsers make that its beginning.
        self.time = time.time()
        # After the page's own listeners: what they do, they do at once.
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
        """And trembles."""
        before = self.handled("holds")
        self.send("touchStart", [{"x": x, "y": y}], 1)
        self.send("touchMove", [{"x": x + 4, "y": y + 3}], seconds / 2)
        self.send("touchEnd", [], seconds / 2)
        eventually(lambda: self.handled("holds") > before, f"held for {seconds} s")


def directed(beta, gamma):
    """The way that a phone looks which is held so: other angles can mean the same."""
    beta, gamma = math.radians(beta), math.radians(gamma)
    return [-math.cos(beta) * math.sin(gamma), math.sin(beta), math.cos(beta) * math.cos(gamma)]


class Sensors:
    """How this phone is moved and held. What a sensor says reaches the page when the browser likes, and its moment counts: so time
    stands still, and passes where the test says so."""

    kinds = ("accelerometer", "linear-acceleration", "gyroscope")

    def __init__(self, phone):
        self.page, self.session = phone.page, phone.context.new_cdp_session(phone.page)
        for kind in self.kinds:
            self.session.send("Emulation.setSensorOverrideEnabled", {"enabled": True, "type": kind, "metadata": {"available": True, "maximumFrequency": 60}})
        self.page.evaluate("""() => {
            window.felt = { times: 0, motion: [], heavy: [], held: [] };
            const parts = ({ x, y, z }) => [x, y, z];
            window.addEventListener("devicemotion", ({ acceleration, accelerationIncludingGravity }) => {
                felt.times += 1;
                if (acceleration) [felt.motion, felt.heavy] = [parts(acceleration), parts(accelerationIncludingGravity)];
            });
            window.addEventListener("deviceorientation", ({ beta, gamma }) => void (felt.held = [beta, gamma]));
        }""")

    @contextlib.contextmanager
    def standing_still(self):
        now = self.page.evaluate("() => Date.now()")
        self.page.clock.pause_at(datetime.datetime.fromtimestamp(now / 1000 + 15))
        yield
        self.page.clock.resume()

    def pause(self, milliseconds):
        self.page.clock.fast_forward(milliseconds)

    def feel(self):
        """Browsers tell of motion all the time: waits until they did."""
        before = self.page.evaluate("() => felt.times")
        eventually(lambda: self.page.evaluate("() => felt.times") > before, "the page feels motion")

    def are(self, name, values, conversion=lambda *values: values):
        found = self.page.evaluate("(name) => felt[name]", name)
        # Browsers round to a tenth.
        return bool(found) and None not in found and all(
            abs(one - other) < 0.1 for one, other in zip(conversion(*found), conversion(*values), strict=True))

    def moved(self, x, y, z, gravity=(0, 0, 9.8)):
        heavy = [one + other for one, other in zip((x, y, z), gravity)]
        for kind, values in zip(self.kinds, (heavy, (x, y, z), (0, 0, 0))):
            self.session.send("Emulation.setSensorOverrideReadings", {"type": kind, "reading": {"xyz": dict(zip("xyz", values))}})
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
    # It asks by itself.
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
    # What was shown before is not behind it.
    page.go_back()
    page.wait_for_url(f"{phone.address}/#/home")
    harmless(page)
    comes_back(phone)
    other.get_by_role("heading", name="AppLocker is locked").wait_for()


def test_it_hides_at_once(phone):
    took = phone.page.evaluate("""() => {
        for (let count = 0; count < 3; count++) {
            window.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", code: "Escape" }));
        }
        // In the same task: nothing of what was open was drawn in between.
        return [document.title, document.querySelector(".tabs"), document.querySelector(".calculator-number").textContent];
    }""")
    assert took == ["Calculator", None, "0"], took
    # The PIN opens it as well.
    open_with(phone.page)
    assert phone.page.title().endswith("AppLocker")
    phone.page.reload()
    phone.unlock()


def test_a_sheet_goes_too(phone):
    page = page_of(phone, "gate", "PIN, Face ID and fingerprint")
    page.get_by_role("switch", name="Notes ask once more").click()
    page.locator("dialog[open]").wait_for()
    escapes(page)
    harmless(page)
    assert page.locator("dialog").count() == 0
    comes_back(phone)


def test_the_gate_is_hidden_as_well(phone):
    phone.lock()
    escapes(phone.page)
    harmless(phone.page)
    comes_back(phone)


def test_other_keys_are_chosen(phone):
    page = page_of(phone, "panic", "Panic")
    phone.check()
    phone.picture("settings-panic")
    page.get_by_role("button", name="Other keys").click()
    page.get_by_role("heading", name="Press the keys").wait_for()
    page.keyboard.press("l")
    page.get_by_text("Take Control, Alt or Command with another key").wait_for()
    phone.check()
    page.keyboard.press("Control+Shift+L")
    page.get_by_text("Ctrl + Shift + L").wait_for()
    phone.check()
    phone.picture("settings-panic-keys")
    escapes(page)
    still_shown(page, "Panic")
    page.keyboard.press("Control+Shift+L")
    harmless(page)
    comes_back(phone)
    page = page_of(phone, "panic", "Panic")
    page.get_by_role("button", name="Off", exact=True).click()
    page.keyboard.press("Control+Shift+L")
    escapes(page)
    still_shown(page, "Panic")
    page.get_by_role("button", name="Escape three times").click()
    # Those from before are over.
    escapes(page, (5, 5.1, 5.2))
    harmless(page)
    comes_back(phone)


def test_try_it_now_shows_it(phone):
    page = page_of(phone, "panic", "Panic")
    page.get_by_role("button", name="Try it now").click()
    harmless(page)
    page.keyboard.press("Shift+Enter")
    phone.unlock()


def test_a_shake_locks_and_a_walk_does_not(phone_with_sensors):
    phone = phone_with_sensors
    page = phone.page
    sensors = Sensors(phone)
    with sensors.standing_still():
        sensors.shake()
    # Off until it is chosen.
    still_shown(page, "Home")
    switch(phone, "Shake it")
    with sensors.standing_still():
        for step in range(40):
            sensors.moved(2, 8 * math.sin(step), 1)
            sensors.pause(50)
        still_shown(page, "Panic")
        sensors.shake()
    harmless(page)
    comes_back(phone)


def test_laid_on_its_face_it_locks_and_on_its_back_it_does_not(phone_with_sensors):
    phone = phone_with_sensors
    page = phone.page
    sensors = Sensors(phone)
    sensors.held(45, 0)
    sensors.moved(0, 0, 0)
    switch(phone, "Lay it on its face")
    with sensors.standing_still():
        sensors.held(60, 5)
        sensors.pause(200)
        sensors.held(1, 0)
        sensors.pause(1500)
        sensors.feel()
        still_shown(page, "Panic")
        for beta in (90, 140):
            sensors.held(beta, 2)
            sensors.pause(100)
        sensors.moved(0, 0, 0, (0, 0, -9.8))
        sensors.held(179, 1)
        sensors.feel()
        still_shown(page, "Panic")
        sensors.pause(1500)
    harmless(page)
    comes_back(phone)


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
    comes_back(phone)


def test_in_disguise_it_is_the_disguise_that_comes(phone):
    page = phone.page
    disguised(phone)
    escapes(page)
    harmless(page)
    # There is no way to the gate here, as there is none in the disguise.
    hold(page, page.locator(".calculator-display"))
    asked_nothing(page)
    harmless(page)
    press(page, PIN + "==")
    page.locator(".tabs").wait_for()
    assert page.title() == "Calculator"
    page_of(phone, "disguise", "Disguise")
    page.get_by_label("Its own name and icon").click()
    page.get_by_text("It looks like AppLocker now").wait_for()


def test_with_letters_in_the_pin_the_gate_is_within_reach(phone):
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

"""What locks at once and shows a calculator: keys, a shake, the phone on its face, three fingers."""

import contextlib
import math
import time

from app import PIN, eventually
from app_disguise import harmless, hold, open_with, press
from app_settings import page_of


def comes_back(phone):
    """By the display that is held, through the gate."""
    page = phone.page
    hold(page, page.locator(".calculator-display"))
    phone.unlock()
    assert page.title().endswith("AppLocker"), page.title()


def escapes(page, times=3):
    for _ in range(times):
        page.keyboard.press("Escape")


class Fingers:
    """On the screen, at times of their own: a busy machine makes no tap longer than it was."""

    def __init__(self, phone):
        self.session = phone.context.new_cdp_session(phone.page)
        # Not before the page began: browsers make that its beginning.
        self.time = time.time()

    def send(self, kind, points, later):
        self.time += later
        self.session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points, "timestamp": self.time})

    def tap(self, fingers):
        self.send("touchStart", [{"x": 80 + 70 * index, "y": 330, "id": index} for index in range(fingers)], 0.08)
        self.send("touchEnd", [], 0.04)

    def hold(self, x, y, seconds):
        """And trembles."""
        self.send("touchStart", [{"x": x, "y": y}], 1)
        self.send("touchMove", [{"x": x + 4, "y": y + 3}], seconds / 2)
        self.send("touchEnd", [], seconds / 2)


def switch(phone, name):
    page = page_of(phone, "panic", "Panic")
    page.get_by_role("switch", name=name).click()
    return page


@contextlib.contextmanager
def sensors(phone):
    """How this phone is moved and held: functions that say so to the page."""
    session = phone.context.new_cdp_session(phone.page)
    kinds = ("accelerometer", "linear-acceleration", "gyroscope")
    for kind in kinds:
        session.send("Emulation.setSensorOverrideEnabled", {"enabled": True, "type": kind, "metadata": {"available": True, "maximumFrequency": 60}})

    def moved(x, y, z, gravity=(0, 0, 9.8)):
        for kind, values in zip(kinds, ([one + other for one, other in zip((x, y, z), gravity)], (x, y, z), (0, 0, 0))):
            session.send("Emulation.setSensorOverrideReadings", {"type": kind, "reading": {"xyz": dict(zip("xyz", values))}})

    def held(beta, gamma):
        session.send("DeviceOrientation.setDeviceOrientationOverride", {"alpha": 0, "beta": beta, "gamma": gamma})

    try:
        yield moved, held
    finally:
        session.send("DeviceOrientation.clearDeviceOrientationOverride")
        for kind in kinds:
            session.send("Emulation.setSensorOverrideEnabled", {"enabled": False, "type": kind})


def test_escape_three_times_locks_every_tab(phone, _):
    page = phone.page
    phone.go("notes", "Notes")
    other = phone.open_page()
    other.goto(phone.address)
    other.get_by_role("heading", name="AppLocker is locked").wait_for()
    escapes(page, 2)
    page.wait_for_timeout(1100)
    escapes(page, 1)
    page.get_by_role("heading", name="Notes", level=1).wait_for()
    escapes(page)
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
    page.wait_for_timeout(300)
    harmless(page)
    comes_back(phone)
    other.get_by_role("heading", name="AppLocker is locked").wait_for()
    other.close()


def test_it_hides_at_once(phone, _):
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


def test_a_sheet_goes_too(phone, _):
    page = page_of(phone, "gate", "PIN, Face ID and fingerprint")
    page.get_by_role("switch", name="Notes ask once more").click()
    page.locator("dialog[open]").wait_for()
    escapes(page)
    harmless(page)
    assert page.locator("dialog").count() == 0
    comes_back(phone)


def test_the_gate_is_hidden_as_well(phone, _):
    page = phone.page
    page.reload()
    page.get_by_role("heading", name="AppLocker is locked").wait_for()
    escapes(page)
    harmless(page)
    comes_back(phone)


def test_other_keys_are_chosen(phone, _):
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
    page.wait_for_timeout(300)
    page.get_by_role("heading", name="Panic", level=1).wait_for()
    page.keyboard.press("Control+Shift+L")
    harmless(page)
    comes_back(phone)
    page = page_of(phone, "panic", "Panic")
    page.get_by_role("button", name="Off", exact=True).click()
    page.keyboard.press("Control+Shift+L")
    escapes(page)
    page.wait_for_timeout(300)
    page.get_by_role("heading", name="Panic", level=1).wait_for()
    page.get_by_role("button", name="Escape three times").click()
    escapes(page)
    harmless(page)
    comes_back(phone)


def test_try_it_now_shows_it(phone, _):
    page = page_of(phone, "panic", "Panic")
    page.get_by_role("button", name="Try it now").click()
    harmless(page)
    page.keyboard.press("Shift+Enter")
    phone.unlock()


def test_a_shake_locks_and_a_walk_does_not(phone, _):
    page = phone.page
    with sensors(phone) as (moved, _held):
        phone.go("home", "Home")
        for _ in range(8):
            moved(25, 0, 0)
            page.wait_for_timeout(90)
            moved(-25, 0, 0)
            page.wait_for_timeout(90)
        # Off until it is chosen.
        page.get_by_role("heading", name="Home", level=1).wait_for()
        switch(phone, "Shake it")
        for step in range(40):
            moved(2, 8 * math.sin(step), 1)
            page.wait_for_timeout(50)
        page.get_by_role("heading", name="Panic", level=1).wait_for()
        for _ in range(8):
            if page.locator(".calculator").count():
                break
            moved(25, 0, 0)
            page.wait_for_timeout(90)
            moved(-25, 0, 0)
            page.wait_for_timeout(90)
        harmless(page)
        moved(0, 0, 0)
    comes_back(phone)
    switch(phone, "Shake it")


def test_laid_on_its_face_it_locks_and_on_its_back_it_does_not(phone, _):
    page = phone.page
    with sensors(phone) as (moved, held):
        held(45, 0)
        moved(0, 0, 0)
        switch(phone, "Lay it on its face")
        held(60, 5)
        page.wait_for_timeout(200)
        held(1, 0)
        page.wait_for_timeout(1500)
        page.get_by_role("heading", name="Panic", level=1).wait_for()
        for beta in (90, 140):
            held(beta, 2)
            page.wait_for_timeout(100)
        moved(0, 0, 0, (0, 0, -9.8))
        held(179, 1)
        harmless(page)
    comes_back(phone)
    switch(phone, "Lay it on its face")


def test_three_fingers_three_times_lock_and_two_do_not(phone, _):
    page = switch(phone, "Tap with three fingers")
    fingers = Fingers(phone)
    for count in (1, 1, 1, 2, 2, 2, 4, 4, 4, 3, 3):
        fingers.tap(count)
    page.wait_for_timeout(300)
    page.get_by_role("heading", name="Panic", level=1).wait_for()
    fingers.time += 2
    for _ in range(3):
        fingers.tap(3)
    harmless(page)
    comes_back(phone)
    switch(phone, "Tap with three fingers")


def test_in_disguise_it_is_the_disguise_that_comes(phone, _):
    page = page_of(phone, "disguise", "Disguise")
    page.get_by_label("A calculator that calculates").click()
    phone.type_pin()
    page.get_by_text("It looks like a calculator now").wait_for()
    escapes(page)
    harmless(page)
    # There is no way to the gate here, as there is none in the disguise.
    hold(page, page.locator(".calculator-display"))
    page.wait_for_timeout(500)
    harmless(page)
    press(page, PIN + "==")
    page.locator(".tabs").wait_for()
    assert page.title() == "Calculator"
    page_of(phone, "disguise", "Disguise")
    page.get_by_label("Its own name and icon").click()
    page.get_by_text("It looks like AppLocker now").wait_for()


def test_with_letters_in_the_pin_the_gate_is_within_reach(phone, _):
    page = phone.page
    phone.go("home", "Home")
    page.evaluate("() => localStorage.setItem('applocker-panic-ways', 'no JSON')")
    page.reload()
    phone.unlock()
    escapes(page)
    harmless(page)
    box = page.locator(".calculator-display").bounding_box()
    fingers = Fingers(phone)
    fingers.hold(box["x"] + 120, box["y"] + 80, 0.3)
    page.wait_for_timeout(500)
    harmless(page)
    fingers.hold(box["x"] + 120, box["y"] + 80, 0.9)
    page.get_by_role("button", name="Use letters").click()
    page.get_by_label("PIN", exact=True).fill(PIN)
    page.keyboard.press("Enter")
    page.locator(".tabs").wait_for()
    eventually(lambda: page.evaluate("() => localStorage.getItem('applocker-panic')") is None)

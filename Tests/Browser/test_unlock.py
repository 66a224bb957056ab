"""Pairing, the PIN, the cover and the lock screen."""

import pytest

import clock
from phone import DESKTOP, PIN, Phone

pytestmark = pytest.mark.computer_is_off


def test_the_first_run_asks_for_a_recovery_sheet_until_there_is_one(phone):
    page = phone.page
    page.get_by_role("heading", name="Do you have a recovery sheet?").wait_for()
    phone.check()
    page.get_by_role("button", name="How to print one").click()
    page.get_by_role("heading", name="Recovery sheet", level=1).wait_for()
    phone.go("home", "Home")
    page.get_by_role("button", name="I have a sheet").click()
    phone.go("alerts", "Alerts")
    phone.go("home", "Home")
    page.locator(".home-status").wait_for()
    assert page.get_by_role("heading", name="Do you have a recovery sheet?").count() == 0


def test_only_the_pin_opens_the_lock_screen(phone):
    page = phone.page
    phone.picture("home")
    page.reload()
    page.get_by_role("heading", name="AppLocker is locked").wait_for()
    phone.check()
    phone.picture("gate")
    assert page.locator(".tabs").count() == 0
    phone.tap_pin("918273")
    page.get_by_text("The PIN is wrong. 9 tries left").wait_for()
    phone.picture("gate-wrong")
    assert page.locator(".tabs").count() == 0
    phone.tap_pin()
    page.locator(".tabs").wait_for()


def test_a_pin_can_be_typed_on_a_keyboard(phone):
    page = phone.page
    page.reload()
    page.get_by_role("heading", name="AppLocker is locked").wait_for()
    page.keyboard.type(PIN)
    page.keyboard.press("Enter")
    page.locator(".tabs").wait_for()
    page.reload()
    page.get_by_role("button", name="Use letters").click()
    page.get_by_label("PIN", exact=True).fill(PIN)
    page.keyboard.press("Enter")
    page.locator(".tabs").wait_for()


def test_a_hidden_page_shows_only_its_cover(phone):
    page = phone.page
    assert page.locator("#cover").is_hidden()
    page.evaluate("() => window.dispatchEvent(new Event('blur'))")
    assert page.locator("#cover").is_visible()
    assert page.evaluate("() => getComputedStyle(document.querySelector('#app')).visibility") == "hidden"
    phone.picture("cover")
    page.evaluate("() => window.dispatchEvent(new Event('focus'))")
    assert page.locator("#cover").is_hidden()


def test_without_a_link_the_page_explains_how_to_get_one(new_context, site):
    new = Phone(new_context, site)
    new.page.goto(new.address)
    new.page.get_by_role("heading", name="Welcome to AppLocker").wait_for()
    new.check()
    new.picture("welcome")
    new.page.get_by_role("button", name="Connect to my computer").click()
    new.page.get_by_label("Or paste the link here").fill("https://example.org/")
    new.page.get_by_role("button", name="Continue").click()
    new.page.get_by_text("This is not a pairing link").wait_for()
    new.quiet()


def test_a_press_on_the_first_page_is_not_lost_when_the_hub_answers(new_context, site):
    new = Phone(new_context, site, has_clock=True)
    page, held = new.page, []
    page.route("**/v1/hub", lambda route: route.fallback() if held else held.append(route))
    with page.expect_request("**/v1/hub"):
        page.goto(new.address)
    page.get_by_role("button", name="Start Everline").hover()
    # Without the time after which the page no longer waits for the release.
    with clock.paused(page):
        page.mouse.down()
        with page.expect_response("**/v1/hub"):
            held[0].fulfill(json={"name": "hub", "version": "1", "time": 1, "registration": "invitation"})
        page.mouse.up()
    page.get_by_role("heading", name="Start Everline").wait_for()
    new.quiet()


def test_weak_and_mismatched_pins_are_refused_with_a_message(new_context, computer):
    new = Phone(new_context, computer, DESKTOP, "dark")
    new.page.goto(computer.pair())
    new.page.get_by_role("button", name="Pair this device").wait_for()
    new.picture("pairing")
    new.check()
    new.page.get_by_role("button", name="Pair this device").click()
    new.page.get_by_role("heading", name="Choose a PIN").wait_for()
    new.type_pin("123456")
    new.page.get_by_text("Sequences of digits or letters are easy to guess").wait_for()
    new.type_pin()
    new.page.get_by_role("heading", name="Repeat the PIN").wait_for()
    new.type_pin("837465")
    new.page.get_by_text("The two PINs differ").wait_for()
    new.picture("first-pin")
    assert "#pair=" not in new.page.url

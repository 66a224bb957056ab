"""The calculator as which AppLocker is disguised."""

import re

import pytest

import clock
from disguise_steps import (
    COUNT_PASSKEY_REQUESTS,
    REMEMBER,
    disguised,
    escapes,
    harmless,
    hold,
    lock,
    open_with,
    phone_with_passkey,
    press,
    shown,
    tries,
    wait_until_handled,
)
from phone import DESKTOP, PIN, Phone
from settings_steps import page_of
from waiting import eventually, eventually_equals

pytestmark = pytest.mark.computer_is_off


def test_the_served_page_does_not_contain_the_apps_name(new_context, computer):
    page = new_context().new_page()
    page.goto(f"http://127.0.0.1:{computer.port}/tests.html")
    text = page.evaluate("async () => (await (await fetch('/', { cache: 'no-store' })).text())")
    assert "<script" in text
    assert not re.search(r"app-?locker|<title|manifest|rel=\"icon|apple-touch-icon", text, re.I), text
    for name in ("calculator", "notes"):
        manifest = page.evaluate(
            """async (file) => {
            const response = await fetch(`/${file}`);
            const { files } = await (await fetch("/assets.json")).json();
            return [response.headers.get("Content-Type"), file in files, await response.text()];
        }""",
            f"{name}.webmanifest",
        )
        assert manifest[:2] == ["application/manifest+json", True], manifest
        assert "locker" not in manifest[2].lower() and "shortcuts" not in manifest[2]


def test_the_disguise_requires_a_pin_of_digits(phone):
    page = page_of(phone, "disguise", "Disguise")
    assert page.get_by_label("AppLocker", exact=False).first.is_checked()
    phone.check()
    phone.picture("settings-disguise")
    page.get_by_label("A working calculator").click()
    page.get_by_role("heading", name="Turn on the disguise?").wait_for()
    phone.check()
    page.get_by_role("button", name="Use letters").click()
    page.locator("dialog").get_by_label("PIN", exact=True).fill("anna's long pin")
    page.keyboard.press("Enter")
    page.get_by_text("it needs a PIN of digits alone").wait_for()
    phone.picture("disguise-letters")
    page.get_by_role("button", name="Cancel").click()
    eventually(lambda: page.get_by_label("Its own name and icon").is_checked())
    page.get_by_label("A working calculator").click()
    phone.type_pin("918273")
    page.get_by_text("The PIN is wrong").wait_for()
    phone.type_pin()
    page.get_by_text("Disguise turned on").wait_for()
    assert page.title() == "Calculator"
    # Notifications have the calculator's name: the service worker, which shows them, reads it here.
    eventually_equals(
        lambda: phone.stored("guise"),
        "calculator",
        "the worker has the disguise",
    )
    phone.go("home", "Home")
    assert page.title() == "Calculator"


def test_a_pin_with_letters_is_refused_while_disguised(phone):
    disguised(phone)
    page = page_of(phone, "unlock", "PIN, Face ID and fingerprint")
    page.get_by_role("button", name="Change the PIN").click()
    phone.type_pin()
    page.get_by_role("heading", name="Choose the new PIN").wait_for()
    page.get_by_role("button", name="Use letters").click()
    page.get_by_label("PIN", exact=True).fill("anna's long pin")
    page.keyboard.press("Enter")
    page.get_by_text("it needs a PIN of digits alone").wait_for()


def test_the_locked_disguise_shows_only_a_calculator(phone):
    disguised(phone)
    page = phone.page
    phone.go("settings", "Settings")
    page.get_by_role("button", name="Lock now").click()
    harmless(page)
    phone.check()
    press(page, "12×3.5+")
    phone.picture("calculator")
    phone.becomes("dark")
    phone.picture("calculator")
    phone.becomes("light")
    page.evaluate("() => window.dispatchEvent(new Event('blur'))")
    assert "calculator.svg" in page.evaluate(
        "() => getComputedStyle(document.querySelector('.cover-icon')).backgroundImage"
    )
    phone.picture("cover-calculator")
    page.evaluate("() => window.dispatchEvent(new Event('focus'))")


def test_the_disguised_app_starts_without_its_own_name_and_icon(phone):
    disguised(phone)
    page = phone.open_page()
    requested = []
    page.on("request", lambda request: requested.append(request.url))
    page.add_init_script(f"({REMEMBER})()")
    page.goto(phone.address)
    harmless(page)
    seen = page.evaluate("() => seen")
    assert "Calculator" in seen and not [
        one for one in seen if re.search(r"locker|favicon\.svg|app\.web", one, re.I)
    ], set(seen)
    assert not [
        one
        for one in requested
        if re.search(r"favicon|/icons/icon|touch-icon-180|app\.webmanifest", one) and "calculator" not in one
    ], requested


@pytest.mark.clock
def test_ordinary_calculations_try_no_pin(phone):
    disguised(phone)
    lock(phone)
    page = phone.page
    sent = []
    page.on(
        "request",
        lambda request: sent.append(request.method) if request.url.endswith("/v1/pin-share/attempt") else None,
    )
    press(page, "C738291=")
    page.clock.fast_forward(1700)
    press(page, "=")
    press(page, "C700000+38291==")
    press(page, "C7382.91==C738291+0==C73829==")
    # Numbers that can't be a PIN.
    press(page, "C123456==C111111==C20101999==")
    page.clock.fast_forward(1500)
    assert tries(phone) == [0, 0]
    harmless(page)
    # A number is not tried while another one is: none was pending, and this is the first.
    press(page, "C")
    open_with(page)
    assert len(sent) == 1, sent


@pytest.mark.clock
def test_a_wrong_pin_is_counted_once_without_a_message(phone):
    disguised(phone)
    lock(phone)
    page = phone.page
    press(page, "C918273==")
    eventually_equals(lambda: tries(phone), [1, 1])
    # All timers of the page are due.
    page.clock.fast_forward(10_000)
    assert shown(page) == "918,273"
    harmless(page)
    assert tries(phone) == [1, 1]
    phone.check()


@pytest.mark.clock
def test_the_pin_unlocks_by_touch_and_by_keyboard(phone):
    disguised(phone)
    lock(phone)
    page = phone.page
    with clock.paused(page):
        for key in PIN + "==":
            page.locator(".calculator-key", has_text=re.compile(f"^{key}$")).click()
    page.locator(".tabs").wait_for()
    assert page.title() == "Calculator"
    lock(phone)
    with clock.paused(page):
        page.keyboard.type(PIN)
        page.keyboard.press("Enter")
        page.keyboard.press("Enter")
    page.locator(".tabs").wait_for()
    # The page contains nothing of the typed PIN.
    assert PIN not in page.content() and "739,184" not in page.content()


def test_the_pin_unlocks_by_holding_the_display(phone):
    disguised(phone)
    lock(phone)
    page = phone.page
    press(page, f"C{PIN}")
    hold(page, page.locator(".calculator-equals"))
    page.locator(".tabs").wait_for()
    assert PIN not in page.content() and "739,184" not in page.content()


def test_the_calculator_works_without_the_hub(phone, computer):
    disguised(phone)
    lock(phone)
    page = phone.page
    computer.stop_hub()
    with page.expect_event("requestfailed", lambda request: "pin-share" in request.url):
        press(page, PIN + "==")
    # The calculator continues after the failure.
    page.evaluate("() => fetch('/v1/hub').catch(() => {})")
    assert shown(page) == "739,184"
    harmless(page)
    press(page, "+1=")
    assert shown(page) == "739,185"
    computer.start_hub()
    phone.online_again()
    press(page, "C")
    open_with(page)


def test_another_tab_ends_the_disguise(phone):
    disguised(phone)
    other = phone.open_page()
    other.goto(phone.address)
    harmless(other)
    page = page_of(phone, "disguise", "Disguise")
    page.get_by_label("Its own name and icon").click()
    page.get_by_text("Disguise turned off").wait_for()
    assert page.title() == "AppLocker", page.title()
    other.get_by_role("heading", name="AppLocker is locked").wait_for()
    assert other.title() == "AppLocker"
    phone.lock()
    phone.unlock()


def test_a_passkey_unlocks_by_holding_the_display(new_context, household, computer):
    phone = phone_with_passkey(new_context, household, computer)
    page = phone.page
    page_of(phone, "disguise", "Disguise")
    page.get_by_label("A working calculator").click()
    phone.type_pin()
    page.get_by_text("Disguise turned on").wait_for()
    page.add_init_script(f"({COUNT_PASSKEY_REQUESTS})()")
    page.reload()
    harmless(page)
    # The passkey is requested neither at the start nor by a touch.
    page.locator(".calculator-display").click()
    wait_until_handled(page)
    assert page.evaluate("() => passkeyRequests") == 0
    harmless(page)
    hold(page, page.locator(".calculator-display"))
    page.locator(".tabs").wait_for()
    assert page.evaluate("() => passkeyRequests") == 1
    lock(phone)
    page.keyboard.press("Shift+Enter")
    page.locator(".tabs").wait_for()
    phone.quiet()


def test_the_calculators_icon_starts_the_calculator(new_context, computer):
    phone = Phone(new_context, computer, name="From the start")
    page = phone.page
    page.goto(f"{phone.address}/?as=calculator")
    page.get_by_role("heading", name="Welcome to AppLocker").wait_for()
    assert page.title() == "Calculator"
    assert (
        page.evaluate("() => document.querySelector('link[rel=manifest]').getAttribute('href')")
        == "/calculator.webmanifest"
    )
    page.goto("about:blank")
    phone.pair()
    assert page.title() == "Calculator"
    page.reload()
    harmless(page)
    open_with(page)
    # After its removal the device has nothing to hide.
    page.evaluate("""async () => (await import("/ui/app-identity.js")).resetIdentity()""")
    # A foreign link changes nothing of a paired device.
    page.goto(f"{phone.address}/?as=calculator")
    page.get_by_role("heading", name="AppLocker is locked").wait_for()
    phone.quiet()


def test_lost_data_is_reported_only_to_the_owner(phone):
    disguised(phone)
    page = phone.page
    page.goto(f"{phone.address}/assets.json")
    page.evaluate("""() => new Promise((resolve, reject) => {
        const deletion = indexedDB.deleteDatabase("applocker");
        deletion.onsuccess = resolve;
        deletion.onerror = reject;
    })""")
    page.goto(phone.address)
    harmless(page)
    hold(page, page.locator(".calculator-display"))
    page.get_by_role("heading", name="This browser lost AppLocker’s data").wait_for()


def test_disguise_and_panic_settings_fit_a_desktop(new_context, household, computer):
    desk = Phone(new_context, computer, DESKTOP).begin(household.paired)
    desk.go("settings/disguise")
    desk.page.get_by_role("heading", name="Disguise", level=2).wait_for()
    desk.check()
    desk.picture("settings-disguise")
    desk.go("settings/panic")
    desk.page.get_by_role("heading", name="Panic", level=2).wait_for()
    desk.check()
    desk.picture("settings-panic")
    escapes(desk.page)
    harmless(desk.page)
    desk.check()
    desk.picture("calculator")
    desk.quiet()

"""Home, with a real hub and a real AppLocker."""

import re

import pytest

import clock
from note_steps import take_photos
from overview_steps import make
from phone import DESKTOP, TURN_AWAY
from waiting import eventually, eventually_equals

WEAK = re.compile("^(Could be stronger|A problem)$")


def test_home_shows_the_computer_live(phone):
    page = phone.page
    page.locator(".home-computer .badge", has_text="Online").wait_for()
    # "Online" is shown with the report that is stored here, which may be older than the app.
    page.locator(".home-status", has_text=re.compile(" · 1 of 1 locked$")).wait_for()
    phone.picture("home")
    phone.check()
    phone.becomes("dark")
    phone.picture("home")
    phone.becomes("light")
    page.set_viewport_size({"width": DESKTOP[0], "height": DESKTOP[1]})
    phone.size = DESKTOP
    phone.picture("home")


def test_what_could_be_stronger_is_one_row_that_leads_to_every_check(phone):
    page = phone.page
    row = page.get_by_role("link", name=re.compile("could be stronger"))
    row.click()
    page.get_by_role("heading", name="Checks", level=1).wait_for()
    phone.picture("home-checks")
    phone.check()
    weak = page.get_by_role("listitem").filter(has=page.get_by_text(WEAK))

    def both_count_the_same():
        """A report of the computer may arrive between the two screens."""
        page.get_by_role("button", name="Back", exact=True).click()
        page.get_by_role("heading", name="Home", level=1).wait_for()
        count = int(row.inner_text().split()[0])
        row.click()
        page.get_by_role("heading", name="Checks", level=1).wait_for()
        return weak.count() == count

    eventually(both_count_the_same, "the row has the number of checks")
    assert page.get_by_role("listitem").filter(has=page.get_by_text("Passed", exact=True)).count() > 3
    assert page.locator(".home-fact", has_text="Locked apps").inner_text().split()[-1] == "1"
    page.get_by_role("button", name="Back", exact=True).click()
    page.get_by_role("heading", name="Home", level=1).wait_for()


# Chromium has no push service here; `permission` is what the person chose in the system's settings.
PUSH_SERVICE = """async () => {
    const { base64url } = await import("/crypto/bytes.js");
    const { publicKey } = await crypto.subtle.generateKey({ name: "ECDH", namedCurve: "P-256" }, true, ["deriveBits"]);
    const p256dh = base64url(new Uint8Array(await crypto.subtle.exportKey("raw", publicKey)));
    const keys = { p256dh, auth: base64url(crypto.getRandomValues(new Uint8Array(16))) };
    window.permission = "denied";
    Object.defineProperty(Notification, "permission", { get: () => window.permission });
    const pushManager = {
        getSubscription: async () => null,
        subscribe: async ({ applicationServerKey }) => ({
            options: { applicationServerKey },
            toJSON: () => ({ endpoint: "https://fcm.googleapis.com/fcm/send/one", keys }),
        }),
    };
    Object.defineProperty(navigator.serviceWorker, "ready", { value: Promise.resolve({ pushManager }) });
}"""


@pytest.mark.computer_is_off
def test_returning_to_the_app_renews_notifications_and_checks_show_why_none_arrive(phone):
    page = phone.page
    page.evaluate(PUSH_SERVICE)
    phone.inside("await companion.settings.set('wantsPush', true);")
    phone.go("home/checks", "Checks")
    page.get_by_text("The browser counts this page as secure.").wait_for()
    problem = page.get_by_role("listitem").filter(has=page.get_by_text("Notifications", exact=True))
    assert problem.count() == 0
    page.evaluate(TURN_AWAY)
    problem.get_by_text("Notifications were turned off for AppLocker in this device’s settings.").wait_for()
    phone.picture("home-checks-notifications")
    phone.check()
    page.evaluate("() => { window.permission = 'granted'; }")
    page.evaluate(TURN_AWAY)
    problem.wait_for(state="detached")
    assert phone.inside("""
        const devices = await companion.device.hub.devices();
        return devices.find(({ id }) => id === companion.own.device).hasPush;""")


def test_intruder_photos_are_reached_from_home(phone):
    page = phone.page
    row = page.get_by_role("link", name="Intruder photos")
    assert row.filter(visible=True).locator(".row-end").inner_text() == "None"
    take_photos(phone, 2)
    eventually_equals(row.locator(".row-end").inner_text, "2", "their number")
    row.filter(visible=True).click()
    page.get_by_role("heading", name="Intruder photos", level=1).wait_for()


def test_a_photo_is_taken_from_home(phone):
    page = phone.page
    page.get_by_role("button", name="Take a photo").click()
    phone.confirm()
    page.get_by_role("link", name="Show photos").wait_for()
    phone.picture("home-photo")


@pytest.mark.clock
def test_computers_are_offline_without_a_hub(phone, computer):
    page = phone.page
    # No service worker caches the screen's module here: it is loaded while the hub is reachable.
    phone.go("alerts", "Alerts")
    phone.go("home", "Home")
    page.locator(".home-computer .badge", has_text="Online").wait_for()
    computer.stop_hub()
    page.locator(".connection", has_text="Offline. Showing").wait_for()
    page.locator(".home-computer .badge", has_text="Offline").wait_for()
    phone.picture("home-offline")
    phone.check()
    phone.go("alerts", "Alerts")
    page.locator(".alert").first.wait_for()
    page.get_by_role("button", name="Refresh").click()
    page.locator(".toast").wait_for()
    phone.picture("alerts-offline")
    computer.start_hub()
    eventually(computer.is_connected)
    phone.go("home", "Home")
    # The phone reconnects by itself and asks for the other devices: each pause lasts a minute at most.
    page.clock.fast_forward(60_000)
    page.locator(".home-computer .badge", has_text="Online").wait_for()


# What is read of the alerts from now on is shown when `release` is called.
HOLD_READS = """async () => {
    const { Household } = await import("/household/household.js");
    const read = Household.prototype.alerts;
    window.release = null;
    Household.prototype.alerts = async function (...limits) {
        const found = await read.apply(this, limits);
        // That of `make`.
        if (limits[0]?.limit === 1) return found;
        const others = window.release;
        await new Promise((resolve) => { window.release = () => (others?.(), resolve()); });
        return found;
    };
}"""


@pytest.mark.clock
@pytest.mark.computer_is_off
@pytest.mark.parametrize("press", ["click", "tap"])
def test_a_press_is_not_lost_when_what_was_read_before_it_is_drawn(phone, press):
    page = phone.page
    make(phone, "blocked", 1)
    blocked = page.get_by_role("link", name="diary")
    blocked.wait_for()
    page.evaluate(HOLD_READS)
    make(phone, "repeated", 1)
    eventually(lambda: page.evaluate("() => window.release !== null"), "the alerts have been read")
    page.evaluate("() => addEventListener('pointerdown', () => window.release(), { once: true, capture: true })")
    with clock.paused(page):
        getattr(blocked, press)()
        page.get_by_role("heading", name="Alerts", level=1).wait_for()

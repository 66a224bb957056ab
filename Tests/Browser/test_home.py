"""Home, with a real hub and a real AppLocker."""

import pytest

from phone import DESKTOP
from waiting import eventually


def test_home_shows_the_computer_live(phone):
    page = phone.page
    page.get_by_role("heading", name="Integrity of this device").wait_for()
    page.locator(".home-computer .badge", has_text="Online").wait_for()
    assert "Locked apps\n1" in page.locator(".home-facts").inner_text().replace("\n\n", "\n")
    phone.picture("home")
    phone.check()
    phone.becomes("dark")
    phone.picture("home")
    phone.becomes("light")
    page.set_viewport_size({"width": DESKTOP[0], "height": DESKTOP[1]})
    phone.size = DESKTOP
    phone.picture("home")


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
    page.locator(".connection", has_text="Offline: showing").wait_for()
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

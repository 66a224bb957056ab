"""Remote control of a real AppLocker: its apps, schedules and categories, in two tabs and next to the list on a
desktop."""

import json
import shutil
import struct
import zlib

import pytest

from overview_steps import command_succeeds, lift, make, touch
from phone import DESKTOP, PIN, Phone
from waiting import eventually_equals


@pytest.fixture
def desktop(new_context, household, computer):
    """The same device with a large screen."""
    desktop = Phone(new_context, computer, DESKTOP).begin(household.paired)
    yield desktop
    desktop.quiet()


def test_an_app_is_unlocked_and_locked_from_the_list(phone, computer):
    page = phone.page
    phone.go("apps", "Apps")
    row = page.locator(".apps-row", has_text="diary")
    row.get_by_text("Locked", exact=True).first.wait_for()
    phone.picture("apps")
    phone.check()
    row.get_by_role("button", name="Unlock diary").click()
    page.get_by_role("button", name="5 minutes", exact=True).wait_for()
    phone.picture("apps-durations")
    phone.check()
    page.get_by_role("button", name="5 minutes", exact=True).click()
    page.locator("dialog .keypad").wait_for()
    phone.picture("apps-gate")
    phone.confirm()
    assert "unlocked" in command_succeeds(phone, row)
    row.get_by_text("Unlocked until").wait_for()
    phone.picture("apps-unlocked")
    assert json.loads(computer.run("app", "diary", "--json"))["state"] == "unlocked"
    row.get_by_role("button", name="Lock diary", exact=True).click()
    phone.confirm()
    row.get_by_role("button", name="Unlock diary").wait_for()


def install_chess(computer):
    """An app of the user with an icon of its own: a green square of 64 pixels."""
    row = b"\0" + b"\x2a\x9d\x4f" * 64
    parts = [
        (b"IHDR", struct.pack(">IIBBBBB", 64, 64, 8, 2, 0, 0, 0)),
        (b"IDAT", zlib.compress(row * 64)),
        (b"IEND", b""),
    ]
    png = b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in parts
    )
    share = computer.folder / "share"
    (share / "applications").mkdir(parents=True)
    (share / "icons/hicolor/64x64/apps").mkdir(parents=True)
    (share / "icons/hicolor/64x64/apps/chess.png").write_bytes(png)
    shutil.copy("/usr/bin/true", computer.folder / "chess")
    (share / "applications/chess.desktop").write_text(
        f"[Desktop Entry]\nType=Application\nName=Chess\nExec={computer.folder}/chess\nIcon=chess\n"
    )


def test_an_app_is_shown_with_its_own_icon(phone, computer):
    install_chess(computer)
    computer.expect("add", "chess", passcode=True)
    phone.go("apps", "Apps")
    picture = phone.page.locator(".apps-row", has_text="Chess").locator("img")
    picture.wait_for()
    assert picture.evaluate("image => image.decode().then(() => image.naturalWidth)") == 64
    # The other app has none: its first letter is shown.
    assert phone.page.locator(".apps-row", has_text="diary").locator(".tile").inner_text() == "D"
    phone.picture("apps-icon")
    phone.check()


@pytest.mark.clock
@pytest.mark.computer_is_off
def test_a_menu_of_an_app_opens_by_a_button_and_by_a_long_press(phone):
    page = phone.page
    phone.go("apps", "Apps")
    page.get_by_role("button", name="More for diary").click()
    page.get_by_role("dialog").get_by_role("button", name="Unlock for…").wait_for()
    phone.picture("apps-menu")
    phone.check()
    page.keyboard.press("Escape")
    page.locator("dialog").wait_for(state="detached")
    box = page.locator(".apps-link").bounding_box()
    finger = touch(phone, [(box["x"] + 40, box["y"] + 20)])
    page.clock.fast_forward(600)
    page.get_by_role("dialog").wait_for()
    lift(finger)
    page.get_by_role("button", name="Details", exact=True).click()
    page.get_by_role("heading", name="diary", level=1).wait_for()
    details = page.locator(".section", has=page.get_by_role("heading", name="Details")).inner_text()
    assert "Identifier" in details and "Computer" in details


def app_page(phone):
    """The row of the program "diary"."""
    phone.go("apps", "Apps")
    phone.page.locator(".apps-row", has_text="diary").get_by_role("link").click()
    phone.page.get_by_role("heading", name="diary", level=1).wait_for()
    return phone.page


def test_a_schedule_is_created_on_the_phone(phone, computer):
    page = app_page(phone)
    phone.picture("app")
    phone.check()
    page.get_by_text("Always locked").click()
    page.get_by_role("heading", name="Schedule of diary").wait_for()
    page.get_by_role("button", name="During these times", exact=True).click()
    phone.picture("schedule")
    phone.check()
    page.get_by_role("button", name="Wednesday").click()
    page.get_by_label("From").fill("22:15")
    page.get_by_label("To").fill("06:30")
    page.get_by_text("Locked Mon, Tue, Thu, Fri, 22:15 to 06:30").wait_for()
    page.get_by_role("button", name="Save").click()
    phone.confirm()
    page.get_by_role("heading", name="diary", exact=True, level=1).wait_for()
    page.get_by_text("Locked Mon, Tue, Thu, Fri, 22:15 to 06:30").wait_for()
    assert json.loads(computer.run("app", "diary", "--json"))["schedule"] == "block mon,tue,thu,fri 22:15-06:30"
    page.get_by_text("Locked Mon, Tue, Thu, Fri, 22:15 to 06:30").click()
    page.get_by_role("button", name="Always", exact=True).click()
    page.get_by_role("button", name="Save").click()
    phone.confirm()
    page.get_by_text("Always locked").wait_for()


def test_categories_are_chosen_on_the_phone(phone):
    page = app_page(phone)
    page.locator("button", has_text="No category").click()
    page.get_by_label("New category").fill("Secrets <b>")
    phone.picture("categories")
    phone.check()
    page.get_by_role("button", name="Save").click()
    phone.confirm()
    page.locator(".apps-categories", has_text="Secrets <b>").wait_for()
    phone.go("apps", "Apps")
    page.get_by_role("heading", name="Secrets <b>").wait_for()


def test_an_app_is_added_and_removed_on_the_phone(phone):
    page = phone.page
    phone.go("apps", "Apps")
    page.get_by_role("button", name="Lock another app").click()
    page.locator("dialog .row").first.wait_for()
    phone.picture("add")
    phone.check()
    name = page.locator("dialog .row-title").first.inner_text()
    page.get_by_label("Search installed apps").fill(name)
    page.locator("dialog .row", has_text=name).first.click()
    phone.confirm()
    row = page.locator(".apps-row", has_text=name)
    row.wait_for()
    phone.picture("apps-two")
    row.get_by_role("link").click()
    page.get_by_role("button", name="Remove from the list").click()
    phone.confirm()
    page.get_by_role("heading", name="Apps", level=1).wait_for()
    row.wait_for(state="detached")
    page.locator(".apps-row", has_text="diary").wait_for()


def test_two_tabs_show_the_same(phone, computer):
    page = phone.page
    second = phone.open_page()
    second.goto(phone.address + "/#/apps")
    second.get_by_role("heading", name="AppLocker is locked").wait_for()
    second.locator(".keypad button:not([disabled])").first.wait_for()
    second.keyboard.type(PIN)
    second.keyboard.press("Enter")
    second.locator(".apps-row", has_text="diary").wait_for()
    computer.expect("unlock", "diary", passcode=True)
    second.locator(".apps-row", has_text="Unlocked until").wait_for()
    page.bring_to_front()
    phone.go("apps", "Apps")
    page.locator(".apps-row", has_text="Unlocked until").wait_for()
    page.get_by_role("button", name="Lock all", exact=True).click()
    phone.confirm()
    command_succeeds(phone)
    second.locator(".apps-row", has_text="Unlocked until").wait_for(state="detached")


def test_a_desktop_shows_an_app_beside_the_list(desktop):
    page = desktop.page
    make(desktop, "blocked", 1)
    desktop.go("apps", "Apps")
    page.get_by_text("Choose an app").wait_for()
    link = page.locator(".apps-link").first
    link.focus()
    page.keyboard.press("Enter")
    page.locator(".apps-pane .apps-head").wait_for()
    eventually_equals(
        lambda: page.evaluate("() => document.activeElement.getAttribute('aria-current')"),
        "true",
        "the chosen row has the focus",
    )
    desktop.picture("apps")
    desktop.check()
    desktop.becomes("dark")
    desktop.picture("apps")
    desktop.becomes("light")
    # By keyboard only: a sheet returns the focus to the control that opened it.
    page.get_by_role("button", name="Unlock diary").focus()
    page.keyboard.press("Enter")
    page.locator("dialog").wait_for()
    page.keyboard.press("Escape")
    page.locator("dialog").wait_for(state="detached")
    eventually_equals(
        lambda: page.evaluate("() => document.activeElement.getAttribute('aria-label')"),
        "Unlock diary",
        "the focus returns",
    )
    desktop.go("home", "Home")
    page.locator(".home-computer .badge", has_text="Online").wait_for()
    desktop.picture("home")
    desktop.check()
    desktop.go("alerts", "Alerts")
    page.locator(".alert").first.wait_for()
    desktop.picture("alerts")
    desktop.check()

"""The log of the vault on two devices."""

import pytest

from camera import CAMERA
from phone import DESKTOP
from settings_steps import page_of
from toasts import REMEMBER_TOASTS, shown_toasts
from waiting import eventually

pytestmark = pytest.mark.computer_is_off


def log_of(phone):
    phone.go("home", "Home")
    phone.go("settings/audit")
    phone.page.get_by_role("heading", name="Activity").wait_for()
    return phone.page


def exported(phone):
    phone.inside("await companion.audit.record('exported', { moments: 1 });")


def test_unlocks_and_wrong_pins_are_listed_by_day(phone):
    page = phone.page
    page.reload()
    page.get_by_role("heading", name="AppLocker is locked").wait_for()
    phone.type_pin("918273")
    page.get_by_text("The PIN is wrong").wait_for()
    phone.unlock()
    log_of(phone)
    page.get_by_text("A wrong PIN was entered").wait_for()
    page.get_by_text("AppLocker was unlocked").first.wait_for()
    page.get_by_text("This device was added").first.wait_for()
    page.get_by_role("heading", name="Today").wait_for()
    page.get_by_text("Anna's phone (this one)").first.wait_for()
    phone.check()
    phone.picture("audit")


def test_an_export_is_logged_before_it_begins(phone):
    phone.inside(
        CAMERA
        + """
        const photo = await companion.momentPhotos.seal(await createPhoto(1, "2024:05:17 18:30:05", "+02:00"));
        const draft = { title: "Lake", words: "", date: 1715963405, offset: 120, photos: [photo] };
        await companion.moments.save(null, draft);"""
    )
    page = page_of(phone, "everline/export", "Export Everline")
    page.get_by_role("button", name="Export…").click()
    phone.type_pin()
    page.get_by_role("button", name="Create a ZIP").click()
    page.get_by_text("1 moment with 1 photo exported.").wait_for()
    log_of(phone)
    page.get_by_text("Everline was exported unsealed").wait_for()
    page.get_by_text("Anna's phone (this one) · 1 moment, 1 photo").wait_for()


def test_another_device_reports_an_export_if_chosen(phone):
    desk = phone.another(size=DESKTOP, name="Desk")
    desk.context.add_init_script(REMEMBER_TOASTS)
    desk.pair()
    toast = desk.page.get_by_text("Everline was exported unsealed: Anna's phone")
    entries = desk.page.get_by_text("Everline was exported unsealed", exact=True)

    def shown_once():
        """Checks that only one export is reported."""
        toast.wait_for()
        shown = [one for one in shown_toasts(desk) if one.startswith("Everline was exported")]
        assert len(shown) == 1 and "more" not in shown[0], shown

    page = log_of(phone)
    page.get_by_text("Desk").first.wait_for()
    exported(phone)
    log_of(desk)
    entries.wait_for()
    assert toast.count() == 0, "an export is reported that was not chosen"
    switch = page.get_by_role("switch", name="Everline is exported on this device")
    switch.click()
    eventually(lambda: "exported" in phone.inside("return companion.audit.alerts();"))
    exported(phone)
    shown_once()
    desk.check()
    desk.picture("audit-told")
    # What arrived while it was locked is shown once, after unlocking.
    desk.page.reload()
    desk.page.get_by_role("heading", name="AppLocker is locked").wait_for()
    exported(phone)
    desk.unlock()
    shown_once()
    desk.page.reload()
    desk.unlock()
    log_of(desk)
    entries.nth(2).wait_for()
    assert toast.count() == 0, "the export is reported twice"
    # The next toast reports the new export only.
    exported(phone)
    shown_once()
    page = log_of(phone)
    assert page.get_by_role("switch", name="Everline is exported on this device").is_checked()
    desk.quiet()

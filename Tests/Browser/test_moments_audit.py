"""The log of the vault, as a person meets it on two devices."""

import pytest

from camera import CAMERA
from phone import DESKTOP
from settings_steps import page_of
from waiting import eventually

pytestmark = pytest.mark.computer_is_off

# Every toast since the page was loaded, also one that another has taken the place of.
REMEMBER_TOASTS = """addEventListener("DOMContentLoaded", () => {
    window.toasts = [];
    new MutationObserver((changes) => {
        for (const { addedNodes } of changes) window.toasts.push(...[...addedNodes].map((one) => one.textContent));
    }).observe(document.getElementById("toasts"), { childList: true });
});"""


def log_of(phone):
    phone.go("home", "Home")
    phone.go("settings/audit")
    phone.page.get_by_role("heading", name="What was done").wait_for()
    return phone.page


def exported(phone):
    phone.inside("await companion.audit.record('exported', { moments: 1 });")


def test_openings_and_wrong_pins_are_there_by_days(phone):
    page = phone.page
    page.reload()
    page.get_by_role("heading", name="AppLocker is locked").wait_for()
    phone.type_pin("918273")
    page.get_by_text("The PIN is wrong").wait_for()
    phone.unlock()
    log_of(phone)
    page.get_by_text("A wrong PIN was typed").wait_for()
    page.get_by_text("AppLocker was opened").first.wait_for()
    page.get_by_text("This device was added").first.wait_for()
    page.get_by_role("heading", name="Today").wait_for()
    page.get_by_text("Anna's phone (this one)").first.wait_for()
    phone.check()
    phone.picture("audit")


def test_an_export_is_written_before_it_begins(phone):
    phone.inside(CAMERA + """
        const photo = await companion.pictures.seal(await made(1, "2024:05:17 18:30:05", "+02:00"));
        await companion.moments.save(null, { title: "Lake", words: "", date: 1715963405, offset: 120, photos: [photo] });""")
    page = page_of(phone, "everline/export", "Export Everline")
    page.get_by_role("button", name="Export…").click()
    phone.type_pin()
    page.get_by_role("button", name="Make a ZIP").click()
    page.get_by_text("1 moment and 1 photo exported.").wait_for()
    log_of(phone)
    page.get_by_text("Everline was exported in the open").wait_for()
    page.get_by_text("Anna's phone (this one) · 1 moment, 1 photo").wait_for()


def test_another_device_says_so_where_that_was_chosen(phone):
    desk = phone.another(size=DESKTOP, name="Desk")
    desk.context.add_init_script(REMEMBER_TOASTS)
    desk.pair()
    toast = desk.page.get_by_text("Everline was exported in the open: Anna's phone")
    entries = desk.page.get_by_text("Everline was exported in the open", exact=True)

    def told_once():
        """Of one export, and of none before it."""
        toast.wait_for()
        told = [one for one in desk.page.evaluate("() => toasts") if one.startswith("Everline was exported")]
        assert len(told) == 1 and "more" not in told[0], told

    page = log_of(phone)
    page.get_by_text("Desk").first.wait_for()
    exported(phone)
    log_of(desk)
    entries.wait_for()
    assert toast.count() == 0, "not chosen"
    switch = page.get_by_role("switch", name="Everline is exported here")
    switch.click()
    eventually(lambda: "exported" in phone.inside("return companion.audit.alerts();"))
    exported(phone)
    told_once()
    desk.check()
    desk.picture("audit-told")
    # And what came while it was locked, once, when it is open again.
    desk.page.reload()
    desk.page.get_by_role("heading", name="AppLocker is locked").wait_for()
    exported(phone)
    desk.unlock()
    told_once()
    desk.page.reload()
    desk.unlock()
    log_of(desk)
    entries.nth(2).wait_for()
    assert toast.count() == 0, "said once"
    # What is said next is of that alone.
    exported(phone)
    told_once()
    page = log_of(phone)
    assert page.get_by_role("switch", name="Everline is exported here").is_checked()
    desk.quiet()

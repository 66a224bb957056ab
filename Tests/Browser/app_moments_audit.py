"""The log of the vault, as a person meets it on two devices."""

from app import DESKTOP, eventually
from app_moments_files import MAKE, page_of
from app_vault import inside


def log_of(phone):
    phone.go("home", "Home")
    phone.go("settings/audit")
    phone.page.get_by_role("heading", name="What was done").wait_for()
    return phone.page


def test_openings_and_wrong_pins_are_there_by_days(phone, _):
    page = phone.page
    page.reload()
    page.get_by_role("heading", name="AppLocker is locked").wait_for()
    phone.type_pin("918273")
    page.get_by_text("The PIN is wrong").wait_for()
    phone.type_pin()
    page.locator(".tabs").wait_for(timeout=30_000)
    log_of(phone)
    page.get_by_text("A wrong PIN was typed").wait_for()
    page.get_by_text("AppLocker was opened").first.wait_for()
    page.get_by_text("This device was added").first.wait_for()
    page.get_by_role("heading", name="Today").wait_for()
    page.get_by_text("Anna's phone (this one)").first.wait_for()
    phone.check()
    phone.picture("audit")


def test_an_export_is_written_before_it_begins(phone, _):
    inside(phone, MAKE + """
        const photo = await companion.pictures.seal(await made(1, "2024:05:17 18:30:05", "+02:00"));
        await companion.moments.save(null, { title: "Lake", words: "", date: 1715963405, offset: 120, photos: [photo] });""")
    page = page_of(phone, "export", "Export Everline")
    page.get_by_role("button", name="Export…").click()
    phone.type_pin()
    page.get_by_role("button", name="Make a ZIP").click()
    page.get_by_text("1 moment and 1 photo exported.").wait_for()
    log_of(phone)
    page.get_by_text("Everline was exported in the open").wait_for()
    page.get_by_text("Anna's phone (this one) · 1 moment, 1 photo").wait_for()


def test_another_device_says_so_where_that_was_chosen(phone, _):
    desk = phone.another(size=DESKTOP, name="Desk").pair()
    page = log_of(phone)
    page.get_by_text("Desk").first.wait_for()
    told = desk.page.get_by_text("Everline was exported in the open: Anna's phone")
    inside(phone, "await companion.audit.record('exported', { moments: 1 });")
    log_of(desk)
    desk.page.get_by_text("Everline was exported in the open").nth(1).wait_for()
    assert told.count() == 0, "not chosen"
    switch = page.get_by_role("switch", name="Everline is exported here")
    switch.click()
    eventually(lambda: "exported" in inside(phone, "return companion.audit.alerts();"))
    inside(phone, "await companion.audit.record('exported', { moments: 1 });")
    told.wait_for()
    desk.check()
    desk.picture("audit-told")
    # And what came while it was locked, once, when it is open again.
    desk.page.reload()
    desk.page.get_by_role("heading", name="AppLocker is locked").wait_for()
    inside(phone, "await companion.audit.record('exported', { moments: 1 });")
    desk.unlock()
    told.wait_for()
    desk.page.reload()
    desk.unlock()
    log_of(desk)
    desk.page.get_by_text("Everline was exported in the open").nth(3).wait_for()
    assert told.count() == 0, "said once"
    page = log_of(phone)
    assert page.get_by_role("switch", name="Everline is exported here").is_checked()
    desk.close()

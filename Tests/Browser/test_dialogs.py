"""Sheets and viewers: closed by Back and by a swipe, and kept when the page becomes wider."""

import pytest

from moment_steps import settled
from note_steps import take_photos
from overview_steps import lift, touch
from phone import DESKTOP
from waiting import eventually_equals

pytestmark = pytest.mark.computer_is_off

DIALOGS = "() => document.querySelectorAll('dialog[open]').length"


def durations(phone):
    """Opens the sheet with the durations for the program "diary"; Home is the screen before."""
    phone.go("apps", "Apps")
    phone.page.get_by_role("button", name="Unlock diary").click()
    phone.page.get_by_role("heading", name="Unlock diary for…").wait_for()
    # Before that the browser sends touches to what is below.
    settled(phone.page)
    return phone.page


def at(page, heading, dialogs=0):
    """Waits until the screen is shown with so many dialogs."""
    page.locator("main").get_by_text(heading, exact=True).first.wait_for(state="attached")
    eventually_equals(lambda: page.evaluate(DIALOGS), dialogs)


def test_back_closes_a_sheet_and_then_leaves_the_screen(phone):
    page = durations(phone)
    at(page, "Apps", 1)
    page.go_back()
    at(page, "Apps")
    page.go_back()
    at(page, "Home")


def test_back_passes_the_entry_of_an_answered_sheet(phone):
    page = durations(phone)
    page.get_by_role("button", name="5 minutes", exact=True).click()
    page.locator("dialog .keypad").wait_for()
    at(page, "Apps", 1)
    page.keyboard.press("Escape")
    at(page, "Apps")
    page.go_back()
    at(page, "Home")


def test_back_leaves_the_screen_of_a_closed_sheet_before_the_browser_reports_its_end(phone):
    page = durations(phone)
    page.evaluate("""() => new Promise((reported) => {
        window.addEventListener("close", (event) => {
            event.stopImmediatePropagation();
            reported();
        }, { capture: true, once: true });
        document.querySelector("dialog").close();
    })""")
    page.go_back()
    page.get_by_role("heading", name="Home", level=1).wait_for()


def test_forward_to_a_sheet_that_back_closed_shows_its_screen(phone):
    page = durations(phone)
    page.go_back()
    at(page, "Apps")
    page.go_forward()
    at(page, "Apps")
    page.go_back()
    at(page, "Home")


def test_an_address_that_is_opened_while_a_sheet_closes_is_shown(phone):
    page = durations(phone)
    at(page, "Apps", 1)
    page.evaluate("""() => {
        const dialog = document.querySelector("dialog");
        dialog.addEventListener("close", () => { location.hash = "#/settings"; });
        dialog.close();
    }""")
    at(page, "Lock now")
    eventually_equals(lambda: page.evaluate("location.hash"), "#/settings")
    page.go_back()
    at(page, "Apps")
    page.go_back()
    at(page, "Home")


def test_addresses_after_a_closed_sheet_are_each_shown_once(phone):
    """However late the browser carries out what the page asks of its history."""
    page = durations(phone)
    page.evaluate("""() => {
        window.late = [];
        for (const name of ["go", "back"]) {
            const move = History.prototype[name];
            History.prototype[name] = function (...delta) { late.push(() => move.apply(this, delta)); };
        }
        window.addresses = [];
        window.addEventListener("hashchange", () => addresses.push(location.hash));
        const dialog = document.querySelector("dialog");
        dialog.addEventListener("close", () => { location.hash = "#/home"; });
        dialog.close();
    }""")
    at(page, "Home")
    phone.go("alerts", "Alerts")
    page.evaluate("""async () => {
        while (late.length > 0) {
            const moved = new Promise((done) => window.addEventListener("popstate", done, { once: true }));
            late.shift()();
            await moved;
        }
    }""")
    assert page.evaluate("addresses") == ["#/home", "#/alerts"]
    at(page, "Alerts")


def test_back_closes_what_is_on_top_of_a_viewer_first(phone, computer):
    computer.turn_on()
    take_photos(phone, 1)
    phone.go("photos", "Intruder photos")
    page = phone.page
    page.locator(".photos-open").first.click()
    page.locator(".photos-large:not([hidden])").wait_for()
    page.get_by_role("button", name="Save to this device").click()
    page.get_by_role("heading", name="Save to this device?").wait_for()
    at(page, "Intruder photos", 2)
    page.go_back()
    page.locator(".sheet").wait_for(state="detached")
    at(page, "Intruder photos", 1)
    page.go_back()
    page.locator(".photos-view").wait_for(state="detached")
    at(page, "Intruder photos")
    page.go_back()
    at(page, "Home")


def test_locking_closes_a_sheet_with_its_entry(phone):
    page = durations(phone)
    phone.lock()
    phone.unlock()
    at(page, "Apps")
    page.go_back()
    at(page, "Home")


def test_reloading_leaves_the_entry_of_an_open_sheet(phone):
    page = durations(phone)
    page.reload()
    phone.unlock()
    at(page, "Apps")
    page.go_back()
    at(page, "Home")


def test_another_address_closes_a_sheet(phone):
    """As when a notification is tapped. Back then leads to the screen of the sheet, without it."""
    page = durations(phone)
    phone.go("alerts", "Alerts")
    at(page, "Alerts")
    page.go_back()
    at(page, "Apps")
    page.go_back()
    at(page, "Home")


def swipe(phone, node, distance):
    """From the top of `node`."""
    box = node.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + 12
    lift(touch(phone, [(x, y + distance * part / 8) for part in range(9)]))


def test_a_sheet_closes_by_a_swipe_down(phone):
    page = durations(phone)
    phone.picture("sheet")
    # 10 pixels are a slip of the finger.
    swipe(phone, page.locator(".sheet"), 10)
    at(page, "Apps", 1)
    swipe(phone, page.locator(".sheet"), 160)
    page.locator(".sheet").wait_for(state="detached")
    at(page, "Apps")


def test_scrolling_a_sheet_does_not_close_it(phone):
    page = phone.page
    page.set_viewport_size({"width": 393, "height": 300})
    durations(phone)
    page.locator(".sheet-scrolls").evaluate("(sheet) => sheet.scrollTo(0, 120)")
    settled(page)
    box = page.get_by_role("button", name="15 minutes").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + 10
    lift(touch(phone, [(x, y + 12 * step) for step in range(12)]))
    page.wait_for_function("() => document.querySelector('.sheet').scrollTop < 120")
    at(page, "Apps", 1)


def test_a_menu_stays_when_the_page_becomes_wide(phone, computer):
    computer.turn_on()
    page = durations(phone)
    page.set_viewport_size({"width": DESKTOP[0], "height": DESKTOP[1]})
    page.wait_for_function("() => matchMedia('(min-width: 68rem)').matches")
    page.get_by_role("button", name="5 minutes", exact=True).click()
    phone.confirm()
    page.get_by_text("Unlocked until").first.wait_for()
    page.set_viewport_size({"width": 393, "height": 659})


def test_an_answer_counts_if_another_screen_is_opened_at_once(phone):
    answer = phone.page.evaluate("""() => import("/ui/sheet.js").then(({ sheet }) => {
        const screen = new AbortController();
        let end;
        const answer = sheet("A question", screen.signal, (given) => ((end = given), []));
        end(true);
        screen.abort();
        return answer;
    })""")
    assert answer is True

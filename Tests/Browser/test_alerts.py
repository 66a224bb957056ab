"""Alerts grouped by day, unusual names, and large numbers of alerts."""

import pytest

import clock
import pages
from long_form import IS_LONG
from overview_steps import command_succeeds, fail_passcode, lift, make, opens_alerts, start_diary, touch, wheel
from waiting import eventually, eventually_equals


def shown(phone, kind, count):
    """Opens the alerts with `count` of this kind. The computer's first reports have arrived, so the list doesn't
    change."""
    make(phone, kind, count)
    phone.go("alerts", "Alerts")
    phone.page.locator(".alert", has_text="AppLocker was started").wait_for()
    return phone.page.locator(".alert")


@pytest.mark.root
def test_alerts_are_grouped_by_day_and_update_live(phone, computer):
    page = phone.page
    process = start_diary(computer)
    page.locator(".launch").get_by_role("button", name="Deny").click()
    command_succeeds(phone)
    process.wait(60)
    phone.go("alerts", "Alerts")
    page.get_by_role("heading", name="Today").wait_for()
    phone.picture("alerts")
    phone.check()
    before = page.locator(".alert").count()
    fail_passcode(computer)
    page.locator(".alert", has_text="Wrong passcode").wait_for()
    assert page.locator(".alert").count() > before
    phone.picture("alerts")
    page.locator(".alert-main").first.click()
    page.locator("dialog").wait_for()
    phone.picture("alert-detail")
    phone.check()
    page.get_by_role("button", name="Done").click()


def test_rows_rendered_before_their_list_is_attached_are_kept(page):
    with pages.served() as address:
        # The app's own page, unpaired: without its style, removed rows would still be visible.
        page.goto(address)
        rows = page.evaluate("""async () => {
            const { DayList } = await import("/features/alerts/day-list.js");
            // An observer that is younger than the list's reports after it, in the same frame.
            const observed = (node) => new Promise((resolve) => new IntersectionObserver(resolve).observe(node));
            const row = ({ key }) => Object.assign(document.createElement("li"), { textContent: key });
            const list = new DayList(row, new AbortController().signal);
            list.show([{ key: "one", time: Date.now() }]);
            await observed(list.element.querySelector("ul"));
            document.body.append(list.element);
            await observed(list.element);
            return list.element.querySelectorAll("li").length;
        }""")
    assert rows == 1


# Alerts that arrive from now on are shown when `release` is called.
HOLD_ARRIVALS = """async () => {
    const { Household } = await import("/household/household.js");
    const read = Household.prototype.alertsOf;
    window.release = null;
    Household.prototype.alertsOf = async function (keys) {
        const found = await read.call(this, keys);
        if (!found.some(({ sentence }) => sentence === "diary was denied.")) return found;
        await new Promise((resolve) => { window.release = resolve; });
        return found;
    };
}"""


@pytest.mark.clock
@pytest.mark.computer_is_off
def test_a_press_is_not_lost_when_an_alert_arrives(phone):
    page = phone.page
    make(phone, "alerts", 3)
    phone.go("alerts", "Alerts")
    page.evaluate(HOLD_ARRIVALS)
    make(phone, "blocked", 1)
    eventually(lambda: page.evaluate("() => window.release !== null"), "the alert has been read")
    page.locator(".alert-main").first.hover()
    with clock.paused(page):
        page.mouse.down()
        # It would be above the pressed one, at its place.
        page.evaluate("() => window.release()")
        page.mouse.up()
        page.get_by_role("dialog").wait_for()
    page.locator(".alert", has_text="diary was denied.").wait_for()


def test_immediate_retries_of_an_app_are_one_alert(phone):
    phone.go("alerts", "Alerts")
    make(phone, "repeated", 5)
    # At 0, 2 and 4 seconds; then at 6 and 8.
    rows = phone.page.locator(".alert", has_text="Repeater")
    rows.nth(1).wait_for()
    assert rows.count() == 2
    assert "2 times" in rows.nth(0).inner_text() and "3 times" in rows.nth(1).inner_text()
    phone.picture("alerts-repeated")


def test_alerts_are_filtered(phone):
    page = phone.page
    rows = shown(phone, "alerts", 6)
    # Just after midnight they are of two days; the earlier one is drawn when its observer is called.
    page.get_by_role("button", name="Failed", exact=True).click()
    eventually_equals(rows.count, 2, "failed")
    assert all("Wrong passcode" in text for text in rows.all_inner_texts())
    page.get_by_role("button", name="Blocked", exact=True).click()
    eventually_equals(rows.count, 2, "blocked")
    assert all("Blocked" in text for text in rows.all_inner_texts())
    page.get_by_role("button", name="System", exact=True).click()
    eventually(lambda: rows.count() > 2, "system")
    assert not any("Blocked" in text for text in rows.all_inner_texts())
    page.get_by_role("button", name="All", exact=True).click()
    eventually_equals(rows.filter(has_text="App ").filter(has_text="Sentence").count, 6, "all")


def test_filters_find_the_oldest_of_six_hundred_alerts(phone):
    page = phone.page
    make(phone, "alerts", 600)
    opens_alerts(phone, 600)
    status = page.locator(".alerts > [role=status]")
    for kind, count in (("Blocked", "200 alerts"), ("Failed", "200 alerts")):
        page.get_by_role("button", name=kind, exact=True).click()
        eventually_equals(status.inner_text, count)
    page.evaluate("() => scrollTo(0, document.scrollingElement.scrollHeight)")
    # Number 1 of the wrong passcodes, of two days ago.
    page.get_by_text("App 1", exact=True).wait_for()


def test_older_alerts_that_cant_be_read_are_reported_and_read_again(phone):
    page = phone.page
    make(phone, "alerts", 600)
    page.evaluate("""async () => {
        const { Household } = await import("/household/household.js");
        const { CompanionError } = await import("/household/errors.js");
        const read = Household.prototype.alertPage;
        window.fails = 2;
        Household.prototype.alertPage = function (options) {
            if (options.before !== undefined && window.fails-- > 0) {
                throw new CompanionError("failed", "The disk has no space.");
            }
            return read.call(this, options);
        };
    }""")
    phone.go("alerts", "Alerts")
    # Each attempt fails at the second page.
    for _ in range(2):
        page.get_by_text("Older alerts can’t be read.").wait_for()
        phone.check()
        assert page.locator(".alerts > [role=status]").inner_text() == ""
        page.get_by_role("button", name="Try again").click()
    # Those of the setup too.
    page.locator(".alerts > [role=status]").filter(has_text="60").wait_for(state="attached")
    page.get_by_text("Older alerts can’t be read.").wait_for(state="hidden")


def test_alerts_that_no_key_opens_hide_no_older_ones(phone):
    make(phone, "alerts", 10)
    # As many as are read at once, of which none can be opened.
    phone.inside("""
        const { store } = companion.device;
        const [{ sequence, record, ...row }] = await store.records("events", { limit: 1 });
        await store.write({ records: Array.from({ length: 250 }, (_, index) => {
            const id = String(index).padStart(32, "0");
            return { ...row, record: { ...record, id }, key: `events/${id}`, sequence: sequence + 1 + index };
        }) });
    """)
    opens_alerts(phone, 10)
    phone.page.get_by_text("App 9", exact=True).wait_for()


def test_alerts_name_their_computer_and_are_filtered_by_it(phone):
    page = phone.page
    rows = shown(phone, "alerts", 3)
    computers = page.get_by_role("group", name="Computer", exact=True).get_by_role("button")
    assert computers.count() == 0, "one computer needs no filter"
    make(phone, "computers", 1)
    phone.go("home", "Home")
    # These are of the computer that is first by name: the second one.
    rows = shown(phone, "blocked", 1)
    added = rows.filter(has_text="diary was denied.")
    assert "<img" in added.inner_text()
    phone.picture("alerts-computers")
    phone.check()
    computers.nth(1).click()
    eventually_equals(rows.count, 1)
    added.wait_for()
    computers.nth(2).click()
    eventually_equals(added.count, 0)
    rows.filter(has_text="Sentence").first.wait_for()
    computers.nth(0).click()
    added.wait_for()


def test_alerts_vibrate_while_the_app_is_open_if_that_is_chosen(phone, computer):
    page = phone.page
    phone.go("settings/notifications", "Notifications")
    page.evaluate("() => { window.felt = []; navigator.vibrate = (pattern) => felt.push(pattern); }")
    page.get_by_role("switch", name="Vibration").check()
    phone.picture("notifications")
    phone.check()
    fail_passcode(computer)
    eventually_equals(lambda: page.evaluate("() => felt"), [[120, 80, 120]], "it vibrates")


@pytest.mark.clock
def test_a_deleted_alert_is_restored_by_undo(phone):
    page = phone.page
    rows = shown(phone, "repeated", 5).filter(has_text="Repeater")
    assert rows.count() == 2
    with clock.paused(page, ahead=10):
        rows.first.get_by_role("button", name="Delete alert").focus()
        page.keyboard.press("Enter")
        page.get_by_text("Alert deleted.").wait_for()
        eventually_equals(rows.count, 1)
        eventually(
            lambda: page.evaluate("() => document.activeElement.classList.contains('alert-main')"),
            "the focus is kept",
        )
        page.get_by_role("button", name="Undo").click()
    eventually_equals(rows.count, 2)


def test_a_swipe_to_the_left_deletes_and_a_short_one_does_not(phone):
    page = phone.page
    rows = shown(phone, "alerts", 3)
    count = rows.count()
    first, second = rows.nth(0).inner_text(), rows.nth(1).inner_text()
    top = [rows.nth(index).bounding_box()["y"] + 30 for index in range(2)]
    lift(touch(phone, [(300 - step * 15, top[0]) for step in range(4)]))
    # Deletions run in order: if the short one had deleted its alert, that would be done before this one.
    finger = touch(phone, [(330 - step * 20, top[1]) for step in range(12)])
    phone.picture("alert-swipe")
    lift(finger)
    page.get_by_text("Alert deleted.").wait_for()
    eventually(lambda: second not in rows.all_inner_texts())
    assert rows.first.inner_text() == first and rows.count() == count - 1
    assert page.locator("dialog").count() == 0


def test_pulling_down_refreshes(phone):
    page = phone.page
    phone.go("alerts", "Alerts")
    page.locator(".alert").first.wait_for()
    finger = touch(phone, [(200, 150 + step * 15) for step in range(10)])
    page.locator(".pull-ready").wait_for(state="attached")
    phone.picture("alerts-pull")
    with page.expect_request("**/v1/records?*"):
        lift(finger)
    page.wait_for_function("() => document.querySelector('.pull').offsetHeight === 0")
    with page.expect_request("**/v1/records?*"):
        page.get_by_role("button", name="Refresh").click()


@pytest.mark.clock
def test_clearing_all_alerts_asks_for_confirmation_and_can_be_undone(phone):
    page = phone.page
    rows = shown(phone, "alerts", 6)
    count = rows.count()
    page.get_by_role("button", name="Clear all alerts").click()
    page.get_by_role("heading", name="Clear all alerts?").wait_for()
    phone.picture("alerts-clear")
    phone.check()
    page.get_by_role("button", name="Cancel").click()
    assert rows.count() == count
    page.get_by_role("button", name="Clear all alerts").click()
    with clock.paused(page, ahead=10):
        page.get_by_role("button", name="Clear all", exact=True).click()
        page.get_by_text("No alerts", exact=True).wait_for()
        page.get_by_role("button", name="Undo").click()
    eventually_equals(rows.count, count)
    page.get_by_role("button", name="Clear all alerts").click()
    page.get_by_role("button", name="Clear all", exact=True).click()
    page.get_by_text("No alerts", exact=True).wait_for()
    phone.picture("alerts-none")
    phone.check()


def test_the_intruder_photo_opens_in_its_alert(phone, computer):
    page = phone.page
    for _ in range(3):
        fail_passcode(computer)
    phone.go("alerts", "Alerts")
    page.get_by_role("button", name="Show photo").first.click()
    page.locator(".alert-photo img").first.wait_for()
    page.wait_for_function("() => document.querySelector('.alert-photo img').naturalWidth > 0")
    phone.picture("alerts-photo")
    phone.check()
    address = page.locator(".alert-photo img").first.get_attribute("src")
    phone.go("home", "Home")
    assert page.evaluate("(address) => fetch(address).then(() => true, () => false)", address) is False, (
        "the photo's object URL remains"
    )
    phone.noise = [line for line in phone.noise if "blob:" not in line]


def test_unusual_names_do_not_break_the_screens(phone):
    page = phone.page
    for kind, count in (("nasty", 6), ("launches", 6), ("computers", 3)):
        make(phone, kind, count)
    phone.go("alerts", "Alerts")
    page.locator(".alert").nth(5).wait_for()
    phone.picture("alerts-nasty")
    phone.check()
    page.locator(".alert-main").nth(1).click()
    page.locator("dialog").wait_for()
    phone.picture("alert-nasty")
    phone.check()
    page.keyboard.press("Escape")
    phone.go("home", "Home")
    page.locator(".launch").nth(5).wait_for()
    page.get_by_role("group", name="Computers").wait_for()
    phone.picture("home-nasty")
    phone.check()
    make(phone, "apps", 1)
    phone.go("apps", "Apps")
    page.locator(".apps-row").nth(5).wait_for()
    phone.picture("apps-nasty")
    phone.check()
    names = page.locator(".apps-row .apps-link").all_inner_texts()[:6]
    longest = names.index(max(names, key=len))
    for row in range(6):
        page.locator(".apps-row .apps-link").nth(row).click()
        page.locator(".apps-detail .apps-head").wait_for()
        if IS_LONG or row in (0, longest):
            phone.check()
        else:
            phone.check_width()
        phone.go("apps", "Apps")
        page.locator(".apps-row").nth(5).wait_for()
    assert page.evaluate("() => document.querySelectorAll('img:not([src^=\"/icons\"])').length") == 0


def test_thousands_of_alerts_scroll_with_few_rows_drawn(phone):
    page = phone.page
    count = 10_000 if IS_LONG else 2_000
    make(phone, "alerts", count)
    first, every = opens_alerts(phone, count)
    lift(touch(phone, [(200, 600 - step * 30) for step in range(15)]))
    eventually(lambda: page.evaluate("() => scrollY") > 200, "the page scrolls by touch")
    wheel(phone)
    eventually(lambda: page.evaluate("() => scrollY") > 50_000, "the page scrolls by the wheel")
    scrolled = page.evaluate("() => scrollY")
    phone.picture("alerts-thousands")
    rows = page.locator(".alert").count()
    print(
        f"{count} alerts: first in {first:.2f} s, all in {every:.2f} s, scrolled {scrolled:.0f} px, {rows} rows drawn"
    )
    assert rows < 200
    page.evaluate("() => scrollTo(0, document.scrollingElement.scrollHeight)")
    page.get_by_text("App 1", exact=True).or_(page.get_by_text("App 0", exact=True)).first.wait_for()
    page.evaluate("() => scrollTo(0, 0)")
    # An alert that arrives now is added to all of them.
    make(phone, "repeated", 1)
    page.locator(".alert", has_text="Repeater").wait_for()
    assert page.locator(".day-part").count() > count * 0.045
    assert page.locator(".alert").count() < 200

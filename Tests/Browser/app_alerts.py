"""Alerts by days, and names and numbers that strain every screen."""

import time

from app import traced
from overview_steps import HIDDEN, KEPT, REMOVED, command_succeeds, confirm, make, start_diary, touch


def test_alerts_are_told_by_days_and_come_live(phone, computer):
    page = phone.page
    process = start_diary(computer)
    page.locator(".launch").get_by_role("button", name="Deny").click(timeout=20_000)
    command_succeeds(phone)
    process.wait(20)
    phone.go("alerts", "Alerts")
    page.get_by_role("heading", name="Today").wait_for()
    phone.picture("alerts")
    phone.check()
    before = page.locator(".alert").count()
    computer.asked(["wrong-passcode"])
    page.locator(".alert", has_text="Wrong passcode").wait_for(timeout=20_000)
    assert page.locator(".alert").count() > before
    phone.picture("alerts")
    page.locator(".alert-main").first.click()
    page.locator("dialog").wait_for()
    phone.picture("alert-detail")
    phone.check()
    page.get_by_role("button", name="Done").click()


def test_rows_made_before_their_list_is_on_the_page_are_there_when_it_is(phone, computer):
    rows = phone.page.evaluate("""async () => {
        const { DayList } = await import("/screens/day-list.js");
        const ended = new AbortController();
        const list = new DayList(({ key }) => Object.assign(document.createElement("li"), { textContent: key }), ended.signal);
        list.show([{ key: "one", time: Date.now() }]);
        await new Promise((resolve) => setTimeout(resolve, 300));
        document.body.append(list.element);
        await new Promise((resolve) => setTimeout(resolve, 300));
        const { length } = list.element.querySelectorAll("li");
        list.element.remove();
        ended.abort();
        return length;
    }""")
    assert rows == 1


def test_an_app_that_tries_again_at_once_is_one_alert(phone, computer):
    page = phone.page
    phone.go("alerts", "Alerts")
    make(phone, "repeated", 5)
    # At 0, 2 and 4 seconds; then at 6 and 8.
    page.locator(".alert", has_text="Repeater").nth(1).wait_for()
    rows = page.locator(".alert", has_text="Repeater")
    assert rows.count() == 2
    assert "2 times" in rows.nth(0).inner_text() and "3 times" in rows.nth(1).inner_text()
    phone.picture("alerts-repeated")


def test_alerts_are_filtered(phone, computer):
    page = phone.page
    page.get_by_role("button", name="Failed", exact=True).click()
    page.locator(".alert").first.wait_for()
    assert all("Wrong passcode" in text for text in page.locator(".alert").all_inner_texts())
    page.get_by_role("button", name="Blocked", exact=True).click()
    assert all("Blocked" in text for text in page.locator(".alert").all_inner_texts())
    page.get_by_role("button", name="System", exact=True).click()
    assert not any("Blocked" in text for text in page.locator(".alert").all_inner_texts())
    page.get_by_role("button", name="All", exact=True).click()


def test_an_alert_is_deleted_and_comes_back_by_undo(phone, computer):
    page = phone.page
    rows = page.locator(".alert", has_text="Repeater")
    rows.first.get_by_role("button", name="Delete alert").focus()
    page.keyboard.press("Enter")
    page.get_by_text("Alert deleted.").wait_for()
    page.wait_for_function("() => [...document.querySelectorAll('.alert')].filter((one) => one.textContent.includes('Repeater')).length === 1")
    assert page.evaluate("() => document.activeElement.classList.contains('alert-main')"), "the focus is lost"
    page.get_by_role("button", name="Undo").click()
    page.wait_for_function("() => [...document.querySelectorAll('.alert')].filter((one) => one.textContent.includes('Repeater')).length === 2")


def test_a_swipe_to_the_left_deletes_and_a_short_one_does_not(phone, computer):
    page = phone.page
    count = page.locator(".alert").count()
    box = page.locator(".alert").first.bounding_box()
    y = box["y"] + 30
    session = touch(phone, [(300 - step * 15, y) for step in range(4)])
    session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    time.sleep(0.5)
    assert page.locator(".alert").count() == count and page.locator("dialog").count() == 0
    session = touch(phone, [(330 - step * 20, y) for step in range(12)])
    phone.picture("alert-swipe")
    session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    page.get_by_text("Alert deleted.").wait_for()
    assert page.locator(".alert").count() == count - 1
    assert page.locator("dialog").count() == 0


def test_pulling_down_refreshes(phone, computer):
    page = phone.page
    page.evaluate("() => scrollTo(0, 0)")
    session = touch(phone, [(200, 150 + step * 15) for step in range(10)])
    assert page.locator(".pull-ready").count() == 1
    phone.picture("alerts-pull")
    with page.expect_request("**/v1/records?*"):
        session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    page.wait_for_function("() => document.querySelector('.pull').offsetHeight === 0")
    with page.expect_request("**/v1/records?*"):
        page.get_by_role("button", name="Refresh").click()


def test_all_alerts_are_cleared_after_a_question_and_come_back_by_undo(phone, computer):
    page = phone.page
    count = page.locator(".alert").count()
    page.get_by_role("button", name="Clear all alerts").click()
    page.get_by_role("heading", name="Clear all alerts?").wait_for()
    phone.picture("alerts-clear")
    phone.check()
    page.get_by_role("button", name="Cancel").click()
    assert page.locator(".alert").count() == count
    page.get_by_role("button", name="Clear all alerts").click()
    page.get_by_role("button", name="Clear all", exact=True).click()
    page.get_by_text("No alerts", exact=True).wait_for()
    phone.picture("alerts-none")
    phone.check()
    page.get_by_role("button", name="Undo").click()
    page.locator(".alert").first.wait_for()
    assert page.locator(".alert").count() == count


def test_the_intruder_photo_opens_in_its_alert(phone, computer):
    page = phone.page
    phone.go("home", "Home")
    page.get_by_role("button", name="Take a photo").click()
    confirm(phone)
    page.get_by_role("link", name="Show photos").wait_for(timeout=30_000)
    phone.picture("home-photo")
    for _ in range(2):
        computer.asked(["wrong-passcode"])
    phone.go("alerts", "Alerts")
    page.get_by_role("button", name="Show photo").first.wait_for(timeout=30_000)
    page.get_by_role("button", name="Show photo").first.click()
    page.locator(".alert-photo img").first.wait_for()
    page.wait_for_function("() => document.querySelector('.alert-photo img').naturalWidth > 0")
    phone.picture("alerts-photo")
    phone.check()
    address = page.locator(".alert-photo img").first.get_attribute("src")
    phone.go("home", "Home")
    assert page.evaluate("(address) => fetch(address).then(() => true, () => false)", address) is False, "the picture is left in memory"
    phone.noise = [line for line in phone.noise if "blob:" not in line]


def test_names_of_every_kind_do_no_harm(phone, computer):
    page = phone.page
    made = make(phone, "nasty", 6) + make(phone, "launches", 6) + make(phone, "computers", 3)
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
    apps = make(phone, "apps", 1)
    phone.go("apps", "Apps")
    page.locator(".apps-row").nth(5).wait_for()
    phone.picture("apps-nasty")
    phone.check()
    for row in range(6):
        page.locator(".apps-row .apps-link").nth(row).click()
        page.locator(".apps-detail .apps-head").wait_for()
        phone.check()
        phone.go("apps", "Apps")
        page.locator(".apps-row").nth(5).wait_for()
    assert page.evaluate("() => document.querySelectorAll('img:not([src^=\"/icons\"])').length") == 0
    page.evaluate(REMOVED, made + apps)
    page.evaluate("async () => window.made.device.store.write({ facts: { chosenComputer: '' } })")


def test_ten_thousand_alerts_scroll_without_a_long_task(phone, computer):
    page = phone.page
    phone.go("home", "Home")
    made = make(phone, "alerts", 10_000)
    page.evaluate(KEPT, 10_000)
    start = time.monotonic()
    phone.go("alerts", "Alerts")
    page.locator(".alert").first.wait_for()
    first = time.monotonic() - start
    page.wait_for_function("() => document.querySelectorAll('.day-part').length > 450", timeout=60_000)
    every = time.monotonic() - start
    session = phone.context.new_cdp_session(page)

    def scroll():
        touch(phone, [(200, 600 - step * 30) for step in range(15)]).send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        time.sleep(0.5)
        assert page.evaluate("() => scrollY") > 200, "a finger does not scroll"
        for _ in range(12):
            session.send("Input.synthesizeScrollGesture", {"x": 200, "y": 400, "yDistance": -6000, "speed": 6000, "gestureSourceType": "mouse"})

    _, longest = traced(phone, scroll)
    scrolled = page.evaluate("() => scrollY")
    phone.picture("alerts-ten-thousand")
    nodes = page.evaluate("() => document.querySelectorAll('.alert').length")
    print(f"    10,000 alerts: first in {first:.2f} s, all in {every:.2f} s, scrolled {scrolled:.0f} px, {nodes} rows drawn, longest task {longest:.0f} ms")
    assert scrolled > 50_000 and nodes < 200 and longest < 50
    page.evaluate("() => scrollTo(0, document.scrollingElement.scrollHeight)")
    page.get_by_text("App 1", exact=True).or_(page.get_by_text("App 0", exact=True)).first.wait_for()
    page.evaluate("() => scrollTo(0, 0)")
    page.evaluate(KEPT, 200)
    phone.go("home", "Home")
    phone.go("alerts", "Alerts")
    page.locator(".alert").first.wait_for()
    time.sleep(0.5)
    assert page.locator(".day-part").count() <= 15, "two hundred are kept"
    # They stand between this device and what comes next no more.
    page.evaluate(HIDDEN, made)

"""Home, remote control and the launch of a notification, with a real hub and a real AppLocker whose kernel holds launches."""

import json
import time

from app import DESKTOP, IPHONE, PIN
from overview_steps import REMOVED, command_succeeds, confirm, make, start_diary


def test_home_shows_the_computer_live(phone, computer):
    page = phone.page
    page.get_by_role("heading", name="Integrity of this device").wait_for()
    page.locator(".home-computer .badge", has_text="Live").wait_for()
    assert "Locked apps\n1" in page.locator(".home-facts").inner_text().replace("\n\n", "\n")
    time.sleep(1)
    phone.picture("home")
    phone.check()
    phone.becomes("dark")
    phone.picture("home")
    phone.becomes("light")
    page.set_viewport_size({"width": DESKTOP[0], "height": DESKTOP[1]})
    phone.size = DESKTOP
    phone.picture("home")
    phone.size = IPHONE
    page.set_viewport_size({"width": IPHONE[0], "height": IPHONE[1]})


def test_a_held_launch_goes_on_after_approve(phone, computer):
    page = phone.page
    process = start_diary(computer)
    card = page.locator(".launch")
    card.wait_for(timeout=20_000)
    # The buttons wake half a second later.
    card.get_by_role("button", name="Approve", exact=True, disabled=False).wait_for()
    phone.picture("launch")
    phone.check()
    assert process.poll() is None
    card.get_by_role("button", name="Approve", exact=True).click()
    command_succeeds(phone, card)
    assert process.wait(20) == 0
    phone.picture("launch-approved")
    card.wait_for(state="detached", timeout=20_000)
    computer.run("lock", "--all")


def test_a_denied_launch_ends(phone, computer):
    process = start_diary(computer)
    card = phone.page.locator(".launch")
    card.wait_for(timeout=20_000)
    card.get_by_role("button", name="Deny", exact=True).click()
    command_succeeds(phone, card)
    assert process.wait(20) != 0


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
    confirm(phone)
    assert "open" in command_succeeds(phone, row)
    row.get_by_text("Unlocked until").wait_for(timeout=20_000)
    phone.picture("apps-unlocked")
    assert json.loads(computer.run("app", "diary", "--json"))["state"] == "unlocked"
    row.get_by_role("button", name="Lock diary", exact=True).click()
    confirm(phone)
    row.get_by_role("button", name="Unlock diary").wait_for(timeout=20_000)


def test_a_schedule_is_made_on_the_phone(phone, computer):
    page = phone.page
    page.locator(".apps-row", has_text="diary").get_by_role("link").click()
    page.get_by_role("heading", name="diary", level=1).wait_for()
    phone.picture("app")
    phone.check()
    page.get_by_text("Always locked").click()
    page.get_by_role("heading", name="Schedule of diary").wait_for()
    page.get_by_role("button", name="Inside", exact=True).click()
    phone.picture("schedule")
    phone.check()
    page.get_by_role("button", name="Wednesday").click()
    page.get_by_label("From").fill("22:15")
    page.get_by_label("To").fill("06:30")
    page.get_by_text("Locked Mon, Tue, Thu, Fri, 22:15 to 06:30").wait_for()
    page.get_by_role("button", name="Save").click()
    confirm(phone)
    page.get_by_role("heading", name="diary", exact=True, level=1).wait_for(timeout=20_000)
    page.get_by_text("Locked Mon, Tue, Thu, Fri, 22:15 to 06:30").wait_for(timeout=20_000)
    assert json.loads(computer.run("app", "diary", "--json"))["schedule"] == "block mon,tue,thu,fri 22:15-06:30"
    page.get_by_text("Locked Mon, Tue, Thu, Fri, 22:15 to 06:30").click()
    page.get_by_role("button", name="Always", exact=True).click()
    page.get_by_role("button", name="Save").click()
    confirm(phone)
    page.get_by_text("Always locked").wait_for(timeout=20_000)


def test_categories_are_chosen_on_the_phone(phone, computer):
    page = phone.page
    page.locator("button", has_text="In no category").click()
    page.get_by_label("New category").fill("Secrets <b>")
    phone.picture("categories")
    phone.check()
    page.get_by_role("button", name="Save").click()
    confirm(phone)
    page.locator(".apps-categories", has_text="Secrets <b>").wait_for(timeout=20_000)
    phone.go("apps", "Apps")
    page.get_by_role("heading", name="Secrets <b>").wait_for()


def test_an_app_is_added_and_removed_on_the_phone(phone, computer):
    page = phone.page
    page.get_by_role("button", name="Lock another app").click()
    page.locator("dialog .row").first.wait_for()
    phone.picture("add")
    phone.check()
    name = page.locator("dialog .row-title").first.inner_text()
    page.get_by_label("Search installed apps").fill(name)
    page.locator("dialog .row", has_text=name).first.click()
    confirm(phone)
    row = page.locator(".apps-row", has_text=name)
    row.wait_for(timeout=20_000)
    phone.picture("apps-two")
    row.get_by_role("link").click()
    page.get_by_role("button", name="Remove from the list").click()
    confirm(phone)
    page.get_by_role("heading", name="Apps", level=1).wait_for(timeout=20_000)
    row.wait_for(state="detached", timeout=20_000)
    page.locator(".apps-row", has_text="diary").wait_for()


def test_a_notification_opens_its_launch_and_only_a_tap_answers(phone, computer):
    page = phone.page
    process = start_diary(computer)
    phone.go("home", "Home")
    page.locator(".launch").wait_for(timeout=20_000)
    launch = page.locator(".launch").get_attribute("data-key")
    phone.go(f"launch/{launch}?answer=approve", "Let it open?")
    time.sleep(3)
    assert process.poll() is None, "an address alone let it in"
    phone.picture("launch-page")
    phone.check()
    # The gate closes, and opens on the same launch.
    page.reload()
    phone.unlock()
    page.get_by_role("heading", name="Let it open?", level=1).wait_for()
    page.get_by_role("button", name="Approve for how long").click()
    page.get_by_role("button", name="This launch only").click()
    command_succeeds(phone)
    assert process.wait(20) == 0
    page.get_by_text("It is over").wait_for(timeout=20_000)
    page.get_by_text("diary was let in").wait_for()
    phone.picture("launch-over")
    phone.check()
    phone.go(f"launch/{'0' * 32}", "Waiting launch")
    page.get_by_text("There is no such launch").wait_for()
    process = start_diary(computer)
    phone.go("home", "Home")
    page.locator(".launch").wait_for(timeout=20_000)
    launch = page.locator(".launch").get_attribute("data-key")
    phone.go(f"launch/{launch}?answer=deny", "Keep it closed?")
    page.get_by_role("button", name="Deny").click()
    command_succeeds(phone)
    assert process.wait(20) != 0


def test_a_refusal_is_told_with_its_reason(phone, computer):
    page = phone.page
    phone.go("home", "Home")
    made = make(phone, "forgotten", 1)
    card = page.locator(".launch")
    card.wait_for()
    card.get_by_role("button", name="Approve", exact=True).click()
    line = card.locator(".flight[data-state=refused]")
    line.wait_for(timeout=20_000)
    assert line.inner_text().startswith("Refused. ") and len(line.inner_text()) > 20
    phone.picture("launch-refused")
    phone.check()
    page.evaluate(REMOVED, made)


def test_two_tabs_show_the_same(phone, computer):
    page = phone.page
    second = phone.open_page()
    second.goto(phone.address + "/#/apps")
    second.get_by_role("heading", name="AppLocker is locked").wait_for()
    pad = second.locator(".keypad").last
    for digit in PIN:
        pad.get_by_role("button", name=digit, exact=True).click()
    pad.locator(".key-go").click()
    second.locator(".apps-row", has_text="diary").wait_for(timeout=20_000)
    computer.run("unlock", "diary", passcode=True)
    second.locator(".apps-row", has_text="Unlocked until").wait_for(timeout=20_000)
    page.bring_to_front()
    phone.go("apps", "Apps")
    page.locator(".apps-row", has_text="Unlocked until").wait_for(timeout=20_000)
    page.get_by_role("button", name="Lock all", exact=True).click()
    confirm(phone)
    command_succeeds(phone)
    second.locator(".apps-row", has_text="Unlocked until").wait_for(state="detached", timeout=20_000)
    second.close()


def test_without_a_hub_nothing_is_claimed(phone, computer):
    page = phone.page
    phone.go("alerts", "Alerts")
    phone.go("home", "Home")
    computer.asked(["stop-hub"])
    page.locator(".connection", has_text="Not connected").wait_for(timeout=30_000)
    page.locator(".home-computer .badge", has_text="Away").wait_for()
    phone.picture("home-offline")
    phone.check()
    phone.go("alerts", "Alerts")
    page.locator(".alert").first.wait_for()
    page.get_by_role("button", name="Refresh").click()
    page.locator(".toast").wait_for()
    phone.picture("alerts-offline")
    computer.asked(["start-hub"])
    phone.go("home", "Home")
    page.locator(".home-computer .badge", has_text="Live").wait_for(timeout=60_000)


def test_a_desktop_shows_an_app_beside_the_list(phone, computer):
    page = phone.page
    page.set_viewport_size({"width": DESKTOP[0], "height": DESKTOP[1]})
    phone.size = DESKTOP
    phone.go("apps", "Apps")
    page.get_by_text("Choose an app").wait_for()
    link = page.locator(".apps-link").first
    link.focus()
    page.keyboard.press("Enter")
    page.locator(".apps-pane .apps-head").wait_for()
    assert page.evaluate("() => document.activeElement.getAttribute('aria-current')") == "true"
    phone.picture("apps")
    phone.check()
    phone.becomes("dark")
    phone.picture("apps")
    phone.becomes("light")
    # By keyboard alone: a sheet gives the focus back to what opened it.
    page.get_by_role("button", name="Unlock diary").wait_for(timeout=20_000)
    page.get_by_role("button", name="Unlock diary").focus()
    page.keyboard.press("Enter")
    page.locator("dialog").wait_for()
    page.keyboard.press("Escape")
    page.locator("dialog").wait_for(state="detached")
    assert page.evaluate("() => document.activeElement.getAttribute('aria-label')") == "Unlock diary"
    for screen, title in (("home", "Home"), ("alerts", "Alerts")):
        phone.go(screen, title)
        time.sleep(0.5)
        phone.picture(screen)
        phone.check()
    page.set_viewport_size({"width": IPHONE[0], "height": IPHONE[1]})
    phone.size = IPHONE


def test_nothing_of_these_screens_stays_when_the_gate_closes(phone, computer):
    page = phone.page
    for screen, title in (("home", "Home"), ("alerts", "Alerts"), ("apps", "Apps")):
        phone.go(screen, title)
        page.get_by_text("diary").first.wait_for()
        page.evaluate("async () => (window.made ??= await (await import('/core/companion.js')).Companion.open()).lock()")
        page.get_by_role("heading", name="AppLocker is locked").wait_for()
        assert "diary" not in page.evaluate("() => document.documentElement.outerHTML")
        phone.unlock()

"""The whole way of a launch through the phone, and what is left in a browser when the gate has closed or its data is gone."""

import time

from app import PIN, Phone
from overview_steps import command_succeeds, confirm, start_diary

MARKER = "the blue envelope under the stair"


def test_a_launch_is_answered_from_a_phone_that_was_just_paired(phone, computer):
    """Paired by the link; an app is locked on the phone; it is started; the alert is there; Approve; the same process goes on."""
    page = phone.page
    assert computer.run("unlock", "diary", passcode=True) is not None
    phone.go("apps", "Apps")
    row = page.locator(".apps-row", has_text="diary")
    row.get_by_role("button", name="Lock diary", exact=True).click(timeout=20_000)
    confirm(phone)
    command_succeeds(phone, row)
    phone.go("home", "Home")
    process = start_diary(computer)
    card = page.locator(".launch")
    card.wait_for(timeout=20_000)
    assert process.poll() is None, "the kernel holds it"
    phone.go("alerts", "Alerts")
    page.get_by_text("diary was started and waits").first.wait_for()
    assert process.poll() is None, "an alert answers nothing"
    phone.go("home", "Home")
    card.get_by_role("button", name="Approve", exact=True).click()
    command_succeeds(phone, card)
    assert process.wait(20) == 0
    computer.run("lock", "--all")


def tab_to(page, name):
    """Presses Tab until the control of this name has the focus."""
    passed = []
    for _ in range(60):
        page.keyboard.press("Tab")
        found = page.evaluate("() => document.activeElement.getAttribute('aria-label') ?? document.activeElement.innerText.trim()")
        if found == name:
            return
        passed.append(found)
    raise AssertionError(f"Tab never comes to {name}: {passed}")


def test_a_launch_is_answered_by_keyboard_alone(phone, computer):
    page = phone.page
    for screen in ("Alerts", "Settings", "Home"):
        tab_to(page, screen)
        page.keyboard.press("Enter")
        page.get_by_role("heading", name=screen, level=1).wait_for()
    process = start_diary(computer)
    card = page.locator(".launch")
    card.get_by_role("button", name="Deny", exact=True, disabled=False).wait_for(timeout=20_000)
    tab_to(page, "Deny")
    page.keyboard.press("Enter")
    command_succeeds(phone, card)
    assert process.wait(20) != 0
    # A sheet takes the keys, and gives the focus back.
    tab_to(page, "Lock all")
    page.keyboard.press("Enter")
    page.locator("dialog .keypad").wait_for()
    page.keyboard.type(PIN)
    page.keyboard.press("Enter")
    page.locator("dialog").wait_for(state="detached")
    assert page.evaluate("() => document.activeElement.textContent.trim()") == "Lock all"


def heap_holds(session, text):
    """Whether a snapshot of everything that JavaScript can reach has it."""
    parts = []
    session.on("HeapProfiler.addHeapSnapshotChunk", lambda event: parts.append(event["chunk"]))
    session.send("HeapProfiler.collectGarbage")
    session.send("HeapProfiler.takeHeapSnapshot", {"reportProgress": False, "captureNumericValue": False})
    return text in "".join(parts)


def test_nothing_that_was_read_can_be_reached_when_the_gate_has_closed(phone, _):
    page = phone.page
    phone.go("notes", "Notes")
    confirm(phone)
    page.get_by_role("button", name="Write a note").click()
    page.get_by_label("Title").fill("Safe")
    page.get_by_label("Text").fill(MARKER)
    page.get_by_text("Saved", exact=True).wait_for()
    session = phone.context.new_cdp_session(page)
    session.send("HeapProfiler.enable")
    assert heap_holds(session, MARKER), "the search finds what is there"
    phone.go("settings", "Settings")
    page.get_by_role("button", name="Lock now").click()
    page.get_by_role("heading", name="AppLocker is locked").wait_for()
    # What was under way ends by itself.
    time.sleep(2)
    other = phone.context.new_cdp_session(page)
    other.send("HeapProfiler.enable")
    assert not heap_holds(other, MARKER), "a note can be reached while the gate is closed"
    assert MARKER not in page.evaluate("() => document.documentElement.outerHTML")
    phone.unlock()


def test_a_browser_that_threw_its_data_away_says_so_and_how_to_go_on(phone, computer):
    lost = Phone(phone.browser, computer, name="Forgetful").pair()
    session = lost.context.new_cdp_session(lost.page)
    lost.page.goto("about:blank")
    session.send("Storage.clearDataForOrigin", {"origin": lost.address, "storageTypes": "indexeddb,cache_storage,service_workers"})
    lost.page.goto(lost.address)
    lost.page.get_by_role("heading", name="This browser lost AppLocker’s data").wait_for()
    lost.picture("lost")
    lost.check()
    # A new link is all it takes.
    lost.name = "Found again"
    lost.pair()
    lost.quiet()
    lost.close()

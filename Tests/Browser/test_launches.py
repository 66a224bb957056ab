"""A launch that the kernel holds is answered on the phone, with a real hub and a real AppLocker."""

import json

import pytest

from overview_steps import command_succeeds, make, start_diary
from phone import PIN, Phone
from waiting import eventually, eventually_equals


@pytest.mark.root
@pytest.mark.clock
def test_a_held_launch_continues_after_approve(phone, computer):
    page = phone.page
    process = start_diary(computer)
    card = page.locator(".launch")
    # The buttons are enabled half a second after the card appears.
    card.get_by_role("button", name="Approve", exact=True, disabled=False).wait_for()
    phone.picture("launch")
    phone.check()
    assert process.poll() is None
    card.get_by_role("button", name="Approve", exact=True).click()
    command_succeeds(phone, card)
    assert process.wait(60) == 0
    phone.picture("launch-approved")
    # The result is shown for five seconds.
    page.clock.fast_forward(6000)
    card.wait_for(state="detached")


@pytest.mark.root
def test_a_denied_launch_ends(phone, computer):
    process = start_diary(computer)
    card = phone.page.locator(".launch")
    card.get_by_role("button", name="Deny", exact=True).click()
    command_succeeds(phone, card)
    assert process.wait(60) != 0


@pytest.mark.clock
def test_a_card_has_two_equal_buttons_its_time_and_its_path_behind_details(phone):
    page = phone.page
    make(phone, "forgotten", 1)
    card = page.locator(".launch")
    buttons = [card.get_by_role("button", name=name, exact=True) for name in ("Approve", "Deny")]
    sizes = [{key: button.bounding_box()[key] for key in ("width", "height")} for button in buttons]
    assert sizes[0] == sizes[1], sizes
    left = float(card.locator(".launch-ring-left").evaluate("(ring) => ring.style.strokeDashoffset"))
    page.clock.fast_forward(120_000)
    eventually(
        lambda: float(card.locator(".launch-ring-left").evaluate("(ring) => ring.style.strokeDashoffset")) > left + 0.1,
        "the ring drains",
    )
    path = card.get_by_text("/usr/bin/diary")
    assert not path.is_visible()
    card.get_by_text("Details").click()
    path.wait_for()
    phone.check()
    card.get_by_role("button", name="for 5 minutes: choose the duration").click()
    page.locator("dialog").get_by_role("button", name="This launch only").wait_for()


@pytest.mark.root
def test_a_launch_is_answered_from_a_phone_that_was_just_paired(new_context, computer):
    """The phone is paired by link, locks an app, and shows the prompt when it is started; after Approve the same
    process continues."""
    phone = Phone(new_context, computer).pair()
    page = phone.page
    computer.expect("unlock", "diary", passcode=True)
    phone.go("apps", "Apps")
    row = page.locator(".apps-row", has_text="diary")
    row.get_by_role("button", name="Lock diary", exact=True).click()
    phone.confirm()
    command_succeeds(phone, row)
    phone.go("home", "Home")
    process = start_diary(computer)
    card = page.locator(".launch")
    card.wait_for()
    assert process.poll() is None, "the launch is not held"
    phone.go("alerts", "Alerts")
    page.get_by_text("diary was started and waits").first.wait_for()
    assert process.poll() is None, "an alert answered the launch"
    phone.go("home", "Home")
    card.get_by_role("button", name="Approve", exact=True).click()
    command_succeeds(phone, card)
    assert process.wait(60) == 0
    phone.quiet()


def waiting_launch(phone, computer):
    """Returns the held process, and the launch's identifier in addresses."""
    process = start_diary(computer)
    phone.go("home", "Home")
    return process, phone.page.locator(".launch").get_attribute("data-key")


@pytest.mark.root
@pytest.mark.clock
def test_a_notification_opens_its_launch_and_only_a_tap_answers(phone, computer):
    page = phone.page
    process, launch = waiting_launch(phone, computer)
    phone.go(f"launch/{launch}?answer=approve", "Approve it?")
    # All timers of the page are due now, and a later command of the same phone completes after them.
    page.clock.fast_forward(5000)
    phone.inside("""
        const [computer] = await companion.household.computers();
        const reply = await companion.commands.send(computer.id, { lockVault: {} });
        if (reply.state !== "done") throw new Error(reply.sentence);
    """)
    assert json.loads(computer.expect("status", "--json"))["waitingLaunches"] == 1, (
        "opening the address answered the launch"
    )
    assert process.poll() is None, "opening the address approved the launch"
    assert page.locator(".command-progress:not([hidden])").count() == 0
    page.get_by_role("button", name="Approve", exact=True, disabled=False).wait_for()
    phone.picture("launch-page")
    phone.check()
    # The app locks, and unlocks on the same launch.
    page.reload()
    phone.unlock()
    page.get_by_role("heading", name="Approve it?", level=1).wait_for()
    page.get_by_role("button", name="Choose the duration").click()
    page.get_by_role("button", name="This launch only").click()
    command_succeeds(phone)
    assert process.wait(60) == 0
    # The result is shown for five seconds.
    page.clock.fast_forward(6000)
    page.get_by_text("This launch has ended").wait_for()
    page.get_by_text("diary was approved").wait_for()
    phone.picture("launch-over")
    phone.check()
    phone.go(f"launch/{'0' * 32}", "Waiting launch")
    page.get_by_text("Launch not found").wait_for()


@pytest.mark.root
def test_denying_from_a_notification_requires_a_tap(phone, computer):
    page = phone.page
    process, launch = waiting_launch(phone, computer)
    phone.go(f"launch/{launch}?answer=deny", "Deny it?")
    page.get_by_role("button", name="Deny").click()
    command_succeeds(phone)
    assert process.wait(60) != 0


def test_a_refusal_is_shown_with_its_reason(phone):
    make(phone, "forgotten", 1)
    card = phone.page.locator(".launch")
    card.get_by_role("button", name="Approve", exact=True).click()
    line = card.locator(".command-progress[data-state=refused]")
    line.wait_for()
    assert line.inner_text().startswith("Refused. ") and len(line.inner_text()) > 20
    phone.picture("launch-refused")
    phone.check()


# The next reading of the launches lasts until `release` is called; `isOver`: later ones find none.
HOLD_READING = """async () => {
    const { Household } = await import("/household/household.js");
    const read = Household.prototype.launches;
    Object.assign(window, { isOver: false, release: null });
    Household.prototype.launches = async function () {
        const found = await read.call(this);
        if (window.isOver) return [];
        if (!window.release) await new Promise((resolve) => { window.release = resolve; });
        return found;
    };
}"""


@pytest.mark.clock
def test_a_launch_that_ended_is_not_shown_again_by_an_earlier_reading(phone):
    page = phone.page
    make(phone, "forgotten", 1)
    card = page.locator(".launch")
    card.get_by_role("button", name="Approve", exact=True).click()
    card.locator(".command-progress[data-state=refused]").wait_for()
    page.evaluate(HOLD_READING)
    # An answered card is drawn again each second.
    eventually(lambda: page.evaluate("() => window.release !== null"), "the launches are being read")
    page.evaluate("() => { window.isOver = true; }")
    # The result was shown for long enough: a reading from now on removes the card.
    page.clock.fast_forward(6000)
    phone.inside("companion.device.changed(['requests/']);")
    page.evaluate("() => window.release()")
    eventually_equals(card.count, 0, "the card is removed")


def tab_to(page, name):
    """Presses Tab until the control with this name has the focus."""
    passed = []
    for _ in range(60):
        page.keyboard.press("Tab")
        found = page.evaluate(
            "() => document.activeElement.getAttribute('aria-label') ?? document.activeElement.innerText.trim()"
        )
        if found == name:
            return
        passed.append(found)
    raise AssertionError(f"Tab never reaches {name}: {passed}")


@pytest.mark.root
def test_a_launch_is_answered_by_keyboard_alone(phone, computer):
    page = phone.page
    for screen in ("Alerts", "Settings", "Home"):
        tab_to(page, screen)
        page.keyboard.press("Enter")
        page.get_by_role("heading", name=screen, level=1).wait_for()
    process = start_diary(computer)
    card = page.locator(".launch")
    card.get_by_role("button", name="Deny", exact=True, disabled=False).wait_for()
    tab_to(page, "Deny")
    page.keyboard.press("Enter")
    command_succeeds(phone, card)
    assert process.wait(60) != 0
    # A sheet receives the keys, and then returns the focus.
    tab_to(page, "Lock all")
    page.keyboard.press("Enter")
    page.locator("dialog .keypad").wait_for()
    page.keyboard.type(PIN)
    page.keyboard.press("Enter")
    page.locator("dialog").wait_for(state="detached")
    eventually_equals(
        lambda: page.evaluate("() => document.activeElement.textContent.trim()"), "Lock all", "the focus returns"
    )

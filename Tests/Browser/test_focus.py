"""Where the focus and a press go when a control is replaced, and what a screen reader announces."""

import pytest

import clock
from overview_steps import command_succeeds, make, start_diary
from phone import PIN
from waiting import eventually_equals

FOCUSED = """() => {
    const node = document.activeElement;
    return node === document.body ? "body" : node.getAttribute("aria-label") ?? node.innerText.trim();
}"""
WRONG = "918273"


def focused(page):
    return page.evaluate(FOCUSED)


@pytest.mark.root
@pytest.mark.clock
@pytest.mark.parametrize("answer", ["Approve", "Deny"])
def test_the_focus_goes_to_the_result_of_a_launch(phone, computer, answer):
    page = phone.page
    process = start_diary(computer)
    card = page.locator(".launch")
    button = card.get_by_role("button", name=answer, exact=True, disabled=False)
    button.focus()
    page.keyboard.press("Enter")
    line = card.locator(".command-progress[data-state=done]:not([hidden])")
    result, has_focus = line.evaluate("(line) => [line.innerText, document.activeElement === line]")
    assert has_focus
    process.wait(60)
    # The card disappears with its result.
    page.clock.fast_forward(6000)
    card.wait_for(state="detached")
    eventually_equals(lambda: focused(page) not in ("body", result.strip()), True, "the focus moves on")


def test_the_focus_goes_to_the_neighbour_of_a_deleted_alert(phone):
    page = phone.page
    make(phone, "alerts", 5)
    phone.go("alerts", "Alerts")
    page.get_by_role("button", name="Delete alert: App 3").focus()
    # Alerts of the computer's own start are between them, where that was some minutes ago.
    titles = page.locator(".alert").evaluate_all("(rows) => rows.map((row) => row.innerText.trim().split('\\n')[0])")
    following = titles[titles.index("App 3") + 1]
    page.keyboard.press("Enter")
    page.locator(".alert", has_text="App 3").wait_for(state="detached")
    eventually_equals(lambda: focused(page).startswith(following), True, "the next alert has the focus")


@pytest.mark.computer_is_off
def test_the_focus_stays_on_home_when_a_question_is_answered(phone):
    page = phone.page
    page.get_by_role("button", name="I have a sheet").focus()
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Do you have a recovery sheet?").wait_for(state="detached")
    eventually_equals(lambda: focused(page) != "body", True, "a neighbour has the focus")


REDRAWN = """async () => {
    const { redrawing } = await import("/ui/live.js");
    const place = document.querySelector("main");
    window.presses = 0;
    window.redraw = redrawing(async () => {
        await window.isRead;
        return () => {
            const button = document.createElement("button");
            button.textContent = "Press";
            button.addEventListener("click", () => { window.presses += 1; });
            place.replaceChildren(button);
        };
    }, new AbortController().signal);
    await window.redraw();
    // It draws once a frame.
    await new Promise(requestAnimationFrame);
}"""


def redrawn(page):
    """A button that `window.redraw` replaces, and whose presses are counted."""
    page.evaluate(REDRAWN)
    return page.get_by_role("button", name="Press").element_handle()


def was_pressed_and_replaced(page, button):
    assert page.evaluate("() => window.presses") == 1
    eventually_equals(lambda: button.evaluate("(button) => button.isConnected"), False, "the button is replaced")


@pytest.mark.clock
@pytest.mark.computer_is_off
def test_a_press_is_not_lost_when_the_screen_is_redrawn(phone):
    page = phone.page
    redrawn(page).hover()
    with clock.paused(page):
        page.mouse.down()
        page.evaluate("() => void window.redraw()")
        page.mouse.up()
    assert page.evaluate("() => window.presses") == 1
    page.evaluate("() => document.querySelector('main').replaceChildren()")
    page.evaluate("() => window.redraw()")
    page.get_by_role("button", name="Press").wait_for()


@pytest.mark.clock
@pytest.mark.computer_is_off
def test_a_press_of_space_is_not_lost_when_the_screen_is_redrawn(phone):
    page = phone.page
    button = redrawn(page)
    button.focus()
    with clock.paused(page):
        page.keyboard.down(" ")
        page.evaluate("() => void window.redraw()")
        page.keyboard.up(" ")
    was_pressed_and_replaced(page, button)


@pytest.mark.clock
@pytest.mark.computer_is_off
def test_a_press_is_not_lost_that_begins_while_the_screen_is_read(phone):
    page = phone.page
    button = redrawn(page)
    button.hover()
    with clock.paused(page):
        page.evaluate("() => { window.isRead = new Promise((end) => { window.endReading = end; }); }")
        page.evaluate("() => void window.redraw()")
        page.mouse.down()
        page.evaluate("() => window.endReading()")
        page.mouse.up()
    was_pressed_and_replaced(page, button)


@pytest.mark.computer_is_off
def test_the_first_control_skips_the_tabs(phone):
    page = phone.page
    first = page.locator("a[href], button").first
    assert first.inner_text() == "Skip to content"
    first.focus()
    phone.picture("skip")
    phone.check()
    page.keyboard.press("Enter")
    assert focused(page) == "Home"


def test_a_button_keeps_the_focus_while_its_command_runs(phone):
    page = phone.page
    phone.go("apps", "Apps")
    page.get_by_role("button", name="Lock all", exact=True, disabled=False).focus()
    page.keyboard.press("Enter")
    phone.confirm()
    command_succeeds(phone)
    assert focused(page) == "Lock all"


ANNOUNCED = """() => {
    window.announced = [];
    for (const region of document.querySelectorAll("[role=alert], [role=status]")) {
        new MutationObserver(() => region.textContent && window.announced.push(region.textContent))
            .observe(region, { childList: true, characterData: true, subtree: true });
    }
}"""


@pytest.mark.clock
@pytest.mark.computer_is_off
def test_a_lockout_is_announced_when_it_begins_and_ends(phone):
    page = phone.page
    phone.lock()
    for left in range(9, 5, -1):
        phone.type_pin(WRONG)
        page.get_by_text(f"{left} tries left").wait_for()
    page.evaluate(ANNOUNCED)
    phone.type_pin(WRONG)
    page.get_by_text("Too many wrong PINs.").wait_for()
    clock = page.get_by_text("Try again in 0:")
    first = clock.inner_text()
    page.clock.fast_forward(3000)
    eventually_equals(lambda: clock.inner_text() != first, True, "the time is counted down")
    phone.picture("gate-lockout")
    phone.check()
    page.clock.fast_forward(60_000)
    page.get_by_text("You can enter the PIN now.").wait_for()
    announced = [words for words in page.evaluate("() => announced") if "entered" not in words]
    assert len(announced) == 2, announced
    assert announced[0].startswith("Too many wrong PINs. Try again in "), announced
    assert announced[1] == "You can enter the PIN now."


@pytest.mark.computer_is_off
def test_a_wrong_pin_in_a_sheet_shows_how_many_tries_are_left(phone):
    page = phone.page
    phone.go("home", "Home")
    page.get_by_role("button", name="Lock all", exact=True).click()
    page.locator("dialog .keypad").wait_for()
    phone.type_pin(WRONG)
    page.locator("dialog").get_by_text("9 tries left").wait_for()
    phone.type_pin(PIN)
    page.locator("dialog").wait_for(state="detached")


def test_commands_say_that_the_hub_is_unreachable_before_they_ask(phone, computer):
    page = phone.page
    page.locator(".home-computer .badge", has_text="Online").wait_for()
    computer.stop_hub()
    page.locator(".connection", has_text="Offline").wait_for()
    # Also while the next attempt to connect is running.
    with page.expect_request("**/v1/roster*"):
        page.route("**/v1/roster*", lambda _: None)
        phone.online_again()
    failed = page.locator(".command-progress[data-state=failed]", has_text="You’re offline")
    for name in ("Lock all", "Unlock all"):
        page.get_by_role("button", name=name, exact=True).click()
        failed.wait_for()
        assert page.locator("dialog").count() == 0
        # The next button shows it again.
        failed.evaluate("(line) => { line.dataset.state = 'idle'; }")

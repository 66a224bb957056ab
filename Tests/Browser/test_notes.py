"""Notes that are changed in several places, offline, by the thousand, and on a desktop."""

import time

import pytest

import clock
from long_form import IS_LONG
from note_steps import AUTOSAVE, MANY, SCROLL, SEARCH, opened, reaches_computer, save_notes, take_photos
from phone import DESKTOP, ROOT_SIZE, TURN_AWAY, Phone
from waiting import eventually, eventually_equals

pytestmark = pytest.mark.computer_is_off


def kept(phone, state="Saved"):
    """Makes the autosave due, and waits until the note's state shows it."""
    phone.page.clock.fast_forward(AUTOSAVE)
    phone.page.get_by_text(state, exact=True).wait_for()


def back(page):
    page.get_by_role("button", name="Back", exact=True).click()


def begun(phone, computer, **notes):
    """Saves these notes and opens their list once the computer has them."""
    computer.open_vault()
    save_notes(phone, **notes)
    for title, body in notes.items():
        reaches_computer(computer, title, body)
    return opened(phone)


@pytest.mark.clock
def test_an_offline_edit_is_shown_as_unsent_and_sent_later(phone, computer):
    page = begun(phone, computer, Safe="")
    computer.stop_hub()
    page.get_by_text("Offline. Showing").wait_for()
    page.get_by_role("link", name="Safe").click()
    page.get_by_label("Text", exact=True).fill("written offline")
    kept(phone, "Saved here, not sent yet")
    phone.check()
    phone.picture("note-offline")
    back(page)
    page.get_by_role("link", name="Safe").get_by_text("Not sent yet").wait_for()
    phone.picture("notes-offline")
    computer.start_hub()
    phone.online_again()
    page.get_by_text("Not sent yet").wait_for(state="detached")
    eventually_equals(lambda: computer.note("Safe")["body"], "written offline")


@pytest.mark.clock
def test_another_devices_change_never_overwrites_typed_text(phone, computer):
    page = begun(phone, computer, Safe="from the beginning")
    page.get_by_role("link", name="Safe").click()
    text = page.get_by_label("Text", exact=True)
    text.wait_for()
    # No text is typed: the other device's change is shown.
    computer.edit_note("Safe", "by the computer")
    page.get_by_text("Changed on another device just now").wait_for()
    assert text.input_value().startswith("by the computer")
    # Text is typed: both versions are kept, and the person decides.
    text.focus()
    text.press_sequentially("mine ")
    kept(phone)
    eventually(lambda: "mine" in computer.note("Safe")["body"])
    # The change arrives before the autosave.
    clock.pause(page)
    text.press_sequentially("and more ")
    computer.edit_note("Safe", "the computer once more")
    page.get_by_text("What you see here is yours").wait_for()
    page.clock.resume()
    page.clock.fast_forward(AUTOSAVE)
    page.get_by_text("Not saved: choose above which version to keep").wait_for()
    assert "mine and more" in text.input_value()
    phone.check()
    phone.picture("note-changed-elsewhere")
    page.get_by_role("button", name="See both").click()
    page.get_by_text("the computer once more").wait_for()
    phone.check()
    phone.picture("note-two-versions")
    page.get_by_role("button", name="Merge manually").click()
    merged = page.get_by_label("Text", exact=True)
    assert "the computer once more" in merged.input_value() and "mine and more" in merged.input_value()
    phone.check()
    phone.picture("note-merge")
    merged.fill("both of us")
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_text("Saved", exact=True).wait_for()
    eventually_equals(lambda: computer.note("Safe")["body"], "both of us")
    titles = phone.inside("return (await companion.notes.list('safe')).notes.map(({ title, body }) => [title, body]);")
    assert titles == [["Safe", "both of us"]], titles


@pytest.mark.clock
@pytest.mark.parametrize("keep", ["first", "other", "both"])
def test_two_versions_are_shown_side_by_side_and_one_or_both_are_kept(phone, computer, keep):
    page = begun(phone, computer, Safe="from the beginning")
    phone.context.set_offline(True)
    page.get_by_role("link", name="Safe").click()
    page.get_by_label("Text", exact=True).fill("the phone")
    kept(phone, "Saved here, not sent yet")
    back(page)
    page.get_by_role("link", name="Safe").wait_for()
    computer.edit_note("Safe", "the computer")
    computer.sent()
    phone.context.set_offline(False)
    phone.online_again()
    page.get_by_text("Two versions").nth(1).wait_for()
    phone.picture("notes-two-versions")
    if keep == "first":
        phone.check()
    page.get_by_role("link", name="Safe").first.click()
    page.get_by_text("Both versions are kept").wait_for()
    page.get_by_role("button", name="See both").click()
    first = page.get_by_role("region", name="The earlier version")
    other = page.get_by_role("region", name="The version of Anna's phone")
    assert "the computer" in first.inner_text() and "the phone" in other.inner_text()
    if keep == "first":
        phone.check()
    if keep == "both":
        page.get_by_role("button", name="Keep both").click()
    else:
        (first if keep == "first" else other).get_by_role("button").click()
    text = page.get_by_label("Text", exact=True)
    text.wait_for()
    assert text.input_value().strip() == ("the phone" if keep == "other" else "the computer")
    back(page)
    page.get_by_role("link", name="Safe").first.wait_for()
    assert page.get_by_text("Two versions").count() == 0
    eventually_equals(page.get_by_role("link", name="Safe").count, 2 if keep == "both" else 1)
    if keep == "both":
        eventually(lambda: computer.note("Safe (from Anna's phone)"))


@pytest.mark.clock
def test_a_note_deleted_elsewhere_can_be_kept(phone, computer):
    page = begun(phone, computer, Groceries="")
    page.get_by_role("link", name="Groceries").click()
    text = page.get_by_label("Text", exact=True)
    text.focus()
    text.press_sequentially("milk")
    kept(phone)
    eventually_equals(lambda: computer.note("Groceries")["body"], "milk")
    computer.expect("note", "remove", "Groceries", "--yes", passcode=True)
    page.get_by_text("deleted elsewhere").wait_for()
    assert text.input_value() == "milk"
    phone.check()
    page.get_by_role("button", name="Save this text as a new note").click()
    page.get_by_text("Saved", exact=True).wait_for()
    reaches_computer(computer, "Groceries", "milk")


@pytest.mark.clock
def test_typed_text_is_saved_when_hiding_locks_immediately(phone, computer):
    page = phone.page
    phone.inside("""
        await companion.device.store.write({ facts: { lockAfterSeconds: 0 } });
        companion.device.tabs.post({ kind: "state" });""")
    begun(phone, computer, Groceries="milk")
    page.get_by_role("link", name="Groceries").click()
    text = page.get_by_label("Text", exact=True)
    text.focus()
    # The autosave is never due.
    clock.pause(page)
    text.press_sequentially(" and bread")
    page.evaluate(TURN_AWAY)
    page.clock.resume()
    page.get_by_role("heading", name="AppLocker is locked").wait_for()
    assert page.locator("textarea").count() == 0
    eventually_equals(lambda: computer.note("Groceries")["body"], "milk and bread")


def test_unusual_titles_do_not_break_the_list(phone):
    phone.inside("""
        const strange = [
            "<img src=x onerror=alert(1)><script>alert(2)</script>", "a".repeat(10_000),
            "مرحبا بالعالم \\u202eabc\\u202c", "\\u200b\\u200d\\ufeff", "👩‍👩‍👧‍👦".repeat(300), "",
        ];
        for (const title of strange) await companion.notes.save(null, { title, body: title.repeat(2) });""")
    page = opened(phone)
    page.get_by_role("link", name="<img src=x").wait_for()
    eventually_equals(page.locator(".notes-item").count, 6)
    phone.check()
    phone.picture("notes-strange")
    for index in range(6):
        page.locator(".notes-row").nth(index).click()
        page.get_by_label("Text", exact=True).wait_for()
        phone.check()
        if index in (2, 5):
            phone.picture(f"note-strange-{index}")
        back(page)
        page.locator(".notes-row").first.wait_for()
    assert page.locator("main img, main script").count() == 0


@pytest.mark.clock
def test_two_tabs_show_each_others_changes(phone):
    save_notes(phone, Groceries="milk")
    page = opened(phone)
    other = phone.open_page()
    other.goto(phone.address)
    phone.page = other
    phone.unlock()
    opened(phone)
    other.get_by_role("link", name="Groceries").click()
    other.get_by_label("Text", exact=True).fill("from the other tab")
    kept(phone)
    page.get_by_role("link", name="Groceries").get_by_text("from the other tab").wait_for()
    page.get_by_role("link", name="Groceries").click()
    # Who writes there is asked; an untouched note would show the change.
    page.get_by_label("Text", exact=True).focus()
    other.get_by_label("Text", exact=True).fill("from the other tab again")
    kept(phone)
    page.get_by_text("This note was changed in another tab").wait_for()


@pytest.mark.clock
def test_full_storage_is_reported_and_loses_nothing(phone, computer):
    """full-storage.test.js tests the browser's own error; this is what the app shows."""
    page = begun(phone, computer, Groceries="milk")
    page.get_by_role("link", name="Groceries").click()
    text = page.get_by_label("Text", exact=True)
    text.wait_for()
    page.evaluate("""() => {
        const { put } = IDBObjectStore.prototype;
        IDBObjectStore.prototype.put = function (...args) {
            if (this.name === "outbox" && !window.hasRoom) throw new DOMException("no room", "QuotaExceededError");
            return put.apply(this, args);
        };
    }""")
    text.fill("no room")
    page.clock.fast_forward(AUTOSAVE)
    page.get_by_text("This device’s storage is full").wait_for()
    phone.check()
    phone.picture("note-full")
    assert text.input_value() == "no room"
    page.evaluate("() => { window.hasRoom = true; }")
    text.press_sequentially(", now there is")
    kept(phone)
    eventually_equals(lambda: computer.note("Groceries")["body"], "no room, now there is")


# The notes are sealed in the page and written to its store.


def test_only_the_visible_ones_of_thousands_of_notes_are_drawn(phone):
    count = 5000 if IS_LONG else 2000
    phone.inside(MANY, count)
    page = opened(phone)
    page.locator(".notes-row").first.wait_for()
    start = time.monotonic()
    phone.go("home", "Home")
    phone.go("notes", "Notes")
    page.locator(".notes-row").first.wait_for()
    shown = time.monotonic() - start
    assert page.locator(".notes-row").count() < 200
    page.evaluate(SCROLL)
    rows = page.locator(".notes-row").count()
    assert 600 < rows < count, rows
    page.evaluate("() => window.scrollTo(0, 0)")
    found = page.evaluate(SEARCH, count)
    print(
        f"{count} notes: shown again in {shown:.2f} s; {rows} rows scrolled; searches {[took for *_, took in found]} ms"
    )
    numbered = sum("49" in str(index) for index in range(1, count + 1))
    assert [one[2] for one in found] == [
        f"{count} notes found",
        f"{numbered} notes found",
        "1 note found",
        f"{count} notes found",
        "",
    ], found
    assert all(1 <= one[1] < 200 for one in found), found


def test_a_desktop_shows_the_list_beside_the_note(new_context, household, computer):
    desk = Phone(new_context, computer, DESKTOP, has_clock=True).begin(household.paired)
    save_notes(desk, Safe="12-34-56", Groceries="milk")
    page = opened(desk)
    page.locator(".notes-row").first.wait_for()
    page.get_by_text("No note is open").wait_for()
    desk.check()
    desk.picture("notes")
    page.get_by_role("link", name="Safe").click()
    page.get_by_label("Text", exact=True).wait_for()
    assert page.locator(".notes-row[aria-current]").count() == 1
    desk.check()
    desk.picture("note")
    page.get_by_role("button", name="New note").first.click()
    page.get_by_label("Title").fill("From the desk")
    page.clock.fast_forward(AUTOSAVE)
    page.get_by_role("link", name="From the desk").wait_for()
    assert page.locator(".notes-row[aria-current]").inner_text().startswith("From the desk")
    page.get_by_role("button", name="Delete this note").click()
    page.get_by_text("No note is open").wait_for()
    desk.becomes("dark")
    page.get_by_role("link", name="Safe").click()
    page.get_by_label("Text", exact=True).wait_for()
    desk.picture("note")
    computer.turn_on()
    take_photos(desk, 2)
    desk.go("photos", "Intruder photos")
    page.locator(".photos-tile[data-shown]").first.wait_for()
    desk.picture("photos")
    desk.check()
    desk.quiet()


def test_notes_and_moments_are_locked_while_the_rest_stays_open(phone):
    save_notes(phone, Safe="12-34-56")
    page = opened(phone)
    page.get_by_role("link", name="Safe").wait_for()
    page.get_by_role("button", name="Lock notes and moments").click()
    page.get_by_text("Your notes are locked").wait_for()
    phone.picture("notes-locked")
    phone.check()
    # The person has just locked them, and is not asked at once.
    assert page.locator("dialog").count() == 0
    phone.go("alerts", "Alerts")
    phone.go("moments")
    page.get_by_text("Your moments are locked").wait_for()
    phone.go("notes")
    page.get_by_text("Your notes are locked").wait_for()
    assert "12-34-56" not in page.content()
    page.get_by_role("button", name="Open notes").click()
    phone.confirm("Open your notes")
    page.get_by_role("link", name="Safe").wait_for()
    phone.go("moments", "Everline")


def test_in_large_text_the_state_of_a_note_covers_none_of_it(phone):
    save_notes(phone, Safe="12-34-56\n" * 30)
    page = opened(phone)
    page.get_by_role("link", name="Safe").click()
    state, sheet = page.locator(".notes-state", has_text="Saved"), page.locator(".notes-sheet")
    state.wait_for()
    # Otherwise it is visible wherever the note is read.
    assert state.bounding_box()["y"] < phone.size[1]
    page.evaluate(ROOT_SIZE, 310)
    eventually(lambda: state.bounding_box()["y"] + state.bounding_box()["height"] <= sheet.bounding_box()["y"])
    phone.picture("note-large-text")


def test_locking_notes_ends_the_undo_of_a_deleted_one(phone):
    save_notes(phone, Safe="12-34-56", List="Milk")
    page = opened(phone)
    page.get_by_role("link", name="Safe").click()
    page.get_by_role("button", name="Delete this note").click()
    page.locator("#toasts").get_by_role("button", name="Undo").wait_for()
    page.get_by_role("button", name="Lock notes and moments").click()
    page.get_by_text("Your notes are locked").wait_for()
    assert page.locator("#toasts").inner_text() == ""


@pytest.mark.clock
def test_typing_in_a_note_of_24_000_letters_keeps_each_word(phone):
    page = phone.page
    save_notes(phone, Long="\n".join("lorem ipsum dolor sit amet " * 9 for _ in range(99)))
    opened(phone)
    page.locator(".notes-row").first.click()
    field = page.get_by_label("Text")
    field.evaluate("(field) => { field.focus(); field.setSelectionRange(12_000, 12_000); }")
    phone.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": 4})
    page.evaluate("""() => {
        window.longTasks = [];
        new PerformanceObserver((list) => longTasks.push(...list.getEntries().map(({ duration }) => duration)))
            .observe({ type: "longtask" });
    }""")
    typed = "words that are typed in the middle, "
    page.keyboard.type(typed, delay=60)
    kept(phone)
    assert field.input_value()[12_000:].startswith(typed)
    tasks = page.evaluate("() => longTasks")
    print(f"typed at a quarter of the speed: longest task {max(tasks, default=0):.0f} ms, 0 for none above 50")

"""Notes and intruder photos."""

import json

import pytest

import clock
from note_steps import AUTOSAVE, opened, reaches_computer, save_notes, take_photos
from phone import DESKTOP, Phone
from touch import finger
from waiting import eventually, eventually_equals


@pytest.mark.computer_is_off
def test_notes_require_the_pin_again_in_each_session(phone):
    page = phone.page
    phone.go("notes")
    page.get_by_role("heading", name="Open your notes").wait_for()
    phone.picture("notes-asks")
    page.get_by_role("button", name="Cancel").click()
    page.get_by_text("Your notes are locked").wait_for()
    phone.check()
    phone.picture("notes-closed")
    page.get_by_role("button", name="Open notes").click()
    phone.type_pin("918273")
    page.get_by_text("The PIN is wrong").wait_for()
    phone.type_pin()
    page.get_by_text("No notes yet").wait_for()
    phone.check()
    phone.picture("notes-empty")
    phone.go("home", "Home")
    phone.go("notes")
    page.get_by_text("No notes yet").wait_for()
    page.reload()
    phone.unlock()
    page.get_by_role("heading", name="Open your notes").wait_for()
    phone.type_pin()
    page.get_by_text("No notes yet").wait_for()


@pytest.mark.clock
def test_a_note_is_written_stored_and_found(phone, computer):
    computer.open_vault()
    page = opened(phone)
    page.get_by_role("button", name="Write a note").click()
    page.get_by_label("Title").fill("Safe")
    page.get_by_label("Title").press("Enter")
    page.keyboard.type("12-34-56\nin the cellar")
    page.clock.fast_forward(AUTOSAVE)
    page.get_by_text("Saved", exact=True).wait_for()
    reaches_computer(computer, "Safe", "12-34-56\nin the cellar")
    phone.picture("note")
    phone.check()
    page.get_by_role("button", name="Back").click()
    page.get_by_role("link", name="Safe").wait_for()
    page.get_by_role("button", name="New note").click()
    # The note is left before the autosave.
    with clock.paused(page, ahead=10):
        page.get_by_label("Title").fill("Groceries")
        page.get_by_role("button", name="Back").click()
        page.get_by_role("link", name="Groceries").wait_for()
    eventually(lambda: computer.note("Groceries"))
    phone.picture("notes")
    phone.check()
    page.get_by_label("Search notes").fill("CELLAR 12")
    page.get_by_role("link", name="Groceries").wait_for(state="detached")
    page.get_by_role("link", name="Safe").wait_for()
    page.get_by_label("Search notes").fill("nothing of the kind")
    page.get_by_text("Nothing found").wait_for()
    phone.check()


@pytest.mark.clock
def test_a_deleted_note_is_restored(phone, computer):
    computer.open_vault()
    save_notes(phone, Safe="12-34-56", Groceries="milk")
    eventually(lambda: computer.note("Groceries"))
    page = opened(phone)
    page.get_by_role("link", name="Groceries").click()
    with clock.paused(page, ahead=10):
        page.get_by_role("button", name="Delete this note").click()
        page.get_by_role("link", name="Safe").wait_for()
        assert page.get_by_role("link", name="Groceries").count() == 0
        eventually(lambda: computer.note("Groceries") is None)
        # For six seconds, and as long as the keyboard is in it.
        page.get_by_role("button", name="Undo").focus()
        for _ in range(2):
            page.clock.run_for(7_000)
            assert page.evaluate("() => document.activeElement.textContent") == "Undo"
        page.get_by_role("button", name="Undo").click()
    page.get_by_role("link", name="Groceries").wait_for()
    eventually(lambda: computer.note("Groceries"))


@pytest.mark.computer_is_off
def test_a_press_on_see_both_is_not_lost_when_another_note_arrives(phone):
    phone.inside("""
        for (const title of ["Packing list", "Packing list (conflict, Desk)"]) {
            await companion.notes.save(null, { title, body: title, created: 1_700_000_000 });
        }""")
    page = opened(phone)
    page.get_by_role("link", name="Packing list").first.click()
    page.get_by_role("button", name="See both").hover()
    page.mouse.down()
    save_notes(phone, Other="milk")
    page.mouse.up()
    page.get_by_role("region", name="The earlier version").wait_for()


@pytest.mark.computer_is_off
def test_a_note_that_is_saved_while_the_list_opens_is_shown_as_it_is_now(phone):
    save_notes(phone, Safe="12-34-56")
    page = opened(phone)
    page.get_by_role("link", name="Safe").click()
    text = page.get_by_label("Text", exact=True)
    text.wait_for()
    identifier = page.evaluate("() => location.hash.slice(8)")
    # The list is read before the note is saved, and drawn afterwards.
    page.evaluate("""async () => {
        const { Notes } = await import("/features/notes/notes.js");
        const { list, save } = Notes.prototype;
        const isSaved = new Promise((resume) => { window.resume = resume; });
        let isRead;
        const read = new Promise((resume) => { isRead = resume; });
        Notes.prototype.list = async function (...words) {
            const found = await list.apply(this, words);
            isRead();
            await isSaved;
            return found;
        };
        Notes.prototype.save = async function (...version) {
            await read;
            return save.apply(this, version);
        };
    }""")
    text.fill("78-90")
    page.get_by_role("button", name="Back", exact=True).click()
    body = "return (await companion.notes.read(arg)).body;"
    eventually_equals(lambda: phone.inside(body, identifier), "78-90", "the note is saved")
    page.evaluate("() => resume()")
    page.get_by_role("link", name="Safe").get_by_text("78-90").wait_for()


def photos(phone, count):
    """Opens the intruder photos and waits for so many of them."""
    page = phone.page
    if count:
        take_photos(phone, count)
    phone.go("photos", "Intruder photos")
    if count:
        page.locator(".photos-tile[data-shown]").nth(count - 1).wait_for()
    return page


def test_intruder_photos_are_grouped_by_day_and_open(phone):
    page = photos(phone, 0)
    page.get_by_text("No intruder photos").wait_for()
    phone.check()
    phone.picture("photos-empty")
    photos(phone, 3)
    page.get_by_role("heading", name="Today").wait_for()
    phone.check()
    phone.picture("photos")
    tile = page.locator(".photos-open").first
    tile.click()
    page.locator(".photos-large:not([hidden])").wait_for()
    phone.picture("photo")
    phone.check()
    page.get_by_text("Photo 1 of 3").wait_for()
    page.keyboard.press("ArrowRight")
    page.get_by_text("Photo 2 of 3").wait_for()
    finger(page, ".photos-stage", (300, 300), (190, 300), (80, 300))
    page.get_by_text("Photo 3 of 3").wait_for()
    assert page.get_by_role("button", name="Older photo").is_disabled()
    page.locator(".photos-stage").dblclick()
    assert "scale(2.5)" in page.locator(".photos-large").get_attribute("style")
    page.keyboard.press("Escape")
    page.locator(".photos-view").wait_for(state="detached")
    assert tile.evaluate("(tile) => tile === document.activeElement"), "the focus did not return"


def test_a_tap_hides_the_controls_of_a_photo_and_a_swipe_down_closes_it(phone):
    page = photos(phone, 1)
    page.locator(".photos-open").first.click()
    page.locator(".photos-large:not([hidden])").wait_for()
    for controls in (".photos-bar", ".photos-turn"):
        assert page.locator(controls).evaluate("(node) => getComputedStyle(node).opacity") == "1"
    finger(page, ".photos-stage", (200, 300))
    page.locator(".photos-view-bare").wait_for()
    for controls in (".photos-bar", ".photos-turn"):
        assert page.locator(controls).evaluate("(node) => getComputedStyle(node).opacity") == "0"
    phone.picture("photo-alone")
    # The keyboard shows them.
    page.keyboard.press("Tab")
    assert page.locator(":focus").evaluate("(node) => getComputedStyle(node.parentElement).opacity") == "1"
    finger(page, ".photos-stage", (200, 300))
    page.locator(".photos-view-bare").wait_for(state="detached")
    finger(page, ".photos-stage", (200, 200), (205, 280), (205, 360))
    page.locator(".photos-view").wait_for(state="detached")


def test_a_photo_is_saved_unsealed_only_on_request(phone):
    page = photos(phone, 1)
    page.locator(".photos-open").first.click()
    page.locator(".photos-large:not([hidden])").wait_for()
    page.get_by_role("button", name="Save to this device").click()
    page.get_by_text("The copy is not sealed").wait_for()
    phone.picture("photo-save")
    phone.check()
    page.get_by_role("button", name="Cancel").click()
    page.get_by_role("button", name="Save to this device").click()
    # Where the browser can't share files they are downloaded.
    page.evaluate("() => { navigator.canShare = () => false; }")
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save a copy").click()
    assert saved.value.suggested_filename.startswith("intruder-20")
    assert saved.value.path().read_bytes()[:3] == b"\xff\xd8\xff"


def test_a_desktop_downloads_a_photo(new_context, household, computer):
    desk = Phone(new_context, computer, DESKTOP).begin(household.paired)
    page = photos(desk, 1)
    page.locator(".photos-open").first.click()
    page.locator(".photos-large:not([hidden])").wait_for()
    # Desktop browsers can share files too.
    page.evaluate("() => { navigator.canShare = () => true; navigator.share = () => new Promise(() => {}); }")
    page.get_by_role("button", name="Save to this device").click()
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save a copy").click()
    assert saved.value.suggested_filename.startswith("intruder-20")
    desk.quiet()


def test_deleting_a_photo_requires_the_pin_and_the_computers_confirmation(phone, computer):
    computer.open_vault()
    page = photos(phone, 2)
    page.locator(".photos-open").first.click()
    page.get_by_role("button", name="Delete this photo").click()
    page.get_by_text("This can’t be undone").wait_for()
    phone.picture("photo-delete")
    page.get_by_role("button", name="Cancel").click()
    assert page.locator(".photos-tile").count() == 2
    page.get_by_role("button", name="Delete this photo").click()
    phone.type_pin()
    page.get_by_text("Photo deleted").wait_for()
    page.get_by_role("button", name="Close").click()
    eventually_equals(page.locator(".photos-tile").count, 1)
    assert len(json.loads(computer.run("intruders", "list", "--json", passcode=True))["intruders"]) == 1


def test_photos_report_that_they_need_the_hub(phone, computer):
    page = photos(phone, 1)
    phone.go("home", "Home")
    computer.stop_hub()
    phone.go("photos", "Intruder photos")
    page.get_by_text("They can be opened when it is reachable").wait_for()
    phone.check()
    phone.picture("photos-offline")
    page.locator(".photos-open").first.click()
    page.locator(".photos-message").get_by_text("The hub can’t be reached").wait_for()
    page.get_by_role("button", name="Close").click()
    computer.start_hub()
    phone.online_again()
    page.locator(".photos-tile[data-shown]").wait_for()
    # A picture can arrive before the connection is live.
    page.get_by_text("They can be opened when it is reachable").wait_for(state="hidden")


def test_few_photos_are_opened_at_the_same_time(phone):
    page = phone.page
    page.evaluate("""() => {
        const real = window.fetch;
        window.most = 0;
        let running = 0;
        window.fetch = async (...args) => {
            if (!String(args[0]).endsWith("/state")) return real(...args);
            window.most = Math.max(window.most, (running += 1));
            return real(...args).finally(() => (running -= 1));
        };
    }""")
    photos(phone, 6)
    assert 1 <= page.evaluate("() => most") <= 3
    phone.check()
    phone.picture("photos-many")


def test_no_photo_remains_after_locking(phone):
    page = phone.page
    page.evaluate("""() => {
        window.urls = new Set();
        const [make, revoke] = [URL.createObjectURL, URL.revokeObjectURL];
        URL.createObjectURL = (blob) => { const url = make.call(URL, blob); window.urls.add(url); return url; };
        URL.revokeObjectURL = (url) => { window.urls.delete(url); revoke.call(URL, url); };
    }""")
    photos(phone, 2)
    eventually(lambda: page.evaluate("() => urls.size") >= 2)
    phone.go("home", "Home")
    assert page.evaluate("() => urls.size") == 0, "a photo remains"
    phone.go("photos", "Intruder photos")
    page.locator(".photos-open").first.click()
    page.locator(".photos-large:not([hidden])").wait_for()
    phone.lock()
    eventually_equals(lambda: page.evaluate("() => urls.size"), 0)
    assert page.locator("img[src^='blob:'], dialog").count() == 0

"""A moment is written, changed and left."""

import base64

import pytest

from editor_steps import (
    LAKE,
    at_moment,
    chosen,
    drafted,
    editor,
    kept,
    moment,
    moments,
    picture,
    save_moment,
    saved,
    sealed,
    written,
)
from moment_steps import KEPT_ON_THE_DEVICE, opened
from phone import DESKTOP, TURN_AWAY, Phone
from waiting import eventually, eventually_equals

pytestmark = pytest.mark.computer_is_off

# The pause in milliseconds after which a draft is saved.
PAUSE = 1000


def test_a_moment_is_created_on_a_phone(phone):
    page = editor(phone)
    phone.picture("editor-empty")
    phone.check()
    chosen(page, picture(phone, 1, exif=LAKE), picture(phone, 2), picture(phone, 3, 480, 640))
    sealed(page, 3)
    assert page.get_by_label("Day", exact=True).input_value() == "2024-05-17"
    assert page.get_by_label("Time", exact=True).input_value() == "18:30"
    written(page, "By the lake", "We stayed until the stars were out.")
    page.get_by_role("button", name="Calm").click()
    page.get_by_role("button", name="Favourite").click()
    phone.picture("editor")
    phone.check()
    page.get_by_role("button", name="Add a place").click()
    page.get_by_role("button", name="From the photo").click()
    page.get_by_label("Name of the place").fill("Rapperswil")
    phone.picture("editor-place")
    phone.check()
    page.get_by_role("button", name="Done").click()
    saved(page)
    [found] = moments(phone)
    assert (
        found["title"] == "By the lake" and found["mood"] == "calm" and found["favourite"] and len(found["photos"]) == 3
    )
    assert found["offset"] == 120 and found["date"] == 1715963400, found["date"]
    assert found["place"]["name"] == "Rapperswil" and abs(found["place"]["latitude"] - 47.3667) < 0.001


def test_an_empty_moment_is_refused_with_a_message(phone):
    page = editor(phone)
    page.get_by_role("button", name="Joy").click()
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_text("There is nothing to save yet").wait_for()
    # Typing hides the message.
    written(page, "   ")
    page.get_by_text("There is nothing to save yet").wait_for(state="detached")
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_text("There is nothing to save yet").wait_for()
    phone.picture("editor-refused")
    phone.check()
    # As a photo does.
    chosen(page, picture(phone, 1))
    sealed(page, 1)
    page.get_by_text("There is nothing to save yet").wait_for(state="detached")
    page.get_by_role("button", name="Remove photo 1").click()
    written(page, "Only words", "No photo at all.")
    page.get_by_label("Day", exact=True).fill("")
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_text("Choose the day and the time").wait_for()
    page.get_by_label("Day", exact=True).fill("1999-12-31")
    page.get_by_label("Time", exact=True).fill("23:59")
    page.get_by_role("button", name="Joy").click()
    page.get_by_role("button", name="Other").click()
    page.get_by_label("Your own mood").fill("midnightish")
    page.get_by_role("button", name="Done").click()
    page.get_by_role("button", name="midnightish", pressed=True).wait_for()
    found = moment(phone, saved(page))
    assert found["mood"] == "midnightish" and found["photos"] == [] and "place" not in found
    assert found["date"] + found["offset"] * 60 == 946684740, found


def test_leaving_asks_whether_to_keep_the_draft(phone):
    page = editor(phone)
    written(page, "Half a sente")
    chosen(page, picture(phone, 41))
    sealed(page, 1)
    page.get_by_role("button", name="Back").click()
    page.get_by_role("heading", name="Leave this moment?").wait_for()
    phone.picture("editor-leaving")
    phone.check()
    page.get_by_role("button", name="Keep writing").click()
    assert page.evaluate("() => location.hash") == "#/moments/new"
    assert page.get_by_label("Title").input_value() == "Half a sente"
    # The browser's own Back asks too.
    page.go_back()
    page.get_by_role("button", name="Keep the draft").click()
    page.get_by_role("heading", name="New moment").wait_for(state="detached")
    drafted(phone, "Half a sente", "")
    state = kept(phone)
    assert state["staged"] == 1 and list(state["drafts"]) == ["new"], state
    phone.go("moments/new", "New moment")
    page.get_by_text("Draft from").wait_for()
    sealed(page, 1)
    eventually_equals(lambda: page.evaluate("() => scrollY"), 0, "the message about the restored draft is in view")
    assert page.get_by_label("Title").input_value() == "Half a sente"
    phone.picture("editor-draft")
    phone.check()
    page.get_by_role("button", name="Discard draft").click()
    page.get_by_text("Draft from").wait_for(state="detached")
    assert page.get_by_label("Title").input_value() == ""
    eventually_equals(lambda: kept(phone), {"staged": 0, "drafts": {}})
    # Only an empty form is left: no confirmation is needed.
    phone.go("home", "Home")


def back_at_the_draft(phone):
    """After locking or reloading, the app requires the PIN, then again for the moments; the form has the typed text."""
    phone.unlock()
    phone.confirm("Open your moments")
    phone.page.get_by_text("Draft from").wait_for()


@pytest.mark.clock
def test_locking_keeps_the_draft(phone):
    page = editor(phone)
    chosen(page, picture(phone, 51))
    sealed(page, 1)
    # The pause after which a draft is saved does not end: leaving saves it.
    page.clock.pause_at(page.evaluate("() => Date.now()") / 1000 + 10)
    written(page, "Locked", "MARKER-UNSAVED")
    page.evaluate("() => document.querySelector('.editor-words').focus()")
    # As on a phone whose screen is turned off: hidden, then locked.
    page.evaluate(TURN_AWAY)
    phone.lock()
    page.clock.resume()
    assert "MARKER-UNSAVED" not in page.content() and page.locator("canvas").count() == 0
    back_at_the_draft(phone)
    assert page.get_by_label("Words").input_value() == "MARKER-UNSAVED"
    sealed(page, 1)
    # A closed page doesn't save either: the text was saved before.
    page.get_by_label("Words").fill("MARKER-UNSAVED and more")
    page.clock.fast_forward(PAUSE)
    drafted(phone, "Locked", "MARKER-UNSAVED and more")
    page.reload()
    back_at_the_draft(phone)
    assert page.get_by_label("Words").input_value() == "MARKER-UNSAVED and more"
    found = saved(page)
    assert kept(phone) == {"staged": 0, "drafts": {}}
    found = moment(phone, found)
    assert found["words"] == "MARKER-UNSAVED and more" and len(found["photos"]) == 1


@pytest.mark.clock
def test_unusual_text_does_not_break_the_form(phone):
    page = editor(phone)
    hostile = "<img src=x onerror=alert(1)>\u202e\u200b👩‍👩‍👧‍👦" + "W" * 10_000
    written(page, hostile, hostile * 3)
    page.get_by_role("button", name="Other").click()
    page.get_by_label("Your own mood").fill(hostile)
    page.get_by_role("button", name="Done").click()
    page.get_by_role("button", name="Add a place").click()
    page.get_by_label("Name of the place").fill(hostile)
    page.get_by_role("button", name="Done").click()
    phone.check()
    phone.picture("editor-hostile")
    page.clock.fast_forward(PAUSE)
    drafted(phone, hostile, hostile * 3)
    page.reload()
    back_at_the_draft(phone)
    assert (
        page.get_by_label("Title").input_value() == hostile
        and len(page.get_by_label("Words").input_value()) == len(hostile) * 3
    )
    phone.go("home")
    page.get_by_role("button", name="Discard it").click()
    page.get_by_role("heading", name="Home", level=1).wait_for()


def test_editing_a_moment_keeps_another_devices_change(phone):
    identifier = save_moment(phone, "In order", [[22, 480, 640], [21, 640, 480], [23, 320, 320]])
    page = opened(phone, f"moments/{identifier}/edit", "Edit moment")
    sealed(page, 3)
    page.get_by_role("button", name="Remove photo 2").click()
    page.get_by_label("Words").fill("Now with words.")
    phone.picture("editor-edit")
    saved(page)
    found = moment(phone, identifier)
    assert found["words"] == "Now with words." and [one["width"] for one in found["photos"]] == [480, 320]
    phone.go(f"moments/{identifier}/edit", "Edit moment")
    # An unchanged form shows the change.
    phone.inside("await companion.moments.save(arg, { ...arg, words: 'From elsewhere.' });", found)
    eventually_equals(page.get_by_label("Words").input_value, "From elsewhere.")
    page.get_by_label("Words").fill("Mine.")
    phone.inside(
        """
        const moment = await companion.moments.read(arg);
        await companion.moments.save(moment, { ...moment, words: "From elsewhere again." });""",
        identifier,
    )
    page.get_by_text("This moment was changed on another device").wait_for()
    phone.picture("editor-other")
    phone.check()
    assert page.get_by_label("Words").input_value() == "Mine."
    saved(page)
    eventually_equals(
        lambda: {one["words"] for one in moments(phone) if one["title"].startswith("In order")},
        {"Mine.", "From elsewhere again."},
    )


def test_the_location_is_requested_only_on_demand(phone):
    page = editor(phone)
    written(page, "Here")
    page.get_by_role("button", name="Add a place").click()
    page.get_by_role("button", name="Current location").click()
    page.get_by_text("does not share your location").wait_for()
    phone.picture("editor-place-refused")
    phone.check()
    phone.context.grant_permissions(["geolocation"], origin=phone.address)
    phone.context.set_geolocation({"latitude": -33.92487, "longitude": 18.42406})
    page.get_by_role("button", name="Current location").click()
    page.get_by_text("33.9249° S, 18.4241° E").wait_for()
    page.get_by_label("Name of the place").fill("Cape Town")
    page.get_by_label("Name of the place").press("Enter")
    page.get_by_role("button", name="Cape Town").wait_for()
    saved(page)
    # The next moment offers it.
    phone.go("moments/new", "New moment")
    page.get_by_role("button", name="Add a place").click()
    page.get_by_role("button", name="Cape Town").click()
    page.get_by_text("33.9249° S").wait_for()
    page.get_by_role("button", name="Cape Town").click()
    page.get_by_role("button", name="Remove the place").click()
    page.get_by_role("button", name="Add a place").wait_for()
    # Unchanged: no confirmation is needed.
    phone.go("home", "Home")


def test_a_desktop_accepts_dropped_and_pasted_photos(new_context, household, computer):
    desk = Phone(new_context, computer, DESKTOP).begin(household.paired)
    page = editor(desk)
    desk.picture("editor-empty")
    for kind, seed in (("drop", 61), ("paste", 62)):
        page.evaluate(
            """async ([kind, data, name]) => {
            const bytes = Uint8Array.from(atob(data), (one) => one.charCodeAt(0));
            const transfer = new DataTransfer();
            transfer.items.add(new File([bytes], name, { type: "image/jpeg" }));
            const target = document.querySelector(".editor-words");
            const bubbling = { bubbles: true, cancelable: true };
            if (kind === "paste") {
                target.dispatchEvent(new ClipboardEvent("paste", { clipboardData: transfer, ...bubbling }));
            } else {
                for (const one of ["dragover", "drop"]) {
                    target.dispatchEvent(new DragEvent(one, { dataTransfer: transfer, ...bubbling }));
                }
            }
        }""",
            [kind, base64.b64encode(picture(desk, seed, exif=LAKE)["buffer"]).decode(), f"{kind}.jpg"],
        )
    sealed(page, 2)
    written(page, "By the lake", "We stayed until the stars were out.")
    page.get_by_role("button", name="Calm").click()
    desk.picture("editor")
    desk.check()
    desk.becomes("dark")
    desk.picture("editor")
    # By keyboard only.
    page.get_by_label("Words").focus()
    page.keyboard.press("Control+Enter")
    at_moment(page)
    # Another tab writes too: the tab that opened later shows it.
    desk.go("moments/new", "New moment")
    other = desk.open_page()
    other.goto(f"{desk.address}/#/moments/new")
    desk.page = other
    desk.unlock()
    desk.confirm("Open your moments")
    other.get_by_text("Another tab has a draft").wait_for()
    desk.check()
    desk.quiet()


@pytest.mark.service_worker
def test_a_moment_is_saved_without_the_hub(phone, computer):
    page = editor(phone)
    photo = picture(phone, 71)
    eventually(lambda: page.evaluate(KEPT_ON_THE_DEVICE), "the app's files are cached")
    computer.stop_hub()
    page.get_by_text("Offline. Showing").wait_for()
    chosen(page, photo)
    sealed(page, 1)
    written(page, "Without a network")
    saved(page)
    page.get_by_text("Without a network").first.wait_for()
    assert waiting(page) > 0
    computer.start_hub()
    phone.online_again()
    page.get_by_text("Offline. Showing").wait_for(state="hidden")
    eventually_equals(lambda: waiting(page), 0, "all changes are sent")


def waiting(page):
    """The number of records that the page has not sent; the second companion of `phone.inside` would send them
    itself."""
    return page.evaluate("""async () => {
        const { CompanionStore } = await import("/store/store.js");
        const store = await CompanionStore.open();
        const lines = await store.waiting();
        store.close();
        return lines.length;
    }""")

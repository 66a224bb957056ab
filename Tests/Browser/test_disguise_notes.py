"""The note pad as which AppLocker is disguised."""

import re

import pytest

import clock
import disguise_steps
from disguise_steps import COUNT_PASSKEY_REQUESTS, REMEMBER, disguised, hold, tries, wait_until_handled
from phone import PIN, Phone
from settings_steps import page_of
from waiting import eventually, eventually_equals

pytestmark = pytest.mark.computer_is_off

DECOY = "628317"
# All texts that the browser stores for this page, with the state of its forms.
STORED = """async () => {
    const texts = [JSON.stringify({ ...localStorage }), JSON.stringify({ ...sessionStorage }), location.href,
        JSON.stringify(history.state), document.cookie];
    for (const { name } of await indexedDB.databases()) {
        const database = await new Promise((resolve) => {
            indexedDB.open(name).onsuccess = ({ target }) => resolve(target.result);
        });
        for (const store of database.objectStoreNames) {
            const request = database.transaction(store).objectStore(store).getAll();
            const values = await new Promise((resolve) => { request.onsuccess = () => resolve(request.result); });
            // Bytes as text too.
            texts.push(JSON.stringify(values, (_, value) => value instanceof ArrayBuffer || ArrayBuffer.isView(value)
                ? new TextDecoder("latin1").decode(value) : value));
        }
        database.close();
    }
    return texts.join("\\n");
}"""


def harmless(page):
    disguise_steps.harmless(page, "Notes")


def lock(phone):
    disguise_steps.lock(phone, "Notes")


def pad(page):
    return page.get_by_label("Note", exact=True)


def write(page, text):
    """Types at the end of the note, each line break with Enter. The clock stands still: Enter pressed twice is then
    within a second and a half on any machine."""
    pad(page).focus()
    with clock.paused(page):
        page.keyboard.type(text)


@pytest.fixture
def notes(phone):
    """A phone that is disguised as notes and locked."""
    disguised(phone, "Notes")
    lock(phone)
    return phone


@pytest.mark.clock
def test_the_settings_disguise_the_app_as_notes(phone):
    page = page_of(phone, "disguise", "Disguise")
    page.get_by_text("What you type there is not sealed.").wait_for()
    page.get_by_label("A working note pad").click()
    page.get_by_role("heading", name="Turn on the disguise?").wait_for()
    phone.check()
    page.get_by_role("button", name="Use letters").click()
    page.locator("dialog").get_by_label("PIN", exact=True).fill("anna's long pin")
    page.keyboard.press("Enter")
    page.get_by_text(
        "Words and short numbers are written in notes every day: it needs a PIN of digits alone"
    ).wait_for()
    page.get_by_role("button", name="Cancel").click()
    # Until then the note pad is still marked, and choosing it changes nothing.
    eventually(lambda: page.get_by_label("Its own name and icon").is_checked())
    page.get_by_label("A working note pad").click()
    phone.type_pin()
    page.get_by_text("Disguise turned on").wait_for()
    assert page.title() == "Notes"
    phone.picture("settings-disguise-notes")
    # From one disguise to the other.
    page.get_by_label("A working calculator").click()
    phone.type_pin()
    eventually_equals(page.title, "Calculator", "the other disguise")
    page.get_by_label("A working note pad").click()
    phone.type_pin()
    eventually_equals(page.title, "Notes", "this one again")
    lock(phone)
    write(page, PIN + "\n\n")
    page.locator(".tabs").wait_for()
    assert page.title() == "Notes"


def test_the_locked_disguise_shows_only_a_note_pad(notes):
    page = notes.page
    notes.check()
    pad(page).fill("Milk\nBread\nCall the dentist")
    notes.picture("note-pad")
    notes.becomes("dark")
    notes.check()
    notes.picture("note-pad")
    notes.becomes("light")
    page.evaluate("() => window.dispatchEvent(new Event('blur'))")
    cover = "() => getComputedStyle(document.querySelector('.cover-icon')).backgroundImage"
    assert "notes.svg" in page.evaluate(cover)
    notes.picture("cover-notes")
    page.evaluate("() => window.dispatchEvent(new Event('focus'))")
    # Done ends writing, as in any such app.
    pad(page).focus()
    page.get_by_role("button", name="Done").click()
    assert page.evaluate("() => document.activeElement.tagName") != "TEXTAREA"
    assert pad(page).input_value() == "Milk\nBread\nCall the dentist"
    harmless(page)


def test_the_disguised_app_starts_without_its_own_name_and_icon(phone):
    disguised(phone, "Notes")
    page = phone.open_page()
    requested = []
    page.on("request", lambda request: requested.append(request.url))
    page.add_init_script(f"({REMEMBER})()")
    page.goto(phone.address)
    harmless(page)
    seen = page.evaluate("() => seen")
    foreign = [one for one in seen if re.search(r"locker|calculator|favicon\.svg|app\.web", one, re.I)]
    assert "Notes" in seen and not foreign, set(seen)
    icons = [one for one in requested if re.search(r"/icons/|webmanifest", one) and "/notes" not in one]
    assert icons == [], icons


@pytest.mark.clock
def test_ordinary_notes_try_no_pin(notes):
    page = notes.page
    sent = []
    page.on(
        "request",
        lambda request: sent.append(request.method) if request.url.endswith("/v1/pin-share/attempt") else None,
    )
    write(page, "738291\nmilk\n\ntel 738291\n\n73829\n\n7382-91\n\n")
    # Numbers that can't be a PIN.
    write(page, "123456\n\n111111\n\n20101999\n\n")
    write(page, "738291\n")
    page.clock.fast_forward(1700)
    write(page, "\n")
    assert tries(notes) == [0, 0]
    harmless(page)
    # A number is not tried while another one is: none was pending, and this is the first.
    write(page, PIN + "\n\n")
    page.locator(".tabs").wait_for()
    assert len(sent) == 1, sent


@pytest.mark.clock
def test_a_wrong_pin_stays_plain_text_and_is_counted_once(notes):
    page = notes.page
    write(page, "Milk\n918273\n\n")
    eventually_equals(lambda: tries(notes), [1, 1])
    # All timers of the page are due.
    page.clock.fast_forward(10_000)
    assert pad(page).input_value() == "Milk\n918273\n\n"
    harmless(page)
    assert tries(notes) == [1, 1]
    notes.check()


@pytest.mark.clock
def test_after_five_wrong_pins_the_note_pad_stays_locked_for_a_while(notes):
    page = notes.page
    for count in range(1, 6):
        # No other number is tried before the page has the answer to this one, and the device has counted too: not the
        # fifth, after which it has to wait.
        with page.expect_response("**/v1/pin-share/attempt") as answered:
            write(page, f"91827{count}\n\n")
        answered.value.finished()
        eventually_equals(lambda: tries(notes), [count, min(count, 4)])
    with page.expect_response("**/v1/pin-share/attempt") as refused:
        write(page, PIN + "\n\n")
    assert refused.value.status == 429, refused.value.status
    harmless(page)
    assert tries(notes)[0] == 5
    notes.picture("note-pad-lockout")


@pytest.mark.clock
def test_the_pin_vanishes_with_the_note(notes):
    page = notes.page
    # As a person writes, between other lines.
    pad(page).fill("Milk\nBread")
    page.keyboard.press("Control+Home")
    page.keyboard.press("End")
    with clock.paused(page):
        page.keyboard.type(f"\n{PIN}\n\n")
    page.locator(".tabs").wait_for()
    assert page.title() == "Notes"
    assert PIN not in page.content() and "Bread" not in page.content()
    lock(notes)
    assert pad(page).input_value() == ""


def test_what_is_typed_is_never_stored(notes):
    page = notes.page
    pad(page).fill("MARKER-milk\n")
    pad(page).press_sequentially(PIN)
    page.evaluate("() => window.dispatchEvent(new PageTransitionEvent('pagehide', { persisted: false }))")
    # Identifiers and times have digits too.
    stored = re.sub(r"\b[0-9a-f]{32}\b|\b1\d{12}\b", " ", page.evaluate(STORED))
    assert "MARKER" not in stored and PIN not in stored
    page.reload()
    harmless(page)
    assert pad(page).input_value() == ""
    page.go_back()
    page.go_forward()
    harmless(page)
    assert pad(page).input_value() == ""
    # The browser finds what the page does store.
    page.evaluate("""() => new Promise((resolve) => {
        const opening = indexedDB.open("test");
        opening.onupgradeneeded = () => opening.result.createObjectStore("test", { autoIncrement: true });
        opening.onsuccess = () => {
            opening.result.transaction("test", "readwrite").objectStore("test")
                .add({ note: new TextEncoder().encode("MARKER") }).onsuccess = resolve;
        };
    })""")
    assert "MARKER" in page.evaluate(STORED)
    # Its fields are made by a script after a reload, so the attributes alone show what a browser may store or send.
    for name, value in {"autocomplete": "off", "spellcheck": "false", "writingsuggestions": "false"}.items():
        assert pad(page).get_attribute(name) == value


def test_the_pin_unlocks_by_holding_done(notes):
    page = notes.page
    pad(page).press_sequentially(f"Milk\n{PIN}")
    hold(page, page.get_by_role("button", name="Done"))
    page.locator(".tabs").wait_for()
    assert PIN not in page.content()


@pytest.mark.clock
def test_the_decoy_pin_unlocks_its_own_vault(phone):
    phone.inside("await companion.decoy.set(arg);", DECOY)
    phone.inside("await companion.notes.save(null, { title: arg, body: 'milk' });", "Really mine")
    disguised(phone, "Notes")
    lock(phone)
    page = phone.page
    write(page, DECOY + "\n\n")
    page.locator(".tabs").wait_for()
    phone.go("notes", "Notes")
    phone.type_pin(DECOY)
    page.get_by_text("No notes").first.wait_for()
    assert page.get_by_text("Really mine").count() == 0


@pytest.mark.clock
def test_the_note_pad_works_without_the_hub(notes, computer):
    page = notes.page
    computer.stop_hub()
    with page.expect_event("requestfailed", lambda request: "pin-share" in request.url):
        write(page, PIN + "\n\n")
    # The note pad continues after the failure.
    page.evaluate("() => fetch('/v1/hub').catch(() => {})")
    harmless(page)
    write(page, "Milk")
    assert pad(page).input_value() == f"{PIN}\n\nMilk"
    computer.start_hub()
    notes.online_again()
    pad(page).fill("")
    write(page, PIN + "\n\n")
    page.locator(".tabs").wait_for()


def test_another_tab_changes_and_ends_the_disguise(phone):
    disguised(phone)
    other = phone.open_page()
    other.goto(phone.address)
    disguise_steps.harmless(other)
    disguised(phone, "Notes")
    harmless(other)
    page = page_of(phone, "disguise", "Disguise")
    page.get_by_label("Its own name and icon").click()
    page.get_by_text("Disguise turned off").wait_for()
    other.get_by_role("heading", name="AppLocker is locked").wait_for()
    assert other.title() == "AppLocker"


def test_a_passkey_unlocks_by_holding_the_title(new_context, household, computer):
    phone = disguise_steps.phone_with_passkey(new_context, household, computer)
    page = phone.page
    disguised(phone, "Notes")
    page.add_init_script(f"({COUNT_PASSKEY_REQUESTS})()")
    page.reload()
    harmless(page)
    # The passkey is requested neither at the start nor by a touch.
    hold(page, page.get_by_role("heading", name="Notes"), 0.1)
    wait_until_handled(page)
    assert page.evaluate("() => passkeyRequests") == 0
    harmless(page)
    hold(page, page.get_by_role("heading", name="Notes"))
    page.locator(".tabs").wait_for()
    assert page.evaluate("() => passkeyRequests") == 1
    lock(phone)
    # In the text Shift and Enter break a line, and so does Enter of an iPhone's keyboard, which may have Shift.
    pad(page).focus()
    page.keyboard.press("Shift+Enter")
    assert pad(page).input_value() == "\n"
    page.get_by_role("button", name="Done").focus()
    page.evaluate("""() => document.activeElement.dispatchEvent(
        new KeyboardEvent("keydown", { key: "Enter", shiftKey: true, bubbles: true, cancelable: true }))""")
    wait_until_handled(page)
    assert page.evaluate("() => passkeyRequests") == 1
    harmless(page)
    pad(page).focus()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Shift+Enter")
    page.locator(".tabs").wait_for()
    assert page.evaluate("() => passkeyRequests") == 2
    phone.quiet()


def test_a_panic_shows_the_notes(phone):
    disguised(phone, "Notes")
    disguise_steps.escapes(phone.page)
    harmless(phone.page)
    phone.page.reload()
    harmless(phone.page)


def test_the_notes_icon_starts_the_note_pad(new_context, computer):
    phone = Phone(new_context, computer, name="From the start")
    page = phone.page
    page.goto(f"{phone.address}/?as=notes")
    page.get_by_role("heading", name="Welcome to AppLocker").wait_for()
    assert page.title() == "Notes"
    manifest = "() => document.querySelector('link[rel=manifest]').getAttribute('href')"
    assert page.evaluate(manifest) == "/notes.webmanifest"
    page.goto("about:blank")
    phone.pair()
    assert page.title() == "Notes"
    page.reload()
    harmless(page)
    pad(page).press_sequentially(PIN)
    hold(page, page.get_by_role("button", name="Done"))
    page.locator(".tabs").wait_for()
    # A foreign link changes nothing of a paired device, nor one disguise into the other.
    page.goto(f"{phone.address}/?as=calculator")
    harmless(page)
    phone.quiet()

"""The settings."""

import pathlib
import tempfile

import pytest

from computer import PASSCODE, Computer
from note_steps import save_notes
from phone import DESKTOP, PIN, TURN_AWAY, Phone
from settings_steps import page_of
from waiting import eventually, eventually_equals

NEW_PIN = "284617"
UNLOCK = ("unlock", "PIN, Face ID and fingerprint")


def test_every_settings_page_opens_and_is_accessible(phone):
    page = phone.page
    phone.go("settings", "Settings")
    page.get_by_text("This is Anna's phone").wait_for()
    phone.check()
    phone.picture("settings")
    titles = page.locator(".settings-link .row-title").all_inner_texts()
    assert len(titles) == 16, titles
    pictures = page.locator(".settings-link .tile path").evaluate_all(
        "(all) => all.map((one) => one.getAttribute('d'))"
    )
    assert len(set(pictures)) == len(titles), "two rows have the same icon"
    for title, value in (
        ("Auto-lock", "1 minute"),
        ("Devices", "2 devices"),
        ("Panic", "On"),
        ("Appearance", "System"),
    ):
        row = page.locator(".settings-link", has=page.get_by_text(title, exact=True))
        eventually_equals(row.locator(".row-end").inner_text, value, title)
    assert page.locator(".settings-link", has_text="Decoy PIN").locator(".row-end").inner_text() == ""
    for title in titles:
        page.locator(".settings-link", has_text=title).click()
        page.get_by_role("heading", name=title, level=1).wait_for()
        if title == "Everline":
            phone.confirm("Open your moments")
            page.get_by_label("Together since").wait_for()
        phone.check()
        phone.picture(f"settings-{title.split()[0].lower().strip(',')}")
        page.get_by_role("button", name="Back", exact=True).click()
        page.get_by_role("heading", name="Settings", level=1).wait_for()


@pytest.mark.computer_is_off
def test_changing_the_pin_requires_the_old_one(phone):
    page = page_of(phone, *UNLOCK)
    page.get_by_role("button", name="Change the PIN").click()
    page.get_by_role("heading", name="Enter your current PIN").wait_for()
    phone.check()
    phone.type_pin("918273")
    page.get_by_text("The PIN is wrong").wait_for()
    phone.type_pin()
    page.get_by_role("heading", name="Choose the new PIN").wait_for()
    phone.type_pin("123456")
    page.get_by_text("easy to guess").wait_for()
    phone.type_pin(NEW_PIN)
    page.get_by_role("heading", name="Repeat the new PIN").wait_for()
    phone.type_pin("284618")
    page.get_by_text("The two PINs differ").wait_for()
    phone.type_pin(NEW_PIN)
    page.get_by_role("heading", name="Repeat the new PIN").wait_for()
    phone.type_pin(NEW_PIN)
    page.get_by_text("The PIN was changed").wait_for()
    page.reload()
    page.get_by_role("heading", name="AppLocker is locked").wait_for()
    phone.type_pin(PIN)
    page.get_by_text("The PIN is wrong").wait_for()
    phone.unlock(NEW_PIN)
    # Restores the PIN from before.
    phone.inside("await companion.setPIN(arg);", PIN, pin=NEW_PIN)
    page.reload()
    phone.unlock()


@pytest.mark.clock
@pytest.mark.computer_is_off
def test_a_visible_companion_that_nobody_touches_locks_after_the_chosen_time(phone):
    page = page_of(phone, "autolock", "Auto-lock")
    group = page.get_by_role("radiogroup", name="Lock when it is idle")
    assert group.get_by_label("5 minutes", exact=True).is_checked()
    phone.check()
    group.get_by_label("1 minute", exact=True).check()
    eventually_equals(lambda: phone.stored("lockWhenIdleSeconds", 0), 60)
    phone.go("home", "Home")
    # The clock also runs by itself.
    for x in (100, 200):
        page.mouse.move(x, 100)
        page.clock.fast_forward(35_000)
    page.get_by_role("heading", name="Home", level=1).wait_for()
    page.clock.fast_forward(61_000)
    page.get_by_role("heading", name="AppLocker is locked").wait_for()


@pytest.mark.computer_is_off
def test_the_auto_lock_time_is_stored_and_applied(phone):
    page = page_of(phone, "autolock", "Auto-lock")
    assert page.get_by_label("After 1 minute").is_checked()
    page.get_by_label("After 5 minutes").check()
    eventually_equals(lambda: phone.stored("lockAfterSeconds", 0), 300)
    page_of(phone, "autolock", "Auto-lock")
    assert page.get_by_label("After 5 minutes").is_checked()
    page.get_by_label("Immediately").check()
    eventually_equals(lambda: phone.stored("lockAfterSeconds", 60), 0)
    # The settings page's own timer ends with it: the app's timer locks, which received the change.
    phone.go("home", "Home")
    page.evaluate(TURN_AWAY)
    phone.unlock()


@pytest.mark.computer_is_off
def test_lock_now_locks(phone):
    phone.go("settings", "Settings")
    phone.page.get_by_role("button", name="Lock now").click()
    phone.unlock()


@pytest.mark.computer_is_off
def test_no_longer_requiring_the_pin_for_notes_requires_the_pin(phone):
    page = page_of(phone, *UNLOCK)
    asks = page.get_by_role("switch", name="Require the PIN for notes")
    assert asks.is_checked()
    asks.click()
    page.get_by_role("button", name="Cancel").click()
    eventually(asks.is_checked)
    asks.click()
    phone.confirm("Stop requiring the PIN for notes?")
    page.get_by_text("Notes no longer require the PIN").wait_for()
    assert not asks.is_checked()
    phone.go("notes", "Notes")
    page.get_by_text("No notes yet").wait_for()


@pytest.mark.computer_is_off
def test_the_appearance_is_stored(phone):
    page = page_of(phone, "appearance", "Appearance")
    page.get_by_role("button", name="Dark").click()
    assert page.evaluate("() => document.documentElement.dataset.theme") == "dark"
    page.reload()
    phone.unlock()
    assert page.evaluate("() => document.documentElement.dataset.theme") == "dark"
    page_of(phone, "appearance", "Appearance")
    page.get_by_role("button", name="System").click()
    assert page.evaluate("() => 'theme' in document.documentElement.dataset") is False


def choose(page, path, passphrase):
    page.locator("input[type=file]").set_input_files(path)
    page.get_by_label("Passphrase", exact=True).fill(passphrase)
    page.get_by_role("button", name="Open", exact=True).click()


def imported(computer, path, passphrase):
    """The passcode, followed by the passphrase of the backup."""
    return computer.run("backup", "import", str(path), "--yes", "--passphrase", passcode=f"{PASSCODE}\n{passphrase}")


def test_a_backup_of_notes_opens_on_computer_and_phone(phone, computer):
    computer.open_vault()
    passphrase = "four words in a row"
    found = "return (await companion.notes.list('Kept')).notes.length;"
    save_notes(phone, **{"Kept 🔑": "of Kept 🔑", "Twice": "of Twice"})
    eventually(lambda: computer.note("Twice"))
    page = page_of(phone, "backup", "Backup of notes")
    page.get_by_role("button", name="Export a backup").click()
    phone.confirm("Export a backup?")
    page.get_by_label("Passphrase", exact=True).fill("short")
    page.get_by_label("Repeat the passphrase").fill("short")
    page.get_by_role("button", name="Export", exact=True).click()
    page.get_by_text("at least 10 varied characters").wait_for()
    phone.check()
    phone.picture("backup-passphrase")
    page.get_by_label("Passphrase", exact=True).fill(passphrase)
    page.get_by_label("Repeat the passphrase").fill(passphrase)
    page.evaluate("() => { navigator.canShare = () => false; }")
    with page.expect_download() as saved:
        page.get_by_role("button", name="Export", exact=True).click()
    page.get_by_text("2 notes,").wait_for()
    path = saved.value.path()
    assert b"of Kept" not in path.read_bytes()
    computer.expect("note", "remove", "Kept 🔑", "--yes", passcode=True)
    eventually(lambda: computer.note("Kept 🔑") is None)
    eventually_equals(lambda: phone.inside(found), 0)
    assert imported(computer, path, passphrase) is not None, computer.errors
    eventually(lambda: computer.note("Kept 🔑"))
    assert computer.note("Kept 🔑")["body"] == "of Kept 🔑"
    assert imported(computer, path, "another passphrase") is None
    # And on the phone, where one of the two is missing.
    eventually_equals(lambda: phone.inside(found), 1)
    phone.inside("const [note] = (await companion.notes.list('Kept')).notes; await companion.notes.remove(note);")
    choose(page, path, "wrong passphrase")
    page.get_by_text("The passphrase does not open this backup").wait_for()
    choose(page, path, passphrase)
    page.get_by_role("heading", name="Add 2 notes?").wait_for()
    phone.picture("backup-add")
    page.get_by_role("button", name="Add", exact=True).click()
    page.get_by_text("1 note added").wait_for()
    eventually(lambda: computer.note("Kept 🔑"))
    choose(page, path, passphrase)
    page.get_by_role("button", name="Add", exact=True).click()
    page.get_by_text("It contains no new notes").wait_for()


@pytest.fixture
def installed_computer(programs):
    """Deriving keys from its passcode costs as much as on an installed computer."""
    with tempfile.TemporaryDirectory(prefix="applocker-browser-") as folder:
        computer = Computer(programs, pathlib.Path(folder) / "installed", costs_little=False)
        try:
            computer.folder.mkdir()
            computer.start_applocker()
            computer.expect("setup", passcode=True)
            yield computer
        finally:
            computer.end()


def test_a_computers_backup_is_refused_with_instructions(phone, computer, installed_computer):
    page = page_of(phone, "backup", "Backup of notes")
    file = computer.folder / "computer.aplockerbackup"
    installed_computer.expect("backup", "export", str(file), passcode=True)
    choose(page, file, PASSCODE)
    page.get_by_text("This backup was made on a computer").wait_for()
    (computer.folder / "nothing").write_bytes(b"no backup" * 300)
    choose(page, computer.folder / "nothing", "whatever it is")
    page.get_by_text("This is not a backup of this version of AppLocker").wait_for()


@pytest.fixture
def phone_at_a_name(new_context, household, computer):
    """A passkey requires a host name."""
    phone = Phone(new_context, computer, host="localhost").begin(household.paired)
    yield phone
    phone.quiet()


def test_a_passkey_unlocks_without_the_hub(phone_at_a_name, computer):
    phone = phone_at_a_name
    page = page_of(phone, *UNLOCK)
    page.get_by_text("Not set up").wait_for()
    authenticator = phone.has_authenticator()
    page_of(phone, *UNLOCK)
    page.get_by_role("button", name="Add Face ID or fingerprint").click()
    phone.type_pin()
    page.get_by_text("Face ID or fingerprint added").wait_for()
    phone.check()
    phone.picture("gate-passkey")
    page.get_by_role("button", name="PIN first", exact=True).click()
    computer.stop_hub()
    phone.go("settings", "Settings")
    page.get_by_role("button", name="Lock now").click()
    page.get_by_role("heading", name="AppLocker is locked").wait_for()
    phone.picture("gate-pin-first")
    phone.check()
    page.get_by_role("button", name="Unlock with Face ID or fingerprint").click()
    page.locator(".tabs").wait_for()
    computer.start_hub()
    phone.online_again()
    page_of(phone, *UNLOCK)
    page.get_by_role("button", name="Face ID first").click()
    eventually(lambda: phone.stored("passkeyComesFirst", False), "kept")
    page.reload()
    # After a start the passkey is requested without a click.
    page.locator(".tabs").wait_for()
    page_of(phone, *UNLOCK)
    page.get_by_role("button", name="Remove it").click()
    page.get_by_role("button", name="Remove with Face ID or fingerprint").click()
    page.get_by_text("Face ID or fingerprint removed").wait_for()
    authenticator.send("WebAuthn.disable")
    page.reload()
    phone.unlock()


def test_a_desktop_shows_the_list_beside_the_page(new_context, household, computer):
    desk = Phone(new_context, computer, DESKTOP).begin(household.paired)
    desk.go("settings", "Settings")
    for name, title in (UNLOCK, ("devices", "Devices"), ("sync", "Sync and storage"), ("about", "Version and update")):
        desk.go(f"settings/{name}")
        desk.page.get_by_role("heading", name=title, level=2).wait_for()
        desk.check()
        desk.picture(f"settings-{name}")
    desk.becomes("dark")
    desk.picture("settings-about")
    desk.quiet()

"""The hub's directory is restored from a backup: phone and computer get the newest version, whichever of them has
it."""

import shutil

from note_steps import opened, reaches_computer, save_notes
from waiting import eventually, eventually_equals

TITLES = "return (await companion.notes.list()).notes.map(({ title, body }) => [title, body]).sort();"
# Changes a note, removes one and writes one.
GO_ON = """
    const { notes } = await companion.notes.list();
    const named = (title) => notes.find((note) => note.title === title);
    await companion.notes.save(named("Kept"), { title: "Kept", body: "changed later" });
    await companion.notes.remove(named("Gone"));
    await companion.notes.save(null, { title: "Later", body: "by the phone" });
"""


def restarted(phone, computer, change):
    """Changes the hub's directory while the hub is stopped."""
    computer.stop_hub()
    phone.page.get_by_text("Offline. Showing").first.wait_for()
    change()
    computer.start_hub()
    phone.online_again()
    phone.page.get_by_text("Offline. Showing").first.wait_for(state="hidden")


def test_phone_and_computer_send_lost_changes_again_to_a_restored_hub(phone, computer):
    hub, backup = computer.folder / "hub", computer.folder / "backup"
    computer.open_vault()
    save_notes(phone, Kept="at first", Gone="at first")
    for title in ("Kept", "Gone"):
        reaches_computer(computer, title, "at first")
    opened(phone)
    restarted(phone, computer, lambda: shutil.copytree(hub, backup))
    eventually(computer.is_connected)
    # First only the computer has a change, then only the phone: the other one is offline meanwhile.
    computer.expect("note", "add", "Desk", "-", input="by the computer")
    computer.sent()
    phone.page.get_by_role("link", name="Desk").wait_for()
    computer.turn_off()
    phone.inside(GO_ON)

    def restore():
        shutil.rmtree(hub)
        shutil.copytree(backup, hub)

    restarted(phone, computer, restore)
    computer.turn_on()
    computer.open_vault()
    newest = [["Desk", "by the computer"], ["Kept", "changed later"], ["Later", "by the phone"]]
    eventually_equals(computer.notes, newest, "the computer has the newest notes")
    assert phone.inside(TITLES) == newest
    # A new device gets everything from the hub.
    other = phone.another(name="Ben's phone").pair()
    eventually_equals(lambda: other.inside(TITLES), newest, "another phone has the newest notes")
    other.quiet()
    phone.go("settings/sync", "Sync")
    phone.page.get_by_text("The hub’s store has changed").wait_for()
    phone.check()

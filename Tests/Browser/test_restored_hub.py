"""A hub whose directory is put back to a backup: phone and computer come to the newest, whichever of them has it."""

import shutil

from note_steps import made, opened
from waiting import eventually

TITLES = "return (await companion.notes.list()).notes.map(({ title, body }) => [title, body]).sort();"
# As a person changes one, removes one and writes one.
GO_ON = """
    const { notes } = await companion.notes.list();
    const named = (title) => notes.find((note) => note.title === title);
    await companion.notes.save(named("Kept"), { title: "Kept", body: "changed later" });
    await companion.notes.remove(named("Gone"));
    await companion.notes.save(null, { title: "Later", body: "by the phone" });
"""


def has(computer, title, body):
    return (computer.note(title) or {}).get("body") == body


def restarted(phone, computer, change):
    """The hub's directory is changed while it is stopped."""
    computer.stop_hub()
    phone.page.get_by_text("Not connected").first.wait_for()
    change()
    computer.start_hub()
    phone.online_again()
    phone.page.get_by_text("Not connected").first.wait_for(state="hidden")


def test_a_restored_hub_gets_back_what_phone_and_computer_wrote(phone, computer):
    hub, backup = computer.folder / "hub", computer.folder / "backup"
    computer.open_vault()
    made(phone, Kept="at first", Gone="at first")
    for title in ("Kept", "Gone"):
        eventually(lambda: has(computer, title, "at first"), f"{title} is at the computer")
    opened(phone)
    restarted(phone, computer, lambda: shutil.copytree(hub, backup))
    eventually(computer.is_connected)
    # The computer's alone, and then the phone's alone: each is away while the other one writes.
    computer.expect("note", "add", "Desk", "-", given="by the computer")
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
    eventually(lambda: computer.notes() == newest, "the computer has the newest")
    assert phone.inside(TITLES) == newest
    # A device that comes anew reads it all from the hub.
    other = phone.another(name="Ben's phone").pair()
    eventually(lambda: other.inside(TITLES) == newest, "another phone has them")
    other.quiet()
    phone.go("settings/sync", "Sync")
    phone.page.get_by_text("The hub's store is another one than before").wait_for()
    phone.check()

"""Two computers of one household on a phone: both are seen, and each is asked for itself."""

import json
import os
import pathlib
import shutil
import tempfile

import story
from app import DESKTOP, IPHONE, eventually
from overview_steps import command_succeeds, confirm, start_diary


def second_of(computer, act):
    """What `act` does with a second computer that has joined the household of the first."""
    folder, second = pathlib.Path(tempfile.mkdtemp(prefix="applocker-attic-")), None
    try:
        second = story.Computer(computer.programs, folder, beside=computer)
        act(second)
    finally:
        if second:
            second.end()
        shutil.rmtree(folder, ignore_errors=True)


def both_are_on_the_phone(phone, computer, second):
    page = phone.page
    phone.go("home", "Home")
    rows = page.get_by_role("group", name="Computers").get_by_role("button")
    eventually(lambda: rows.count() == 2, "Home lists both computers")
    if os.geteuid() == 0:
        page.get_by_role("group", name="Computers").get_by_role("button", name="attic").click()
        page.locator(".home-computer", has_text="attic").wait_for()
    eventually(lambda: rows.filter(has_text="Live").count() == 2, "both are live")
    phone.check()
    phone.picture("computers")
    page.set_viewport_size({"width": DESKTOP[0], "height": DESKTOP[1]})
    phone.size = DESKTOP
    phone.picture("computers")
    phone.size = IPHONE
    page.set_viewport_size({"width": IPHONE[0], "height": IPHONE[1]})
    phone.go("settings/devices", "Devices")
    eventually(lambda: page.locator(".row", has_text="Computer ·").count() == 2, "both are among the devices")


def a_launch_on_the_second_goes_on(phone, computer, second):
    page = phone.page
    phone.go("home", "Home")
    process = start_diary(second)
    card = page.locator(".launch")
    card.wait_for(timeout=20_000)
    card.get_by_role("button", name="Approve", exact=True, disabled=False).wait_for()
    assert process.poll() is None, "the kernel holds it"
    card.get_by_role("button", name="Approve", exact=True).click()
    command_succeeds(phone, card)
    assert process.wait(20) == 0
    assert "unlocked" in second.run("app", "diary", "--json")
    assert "unlocked" not in computer.run("app", "diary", "--json"), "nothing was opened on the first"
    second.run("lock", "--all")


def the_notes_of_both_are_read(phone, computer, second):
    page = phone.page
    for owner, title in ((computer, "Of the first"), (second, "Of the second")):
        owner.run("vault", "unlock", passcode=True)
        assert owner.run("note", "add", title, "-", given="as it was") is not None, owner.errors
    phone.go("notes", "Notes")
    confirm(phone)
    for title in ("Of the first", "Of the second"):
        page.get_by_text(title, exact=True).first.wait_for(timeout=20_000)
    phone.picture("computers-notes")


def test_a_phone_sees_two_computers_reads_both_and_answers_the_second(phone, computer):
    def act(second):
        both_are_on_the_phone(phone, computer, second)
        a_launch_on_the_second_goes_on(phone, computer, second)
        the_notes_of_both_are_read(phone, computer, second)
        own = json.loads(second.run("hub", "status", "--json"))["device"]
        assert computer.run("devices", "revoke", own, "--yes", passcode=True) is not None, computer.errors
        eventually(lambda: "put this one out" in (second.run("hub", "status") or ""), "the second notices")
        assert "Of the second" in second.run("note", "list")
        phone.go("settings/devices", "Devices")
        eventually(lambda: phone.page.locator(".row", has_text="Computer ·").count() == 1, "one computer is left")

    second_of(computer, act)

"""A phone with two computers of one household: both are shown, and each replies to its own commands."""

import json
import os
import pathlib
import tempfile

import pytest

from computer import Computer
from overview_steps import command_succeeds, start_diary
from phone import DESKTOP, IPHONE
from requirements import has_root
from waiting import eventually, eventually_equals


@pytest.fixture
def second(programs, computer):
    """A computer that has joined the household of the first."""
    with tempfile.TemporaryDirectory(prefix="applocker-attic-", ignore_cleanup_errors=True) as folder:
        second = Computer(programs, pathlib.Path(folder))
        try:
            yield second.set_up(joins=computer)
        finally:
            second.end()


def both_are_on_the_phone(phone):
    page = phone.page
    rows = page.get_by_role("group", name="Computers").get_by_role("button")
    eventually_equals(rows.count, 2, "Home lists both computers")
    # Only root can set another host name for the second.
    if os.geteuid() == 0:
        rows.filter(has_text="attic").click()
        page.locator(".home-computer", has_text="attic").wait_for()
    eventually_equals(rows.filter(has_text="Online").count, 2, "both computers are online")
    phone.check()
    phone.picture("computers")
    page.set_viewport_size({"width": DESKTOP[0], "height": DESKTOP[1]})
    phone.size = DESKTOP
    phone.picture("computers")
    phone.size = IPHONE
    page.set_viewport_size({"width": IPHONE[0], "height": IPHONE[1]})
    phone.go("settings/devices", "Devices")
    eventually_equals(page.locator(".row", has_text="Computer ·").count, 2, "both computers are listed")


def a_launch_on_the_second_is_approved(phone, computer, second):
    phone.go("home", "Home")
    process = start_diary(second)
    card = phone.page.locator(".launch")
    card.get_by_role("button", name="Approve", exact=True, disabled=False).wait_for()
    assert process.poll() is None, "the launch is not held"
    card.get_by_role("button", name="Approve", exact=True).click()
    command_succeeds(phone, card)
    assert process.wait(60) == 0
    assert "unlocked" in second.run("app", "diary", "--json")
    assert "unlocked" not in computer.run("app", "diary", "--json"), "the app was unlocked on the first computer"


def the_notes_of_both_are_read(phone, computer, second):
    # The second one's vault is unlocked since its setup.
    computer.open_vault()
    for owner, title in ((computer, "Of the first"), (second, "Of the second")):
        owner.expect("note", "add", title, "-", input="as it was")
    phone.go("notes", "Notes")
    phone.confirm()
    for title in ("Of the first", "Of the second"):
        phone.page.get_by_text(title, exact=True).first.wait_for()
    phone.picture("computers-notes")


def the_second_is_revoked(phone, computer, second):
    own = json.loads(second.run("hub", "status", "--json"))["device"]
    computer.expect("devices", "revoke", own, "--yes", passcode=True)
    eventually(lambda: "removed this one" in (second.run("hub", "status") or ""), "the second computer is revoked")
    assert "Of the second" in second.run("note", "list")
    phone.go("settings/devices", "Devices")
    eventually_equals(phone.page.locator(".row", has_text="Computer ·").count, 1, "one computer remains")


# One test for all steps: setting up a second computer takes longer than they do.
@pytest.mark.timeout(300)
def test_a_phone_works_with_two_computers(phone, computer, second):
    both_are_on_the_phone(phone)
    if has_root("a launch on the second computer is approved"):
        a_launch_on_the_second_is_approved(phone, computer, second)
    the_notes_of_both_are_read(phone, computer, second)
    the_second_is_revoked(phone, computer, second)

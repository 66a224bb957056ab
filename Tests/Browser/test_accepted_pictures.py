"""Screens look as in the accepted pictures. After a change on purpose, look at the new ones and commit them:

APPLOCKER_ACCEPT_PICTURES=1 .build/python/bin/pytest Tests/Browser -k accepted_picture"""

import pytest

import every_screen
from accepted_pictures import Pictures
from conftest import FAILURES
from every_screen import opened, settings_screens
from founding_steps import founds, new_phone, uses_sheet
from phone import Phone
from waiting import eventually

SIZE, WIDE = {"width": 393, "height": 852}, {"width": 1280, "height": 800}
IN_DARK = ["home", "timeline", "settings"]
WHEN_WIDE = ["home", "notes", "timeline", "moment", "settings"]
# 14 March 2025, 10:09 UTC: the dates of notes and moments.
NOW = 1_741_946_940


# Browsers of these tests have no service worker, of which this page gives an account.
LEFT_OUT = ["settings, about"]


def look(pictures, phone, screens):
    page = phone.page
    for screen in screens:
        if screen.name in LEFT_OUT:
            continue
        opened(phone, screen)
        if screen.address == "settings":
            # Each row's value is read by itself, and these two from the store.
            for name in ("autolock", "devices"):
                page.locator(f'a[href="#/settings/{name}"] .row-end:not(:empty)').wait_for()
        pictures.look(page, screen.name)
        if screen.name in IN_DARK:
            phone.becomes("dark")
            pictures.look(page, f"{screen.name}, dark")
            phone.becomes("light")
        if screen.name in WHEN_WIDE:
            page.set_viewport_size(WIDE)
            opened(phone, screen)
            pictures.look(page, f"{screen.name}, wide")
            page.set_viewport_size(SIZE)


@pytest.fixture
def pictures(browser):
    pictures = Pictures(browser, FAILURES / "pictures")
    yield pictures
    pictures.end()


@pytest.mark.root
@pytest.mark.sharp
def test_the_households_screens_look_as_their_accepted_pictures(phone, pictures):
    phone.page.set_viewport_size(SIZE)
    look(pictures, phone, every_screen.household_screens(every_screen.filled(phone, has_moment_photos=False)))
    _, pages = every_screen.addresses(phone)
    look(pictures, phone, settings_screens(pages))
    phone.lock()
    pictures.look(phone.page, "locked")


@pytest.mark.computer_is_off
def test_the_pages_before_unlocking_look_as_their_accepted_pictures(pictures, computer, new_context):
    stranger = Phone(new_context, computer, (SIZE["width"], SIZE["height"]), is_sharp=True)
    for name in every_screen.entry_pages(stranger):
        pictures.look(stranger.page, name)


def test_the_screens_of_a_household_of_phones_look_as_their_accepted_pictures(pictures, phone_hub, new_context):
    phone = founds(new_phone(new_context, phone_hub(), "Anna’s phone", (SIZE["width"], SIZE["height"])))
    uses_sheet(phone)
    phone.page.get_by_role("heading", name="Everline", level=1).wait_for()
    phone.inside(every_screen.VAULTS_OF_PHONES)
    eventually(lambda: phone.inside(every_screen.HAS_SPARE), "the shared vault has a spare member")
    screens = every_screen.screens_of_phones()
    look(pictures, phone, [screen for screen in screens if screen.name not in every_screen.CHANGING_OF_PHONES])


@pytest.mark.sharp(zone="UTC")
@pytest.mark.computer_is_off
def test_notes_and_moments_look_as_their_accepted_pictures(phone, pictures):
    phone.page.set_viewport_size(SIZE)
    ids = every_screen.filled(phone, content_at=NOW, has_intruder_photos=False)
    phone.go("notes")
    phone.confirm()
    look(pictures, phone, every_screen.vault_screens(ids))

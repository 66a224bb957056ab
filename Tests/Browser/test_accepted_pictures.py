"""Screens look as in the accepted pictures. After a change on purpose, look at the new ones and commit them:

APPLOCKER_ACCEPT_PICTURES=1 .build/python/bin/pytest Tests/Browser -k accepted_picture"""

import pytest

import every_screen
from accepted_pictures import Pictures
from conftest import FAILURES
from every_screen import opened, opens_pairing, opens_welcome, settings_screens
from phone import Phone

SIZE = (393, 852)
SHOWN = ["home", "alerts", "apps", "app", "notes", "note", "timeline", "moment", "settings"]
DARK = ["home"]
# 14 March 2025, 10:09 UTC: the dates of notes and moments.
NOW = 1_741_946_940


@pytest.mark.sharp
def test_screens_look_as_their_accepted_pictures(phone, browser, computer, new_context):
    pictures = Pictures(browser, FAILURES / "pictures")
    page = phone.page
    page.set_viewport_size({"width": SIZE[0], "height": SIZE[1]})
    ids = every_screen.filled(phone, content_at=NOW)
    phone.go("notes")
    phone.confirm()
    walked = [*every_screen.household_screens(ids), *every_screen.vault_screens(ids), *settings_screens([])]
    screens = {screen.name: screen for screen in walked}
    for name in SHOWN:
        opened(phone, screens[name])
        pictures.look(page, name)
        if name in DARK:
            phone.becomes("dark")
            pictures.look(page, f"{name}-dark")
            phone.becomes("light")
    phone.lock()
    pictures.look(page, "locked")
    stranger = Phone(new_context, computer, SIZE, is_sharp=True)
    opens_welcome(stranger)
    pictures.look(stranger.page, "welcome")
    opens_pairing(stranger)
    pictures.look(stranger.page, "pairing")
    pictures.end()

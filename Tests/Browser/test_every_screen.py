"""Every screen at many sizes of window and text: nothing overflows, is cut, overlaps or is too small to tap.

With APPLOCKER_PICTURES=FOLDER a picture of each screen at each size is kept there."""

import os
import pathlib
import re

import pytest
from axe_playwright_python.base import AXE_SCRIPT

import every_screen
from editor_steps import chosen, editor, saved, sealed, written
from every_screen import opened
from founding_steps import founds, new_phone, uses_sheet
from long_form import IS_LONG
from moment_steps import settled, timeline
from phone import ROOT_SIZE, Phone
from recordings import chosen_sound, chosen_video

# As Scripts/test has it: each shows up to thirty screens at four sizes, and at eleven with APPLOCKER_LONG=1.
pytestmark = pytest.mark.timeout(300)

PROBE = (pathlib.Path(__file__).parent / "support/layout.js").read_text()
# Window, text in percent of a browser's default size, and the media features of the round: each screen is shown at
# the first.
SIZES = [
    (320, 568, 200, {}),
    (393, 852, 310, {}),
    (852, 393, 200, {}),
    (393, 852, 100, {"forced_colors": "active"}),
    (1280, 800, 200, {}),
]
# And at one of these after the other, as at two of the four above.
IN_TURN = [
    (320, 568, 100, {}),
    (393, 852, 130, {"color_scheme": "dark"}),
    (852, 393, 100, {}),
    (1280, 800, 100, {"contrast": "more"}),
    (1920, 1080, 100, {}),
]
# The long form shows each screen at all sizes, and at the largest text in the smallest window.
SMALLEST = (320, 568, 310, {})
# Screens are opened at this one.
OPENED_AT = (393, 852, 100, {})
PLAIN = {"color_scheme": "light", "forced_colors": "none", "contrast": "no-preference"}
# What depends on the size of text and on the colours; the tests of each screen apply all rules of axe at one size.
AXE_SIZES = [(320, 568, 200, {}), (393, 852, 100, {"forced_colors": "active"})]
AXE_RULES = ["color-contrast", "link-in-text-block", "scrollable-region-focusable", "target-size", "meta-viewport"]
# The settings are drawn again where the menu gets or loses its place beside them; under a dialog they stay.
IS_OF_WIDTH = """() => !location.hash.startsWith("#/settings")
    || document.querySelector("dialog[open]") !== null || document.querySelector(".tabs") === null
    || matchMedia("(min-width: 64rem)").matches === (document.querySelector(".settings-split") !== null)"""


class Walk:
    def __init__(self, page):
        self.page, self.found, self.screens = page, [], 0

    def resized(self, width, height, percent, media):
        # The text first: where only it changes, Chromium doesn't always evaluate container queries in rem again.
        self.page.evaluate(ROOT_SIZE, percent)
        self.page.set_viewport_size({"width": width, "height": height})
        self.page.emulate_media(**{**PLAIN, **media})
        self.page.wait_for_function(IS_OF_WIDTH)
        settled(self.page)

    def look(self, name):
        """Looks at what is shown at several sizes, without loading it again."""
        turn, self.screens = self.screens, self.screens + 1
        sizes, axe_sizes = [*SIZES, *IN_TURN, SMALLEST], AXE_SIZES
        if not IS_LONG:
            pairs = [SIZES[1:3], SIZES[3:5]]
            sizes = [SIZES[0], *pairs[turn % 2], IN_TURN[turn % len(IN_TURN)]]
            # With forced colours where they are shown.
            axe_sizes = [AXE_SIZES[turn % 2]]
        for size in sizes:
            width, height, percent, media = size
            self.resized(*size)
            where = f"{name} at {width}×{height}, {percent} %{''.join(f', {key}' for key in media)}"
            for finding in self.page.evaluate(PROBE):
                self.found.append(f"{where}: {finding}")
            if size in axe_sizes:
                self.found += [f"{where}: axe, {finding}" for finding in self.axe()]
            if folder := os.environ.get("APPLOCKER_PICTURES"):
                file = re.sub(r"[^a-z0-9]+", "-", where.lower())
                self.page.screenshot(path=pathlib.Path(folder) / f"{file}.png", scale="css")
        self.resized(*OPENED_AT)

    def axe(self):
        if not self.page.evaluate("() => 'axe' in window"):
            self.page.evaluate(AXE_SCRIPT)
        return self.page.evaluate(
            """async (rules) => (await axe.run(document, { runOnly: rules, resultTypes: ["violations"] })).violations
                .flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) =>
                    `${id}: ${html.slice(0, 120)} ${failureSummary.slice(0, 300)}`))""",
            AXE_RULES,
        )

    def ends(self):
        assert not self.found, f"{len(self.found)} findings:\n" + "\n".join(self.found)


@pytest.mark.computer_is_off
def test_every_route_and_page_of_the_settings_is_walked(phone):
    ids = {"computer": "", "moment": "", "words": "", "note": "", "twice": ""}
    routes, pages = every_screen.addresses(phone)
    walked = [*every_screen.household_screens(ids), *every_screen.vault_screens(ids)]
    walked += every_screen.settings_screens(pages)
    # This address locks the app and has no screen of its own.
    assert set(routes) - {"lock"} == {screen.address.split("/")[0] for screen in walked}
    assert len(pages) > 20, pages


def test_the_pages_before_unlocking_are_right_at_every_size(new_context, computer):
    stranger = Phone(new_context, computer)
    walk = Walk(stranger.page)
    for name in every_screen.entry_pages(stranger):
        walk.look(name)
    walk.ends()


def test_the_households_screens_are_right_at_every_size(phone):
    walk = Walk(phone.page)
    for screen in every_screen.household_screens(every_screen.filled(phone, has_moment_photos=False)):
        opened(phone, screen)
        walk.look(screen.name)
    walk.ends()


def test_the_screens_of_a_household_of_phones_are_right_at_every_size(new_context, phone_hub):
    anna = founds(new_phone(new_context, phone_hub(), "Anna’s phone, and مدير كلمات"))
    walk = Walk(anna.page)
    walk.look("the first recovery sheet")
    uses_sheet(anna)
    anna.page.get_by_role("heading", name="Everline", level=1).wait_for()
    anna.inside(every_screen.VAULTS_OF_PHONES)
    for screen in every_screen.screens_of_phones():
        opened(anna, screen)
        walk.look(screen.name)
    anna.quiet()
    walk.ends()


@pytest.mark.computer_is_off
def test_notes_and_moments_are_right_at_every_size(phone):
    walk = Walk(phone.page)
    ids = every_screen.filled(phone, has_intruder_photos=False)
    phone.go("notes")
    phone.page.locator("dialog .keypad").wait_for()
    walk.look("confirmation")
    phone.confirm()
    for screen in every_screen.vault_screens(ids):
        opened(phone, screen)
        walk.look(screen.name)
    walk.ends()


@pytest.mark.service_worker
@pytest.mark.computer_is_off
def test_videos_and_voice_notes_are_right_at_every_size(phone):
    phone.context.grant_permissions(["microphone"], origin=phone.address)
    page = editor(phone)
    walk = Walk(page)
    chosen(page, chosen_video(), chosen_sound(4))
    sealed(page, 2)
    walk.look("editor with recordings")
    page.get_by_role("button", name="Record a voice note").click()
    page.get_by_role("heading", name="Voice note").wait_for()
    walk.look("voice note that is recorded")
    page.get_by_role("button", name="Discard").click()
    written(page, "The film")
    saved(page)
    page.locator(".moment-slide-large[data-shown]").first.wait_for()
    walk.look("moment with recordings")
    page.get_by_role("button", name="Play video 1 of 2").click()
    page.locator(".moment-player[data-shown]").wait_for()
    walk.look("video")
    page.get_by_role("button", name="Close").click()
    timeline(phone)
    walk.look("timeline with recordings")
    walk.ends()


def test_the_settings_are_right_at_every_size(phone):
    walk = Walk(phone.page)
    _, pages = every_screen.addresses(phone)
    for screen in every_screen.settings_screens(pages):
        opened(phone, screen)
        walk.look(screen.name)
    phone.lock()
    walk.look("locked")
    walk.ends()

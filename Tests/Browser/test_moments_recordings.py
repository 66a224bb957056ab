"""Videos and voice notes in a moment: chosen, recorded, sealed piece by piece, and played from sealed chunks."""

import pytest

from editor_steps import chosen, editor, moment, saved, sealed, written
from recordings import chosen_video
from waiting import eventually, eventually_equals

pytestmark = pytest.mark.computer_is_off


def player(page):
    return page.locator(".moment-player")


def playing(page):
    """Waits until the player plays, and has passed a moment of its content."""
    player(page).wait_for(state="attached")
    eventually(lambda: player(page).evaluate("(media) => media.currentTime > 0.2"), "it plays")


@pytest.mark.service_worker
def test_a_chosen_video_is_sealed_shown_by_a_frame_and_played(phone):
    page = editor(phone)
    chosen(page, chosen_video())
    page.get_by_text("Videos and voice notes are stored as they are").wait_for()
    sealed(page, 1)
    phone.picture("editor-video")
    phone.check()
    written(page, "The film")
    found = moment(phone, saved(page))
    assert [(one["width"], one["height"], one["kind"]) for one in found["photos"]] == [(320, 240, "video")]
    assert 3.5 < found["photos"][0]["duration"] < 4.5
    page.locator(".moment-slide-large[data-shown]").wait_for()
    phone.picture("moment-video")
    phone.check()
    page.get_by_role("button", name="Play video 1 of 1").click()
    playing(page)
    phone.picture("viewer-video")
    assert player(page).evaluate("(media) => new URL(media.src).pathname.startsWith('/media/')")
    phone.check()

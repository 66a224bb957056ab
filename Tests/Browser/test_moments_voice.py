"""Voice notes: recorded from the microphone, kept or discarded, and ended by a lock."""

import re
import time

import pytest

from editor_steps import editor, kept, moment, saved, sealed, written
from moment_steps import timeline
from recordings import player, playing
from waiting import eventually_equals

# The headless shell has no microphone, so these run in the whole browser, as tests with a service worker do.
pytestmark = [pytest.mark.computer_is_off, pytest.mark.service_worker]

# Remembers what the page records from.
WATCH_MICROPHONE = """() => {
    window.tracks = [];
    const { mediaDevices } = navigator;
    const { getUserMedia } = mediaDevices;
    mediaDevices.getUserMedia = async (wanted) => {
        const stream = await getUserMedia.call(mediaDevices, wanted);
        window.tracks.push(...stream.getTracks());
        return stream;
    };
}"""
STATES = "() => window.tracks.map(({ kind, readyState }) => `${kind} ${readyState}`)"


def recording(phone):
    """Opens the editor, and records until a second is over."""
    phone.context.grant_permissions(["microphone"], origin=phone.address)
    page = editor(phone)
    page.evaluate(WATCH_MICROPHONE)
    page.get_by_role("button", name="Record a voice note").click()
    page.get_by_role("heading", name="Voice note").wait_for()
    page.get_by_role("timer").get_by_text(re.compile("0:(0[1-9]|[1-5][0-9])")).wait_for()
    assert page.evaluate(STATES) == ["audio live"]
    return page


def test_a_recorded_voice_note_is_sealed_with_its_duration_shown_and_played(phone):
    began = time.monotonic()
    page = recording(phone)
    phone.picture("voice-recording")
    phone.check()
    page.get_by_role("button", name="Stop and keep").click()
    sealed(page, 1)
    longest = time.monotonic() - began
    assert page.evaluate(STATES) == ["audio ended"]
    page.get_by_role("button", name="Voice note 1 of 1", exact=True).wait_for()
    phone.picture("voice-editor")
    phone.check()
    written(page, "What the sea sounds like")
    [photo] = moment(phone, saved(page))["photos"]
    assert photo["kind"] == "voice" and 0.8 < photo["duration"] < longest, photo
    assert (photo["width"], photo["height"]) == (1280, 720), "the waveform's size"
    page.locator(".moment-slide-large[data-shown]").wait_for()
    phone.picture("voice-moment")
    phone.check()
    page.get_by_role("button", name="Play voice note 1 of 1").click()
    playing(page)
    shown = player(page).evaluate("(media) => [media.localName, media.duration]")
    assert shown[0] == "audio" and abs(shown[1] - photo["duration"]) < 0.5, shown
    phone.picture("voice-viewer")
    phone.check()
    page.get_by_role("button", name="Close").click()
    timeline(phone)
    assert "1 voice note" in page.locator(".moment-card").get_attribute("aria-label")
    assert page.locator(".moment-kind").text_content() == "{}:{:02}".format(*divmod(round(photo["duration"]), 60))
    phone.picture("voice-timeline")


def test_a_discarded_voice_note_leaves_nothing(phone):
    page = recording(phone)
    page.get_by_role("button", name="Discard").click()
    page.get_by_role("heading", name="Voice note").wait_for(state="detached")
    eventually_equals(lambda: page.evaluate(STATES), ["audio ended"], "the microphone is off")
    assert page.locator(".editor-tile").count() == 0
    assert kept(phone) == {"staged": 0, "drafts": {}}
    # Nothing is left of the form either: no confirmation is needed.
    phone.go("home", "Home")


def test_a_lock_ends_a_voice_note_and_leaves_nothing(phone):
    page = recording(phone)
    phone.lock()
    eventually_equals(lambda: page.evaluate(STATES), ["audio ended"], "the microphone is off")
    assert page.locator("dialog").count() == 0
    assert kept(phone) == {"staged": 0, "drafts": {}}
    phone.unlock()
    phone.confirm("Open your moments")
    page.get_by_role("heading", name="New moment", level=1).wait_for()
    assert page.locator(".editor-tile").count() == 0


def test_a_microphone_that_is_not_allowed_is_explained(phone):
    page = editor(phone)
    page.get_by_role("button", name="Record a voice note").click()
    page.get_by_text("This browser does not allow AppLocker to use the microphone. Allow it").wait_for()
    assert page.locator("dialog").count() == 0 and page.get_by_text("couldn’t be added").count() == 0
    phone.picture("voice-refused")
    phone.check()

"""Videos and sounds are played from sealed pieces: only those that are needed, in one page, and until it is locked."""

import contextlib
import re
import sqlite3

import pytest

from moment_devices import files_below
from moment_steps import opened
from phone import DESKTOP
from recordings import player, playing, save_recordings, sound, video
from waiting import eventually, eventually_equals

pytestmark = [pytest.mark.computer_is_off, pytest.mark.service_worker]

CONTROLLED = "() => navigator.serviceWorker.controller !== null"
# What a page gets of this address: the status, the type and the length.
FETCHED = """async (address) => {
    const response = await fetch(address, { headers: { Range: "bytes=0-" } });
    return [response.status, response.headers.get("Content-Type"), (await response.arrayBuffer()).byteLength];
}"""
NOTHING = [404, None, 0]
BLOBS = """
    const { photos } = await companion.moments.read(arg);
    const records = await Promise.all(photos.map(({ id }) => companion.device.stored("photos", id)));
    return records.map(({ record }) => record.blobs);"""


def controlled(phone):
    eventually(lambda: phone.page.evaluate(CONTROLLED), "the service worker controls the page")


def shown(phone, identifier):
    """Opens a moment, in a page that the service worker controls."""
    controlled(phone)
    page = opened(phone, f"moments/{identifier}")
    page.locator(".moment-slide-large[data-shown]").first.wait_for()
    return page


def played(phone, identifier, name):
    """Opens the moment and presses the button of a recording; returns the address of what plays."""
    page = shown(phone, identifier)
    page.get_by_role("button", name=name).click()
    playing(page)
    return player(page).evaluate("(media) => media.src")


def test_a_lock_ends_a_video_and_no_other_page_plays_it(phone):
    moment = save_recordings(phone, "The film", [video()])
    address = played(phone, moment, "Play video 1 of 1")
    status, kind, length = phone.page.evaluate(FETCHED, address)
    assert (status, kind, length) == (206, "video/webm", len(video()))
    # Another tab, which plays the same recording itself, and a person who opens the address.
    page, first = phone.open_page(), phone.page
    page.goto(phone.address)
    phone.page = page
    phone.unlock()
    other = played(phone, moment, "Play video 1 of 1")
    assert page.evaluate(FETCHED, other)[0] == 206 and other != address
    assert page.evaluate(FETCHED, address) == NOTHING and first.evaluate(FETCHED, other) == NOTHING
    page.goto(address)
    assert page.locator("video, audio").count() == 0, "a page of its own shows it"
    page.close()
    phone.page = first
    eventually(lambda: player(first).evaluate("(media) => media.currentTime > 0.2"), "the first tab plays it still")
    phone.lock()
    assert player(first).count() == 0 and first.locator("video, audio").count() == 0
    assert first.evaluate(FETCHED, address) == NOTHING


def test_another_phone_plays_a_long_sound_with_few_of_its_pieces(phone):
    seconds = 120
    moment = save_recordings(phone, "The concert", [sound(seconds)])
    other = phone.another(DESKTOP, name="Desk").pair()
    eventually(
        lambda: other.inside("return (await companion.moments.list()).moments.length;") == 1, "the moment arrives"
    )
    [[blob, _]] = other.inside(BLOBS, moment)
    ranges = []

    def note(request):
        if request.url.endswith(f"/v1/blobs/{blob}"):
            start, end = map(int, re.fullmatch(r"bytes=(\d+)-(\d+)", request.headers["range"]).groups())
            ranges.append((start, end))

    other.page.on("request", note)
    played(other, moment, "Play voice note 1 of 1")
    page = other.page
    duration = player(page).evaluate("(media) => media.duration")
    assert abs(duration - seconds) < 0.1, duration
    player(page).evaluate("(media) => { media.currentTime = 100; }")
    playing(page, 100.2)
    other.picture("viewer-sound")
    other.check()
    # The sound has 21 chunks: the first ones, and those after the 100th second.
    chunks = sorted({start >> 20 for start, end in ranges if end - start > 72})
    assert chunks[0] == 0 and 17 in chunks and not {10, 11, 12, 13, 14} & set(chunks), chunks
    assert len(ranges) - 1 <= 2 * len(chunks), f"chunks are requested again and again: {ranges}"
    other.quiet()


@pytest.mark.parametrize("is_missing", [False, True])
def test_a_damaged_or_missing_video_is_explained_and_the_photos_beside_it_are_shown(phone, computer, is_missing):
    moment = save_recordings(phone, "The film", [video()], photos=1)
    [[blob, _], _] = phone.inside(BLOBS, moment)
    # Nothing of it is on this device any more.
    staged = "return await companion.device.store.bytes(arg, 0, 72) === null;"
    eventually(lambda: phone.inside(staged, blob), "the hub has it")
    # The service worker has the app's files before the hub stops.
    controlled(phone)
    files = files_below(computer.folder / "hub")
    if is_missing:
        computer.stop_hub()
        database = sqlite3.connect(next(path for path in files if path.suffix == ".sqlite"))
        with contextlib.closing(database), database:
            assert database.execute("DELETE FROM blob WHERE id = ?", [bytes.fromhex(blob)]).rowcount == 1
        computer.start_hub()
    else:
        file = next(path for path in files if path.name == blob)
        content = bytearray(file.read_bytes())
        content[len(content) // 2] ^= 1
        file.write_bytes(content)
    page = shown(phone, moment)
    page.get_by_role("button", name="Play video 1 of 2").click()
    message = page.locator(".moment-view-message")
    sentence = "The hub does not have this file’s content" if is_missing else "The content is damaged"
    message.get_by_text(sentence).wait_for()
    phone.picture("viewer-missing" if is_missing else "viewer-damaged")
    phone.check()
    page.get_by_role("dialog", name="Photo").get_by_role("button", name="Next photo").click()
    page.locator(".moment-view-large[data-shown]").wait_for()
    eventually_equals(message.text_content, "")
    assert player(page).count() == 0

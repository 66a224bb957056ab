"""Videos and voice notes in a moment: chosen, refused, sealed piece by piece, removed, shared, and played."""

import base64
import hashlib

import pytest

from editor_steps import chosen, editor, kept, moment, refused, saved, sealed, written
from moment_steps import named, opened
from recordings import chosen_sound, chosen_video, made, player, playing, save_recordings, sound, video
from vault_steps import joins
from waiting import eventually_equals


@pytest.mark.service_worker
@pytest.mark.computer_is_off
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


@pytest.mark.computer_is_off
def test_files_beyond_the_hubs_limit_or_of_another_kind_are_refused_with_a_sentence(phone, computer):
    computer.hub_options = ["--recording-limit", "1M"]
    computer.stop_hub()
    computer.start_hub()
    phone.online_again()
    eventually_equals(lambda: phone.stored("recordingLimit"), 1 << 20, "the phone has the hub's limit")
    page = editor(phone)
    # ffmpeg writes Matroska by this ending; browsers play WebM alone.
    matroska = made("-f", "lavfi", "-i", "sine=duration=1", "-c:a", "pcm_s16le", ending="mkv")
    damaged = video()[:60] + bytes(5000)
    chosen(
        page,
        chosen_sound(8, "long.wav"),
        {"name": "film.mkv", "mimeType": "video/x-matroska", "buffer": matroska},
        {"name": "damaged.webm", "mimeType": "video/webm", "buffer": damaged},
        chosen_sound(2, "short.wav"),
    )
    refused(
        page,
        "long.wav: A video or voice note has at most 1 MB at your hub; this one has 2 MB.",
        "film.mkv: This file is not a supported photo",
        "damaged.webm: This browser can’t play this video or recording",
    )
    sealed(page, 1)
    phone.picture("editor-recordings-refused")
    phone.check()
    page.get_by_role("button", name="Voice note 1 of 1", exact=True).wait_for()


# A browser without room: `room` is what it reports, and its store refuses content while it is full.
FULL = """() => {
    Object.assign(window, { room: 1e6, isFull: true });
    StorageManager.prototype.estimate = async () => ({ usage: 1000, quota: 1000 + window.room });
    const { put } = IDBObjectStore.prototype;
    IDBObjectStore.prototype.put = function (value, key) {
        if (window.isFull && this.name === "pieces") throw new DOMException("No room.", "QuotaExceededError");
        return put.call(this, value, ...(key === undefined ? [] : [key]));
    };
}"""


@pytest.mark.computer_is_off
def test_a_device_without_room_for_a_recording_refuses_it(phone):
    page = editor(phone)
    page.evaluate(FULL)
    chosen(page, chosen_sound(8))
    page.get_by_text("song.wav: This device has no room for 2 MB until they are at the hub: free some").wait_for()
    page.get_by_role("button", name="OK", exact=True).click()
    # It is full before the browser said so.
    page.evaluate("() => { window.room = 1e9; }")
    chosen(page, chosen_sound(8))
    page.get_by_text("song.wav: This device’s storage is full; free some space").wait_for()
    phone.picture("editor-full-storage")
    phone.check()
    pieces = "return (await companion.device.store.staged()).length;"
    assert phone.inside(pieces) == 0
    page.evaluate("() => { window.isFull = false; }")
    page.get_by_role("button", name="Try again").click()
    sealed(page, 1)
    page.get_by_role("button", name="Remove voice note 1").click()
    eventually_equals(lambda: kept(phone)["staged"], 0)


@pytest.mark.computer_is_off
def test_the_same_video_is_detected_and_a_removed_one_leaves_nothing(phone):
    page = editor(phone)
    chosen(page, chosen_video(), chosen_video("again.webm"))
    page.get_by_text("This video is already in this moment").wait_for()
    sealed(page, 2)
    phone.picture("editor-video-duplicate")
    phone.check()
    page.get_by_role("button", name="Skip it").click()
    sealed(page, 1)
    written(page, "The film")
    first = saved(page)
    page.get_by_role("heading", name="The film").wait_for()
    phone.go("moments/new", "New moment")
    chosen(page, chosen_video())
    page.get_by_text("This video is already in “The film”").wait_for()
    page.get_by_role("button", name="Keep it").click()
    page.get_by_role("button", name="Remove video 1").click()
    eventually_equals(lambda: kept(phone)["staged"], 0)
    # It is removed with its moment, and is back with it.
    phone.go(f"moments/{first}")
    page.get_by_role("button", name="Delete this moment").click()
    page.get_by_text("Moment and 1 video moved to the trash").wait_for()
    page.get_by_role("button", name="Undo").click()
    named(page, "The film").click()
    # Without a service worker it is opened as a whole.
    page.get_by_role("button", name="Play video 1 of 1").click()
    playing(page)
    assert player(page).evaluate("(media) => media.src.startsWith('blob:')")
    page.get_by_role("button", name="Close").click()
    page.get_by_role("button", name="Edit this moment").click()
    page.get_by_role("button", name="Remove video 1").click()
    assert moment(phone, saved(page))["photos"] == []


SHARES_FILES = """() => {
    navigator.canShare = () => true;
    navigator.share = async ({ files }) => {
        window.shared = await Promise.all(files.map(async (file) => {
            const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", await file.arrayBuffer()));
            return [file.name, file.type, Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("")];
        }));
    };
}"""


@pytest.mark.computer_is_off
def test_recordings_are_shared_as_they_were_chosen(phone):
    files = [video(), sound(20)]
    identifier = save_recordings(phone, "The film", files, photos=1)
    page = opened(phone, f"moments/{identifier}")
    page.evaluate(SHARES_FILES)
    page.get_by_role("button", name="Share this moment").click()
    page.get_by_text("a video or a voice note includes its camera data and place").wait_for()
    page.get_by_role("button", name="Share", exact=True, disabled=False).wait_for()
    phone.picture("share-recordings")
    phone.check()
    page.get_by_role("button", name="Share", exact=True).click()
    page.get_by_role("heading", name="Share this moment?").wait_for(state="detached")
    found = page.evaluate("() => window.shared")
    digests = [hashlib.sha256(file).hexdigest() for file in files]
    assert [one[1:] for one in found[:2]] == [["video/webm", digests[0]], ["audio/wav", digests[1]]], found
    assert [one[0][-7:] for one in found] == ["-1.webm", "7-2.wav", "7-3.jpg"], found


# `arg`: a file in base64. PLAYED resolves with what the partner's player has: the seconds and the width.
ADD = """async (file) => {
    const { unbase64 } = await import("/crypto/bytes.js");
    const { companion } = await window.v.ours();
    const photo = await companion.momentPhotos.seal(new Blob([unbase64(file)]));
    await companion.moments.save(null, { title: "Ours", words: "", date: 1715961600, photos: [photo] });
}"""
ARRIVED = """async () => {
    const { companion } = await window.v.ours();
    const { moments: [moment] } = await companion.moments.list();
    return moment && Boolean((await companion.device.stored("photos", moment.photos[0].id)).record);
}"""
PLAYED = """async () => {
    const { playRecording } = await import("/features/moments/recording-playback.js");
    const { companion } = await window.v.ours();
    const { moments: [{ photos: [{ id, kind }] }] } = await companion.moments.list();
    const media = document.createElement("video");
    media.muted = true;
    const options = { signal: new AbortController().signal, failed: (sentence) => { throw new Error(sentence); } };
    await playRecording(companion.momentPhotos, id, media, options);
    await media.play();
    await new Promise((resolve) => media.addEventListener("timeupdate", () => media.currentTime > 0.2 && resolve()));
    return [kind, Math.round(media.duration), media.videoWidth];
}"""


def test_a_partner_plays_a_video_of_the_shared_vault(anna, ben):
    anna.do("async () => { await window.v.companion.vaults.create('Ours'); }")
    joins(anna, ben)
    anna.do(ADD, base64.b64encode(video()).decode())
    ben.until(ARRIVED, "the video arrives")
    anna.sent()
    assert ben.do(PLAYED) == ["video", 4, 320]

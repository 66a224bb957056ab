"""Videos and sounds for tests, made by ffmpeg, in formats that the free browsers play, and steps with them."""

import base64
import functools
import pathlib
import subprocess
import tempfile

from waiting import eventually

FFMPEG = "/usr/bin/ffmpeg"
# `arg`: the title, files in base64, and the number of photos after them.
SAVE = """
    const { unbase64 } = await import("/crypto/bytes.js");
    const { createPicture } = await import("/tests/fake-moments.js");
    const photos = [];
    for (const file of arg.files) photos.push(await companion.momentPhotos.seal(new Blob([unbase64(file)])));
    for (let seed = 0; seed < arg.photos; seed += 1) {
        photos.push(await companion.momentPhotos.seal(new Blob([await createPicture(400, 300, 50 + seed)])));
    }
    const draft = { title: arg.title, words: "", date: 1715963405, offset: 120, photos };
    return (await companion.moments.save(null, draft)).id;"""


def made(*arguments, ending):
    """The output of ffmpeg, which needs a file to complete its index."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / f"made.{ending}"
        command = [FFMPEG, "-loglevel", "error", "-y", "-threads", "1", *arguments, str(file)]
        subprocess.run(command, check=True, capture_output=True, timeout=120)
        return file.read_bytes()


@functools.cache
def video(seconds=4, size="320x240"):
    """A VP8 WebM with sound."""
    return made(
        *("-f", "lavfi", "-i", f"testsrc=size={size}:rate=10:duration={seconds}"),
        *("-f", "lavfi", "-i", f"sine=frequency=440:duration={seconds}"),
        *("-c:v", "libvpx", "-b:v", "200k", "-deadline", "realtime", "-cpu-used", "8", "-c:a", "libopus"),
        ending="webm",
    )


@functools.cache
def sound(seconds):
    """A WAV with 176,400 bytes a second."""
    return made(
        *("-f", "lavfi", "-i", f"sine=frequency=220:duration={seconds}", "-ac", "2", "-ar", "44100"), ending="wav"
    )


def chosen_video(name="film.webm", **options):
    return {"name": name, "mimeType": "video/webm", "buffer": video(**options)}


def chosen_sound(seconds, name="song.wav"):
    return {"name": name, "mimeType": "audio/wav", "buffer": sound(seconds)}


def save_recordings(phone, title, files, photos=0):
    """Saves a moment with these files and then so many photos, and waits until the hub has them; returns its
    identifier."""
    encoded = [base64.b64encode(file).decode() for file in files]
    return phone.inside(SAVE, {"title": title, "files": encoded, "photos": photos})


def player(page):
    return page.locator(".moment-player")


def playing(page, after=0.2):
    """Waits until the player has passed so many seconds of its content."""
    player(page).wait_for(state="attached")
    eventually(lambda: player(page).evaluate("(media, after) => media.currentTime > after", after), "it plays")

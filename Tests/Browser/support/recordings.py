"""Videos and sounds for tests, made by ffmpeg, in formats that the free browsers play."""

import functools
import pathlib
import subprocess
import tempfile

FFMPEG = "/usr/bin/ffmpeg"


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
    return made("-f", "lavfi", "-i", f"sine=frequency=220:duration={seconds}", *("-ac", "2", "-ar", "44100"),
                ending="wav")


def chosen_video(name="film.webm", **options):
    return {"name": name, "mimeType": "video/webm", "buffer": video(**options)}


def chosen_sound(seconds, name="song.wav"):
    return {"name": name, "mimeType": "audio/wav", "buffer": sound(seconds)}

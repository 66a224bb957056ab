"""A video and a voice note of the phone at the computer: counted, saved and exported as they were chosen."""

import base64
import json

import pytest

from recordings import sound, video
from waiting import eventually

ADD = """async ([title, files]) => {
    const { companion } = window.m;
    const photos = [];
    for (const data of files) {
        const { unbase64 } = await import("/crypto/bytes.js");
        photos.push(await companion.momentPhotos.seal(new Blob([unbase64(data)])));
    }
    await companion.moments.save(null, { title, words: "", date: 1715961600, offset: 120, photos });
}"""


@pytest.fixture
def computer(computer):
    computer.open_vault()
    return computer


def test_recordings_are_saved_and_exported_as_they_were_chosen(companion, computer, tmp_path):
    files = [video(), sound(seconds=12)]
    companion.page.evaluate(ADD, ["Film", [base64.b64encode(file).decode() for file in files]])
    companion.sent()
    eventually(lambda: "Film" in computer.expect("moments", "list"), "the computer lists the moment")
    assert [file.read_bytes() for file in computer.saved("Film", tmp_path / "saved")] == files
    assert "1 video, 1 voice note" in computer.expect("moments", "show", "Film")
    assert "1 video, 1 voice note" in computer.expect("moments", "stats")
    exported = tmp_path / "exported"
    computer.expect("moments", "export", str(exported), "--yes", passcode=True)
    page = (exported / "timeline.html").read_text()
    names = [f"photos/2024/2024-05-17_18-00-00.{ending}" for ending in ("webm", "wav")]
    for name, kind, content in zip(names, ("video", "audio"), files, strict=True):
        assert f"<{kind} controls" in page and f'src="{name}"' in page
        assert (exported / name).read_bytes() == content
    moments = json.loads((exported / "moments.json").read_text())["moments"]
    assert [round(one["duration"]) for one in moments[0]["photos"]] == [4, 12]

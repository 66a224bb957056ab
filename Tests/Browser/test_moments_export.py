"""Everline is exported unsealed, to a folder or a ZIP file."""

import base64
import hashlib
import json
import re
import zipfile

import pytest

import pages
from camera import CAMERA
from recordings import save_recordings, sound, video
from settings_steps import page_of
from waiting import eventually_equals

pytestmark = pytest.mark.computer_is_off

# Saves two moments with photos, of which two keep their camera's original, and one in the trash; returns the SHA-256 of
# the first photo.
MAKE = (
    CAMERA
    + """
    const { hex } = await import("/crypto/bytes.js");
    const save = (draft) => companion.moments.save(null, draft);
    const withOriginal = { keepsOriginal: true };
    const kept = await companion.momentPhotos.seal(await createPhoto(1, "2024:05:17 18:30:05", "+02:00"), withOriginal);
    const twin = await companion.momentPhotos.seal(await createPhoto(2, "2024:05:17 18:30:05", "+02:00"), withOriginal);
    const plain = await companion.momentPhotos.seal(await createPhoto(3, "2019:01:02 03:04:05", "-03:00"));
    await save({
        title: "<b>Lake</b> & “sea”", words: "one\\n<script>alert(1)</script>", date: 1715963405, offset: 120,
        mood: "joy", place: { name: "Bodensee", latitude: 47.5, longitude: 9.5 }, favourite: true,
        photos: [kept, twin],
    });
    await save({ title: "", words: "אור 🌅", date: 1546409045, offset: -180, photos: [plain] });
    const thrown = await save({ title: "Thrown away", words: "", date: 1546409045, offset: 0, photos: [] });
    await companion.moments.remove(thrown);
    const { bytes } = await companion.momentPhotos.original(kept.id);
    return hex(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)));"""
)
# A chosen folder: real handles of the browser, without a dialog. It contains an earlier export.
PICKED = """async () => {
    const root = await navigator.storage.getDirectory();
    window.picked = await root.getDirectoryHandle("picked", { create: true });
    window.showDirectoryPicker = async () => window.picked;
    const before = await picked.getDirectoryHandle("Everline", { create: true });
    const stream = await (await before.getFileHandle("timeline.html", { create: true })).createWritable();
    await stream.write("from before");
    await stream.close();
}"""
BEFORE = {"Everline/": None, "Everline/timeline.html": b"from before"}
TREE = """async () => {
    const { base64 } = await import("/crypto/bytes.js");
    const found = {};
    const walk = async (folder, path) => {
        for await (const one of folder.values()) {
            if (one.kind === "directory") {
                found[`${path}${one.name}/`] = null;
                await walk(one, `${path}${one.name}/`);
            } else found[path + one.name] = base64(new Uint8Array(await (await one.getFile()).arrayBuffer()));
        }
    };
    await walk(picked, "");
    return found;
}"""
# Writing the file of this number stops until `resume` is called.
STANDS_STILL = """(number) => {
    const real = FileSystemFileHandle.prototype.createWritable;
    let count = 0;
    FileSystemFileHandle.prototype.createWritable = async function () {
        if ((count += 1) === number) await new Promise((done) => (window.resume = done));
        return real.call(this);
    };
}"""


def open_confirmation(phone):
    """Opens the confirmation of the export."""
    page = page_of(phone, "everline/export", "Export Everline")
    page.get_by_role("button", name="Export…").click()
    page.get_by_role("heading", name="unsealed?").wait_for()
    return page


def tree(page):
    """The contents of the folder: bytes by path, and None for each folder in it."""
    return {name: content and base64.b64decode(content) for name, content in page.evaluate(TREE).items()}


def check_export(files):
    """Checks the files of an export, to a folder or a ZIP file."""
    photos = sorted(name for name in files if name.startswith("photos/"))
    assert photos == [
        "photos/2019/2019-01-02_03-04-05.jpg",
        "photos/2024/2024-05-17_18-30-05-2.jpg",
        "photos/2024/2024-05-17_18-30-05.jpg",
    ], photos
    assert all(files[name][:3] == b"\xff\xd8\xff" for name in photos)
    page = files["timeline.html"].decode()
    assert (
        "<script" not in page
        and "&lt;script&gt;" in page
        and "&lt;b&gt;Lake&lt;/b&gt; &amp; “sea”" in page
        and "Thrown away" not in page
    )
    named = re.findall(r'(?:src|href)="([^"]+)"', page)
    assert sorted(set(named)) == photos, named
    data = json.loads(files["moments.json"])
    assert [one["title"] for one in data["moments"]] == ["<b>Lake</b> & “sea”", ""]
    first, second = data["moments"]
    assert first["date"] == "2024-05-17T18:30:05+02:00" and second["date"] == "2019-01-02T03:04:05-03:00", data
    assert first["place"] == {"name": "Bodensee", "latitude": 47.5, "longitude": 9.5} and first["favourite"] is True
    assert second["words"] == "אור 🌅" and [photo["file"] for one in data["moments"] for photo in one["photos"]] == [
        photos[2],
        photos[1],
        photos[0],
    ]


def test_an_unsealed_export_requires_the_pin_and_shows_a_warning(phone):
    page = page_of(phone, "everline/export", "Export Everline")
    page.get_by_role("button", name="Export…").click()
    page.get_by_text("There are no moments yet.").wait_for()
    phone.inside(MAKE)
    page = open_confirmation(phone)
    page.get_by_text("AppLocker can’t protect it").wait_for()
    phone.picture("everline-export-gate")
    page.get_by_role("button", name="Cancel").click()
    # The button is shown again after Cancel.
    page.get_by_role("button", name="Export…").wait_for()
    assert page.get_by_role("button", name="Create a ZIP").count() == 0
    phone.check()
    phone.picture("everline-export")


def test_an_exported_zip_opens_elsewhere_and_is_complete(phone):
    sha256 = phone.inside(MAKE)
    page = open_confirmation(phone)
    phone.type_pin()
    page.evaluate("() => { navigator.canShare = () => false; }")
    page.get_by_role("button", name="Create a ZIP").click()
    page.get_by_text("2 moments with 3 photos exported.").wait_for()
    phone.check()
    phone.picture("everline-export-zip")
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save the ZIP").click()
    assert saved.value.suggested_filename.startswith("Everline 20")
    with zipfile.ZipFile(saved.value.path()) as archive:
        assert archive.testzip() is None
        assert all(name.startswith("Everline/") for name in archive.namelist())
        check_export({name.removeprefix("Everline/"): archive.read(name) for name in archive.namelist()})
        assert archive.getinfo("Everline/photos/2024/2024-05-17_18-30-05.jpg").date_time == (2024, 5, 17, 18, 30, 4)
        original = archive.read("Everline/photos/2024/2024-05-17_18-30-05.jpg")
        assert b"Exif" in original and hashlib.sha256(original).hexdigest() == sha256, (
            "the camera's original is changed"
        )


def test_exporting_to_a_folder_keeps_its_existing_files(phone):
    phone.inside(MAKE)
    page = open_confirmation(phone)
    page.evaluate(PICKED)
    phone.type_pin()
    page.get_by_role("button", name="Choose a folder").click()
    page.get_by_text("It is in the folder “Everline 2”.").wait_for()
    files = tree(page)
    assert {name: content for name, content in files.items() if name.startswith("Everline/")} == BEFORE
    check_export(
        {
            name.removeprefix("Everline 2/"): content
            for name, content in files.items()
            if content and name.startswith("Everline 2/")
        }
    )
    phone.picture("everline-export-folder")


# Opens the exported page as a file, as a person does; returns what its players have: the seconds and the width.
PLAYERS = """() => Promise.all([...document.querySelectorAll("video, audio")].map((media) => new Promise((resolve) => {
    const finish = () => resolve([media.localName, Math.round(media.duration), media.videoWidth ?? 0]);
    media.addEventListener("loadedmetadata", finish);
    media.addEventListener("error", () => resolve([media.localName, media.error.message, 0]));
    media.preload = "metadata";
    if (media.readyState > 0) finish();
})))"""


def test_videos_and_sounds_are_exported_unchanged_and_play_in_the_exported_page(phone, new_context, tmp_path):
    save_recordings(phone, "The film", [video(), sound(20)], photos=1)
    page = open_confirmation(phone)
    phone.type_pin()
    page.evaluate("() => { navigator.canShare = () => false; }")
    page.get_by_role("button", name="Create a ZIP").click()
    page.get_by_text("1 moment with 1 photo, 1 video, 1 voice note exported.").wait_for()
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save the ZIP").click()
    with zipfile.ZipFile(saved.value.path()) as archive:
        assert archive.testzip() is None
        archive.extractall(tmp_path)
    files = {path.suffix: path for path in (tmp_path / "Everline/photos").rglob("*.*")}
    assert set(files) == {".webm", ".wav", ".jpg"}, files
    assert files[".webm"].read_bytes() == video() and files[".wav"].read_bytes() == sound(20)
    photos = json.loads((tmp_path / "Everline/moments.json").read_text())["moments"][0]["photos"]
    assert [(one["type"], round(one.get("duration", 0))) for one in photos] == [
        ("video/webm", 4),
        ("audio/wav", 20),
        ("image/jpeg", 0),
    ]
    reader = new_context().new_page()
    reader.goto((tmp_path / "Everline/timeline.html").as_uri())
    assert reader.evaluate(PLAYERS) == [["video", 4, 320], ["audio", 20, 0]]
    phone.picture("everline-exported-page", reader)


def test_videos_and_sounds_are_exported_to_a_folder_unchanged(phone):
    save_recordings(phone, "The film", [video(), sound(20)])
    page = open_confirmation(phone)
    page.evaluate(PICKED)
    phone.type_pin()
    page.get_by_role("button", name="Choose a folder").click()
    page.get_by_text("1 moment with 1 video, 1 voice note exported. It is in the folder “Everline 2”.").wait_for()
    files = {path.rpartition(".")[2]: content for path, content in tree(page).items() if "Everline 2/photos" in path}
    assert files["webm"] == video() and files["wav"] == sound(20)


def test_an_export_is_limited_to_the_chosen_days(phone):
    phone.inside(MAKE)
    page = page_of(phone, "everline/export", "Export Everline")
    page.get_by_label("From").fill("2024-01-01")
    page.get_by_label("To").fill("2020-01-01")
    page.get_by_role("button", name="Export…").click()
    page.get_by_text("The first day is after the last one.").wait_for()
    page.get_by_label("To").fill("2024-12-31")
    page.evaluate("() => { navigator.canShare = () => false; }")
    page.get_by_role("button", name="Export…").click()
    page.get_by_role("heading", name="Export 1 moment unsealed?").wait_for()
    phone.type_pin()
    page.get_by_role("button", name="Create a ZIP").click()
    page.get_by_text("1 moment with 2 photos exported.").wait_for()
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save the ZIP").click()
    with zipfile.ZipFile(saved.value.path()) as archive:
        assert {name for name in archive.namelist() if "/photos/" in name and not name.endswith("/")} == {
            "Everline/photos/2024/2024-05-17_18-30-05.jpg",
            "Everline/photos/2024/2024-05-17_18-30-05-2.jpg",
        }
        data = json.loads(archive.read("Everline/moments.json"))
        assert [one["date"] for one in data["moments"]] == ["2024-05-17T18:30:05+02:00"]
        timeline = archive.read("Everline/timeline.html").decode()
        assert "Lake" in timeline and "אור" not in timeline


def test_a_stopped_export_is_removed(phone):
    phone.inside(MAKE)
    page = open_confirmation(phone)
    page.evaluate(PICKED)
    page.evaluate(STANDS_STILL, 2)
    phone.type_pin()
    page.get_by_role("button", name="Choose a folder").click()
    page.wait_for_function("() => window.resume !== undefined")
    phone.picture("everline-export-going")
    phone.check()
    assert len(tree(page)) > len(BEFORE), "the export has not started"
    page.get_by_role("button", name="Stop").click()
    page.evaluate("() => resume()")
    page.get_by_text("The export was stopped.").wait_for()
    assert tree(page) == BEFORE, "the export is not removed"


def test_locking_ends_an_export_and_removes_it(phone):
    phone.inside(MAKE)
    page = open_confirmation(phone)
    page.evaluate(PICKED)
    page.evaluate(STANDS_STILL, 1)
    phone.type_pin()
    page.get_by_role("button", name="Choose a folder").click()
    page.wait_for_function("() => window.resume !== undefined")
    assert "Everline 2/" in tree(page), "the export has not started"
    phone.lock()
    page.evaluate("() => resume()")
    # The folder that is being removed is not read.
    names = "async () => { const found = []; for await (const name of picked.keys()) found.push(name); return found; }"
    eventually_equals(lambda: page.evaluate(names), ["Everline"], "the export's folder is removed")
    assert tree(page) == BEFORE, "the export is not removed"


def test_an_export_beyond_the_zip_limit_is_refused_with_a_message(page):
    with pages.served() as address:
        page.goto(address + "/tests.html")
        code, sentence = page.evaluate("""async () => {
            const { checkFitsZIP } = await import("/features/backup/moment-export.js");
            const photo = (index) => ({ path: `photos/${index}.jpg`, size: 43e6, copy: null });
            const photos = Array.from({ length: 100 }, (_, index) => photo(index));
            checkFitsZIP({ photos: photos.slice(0, 90), moments: [] });
            try { checkFitsZIP({ photos, moments: [] }); } catch (error) { return [error.code, error.message]; }
        }""")
    assert code == "tooLarge" and "Export some years at a time" in sentence, (code, sentence)

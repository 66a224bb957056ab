"""Everline taken out and brought in, as a person does it."""

import base64
import json
import re
import zipfile

from app import eventually
from app_vault import inside

# A small picture with what a camera says, kept as it is where the moment keeps originals.
MAKE = """
    const { madePicture, madeTiff, withExif } = await import("/tests/made-moments.js");
    const made = async (seed, date, offset, place = {}) => new Blob([withExif(await madePicture(640, 480, seed), madeTiff({ date, offset, ...place }))]);
"""
# A chosen folder: the browser's own handles, of a folder that nobody has to click at.
PICKED = """async () => {
    const root = await navigator.storage.getDirectory();
    window.picked = await root.getDirectoryHandle("picked", { create: true });
    window.showDirectoryPicker = async () => window.picked;
}"""
TREE = """async () => {
    const found = {};
    const walk = async (folder, path) => {
        for await (const one of folder.values()) {
            if (one.kind === "directory") await walk(one, `${path}${one.name}/`);
            else {
                const bytes = new Uint8Array(await (await one.getFile()).arrayBuffer());
                let text = "";
                for (const byte of bytes) text += String.fromCharCode(byte);
                found[path + one.name] = btoa(text);
            }
        }
    };
    await walk(window.picked, "");
    return found;
}"""


def page_of(phone, name, heading):
    phone.go("home", "Home")
    phone.go(f"settings/everline/{name}", heading)
    return phone.page


def with_moments(phone):
    return inside(phone, MAKE + """
        const save = (draft) => companion.moments.save(null, draft);
        const kept = await companion.pictures.seal(await made(1, "2024:05:17 18:30:05", "+02:00"), { keepsOriginal: true });
        const twin = await companion.pictures.seal(await made(2, "2024:05:17 18:30:05", "+02:00"), { keepsOriginal: true });
        const plain = await companion.pictures.seal(await made(3, "2019:01:02 03:04:05", "-03:00"));
        await save({ title: "<b>Lake</b> & “sea”", words: "one\\n<script>alert(1)</script>", date: 1715963405, offset: 120, mood: "joy",
            place: { name: "Bodensee", latitude: 47.5, longitude: 9.5 }, favourite: true, photos: [kept, twin] });
        await save({ title: "", words: "אור 🌅", date: 1546409045, offset: -180, photos: [plain] });
        const thrown = await save({ title: "Thrown away", words: "", date: 1546409045, offset: 0, photos: [] });
        await companion.moments.remove(thrown);
        const { bytes } = await companion.pictures.original(kept.id);
        return Array.from(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)));""")


def begun(phone):
    page = page_of(phone, "export", "Export Everline")
    page.get_by_role("button", name="Export…").click()
    page.get_by_role("heading", name="in the open?").wait_for()
    return page


def looked_at(files):
    """What a plain export holds, whichever way it came."""
    photos = sorted(name for name in files if name.startswith("photos/"))
    assert photos == ["photos/2019/2019-01-02_03-04-05.jpg", "photos/2024/2024-05-17_18-30-05-2.jpg", "photos/2024/2024-05-17_18-30-05.jpg"], photos
    assert all(files[name][:3] == b"\xff\xd8\xff" for name in photos)
    page = files["timeline.html"].decode()
    assert "<script" not in page and "&lt;script&gt;" in page and "&lt;b&gt;Lake&lt;/b&gt; &amp; “sea”" in page and "Thrown away" not in page
    named = re.findall(r'(?:src|href)="([^"]+)"', page)
    assert sorted(set(named)) == photos, named
    data = json.loads(files["moments.json"])
    assert [one["title"] for one in data["moments"]] == ["<b>Lake</b> & “sea”", ""]
    first, second = data["moments"]
    assert first["date"] == "2024-05-17T18:30:05+02:00" and second["date"] == "2019-01-02T03:04:05-03:00", data
    assert first["place"] == {"name": "Bodensee", "latitude": 47.5, "longitude": 9.5} and first["favourite"] is True
    assert second["words"] == "אור 🌅" and [photo["file"] for one in data["moments"] for photo in one["photos"]] == [photos[2], photos[1], photos[0]]


def test_a_plain_export_asks_the_gate_and_says_what_it_is(phone, _):
    page = page_of(phone, "export", "Export Everline")
    page.get_by_role("button", name="Export…").click()
    page.get_by_text("There is no moment yet.").wait_for()
    with_moments(phone)
    page = begun(phone)
    page.get_by_text("AppLocker can’t protect it").wait_for()
    phone.picture("everline-export-gate")
    page.get_by_role("button", name="Cancel").click()
    page.get_by_role("button", name="Make a ZIP").wait_for(state="detached")
    assert page.get_by_role("button", name="Make a ZIP").count() == 0
    phone.check()
    phone.picture("everline-export")


def test_a_zip_opens_elsewhere_and_has_everything(phone, _):
    page = begun(phone)
    phone.type_pin()
    page.evaluate("() => { navigator.canShare = () => false; }")
    page.get_by_role("button", name="Make a ZIP").click()
    page.get_by_text("2 moments and 3 photos exported.").wait_for()
    phone.check()
    phone.picture("everline-export-zip")
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save the ZIP").click()
    assert saved.value.suggested_filename.startswith("Everline 20")
    with zipfile.ZipFile(saved.value.path()) as archive:
        assert archive.testzip() is None
        assert all(name.startswith("Everline/") for name in archive.namelist())
        looked_at({name.removeprefix("Everline/"): archive.read(name) for name in archive.namelist()})
        assert archive.getinfo("Everline/photos/2024/2024-05-17_18-30-05.jpg").date_time == (2024, 5, 17, 18, 30, 4)
        assert b"Exif" in archive.read("Everline/photos/2024/2024-05-17_18-30-05.jpg"), "kept as it was"


def tree(page):
    return {name: base64.b64decode(content) for name, content in page.evaluate(TREE).items()}


def test_a_folder_is_written_beside_what_is_there(phone, _):
    page = begun(phone)
    page.evaluate(PICKED)
    page.evaluate("async () => void (await picked.getDirectoryHandle('Everline', { create: true }))")
    phone.type_pin()
    page.get_by_role("button", name="Choose a folder").click()
    page.get_by_text("It is in the folder “Everline 2”.").wait_for()
    files = tree(page)
    looked_at({name.removeprefix("Everline 2/"): content for name, content in files.items()})
    phone.picture("everline-export-folder")


def test_days_choose_what_is_exported(phone, _):
    page = page_of(phone, "export", "Export Everline")
    page.get_by_label("From").fill("2024-01-01")
    page.get_by_label("To").fill("2020-01-01")
    page.get_by_role("button", name="Export…").click()
    page.get_by_text("The first day comes after the last one.").wait_for()
    page.get_by_label("To").fill("2024-12-31")
    page.get_by_role("button", name="Export…").click()
    page.get_by_role("heading", name="Export 1 moment in the open?").wait_for()
    page.get_by_role("button", name="Cancel").click()


def test_an_export_that_is_stopped_leaves_nothing(phone, _):
    page = begun(phone)
    page.evaluate(PICKED)
    before = tree(page)
    # The second photo takes its time.
    page.evaluate("""() => {
        const real = FileSystemFileHandle.prototype.createWritable;
        let count = 0;
        FileSystemFileHandle.prototype.createWritable = async function () {
            if ((count += 1) === 2) await new Promise((done) => (window.goOn = done));
            return real.call(this);
        };
    }""")
    phone.type_pin()
    page.get_by_role("button", name="Choose a folder").click()
    page.wait_for_function("() => window.goOn !== undefined")
    phone.picture("everline-export-going")
    phone.check()
    page.get_by_role("button", name="Stop").click()
    page.evaluate("() => goOn()")
    page.get_by_text("The export was stopped.").wait_for()
    assert tree(page) == before, "nothing of it stays"


def test_a_lock_ends_an_export_and_takes_it_back(phone, _):
    page = begun(phone)
    page.evaluate(PICKED)
    before = tree(page)
    page.evaluate("() => { window.goOn = undefined; }")
    page.evaluate("""() => {
        const real = FileSystemFileHandle.prototype.createWritable;
        FileSystemFileHandle.prototype.createWritable = async function () {
            await new Promise((done) => (window.goOn = done));
            return real.call(this);
        };
    }""")
    phone.type_pin()
    page.get_by_role("button", name="Choose a folder").click()
    page.wait_for_function("() => window.goOn !== undefined")
    page.evaluate("() => new BroadcastChannel('applocker').postMessage({ kind: 'lock' })")
    page.get_by_role("heading", name="AppLocker is locked").wait_for()
    page.evaluate("() => goOn()")
    eventually(lambda: page.evaluate("async () => { for await (const one of picked.values()) if (one.name === 'Everline 3') return true; return false; }") is False)
    assert tree(page) == before
    page.reload()
    phone.unlock()


def test_more_than_a_zip_holds_is_refused_in_words(phone, _):
    told = phone.page.evaluate("""async () => {
        const { checkFitsZIP } = await import("/core/moment-export.js");
        const photos = Array.from({ length: 100 }, (_, index) => ({ path: `photos/${index}.jpg`, size: 43e6, copy: null }));
        checkFitsZIP({ photos: photos.slice(0, 90), moments: [] });
        try { checkFitsZIP({ photos, moments: [] }); } catch (error) { return [error.code, error.message]; }
    }""")
    assert told[0] == "tooLarge" and "Export some years at a time" in told[1], told

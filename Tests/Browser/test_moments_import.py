"""Old photos are imported into Everline, from a folder or one by one; the originals are removed on request."""

import base64
import os

import pytest

from moment_steps import ANIMATION, KEPT_ON_THE_DEVICE
from phone import DESKTOP, Phone
from settings_steps import page_of
from waiting import eventually

pytestmark = pytest.mark.computer_is_off

# Real JPEGs with Exif. By name: seed, date, time zone.
CHRISTMAS = [13, "2015:12:24 18:00:00", "-05:00"]
CHOSEN = {
    "2012/a.jpg": [11, "2012:08:01 10:00:00", "+02:00"],
    "2012/b.jpg": [12, "2012:08:01 23:59:59", "+02:00"],
    "2012/twin of a.jpg": [11, "2012:08:01 10:00:00", "+02:00"],
    "2015/deep/c.jpg": CHRISTMAS,
}
# The modification time of files without a date, in seconds since 1970: at 11:30 UTC it is the same date in every time
# zone that the tests run in.
WRITTEN = 1234524600
FILES = """async (chosen) => {
    const { createPicture, createTiff, withExif } = await import("/tests/fake-moments.js");
    const { base64 } = await import("/crypto/bytes.js");
    const place = { latitude: ["N", [[47, 1], [30, 1], [0, 1]]], longitude: ["E", [[9, 1], [30, 1], [0, 1]]] };
    const made = {};
    for (const [name, [seed, date, offset]] of Object.entries(chosen)) {
        made[name] = base64(withExif(await createPicture(800, 600, seed), createTiff({ date, offset, ...place })));
    }
    made["undated.png"] = base64(await createPicture(300, 200, 20, "image/png"));
    return made;
}"""
# Imports them as the page does, without its screens, and without the cameras' originals.
IMPORTED = """
    const { preview, importPhotos } = await import("/features/backup/moment-import.js");
    const { unbase64 } = await import("/crypto/bytes.js");
    const sources = Object.entries(arg.files).map(([name, content]) => {
        const file = new File([unbase64(content)], name, { lastModified: arg.written * 1000 });
        return { name, file: async () => file, remove: null };
    });
    const { signal } = new AbortController();
    const options = { keepsOriginal: false, keepsPlaces: true, signal };
    await importPhotos(companion, await preview(sources, { signal }), options);"""
# The picker returns a folder in the browser's private file system with these files.
PICKED = """async (files) => {
    const { unbase64 } = await import("/crypto/bytes.js");
    const root = await navigator.storage.getDirectory();
    await root.removeEntry("old photos", { recursive: true }).catch(() => {});
    window.picked = await root.getDirectoryHandle("old photos", { create: true });
    window.showDirectoryPicker = async () => window.picked;
    for (const [path, content] of Object.entries(files)) {
        const parts = path.split("/");
        let folder = window.picked;
        for (const part of parts.slice(0, -1)) folder = await folder.getDirectoryHandle(part, { create: true });
        const stream = await (await folder.getFileHandle(parts.at(-1), { create: true })).createWritable();
        await stream.write(unbase64(content));
        await stream.close();
    }
}"""
NAMES = """async () => {
    const found = [];
    const walk = async (folder, path) => {
        for await (const one of folder.values()) {
            if (one.kind === "directory") await walk(one, `${path}${one.name}/`);
            else found.push(path + one.name);
        }
    };
    await walk(window.picked, "");
    return found.sort();
}"""


def create_photos(phone, chosen):
    """Returns files with such photos by name, as base64, and "undated.png"."""
    return phone.page.evaluate(FILES, chosen)


def on_disk(files, folder):
    """Writes them as on a camera's card, with files that are not photos."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(base64.b64decode(content))
        os.utime(path, (WRITTEN, WRITTEN))
    (folder / "notes.txt").write_text("no photo")
    (folder / "broken.jpg").write_bytes(b"\xff\xd8\xff\xe0 and nothing more")
    os.utime(folder / "broken.jpg", (WRITTEN, WRITTEN))
    return folder


def imported(phone, files):
    phone.inside(IMPORTED, {"files": files, "written": WRITTEN})


def listed(phone):
    return phone.inside("""
        const { moments } = await companion.moments.list();
        return moments.map(({ title, date, offset, place, photos }) =>
            ({ title, date, offset, place: place ?? null, photos: photos.length }));""")


def import_page(phone):
    return page_of(phone, "everline/import", "Import photos")


def test_an_imported_folder_becomes_one_moment_for_each_day(phone, computer):
    folder = on_disk(create_photos(phone, CHOSEN), computer.folder / "card")
    page = import_page(phone)
    phone.check()
    phone.picture("everline-import")
    page.evaluate("() => { delete window.showDirectoryPicker; window.showDirectoryPicker = undefined; }")
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Choose a folder").click()
    chooser.value.set_files(folder)
    page.get_by_role("heading", name="6 photos, 3 days").wait_for()
    page.get_by_text("From February 13, 2009 to December 24, 2015").wait_for()
    page.get_by_text("2 photos without a date: the file’s date is used. 1 file is not a supported photo.").wait_for()
    phone.check()
    phone.picture("everline-import-found")
    page.get_by_label("Import places").check()
    page.get_by_role("button", name="Add 6 photos").click()
    page.get_by_text("4 photos in 3 new moments added. 1 already in Everline.").wait_for()
    page.get_by_text("card/broken.jpg: The file ends in the middle of the photo").wait_for()
    phone.check()
    phone.picture("everline-import-done")
    moments = listed(phone)
    assert [one["photos"] for one in moments] == [1, 2, 1], moments
    assert [one["offset"] for one in moments[:2]] == [-300, 120] and moments[0]["date"] == 1450998000, moments
    assert moments[1]["place"] == {"latitude": 47.5, "longitude": 9.5} and moments[2]["place"] is None, moments
    assert moments[2]["date"] == WRITTEN


def test_a_second_import_adds_no_duplicate(phone, computer):
    files = create_photos(phone, CHOSEN)
    imported(phone, files)
    folder = on_disk(files, computer.folder / "card")
    before = listed(phone)
    assert [one["photos"] for one in before] == [1, 2, 1], before
    page = import_page(phone)
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Choose photos").click()
    chooser.value.set_files(
        [path for path in folder.rglob("*") if path.suffix in (".jpg", ".png") and "broken" not in path.name]
    )
    page.get_by_role("heading", name="5 photos, 3 days").wait_for()
    page.get_by_role("button", name="Add 5 photos").click()
    page.get_by_text("Nothing was added. 5 already in Everline.").wait_for()
    assert listed(phone) == before


def test_a_stopped_import_continues_in_the_same_moment(phone):
    files = create_photos(
        phone, {f"day/{index}.jpg": [40 + index, f"2020:02:29 1{index}:00:00", "+01:00"] for index in range(4)}
    )
    imported(phone, {"undated.png": files["undated.png"]})
    page = import_page(phone)
    page.evaluate(PICKED, files)
    # The third photo is not sealed until the import is stopped.
    page.evaluate("""async () => {
        const { MomentPhotos } = await import("/features/moments/moment-photos.js");
        const real = MomentPhotos.prototype.seal;
        let count = 0;
        window.restore = () => { MomentPhotos.prototype.seal = real; };
        MomentPhotos.prototype.seal = async function (file, options) {
            if ((count += 1) === 3) {
                window.isThird = true;
                await new Promise((done) => options.signal.addEventListener("abort", done));
            }
            return real.call(this, file, options);
        };
    }""")
    page.get_by_role("button", name="Choose a folder").click()
    page.get_by_role("button", name="Add 5 photos").click()
    page.wait_for_function("() => window.isThird")
    phone.check()
    phone.picture("everline-import-going")
    page.get_by_role("button", name="Stop").click()
    page.get_by_text(
        "2 photos in 1 new moment added. Stopped. Choose the same files or folder again to continue."
    ).wait_for()
    page.evaluate("() => restore()")
    page.get_by_role("button", name="Choose a folder").click()
    page.get_by_role("button", name="Add 5 photos").click()
    # The undated photo is new in this folder: its file is of today, and its bytes are in the moment of 2009.
    page.get_by_text("2 photos added. 3 already in Everline.").wait_for()
    (day,) = [one for one in listed(phone) if one["date"] != WRITTEN]
    assert day["photos"] == 4, day


def test_an_import_leaves_written_moments_unchanged(phone):
    files = create_photos(phone, {"again/c.jpg": CHRISTMAS, "again/d.jpg": [14, "2015:12:24 19:00:00", "-05:00"]})
    imported(phone, {name: content for name, content in files.items() if name != "again/d.jpg"})
    phone.inside("""
        const { moments: [moment] } = await companion.moments.list({ from: "2015-12-24", to: "2015-12-24" });
        await companion.moments.save(moment, { ...moment, title: "Christmas" });""")
    page = import_page(phone)
    page.evaluate(PICKED, files)
    page.get_by_role("button", name="Choose a folder").click()
    page.get_by_role("button", name="Add 3 photos").click()
    page.get_by_text("1 photo in 1 new moment added. 2 already in Everline.").wait_for()
    christmas = [(one["title"], one["photos"]) for one in listed(phone) if one["date"] != WRITTEN]
    assert sorted(christmas) == [("", 1), ("Christmas", 1)], christmas


def only(chosen, files):
    """The photos except the one without a date."""
    return {name: files[name] for name in chosen}


def removing(phone, files, keeps):
    """Opens the import with these files, which it removes afterwards."""
    page = import_page(phone)
    page.evaluate(PICKED, files)
    page.get_by_role("button", name="Choose a folder").click()
    if keeps:
        page.get_by_label("Keep the files as they are").check()
    page.get_by_label("Remove the originals afterwards").check()
    page.get_by_role("button", name=f"Add {len(files)} photo").click()
    page.get_by_role("heading", name="Remove the originals?").wait_for()
    phone.picture("everline-import-remove")
    page.get_by_role("button", name="Add and remove").click()
    return page


def test_originals_are_removed_once_the_hub_has_the_same_bytes(phone):
    chosen = {"x.jpg": [61, "2021:01:01 10:00:00", "+00:00"], "in/y.jpg": [62, "2021:01:01 11:00:00", "+00:00"]}
    page = removing(phone, only(chosen, create_photos(phone, chosen)), True)
    page.get_by_text("2 photos in 1 new moment added. 2 originals removed.").wait_for()
    assert page.evaluate(NAMES) == []
    assert (
        phone.inside("""
        const { moments: [{ photos }] } = await companion.moments.list({ from: "2021-01-01", to: "2021-01-01" });
        const { bytes } = await companion.momentPhotos.original(photos[0].id);
        return String.fromCharCode(...bytes.subarray(6, 10));""")
        == "Exif"
    )


def test_an_original_that_differs_is_kept(phone):
    """The photo is already stored without its camera's original: the file is kept if compared byte by byte, and removed
    if compared by picture."""
    chosen = {"c.jpg": CHRISTMAS}
    files = only(chosen, create_photos(phone, chosen))
    imported(phone, files)
    page = removing(phone, files, True)
    page.get_by_text("0 originals removed.").wait_for()
    page.get_by_text("c.jpg: It is in Everline without its camera’s metadata.").wait_for()
    assert page.evaluate(NAMES) == ["c.jpg"]
    page = removing(phone, files, False)
    page.get_by_text("1 original removed.").wait_for()
    assert page.evaluate(NAMES) == []


def test_an_animated_original_is_removed_only_if_everline_keeps_the_file(phone):
    files = create_photos(phone, {}) | {"party.gif": base64.b64encode(ANIMATION).decode()}
    page = removing(phone, files, False)
    page.get_by_text("2 photos in 1 new moment added. 1 animation added as a still picture. 1 original rem").wait_for()
    page.get_by_text("party.gif: It is animated; Everline has its first picture.").wait_for()
    phone.check()
    phone.picture("everline-import-animated")
    assert page.evaluate(NAMES) == ["party.gif"]
    # In a second run the photo is in Everline already.
    for keeps in (False, True):
        page = removing(phone, {"party.gif": files["party.gif"]}, keeps)
        page.get_by_text("Nothing was added. 1 already in Everline. 0 originals removed.").wait_for()
        assert page.evaluate(NAMES) == ["party.gif"]
    kept = {"ball.gif": base64.b64encode(ANIMATION + b"\0").decode()}
    page = removing(phone, kept, True)
    page.get_by_text("1 photo in 1 new moment added. 1 original removed.").wait_for()
    assert page.evaluate(NAMES) == []


@pytest.mark.parametrize("keeps", [False, True])
def test_an_original_whose_photo_is_damaged_is_kept(phone, keeps):
    """The hub's response is compared, not the uploaded bytes."""
    chosen = {"z.jpg": [70 + keeps, "2022:02:02 10:00:00", "+00:00"]}
    files = only(chosen, create_photos(phone, chosen))
    phone.page.evaluate("""async () => {
        const { MomentPhotos } = await import("/features/moments/moment-photos.js");
        const real = MomentPhotos.prototype.original;
        MomentPhotos.prototype.original = async function (...args) {
            const read = await real.apply(this, args);
            read.bytes.fill(0, read.bytes.length >> 1);
            read.bytes.fill(0, 0, 40);
            return read;
        };
    }""")
    page = removing(phone, files, keeps)
    page.get_by_text("0 originals removed.").wait_for()
    assert page.evaluate(NAMES) == ["z.jpg"]


@pytest.mark.service_worker
def test_only_files_that_the_hub_has_are_removed(phone, computer):
    page = import_page(phone)
    chosen = {"w.jpg": [81, "2023:03:03 10:00:00", "+00:00"]}
    files = only(chosen, create_photos(phone, chosen))
    eventually(lambda: page.evaluate(KEPT_ON_THE_DEVICE), "the app's files are cached")
    computer.stop_hub()
    phone.online_again()
    page.get_by_text("Offline. Showing").wait_for()
    removing(phone, files, True)
    page.get_by_text("w.jpg: The photo is not at the hub yet; run the import again later.").wait_for()
    assert page.evaluate(NAMES) == ["w.jpg"]


def test_an_import_fits_a_desktop(new_context, household, computer):
    desk = Phone(new_context, computer, DESKTOP).begin(household.paired)
    desk.go("settings/everline/import")
    # Next to the list of settings it is not a heading of the first level.
    desk.page.get_by_role("heading", name="Import photos").wait_for()
    desk.check()
    desk.picture("everline-import")
    desk.quiet()

"""Old photos brought into Everline, as a person does it."""

import base64
import os

from app import DESKTOP
from app_moments_files import MAKE, page_of
from app_vault import inside

# Real JPEGs with Exif, and what lies beside photos. By name: seed, date, zone.
CHOSEN = {
    "2012/a.jpg": [11, "2012:08:01 10:00:00", "+02:00"], "2012/b.jpg": [12, "2012:08:01 23:59:59", "+02:00"],
    "2012/twin of a.jpg": [11, "2012:08:01 10:00:00", "+02:00"], "2015/deep/c.jpg": [13, "2015:12:24 18:00:00", "-05:00"],
}
FILES = """async (chosen) => {
    const { madePicture, madeTiff, withExif } = await import("/tests/made-moments.js");
    const { base64 } = await import("/crypto/bytes.js");
    const place = { latitude: ["N", [[47, 1], [30, 1], [0, 1]]], longitude: ["E", [[9, 1], [30, 1], [0, 1]]] };
    const made = {};
    for (const [name, [seed, date, offset]] of Object.entries(chosen)) {
        made[name] = base64(withExif(await madePicture(800, 600, seed), madeTiff({ date, offset, ...place })));
    }
    made["undated.png"] = base64(await madePicture(300, 200, 20, "image/png"));
    return made;
}"""
# A folder of the browser's own that the picker gives, with these files.
PICKED = """async (files) => {
    const root = await navigator.storage.getDirectory();
    await root.removeEntry("old photos", { recursive: true }).catch(() => {});
    window.picked = await root.getDirectoryHandle("old photos", { create: true });
    window.showDirectoryPicker = async () => window.picked;
    for (const [path, content] of Object.entries(files)) {
        const parts = path.split("/");
        let folder = window.picked;
        for (const part of parts.slice(0, -1)) folder = await folder.getDirectoryHandle(part, { create: true });
        const stream = await (await folder.getFileHandle(parts.at(-1), { create: true })).createWritable();
        await stream.write(Uint8Array.from(atob(content), (one) => one.charCodeAt(0)));
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
LISTED = """
    const { moments } = await companion.moments.list();
    return moments.map(({ title, date, offset, place, photos }) => ({ title, date, offset, place: place ?? null, photos: photos.length }));"""
made = {}


def files_of(phone):
    if not made:
        made.update(phone.page.evaluate(FILES, CHOSEN))
    return made


def on_disk(phone, computer):
    """As a camera's card has them."""
    folder = computer.folder / "card"
    for name, content in files_of(phone).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(base64.b64decode(content))
        os.utime(path, (1234567890, 1234567890))
    (folder / "notes.txt").write_text("no photo")
    (folder / "broken.jpg").write_bytes(b"\xff\xd8\xff\xe0 and nothing more")
    os.utime(folder / "broken.jpg", (1234567890, 1234567890))
    return folder


def listed(phone):
    return inside(phone, LISTED)


def test_a_folder_becomes_moments_by_day(phone, computer):
    folder = on_disk(phone, computer)
    page = page_of(phone, "import", "Import photos")
    phone.check()
    phone.picture("everline-import")
    page.evaluate("() => { delete window.showDirectoryPicker; window.showDirectoryPicker = undefined; }")
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Choose a folder").click()
    chooser.value.set_files(folder)
    page.get_by_role("heading", name="6 photos, 3 days").wait_for()
    page.get_by_text("From February 13, 2009 to December 24, 2015").wait_for()
    page.get_by_text("2 photos say no date: the file’s counts. 1 file is no photo that AppLocker knows.").wait_for()
    phone.check()
    phone.picture("everline-import-found")
    page.get_by_label("Take over places").check()
    page.get_by_role("button", name="Add 6 photos").click()
    page.get_by_text("4 photos in 3 new moments added. 1 was here already.").wait_for(timeout=60_000)
    page.get_by_text("card/broken.jpg: This browser can't open this photo").wait_for()
    phone.check()
    phone.picture("everline-import-done")
    moments = listed(phone)
    assert [one["photos"] for one in moments] == [1, 2, 1], moments
    assert [one["offset"] for one in moments[:2]] == [-300, 120] and moments[0]["date"] == 1450998000, moments
    assert moments[1]["place"] == {"latitude": 47.5, "longitude": 9.5} and moments[2]["place"] is None, moments
    assert moments[2]["date"] == 1234567890


def test_a_second_run_adds_nothing_twice(phone, computer):
    page = page_of(phone, "import", "Import photos")
    before = listed(phone)
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Choose photos").click()
    chooser.value.set_files([path for path in (computer.folder / "card").rglob("*") if path.suffix in (".jpg", ".png") and "broken" not in path.name])
    page.get_by_role("heading", name="5 photos, 3 days").wait_for()
    page.get_by_role("button", name="Add 5 photos").click()
    page.get_by_text("Nothing was added. 5 were here already.").wait_for(timeout=60_000)
    assert listed(phone) == before


def test_an_import_that_was_stopped_goes_on_in_the_same_moment(phone, _):
    page = page_of(phone, "import", "Import photos")
    chosen = {f"day/{index}.jpg": [40 + index, f"2020:02:29 1{index}:00:00", "+01:00"] for index in range(4)}
    page.evaluate(PICKED, page.evaluate(FILES, chosen))
    # The third stands still until it is stopped.
    page.evaluate("""async () => {
        const { Pictures } = await import("/core/pictures.js");
        const real = Pictures.prototype.seal;
        let count = 0;
        window.restore = () => { Pictures.prototype.seal = real; };
        Pictures.prototype.seal = async function (file, options) {
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
    page.get_by_text("2 photos in 1 new moment added. Stopped: choose the same again to go on.").wait_for()
    page.evaluate("() => restore()")
    page.get_by_role("button", name="Choose a folder").click()
    page.get_by_role("button", name="Add 5 photos").click()
    # The undated one is new in this folder: its file is of today, and its bytes are in the moment of 2009.
    page.get_by_text("2 photos added. 3 were here already.").wait_for(timeout=60_000)
    (day,) = [one for one in listed(phone) if one["offset"] == 60]
    assert day["photos"] == 4, day


def test_a_moment_with_words_is_left_as_it_is(phone, _):
    inside(phone, """
        const { moments: [moment] } = await companion.moments.list({ from: "2015-12-24", to: "2015-12-24" });
        await companion.moments.save(moment, { ...moment, title: "Christmas" });""")
    page = page_of(phone, "import", "Import photos")
    page.evaluate(PICKED, page.evaluate(FILES, {"again/c.jpg": CHOSEN["2015/deep/c.jpg"], "again/d.jpg": [14, "2015:12:24 19:00:00", "-05:00"]}))
    page.get_by_role("button", name="Choose a folder").click()
    page.get_by_role("button", name="Add 3 photos").click()
    page.get_by_text("1 photo in 1 new moment added. 2 were here already.").wait_for(timeout=60_000)
    christmas = [(one["title"], one["photos"]) for one in listed(phone) if one["offset"] == -300]
    assert sorted(christmas) == [("", 1), ("Christmas", 1)], christmas


def removing(phone, chosen, keeps, count):
    page = page_of(phone, "import", "Import photos")
    files = {name: content for name, content in page.evaluate(FILES, chosen).items() if name in chosen}
    page.evaluate(PICKED, files)
    page.get_by_role("button", name="Choose a folder").click()
    if keeps:
        page.get_by_label("Keep the files as they are").check()
    page.get_by_label("Remove the originals afterwards").check()
    page.get_by_role("button", name=f"Add {count} photo").click()
    page.get_by_role("heading", name="Remove the originals?").wait_for()
    phone.picture("everline-import-remove")
    page.get_by_role("button", name="Add and remove").click()
    return page


def test_originals_go_once_the_hub_has_the_same_bytes(phone, _):
    page = removing(phone, {"x.jpg": [61, "2021:01:01 10:00:00", "+00:00"], "in/y.jpg": [62, "2021:01:01 11:00:00", "+00:00"]}, True, 2)
    page.get_by_text("2 photos in 1 new moment added. 2 originals removed.").wait_for(timeout=60_000)
    assert page.evaluate(NAMES) == []
    assert inside(phone, """
        const { moments: [{ photos }] } = await companion.moments.list({ from: "2021-01-01", to: "2021-01-01" });
        const { bytes } = await companion.pictures.original(photos[0].id);
        return String.fromCharCode(...bytes.subarray(6, 10));""") == "Exif"


def test_an_original_that_does_not_compare_stays(phone, _):
    """Here already, but without what its camera wrote: asked for byte by byte it stays, for the picture alone it goes."""
    name = {"c.jpg": CHOSEN["2015/deep/c.jpg"]}
    page = removing(phone, name, True, 1)
    page.get_by_text("0 originals removed.").wait_for(timeout=60_000)
    page.get_by_text("c.jpg: It is in Everline without what its camera wrote into it.").wait_for()
    assert page.evaluate(NAMES) == ["c.jpg"]
    page = removing(phone, name, False, 1)
    page.get_by_text("1 original removed.").wait_for(timeout=60_000)
    assert page.evaluate(NAMES) == []


def test_an_original_whose_photo_is_damaged_stays(phone, _):
    """What the hub gives back is looked at, not what was sent."""
    page = page_of(phone, "import", "Import photos")
    page.evaluate("""async () => {
        const { Pictures } = await import("/core/pictures.js");
        const real = Pictures.prototype.original;
        window.restore = () => { Pictures.prototype.original = real; };
        Pictures.prototype.original = async function (...given) {
            const read = await real.apply(this, given);
            read.bytes.fill(0, read.bytes.length >> 1);
            read.bytes.fill(0, 0, 40);
            return read;
        };
    }""")
    for keeps in (False, True):
        removing(phone, {"z.jpg": [70 + keeps, "2022:02:02 10:00:00", "+00:00"]}, keeps, 1)
        page.get_by_text("0 originals removed.").wait_for(timeout=60_000)
        assert page.evaluate(NAMES) == ["z.jpg"]
    page.evaluate("() => restore()")


def test_nothing_is_removed_that_is_not_at_the_hub(phone, computer):
    page = page_of(phone, "import", "Import photos")
    computer.asked(["stop-hub"])
    page.evaluate("() => window.dispatchEvent(new Event('online'))")
    page.get_by_text("Not connected").wait_for(timeout=30_000)
    removing(phone, {"w.jpg": [81, "2023:03:03 10:00:00", "+00:00"]}, True, 1)
    page.get_by_text("w.jpg: The photo is not at the hub yet; run the import again later.").wait_for(timeout=60_000)
    assert page.evaluate(NAMES) == ["w.jpg"]
    computer.asked(["start-hub"])
    page.evaluate("() => window.dispatchEvent(new Event('online'))")


def test_an_import_fits_a_desktop(phone, _):
    page = phone.page
    page.set_viewport_size({"width": DESKTOP[0], "height": DESKTOP[1]})
    phone.go("home", "Home")
    phone.go("settings/everline/import")
    page.get_by_role("heading", name="Import photos").wait_for()
    size, phone.size = phone.size, DESKTOP
    try:
        phone.check()
        phone.picture("everline-import")
    finally:
        phone.size = size
        page.set_viewport_size({"width": size[0], "height": size[1]})

"""Everline in a sealed file and back, as a person does it."""

from app import eventually
from app_moments_files import MAKE, page_of
from app_vault import inside
from story import PASSCODE

PASSPHRASE = "four words in a row"
SHOWN = """
    const { moments } = await companion.moments.list();
    const shown = [];
    for (const { title, words, place, photos } of moments) {
        const digests = [];
        for (const { id } of photos) {
            const { bytes } = await companion.pictures.original(id);
            digests.push(Array.from(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes))).slice(0, 4).join());
            if ((await companion.pictures.thumbnail(id))[0] !== 0xff) throw new Error("no thumbnail");
        }
        shown.push([title, words, place?.name ?? null, digests]);
    }
    return shown;"""
ERASE = """
    const { resetMoments } = await import("/core/moment-reset.js");
    await resetMoments(companion, { signal: new AbortController().signal });"""
kept = {}


def made(phone):
    inside(phone, MAKE + """
        const large = new Blob([await madePicture(2600, 2000, 9, "image/png", true)]);
        const photos = [await companion.pictures.seal(await made(1, "2024:05:17 18:30:05", "+02:00"), { keepsOriginal: true }),
            await companion.pictures.seal(large, { keepsOriginal: true })];
        await companion.moments.save(null, { title: "MARKER-LAKE", words: "cold", date: 1715963405, offset: 120, place: { name: "Bodensee" }, photos });
        await companion.moments.save(null, { title: "Only words", words: "🌅", date: 1546409045, offset: 0, photos: [] });""")


def copied(phone):
    page = page_of(phone, "copy", "Sealed copy")
    page.evaluate("() => { navigator.canShare = () => false; }")
    page.get_by_role("button", name="Make a sealed copy").click()
    phone.type_pin()
    page.get_by_label("Passphrase", exact=True).fill(PASSPHRASE)
    page.get_by_label("The same again").fill(PASSPHRASE)
    page.get_by_role("button", name="Make the copy").click()
    page.get_by_text("2 moments and 2 photos sealed.").wait_for(timeout=60_000)
    phone.check()
    phone.picture("everline-copy")
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save the copy").click()
    return saved.value.path()


def chosen(phone, path, passphrase=PASSPHRASE):
    page = page_of(phone, "copy", "Sealed copy")
    page.locator("input[type=file]").set_input_files(path)
    page.get_by_label("Passphrase", exact=True).fill(passphrase)
    page.get_by_role("button", name="Open", exact=True).click()
    return page


def test_a_copy_is_sealed_and_nothing_in_it_is_missing_here(phone, computer):
    made(phone)
    kept["before"] = inside(phone, SHOWN)
    kept["path"] = computer.folder / "copy.aplockerbackup"
    kept["path"].write_bytes(copied(phone).read_bytes())
    content = kept["path"].read_bytes()
    assert content.startswith(b"APLK\x02\x01") and b"MARKER" not in content and b"\xff\xd8\xff\xe1" not in content
    assert len(content) > 5 << 20, "several chunks"
    page = chosen(phone, kept["path"], "another passphrase")
    page.get_by_text("The passphrase does not open this backup.").wait_for()
    page = chosen(phone, kept["path"])
    page.get_by_text("Nothing in it is missing here. 2 moments are here already.").wait_for(timeout=30_000)


def test_a_computer_takes_the_same_file(phone, computer):
    """It reads all of it and would change nothing that it has."""
    told = computer.run("backup", "import", str(kept["path"]), "--dry-run", "--passphrase", passcode=f"{PASSCODE}\n{PASSPHRASE}")
    assert told is not None, computer.errors


def test_what_was_erased_comes_back_whole(phone, _):
    inside(phone, ERASE)
    assert inside(phone, SHOWN) == []
    page = chosen(phone, kept["path"])
    page.get_by_role("heading", name="Bring back 2 moments?").wait_for(timeout=30_000)
    page.get_by_text("2 moments are missing here.").wait_for()
    phone.check()
    phone.picture("everline-copy-back")
    page.get_by_role("button", name="Cancel").click()
    assert inside(phone, SHOWN) == [], "nothing before the yes"
    page = chosen(phone, kept["path"])
    page.get_by_role("button", name="Bring back", exact=True).click()
    page.get_by_text("2 moments with 2 photos brought back.").wait_for(timeout=60_000)
    assert inside(phone, SHOWN) == kept["before"]
    page = chosen(phone, kept["path"])
    page.get_by_text("Nothing in it is missing here. 2 moments are here already.").wait_for(timeout=30_000)
    # On another device of the household, too.
    other = phone.another(name="Other").pair()
    eventually(lambda: inside(other, "return (await companion.moments.list()).moments.length;") == 2)
    eventually(lambda: inside(phone, "return (await companion.device.store.waiting()).length;") == 0)
    assert inside(other, SHOWN) == kept["before"]
    other.close()


def test_the_later_version_stays(phone, computer):
    newer = computer.folder / "newer.aplockerbackup"
    newer.write_bytes(copied(phone).read_bytes())
    inside(phone, """
        const { moments: [moment] } = await companion.moments.list({ search: "lake" });
        await companion.moments.save(moment, { ...moment, title: "LAKE, again" });""")
    page = chosen(phone, newer)
    page.get_by_text("Nothing in it is missing here. 1 moment is here already. 1 moment is newer here and stays.").wait_for(timeout=30_000)


def test_a_damaged_copy_brings_nothing(phone, computer):
    content = bytearray(kept["path"].read_bytes())
    broken = computer.folder / "broken.aplockerbackup"
    broken.write_bytes(content[:-5000])
    page = chosen(phone, broken)
    page.get_by_text("damaged").wait_for(timeout=30_000)
    # A photo that is damaged takes its own moment along, and no other.
    inside(phone, ERASE)
    content[len(content) // 2] ^= 1
    broken.write_bytes(content)
    page = chosen(phone, broken)
    page.get_by_role("button", name="Bring back", exact=True).click(timeout=30_000)
    page.get_by_text("1 moment with 0 photos brought back. 1 moment could not be: a photo in the copy is missing or damaged.").wait_for(timeout=60_000)
    assert [one[0] for one in inside(phone, SHOWN)] == ["Only words"]
    assert inside(phone, "return (await companion.device.store.staged()).length;") == 0

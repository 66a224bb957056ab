"""Everline in a sealed file and back, as a person does it."""

import base64

import pytest

from camera import CAMERA
from computer import PASSCODE
from settings_steps import page_of
from waiting import eventually

pytestmark = pytest.mark.computer_is_off

PASSPHRASE = "four words in a row"
# `given`: whether one of the photos is so large that its moment takes several chunks of a copy.
MOMENTS = CAMERA + """
    const photos = [await companion.pictures.seal(await made(1, "2024:05:17 18:30:05", "+02:00"), { keepsOriginal: true }),
        await companion.pictures.seal(new Blob([await madePicture(...(given ? [2600, 2000] : [260, 200]), 9, "image/png", true)]), { keepsOriginal: true })];
    await companion.moments.save(null, { title: "MARKER-LAKE", words: "cold", date: 1715963405, offset: 120, place: { name: "Bodensee" }, photos });
    await companion.moments.save(null, { title: "Only words", words: "🌅", date: 1546409045, offset: 0, photos: [] });"""
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
WRITE = """
    const { writeMomentBackup } = await import("/core/moment-backup.js");
    const { base64 } = await import("/crypto/bytes.js");
    const pieces = [];
    await writeMomentBackup(companion, given, (bytes) => void pieces.push(new Blob([bytes])), { signal: new AbortController().signal });
    return base64(new Uint8Array(await new Blob(pieces).arrayBuffer()));"""
ERASE = """
    const { resetMoments } = await import("/core/moment-reset.js");
    await resetMoments(companion, { signal: new AbortController().signal });"""


def copied(phone, computer, is_large=True):
    """Two moments, and a copy of them in a file."""
    phone.inside(MOMENTS, is_large)
    path = computer.folder / "copy.aplockerbackup"
    path.write_bytes(base64.b64decode(phone.inside(WRITE, PASSPHRASE)))
    return path


def chosen(phone, path, passphrase=PASSPHRASE):
    page = page_of(phone, "everline/copy", "Sealed copy")
    page.locator("input[type=file]").set_input_files(path)
    page.get_by_label("Passphrase", exact=True).fill(passphrase)
    page.get_by_role("button", name="Open", exact=True).click()
    return page


def test_a_copy_is_sealed_and_opens_here_and_at_a_computer(phone, computer):
    computer.open_vault()
    phone.inside(MOMENTS, True)
    page = page_of(phone, "everline/copy", "Sealed copy")
    page.evaluate("() => { navigator.canShare = () => false; }")
    page.get_by_role("button", name="Make a sealed copy").click()
    phone.confirm("Make a sealed copy?")
    page.get_by_label("Passphrase", exact=True).fill(PASSPHRASE)
    page.get_by_label("The same again").fill(PASSPHRASE)
    page.get_by_role("button", name="Make the copy").click()
    page.get_by_text("2 moments and 2 photos sealed.").wait_for()
    phone.check()
    phone.picture("everline-copy")
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save the copy").click()
    path = saved.value.path()
    content = path.read_bytes()
    assert content.startswith(b"APLK\x02\x01") and b"MARKER" not in content and b"\xff\xd8\xff\xe1" not in content
    assert len(content) > 5 << 20, "several chunks"
    chosen(phone, path, "another passphrase")
    page.get_by_text("The passphrase does not open this backup.").wait_for()
    chosen(phone, path)
    page.get_by_text("Nothing in it is missing here. 2 moments are here already.").wait_for()
    # A computer reads all of it, and would change nothing that it has.
    computer.expect("backup", "import", str(path), "--dry-run", "--passphrase", passcode=f"{PASSCODE}\n{PASSPHRASE}")


def test_what_was_erased_comes_back_whole(phone, computer):
    path = copied(phone, computer)
    before = phone.inside(SHOWN)
    assert [one[0] for one in before] == ["MARKER-LAKE", "Only words"]
    phone.inside(ERASE)
    assert phone.inside(SHOWN) == []
    page = chosen(phone, path)
    page.get_by_role("heading", name="Bring back 2 moments?").wait_for()
    page.get_by_text("2 moments are missing here.").wait_for()
    phone.check()
    phone.picture("everline-copy-back")
    page.get_by_role("button", name="Cancel").click()
    assert phone.inside(SHOWN) == [], "nothing before the yes"
    chosen(phone, path)
    page.get_by_role("button", name="Bring back", exact=True).click()
    page.get_by_text("2 moments with 2 photos brought back.").wait_for()
    assert phone.inside(SHOWN) == before
    chosen(phone, path)
    page.get_by_text("Nothing in it is missing here. 2 moments are here already.").wait_for()
    # On another device of the household, too.
    other = phone.another(name="Other").pair()
    eventually(lambda: other.inside("return (await companion.moments.list()).moments.length;") == 2)
    eventually(lambda: phone.inside("return (await companion.device.store.waiting()).length;") == 0)
    assert other.inside(SHOWN) == before


def test_the_later_version_stays(phone, computer):
    path = copied(phone, computer, is_large=False)
    phone.inside("""
        const { moments: [moment] } = await companion.moments.list({ search: "lake" });
        await companion.moments.save(moment, { ...moment, title: "LAKE, again" });""")
    page = chosen(phone, path)
    page.get_by_text("Nothing in it is missing here. 1 moment is here already. 1 moment is newer here and stays.").wait_for()


def test_a_damaged_copy_brings_nothing(phone, computer):
    path = copied(phone, computer)
    content = bytearray(path.read_bytes())
    path.write_bytes(content[:-5000])
    page = chosen(phone, path)
    page.get_by_text("damaged").wait_for()
    # A photo that is damaged takes its own moment along, and no other.
    phone.inside(ERASE)
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    chosen(phone, path)
    page.get_by_role("button", name="Bring back", exact=True).click()
    page.get_by_text("1 moment with 0 photos brought back. 1 moment could not be: a photo in the copy is missing or damaged.").wait_for()
    assert [one[0] for one in phone.inside(SHOWN)] == ["Only words"]
    assert phone.inside("return (await companion.device.store.staged()).length;") == 0

"""A sealed backup of Everline is exported and imported."""

import base64
import hashlib

import pytest

from camera import CAMERA
from computer import PASSCODE
from moment_devices import Device
from recordings import save_recordings, sound, video
from settings_steps import page_of
from waiting import eventually_equals

pytestmark = pytest.mark.computer_is_off

PASSPHRASE = "four words in a row"
# `arg`: whether one photo is so large that its moment needs several chunks of the backup.
MOMENTS = (
    CAMERA
    + """
    const [lake, size] = [await createPhoto(1, "2024:05:17 18:30:05", "+02:00"), arg ? [1600, 1400] : [260, 200]];
    const noise = new Blob([await createPicture(...size, 9, "image/png", true)]);
    const photos = [
        await companion.momentPhotos.seal(lake, { keepsOriginal: true }),
        await companion.momentPhotos.seal(noise, { keepsOriginal: true }),
    ];
    await companion.moments.save(null, {
        title: "MARKER-LAKE", words: "cold", date: 1715963405, offset: 120, place: { name: "Bodensee" }, photos });
    await companion.moments.save(null, {
        title: "Only words", words: "🌅", date: 1546409045, offset: 0, photos: [] });"""
)
SHOWN = """
    const { moments } = await companion.moments.list();
    const shown = [];
    for (const { title, words, place, photos } of moments) {
        const digests = [];
        for (const { id } of photos) {
            const { bytes } = await companion.momentPhotos.original(id);
            digests.push(Array.from(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes))).slice(0, 4).join());
            if ((await companion.momentPhotos.thumbnail(id))[0] !== 0xff) throw new Error("no thumbnail");
        }
        shown.push([title, words, place?.name ?? null, digests]);
    }
    return shown;"""
WRITE = """
    const { writeMomentBackup } = await import("/features/backup/moment-backup.js");
    const { base64 } = await import("/crypto/bytes.js");
    const pieces = [];
    const write = (bytes) => void pieces.push(new Blob([bytes]));
    await writeMomentBackup(companion, arg, write, { signal: new AbortController().signal });
    return base64(new Uint8Array(await new Blob(pieces).arrayBuffer()));"""
DATES = """
    const { together, dates } = await (await companion.dates()).list();
    return [together?.day ?? null, dates.map(({ name, day, yearly }) => [name, day, yearly])];"""
ADD_DATES = """
    const dates = await companion.dates();
    await dates.save(null, { name: "MARKER-birthday", day: "1992-02-29", yearly: true });
    await dates.setTogether("2019-06-01");"""
ERASE = """
    const { resetMoments } = await import("/features/backup/moment-reset.js");
    await resetMoments(companion, { signal: new AbortController().signal });"""


# A passphrase is stretched with one round, in a test whose backup no computer reads.
STRETCH_LITTLE = """() => {
    const { deriveBits } = SubtleCrypto.prototype;
    SubtleCrypto.prototype.deriveBits = function (algorithm, ...rest) {
        const cost = algorithm.name === "PBKDF2" ? { iterations: 1 } : {};
        return deriveBits.call(this, { ...algorithm, ...cost }, ...rest);
    };
}"""


def copied(phone, computer, is_large=False, costs_little=True):
    """Saves two moments and exports them to a file."""
    if costs_little:
        phone.page.evaluate(STRETCH_LITTLE)
    phone.inside(MOMENTS, is_large)
    path = computer.folder / "copy.aplockerbackup"
    path.write_bytes(base64.b64decode(phone.inside(WRITE, PASSPHRASE)))
    return path


def chosen(phone, path, passphrase=PASSPHRASE):
    page = page_of(phone, "everline/copy", "Backup of Everline")
    page.locator("input[type=file]").set_input_files(path)
    page.get_by_label("Passphrase", exact=True).fill(passphrase)
    page.get_by_role("button", name="Open", exact=True).click()
    return page


def seals_two_moments(phone):
    """On the page of backups."""
    page = phone.page
    page.get_by_role("button", name="Export a backup").click()
    phone.confirm("Export a backup?")
    page.get_by_label("Passphrase", exact=True).fill(PASSPHRASE)
    page.get_by_label("Repeat the passphrase").fill(PASSPHRASE)
    page.get_by_role("button", name="Export", exact=True).click()
    page.get_by_text("2 moments with 2 photos sealed.").wait_for()


def test_a_backup_is_sealed_and_opens_on_phone_and_computer(phone, computer):
    computer.open_vault()
    phone.inside(MOMENTS, True)
    page = page_of(phone, "everline/copy", "Backup of Everline")
    page.evaluate("() => { navigator.canShare = () => false; }")
    seals_two_moments(phone)
    phone.check()
    phone.picture("everline-copy")
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save the backup").click()
    path = saved.value.path()
    content = path.read_bytes()
    assert content.startswith(b"APLK\x02\x01") and b"MARKER" not in content and b"2024:05:17 18:30:05" not in content
    assert len(content) > 5 << 20, "the backup has only one chunk"
    chosen(phone, path, "another passphrase")
    page.get_by_text("The passphrase does not open this backup.").wait_for()
    chosen(phone, path)
    page.get_by_text("It contains no new moments. 2 moments are here already.").wait_for()
    # A computer reads the whole backup, and nothing changes.
    computer.expect("backup", "import", str(path), "--dry-run", "--passphrase", passcode=f"{PASSCODE}\n{PASSPHRASE}")


def test_erased_moments_are_restored_from_a_backup(phone, computer, new_context):
    path = copied(phone, computer, is_large=True)
    before = phone.inside(SHOWN)
    assert [one[0] for one in before] == ["MARKER-LAKE", "Only words"]
    phone.inside(ERASE)
    assert phone.inside(SHOWN) == []
    page = chosen(phone, path)
    page.get_by_role("heading", name="Restore 2 moments?").wait_for()
    page.get_by_text("2 moments are missing here.").wait_for()
    phone.check()
    phone.picture("everline-copy-back")
    page.get_by_role("button", name="Cancel").click()
    assert phone.inside(SHOWN) == [], "moments are restored before the confirmation"
    chosen(phone, path)
    page.get_by_role("button", name="Restore", exact=True).click()
    page.get_by_text("2 moments with 2 photos restored.").wait_for()
    assert phone.inside(SHOWN) == before
    chosen(phone, path)
    page.get_by_text("It contains no new moments. 2 moments are here already.").wait_for()
    # Also on another device of the household.
    eventually_equals(lambda: phone.inside("return (await companion.device.store.waiting()).length;"), 0)
    other = Device(new_context, computer)
    other.until("async () => (await window.m.companion.moments.list()).moments.length === 2", "the moments arrive")
    assert other.page.evaluate(f"async () => {{ const {{ companion }} = window.m; {SHOWN} }}") == before


RECORDINGS = """
    const { hex } = await import("/crypto/bytes.js");
    const { moments: [moment] } = await companion.moments.list();
    return Promise.all(moment.photos.map(async ({ id, kind, duration }) => {
        const parts = [];
        for await (const piece of companion.momentPhotos.pieces(id)) parts.push(piece);
        const whole = await new Blob(parts).arrayBuffer();
        const poster = (await companion.momentPhotos.medium(id)).type;
        return [kind, Math.round(duration), poster, hex(new Uint8Array(await crypto.subtle.digest("SHA-256", whole)))];
    }));"""


def test_videos_and_sounds_are_restored_from_a_backup_unchanged(phone, computer):
    phone.page.evaluate(STRETCH_LITTLE)
    files = [video(), sound(20)]
    save_recordings(phone, "The film", files)
    before = [
        [kind, seconds, "image/jpeg", hashlib.sha256(file).hexdigest()]
        for kind, seconds, file in zip(("video", "voice"), (4, 20), files, strict=True)
    ]
    assert phone.inside(RECORDINGS) == before
    path = computer.folder / "copy.aplockerbackup"
    path.write_bytes(base64.b64decode(phone.inside(WRITE, PASSPHRASE)))
    phone.inside(ERASE)
    page = chosen(phone, path)
    page.get_by_role("button", name="Restore", exact=True).click()
    page.get_by_text("1 moment with 1 video, 1 voice note restored.").wait_for()
    assert phone.inside(RECORDINGS) == before


def test_special_dates_are_erased_by_a_reset_and_restored_from_a_backup(phone, computer):
    phone.inside(ADD_DATES)
    path = copied(phone, computer, costs_little=False)
    before = phone.inside(DATES)
    assert before == ["2019-06-01", [["MARKER-birthday", "1992-02-29", True]]]
    phone.inside(ERASE)
    assert phone.inside(DATES) == [None, []]
    page = chosen(phone, path)
    page.get_by_text("2 special dates are missing here.").wait_for()
    page.get_by_role("button", name="Restore", exact=True).click()
    page.get_by_text("2 special dates restored.").wait_for()
    assert phone.inside(DATES) == before
    chosen(phone, path)
    page.get_by_text("It contains no new moments. 2 moments are here already.").wait_for()
    # A computer reads the whole backup.
    computer.open_vault()
    computer.expect("backup", "import", str(path), "--dry-run", "--passphrase", passcode=f"{PASSCODE}\n{PASSPHRASE}")


def test_importing_keeps_the_later_version(phone, computer):
    path = copied(phone, computer)
    phone.inside("""
        const { moments: [moment] } = await companion.moments.list({ search: "lake" });
        await companion.moments.save(moment, { ...moment, title: "LAKE, again" });""")
    page = chosen(phone, path)
    page.get_by_text(
        "It contains no new moments. 1 moment is here already. 1 moment is newer here and stays."
    ).wait_for()


def test_a_damaged_backup_restores_nothing(phone, computer):
    path = copied(phone, computer, is_large=True)
    before = [one[0] for one in phone.inside(SHOWN)]
    content = bytearray(path.read_bytes())
    path.write_bytes(content[:-5000])
    page = chosen(phone, path)
    page.get_by_text("The backup is damaged or truncated.").wait_for()
    # A damaged photo is left out of its moment.
    phone.inside(ERASE)
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    chosen(phone, path)
    page.get_by_role("button", name="Restore", exact=True).click()
    page.get_by_text(
        "2 moments with 1 photo restored. 1 photo could not be restored: missing or damaged in the backup."
    ).wait_for()
    assert sorted(one[0] for one in phone.inside(SHOWN)) == sorted(before)
    assert phone.inside("return (await companion.device.store.staged()).length;") == 0

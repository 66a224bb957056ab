"""Moments of the computer are opened in the browser and the other way round, through a real hub: the same bytes, the
same text, and each photo with its content even if it is sent again."""

import hashlib
import json
import shutil
import subprocess

import pytest

import pages
from moment_devices import Device, HubFiles, bottleneck
from waiting import eventually, eventually_equals

FIXTURES = pages.ROOT / "Tests/System/PicturesTests/Fixtures"
SMALL_PHOTOS = [FIXTURES / name for name in ("orientation-6.jpg", "transparent.png", "picture.webp")]
READ = """async (title) => {
    const { companion } = window.m;
    const { moments } = await companion.moments.list({ search: title });
    const [moment] = moments;
    if (!moment) return null;
    const photos = [];
    for (const { id, width, height } of moment.photos) {
        const sizes = {};
        for (const which of ["original", "medium"]) {
            const { type, bytes } = await companion.momentPhotos[which](id);
            const image = await createImageBitmap(new Blob([bytes], { type }));
            const canvas = new OffscreenCanvas(image.width, image.height);
            const context = canvas.getContext("2d");
            context.drawImage(image, 0, 0);
            const at = (x, y) => {
                const { data } = context.getImageData(image.width * x, image.height * y, 1, 1);
                return [...data.slice(0, 3)].map((one) => Number(one > 127)).join("");
            };
            const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
            sizes[which] = {
                type, width: image.width, height: image.height,
                corners: [at(.25, .25), at(.75, .25), at(.25, .75), at(.75, .75)],
                digest: [...digest].map((one) => one.toString(16).padStart(2, "0")).join(""),
            };
        }
        const thumbnail = await companion.momentPhotos.thumbnail(id);
        const small = await createImageBitmap(new Blob([thumbnail]));
        photos.push({ width, height, ...sizes, thumbnail: [thumbnail.length, small.width, small.height] });
    }
    const { words, date, offset, mood, place, favourite } = moment;
    return { words, date, offset, mood, place, favourite, photos };
}"""
# A moment can arrive before its photos.
READ_WHEN_HERE = (
    f"(title) => ({READ})(title).catch((error) => {{ if (error.code === 'notFound') return null; throw error; }})"
)
# The colours of the quarters of an upright photo.
UPRIGHT = ["100", "010", "001", "111"]


@pytest.fixture
def computer(computer):
    computer.open_vault()
    return computer


def seen(companion, title, condition=lambda found: True):
    """Returns the moment on the phone as soon as it arrives."""
    companion.unlock()
    found = []

    def look():
        found.append(companion.page.evaluate(READ_WHEN_HERE, title))
        return found[-1] and condition(found[-1])

    eventually(look, f"{title} arrives at the phone")
    return found[-1]


def listed(computer, title):
    return json.loads(computer.expect("moments", "list", "--json", "--search", title))["moments"]


def digests(files):
    return [hashlib.sha256(file.read_bytes()).hexdigest() for file in files]


def noise(file, size, strength, seed=1):
    """Creates a photo that does not compress."""
    source = f"testsrc2=size={size},noise=alls={strength}:all_seed={seed}"
    command = f"/usr/bin/ffmpeg -loglevel error -y -f lavfi -i {source} -frames:v 1 -q:v 2".split()
    subprocess.run([*command, file], check=True)
    return file


def added(computer, title, photos, *words, **options):
    photo_options = [word for photo in photos for word in ("--photo", str(photo))]
    computer.expect("moments", "add", title, "--json", *words, *photo_options, **options)


def test_a_heic_from_the_computer_opens_on_the_phone(companion, computer):
    added(computer, "Vom iPhone", [FIXTURES / "turned.heic"])
    [photo] = seen(companion, "Vom iPhone")["photos"]
    for which in ("original", "medium"):
        assert (photo[which]["type"], photo[which]["width"], photo[which]["height"]) == ("image/jpeg", 96, 64)
        assert photo[which]["corners"] == UPRIGHT


def test_moments_from_the_computer_open_on_the_phone(companion, computer, tmp_path):
    photos = [*SMALL_PHOTOS, noise(tmp_path / "large.jpg", "4032x3024", 30)]
    words = "--words - --mood joy --date 2024-05-17T18:30:05+02:00 --place Zürich@47.3769,8.5417 --favourite".split()
    added(computer, "Von hier 🌊", photos, *words, input="Kalt,\nund schön.")
    found = seen(companion, "Von hier")
    assert found["words"] == "Kalt,\nund schön." and found["mood"] == "joy" and found["favourite"] is True
    assert (found["date"], found["offset"]) == (1715963405, 120)
    assert found["place"] == {"name": "Zürich", "latitude": 47.3769, "longitude": 8.5417}
    turned, transparent, webp, big = found["photos"]
    for photo in (turned, webp):
        assert (photo["width"], photo["height"]) == (96, 64)
        for which in ("original", "medium"):
            assert photo[which]["corners"] == UPRIGHT, photo
            assert (photo[which]["type"], photo[which]["width"], photo[which]["height"]) == ("image/jpeg", 96, 64)
    assert transparent["original"]["type"] == "image/png" and transparent["medium"]["type"] == "image/jpeg"
    assert transparent["medium"]["corners"] == ["111", *UPRIGHT[1:]]
    assert (big["original"]["width"], big["medium"]["width"], big["medium"]["height"]) == (4032, 2016, 1512)
    assert big["thumbnail"][1:] == [320, 240] and big["thumbnail"][0] <= 16384
    # The command line saves the phone's files.
    files = computer.saved("Von hier 🌊", tmp_path / "saved")
    assert digests(files) == [photo["original"]["digest"] for photo in found["photos"]]


def test_moments_from_the_phone_open_on_the_computer(companion, computer, tmp_path):
    companion.add("from the phone", [11, 12])
    companion.sent()
    eventually(lambda: listed(computer, "phone"), "the computer lists the moment")
    [moment] = listed(computer, "phone")
    assert [(photo["width"], photo["height"]) for photo in moment["photos"]] == [(2600, 2000), (2600, 2000)]
    kept = computer.state / "blobs/kept"
    before = len(list(kept.iterdir()))
    files = computer.saved("from the phone", tmp_path / "from-phone")
    assert digests(files) == [photo["original"]["digest"] for photo in seen(companion, "from the phone")["photos"]]
    # They were downloaded when they were opened, and are stored sealed.
    assert len(list(kept.iterdir())) == before + 2
    # The computer recognizes bytes that the phone sealed as the same file.
    again = tmp_path / "again"
    again.mkdir()
    shutil.copy(files[0], again / "copy.png")
    report = json.loads(computer.expect("moments", "import", str(again), "--json"))
    assert (report["photos"], report["duplicates"]) == (0, 1), report


def test_changes_by_either_device_reach_the_other(companion, computer):
    companion.add("from the phone", [11], (640, 480))
    companion.sent()
    eventually(lambda: listed(computer, "phone"), "the computer lists the moment")
    computer.expect("moments", "favourite", "from the phone")
    seen(companion, "from the phone", lambda found: found["favourite"])
    companion.page.evaluate("""async () => {
        const { moments } = window.m.companion;
        const { moments: [moment] } = await moments.list({ search: "phone" });
        await moments.remove(moment);
    }""")
    companion.sent()
    eventually(lambda: not listed(computer, "phone"), "the computer no longer lists the moment")
    computer.expect("moments", "restore", "from the phone")
    assert seen(companion, "from the phone")["favourite"]


def test_a_resealed_photo_keeps_its_content(companion, new_context, computer):
    """Another phone is revoked: the computer seals every record again, the first phone's photos too."""
    hub = HubFiles(computer)
    companion.add("from the phone", [11, 12], (640, 480))
    companion.sent()
    added(computer, "Von hier", SMALL_PHOTOS)
    other = Device(new_context, computer)
    other.until("async () => (await window.m.companion.moments.list()).moments.length === 2", "the moments arrive")
    computer.expect(
        "devices", "revoke", other.page.evaluate("window.m.companion.device.paired.device"), "--yes", passcode=True
    )
    eventually_equals(
        lambda: [record["epoch"] for record in hub.records(companion)], [2] * 7, "all records have the new epoch"
    )
    computer.sent()
    hub.age()
    companion.close_tab()
    companion.reopen()
    companion.unlock()
    companion.until("async () => window.m.companion.syncLoop.connection === 'live'", "the phone is connected again")
    for title, count in (("from the phone", 2), ("Von hier", 3)):
        found = seen(companion, title)
        assert len(found["photos"]) == count, found


def daemons(computer):
    return subprocess.run(
        ["pgrep", "-f", f"applockerd --state {computer.state}"], capture_output=True, text=True
    ).stdout.split()


def test_a_computer_killed_during_an_upload_sends_all_photos(companion, computer, tmp_path):
    """The computer is killed three times; the phone has one moment with all photos."""
    hub = HubFiles(computer)
    pictures = [noise(tmp_path / f"noise-{seed}.jpg", "3000x2000", 60, seed) for seed in range(3)]
    size = sum(picture.stat().st_size for picture in pictures)
    with bottleneck(computer) as network:
        network.allow(0)
        added(computer, "killed", pictures, "--keep-original")
        # The network forwards three quarters of it: the upload is never complete when the daemon is killed.
        for _ in range(3):
            network.allow(size // 4)
            eventually(network.is_full, "a quarter of the upload is sent")
            killed = daemons(computer)
            assert killed
            subprocess.run(["kill", "-9", *killed], check=True)
            eventually(
                lambda killed=killed: daemons(computer) and not set(daemons(computer)) & set(killed),
                "the daemon is started again",
            )
        network.allow(None)
        eventually(lambda: json.loads(computer.run("hub", "status", "--json") or "{}").get("connected"))
        found = seen(companion, "killed", lambda found: len(found["photos"]) == 3)
        assert [photo["original"]["digest"] for photo in found["photos"]] == digests(pictures)
        count = companion.page.evaluate(
            "async () => (await window.m.companion.moments.list({ search: 'killed' })).moments.length"
        )
        assert count == 1
        hub.age()
        _, blobs = hub.named(companion)
        assert blobs
        eventually_equals(hub.files, blobs, "the hub has only the files that records name")

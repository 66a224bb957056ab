"""Moments that the computer adds are opened in the browser, and the other way round, over a real hub: the same bytes, the same
words, and each photo with its content whatever is sent again."""

import hashlib
import json
import pathlib
import shutil
import subprocess
import sys
import time

import pages
from moments_hub import Device, run_each

FIXTURES = pages.ROOT / "Tests/PicturesTests/Fixtures"
READ = """async (title) => {
    const { companion } = window.m;
    const { moments } = await companion.moments.list({ search: title });
    const [moment] = moments;
    if (!moment) return null;
    const photos = [];
    for (const { id, width, height } of moment.photos) {
        const sizes = {};
        for (const which of ["original", "medium"]) {
            const { type, bytes } = await companion.pictures[which](id);
            const image = await createImageBitmap(new Blob([bytes], { type }));
            const canvas = new OffscreenCanvas(image.width, image.height);
            const context = canvas.getContext("2d");
            context.drawImage(image, 0, 0);
            const at = (x, y) => [...context.getImageData(image.width * x, image.height * y, 1, 1).data.slice(0, 3)].map((one) => Number(one > 127)).join("");
            const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
            sizes[which] = {
                type, width: image.width, height: image.height, corners: [at(.25, .25), at(.75, .25), at(.25, .75), at(.75, .75)],
                digest: [...digest].map((one) => one.toString(16).padStart(2, "0")).join(""),
            };
        }
        const thumbnail = await companion.pictures.thumbnail(id);
        const small = await createImageBitmap(new Blob([thumbnail]));
        photos.push({ width, height, ...sizes, thumbnail: [thumbnail.length, small.width, small.height] });
    }
    const { words, date, offset, mood, place, favourite } = moment;
    return { words, date, offset, mood, place, favourite, photos };
}"""
# What is upright has these quarters.
UPRIGHT = ["100", "010", "001", "111"]


def seen(device, title, condition=lambda found: found):
    """What the phone makes of it, as soon as it has it."""
    device.unlock()
    end = time.monotonic() + 30
    while True:
        try:
            found = device.page.evaluate(READ, title)
        except Exception as error:  # Its photos may still be on their way.
            found = None
            if time.monotonic() > end:
                raise error
        if found and condition(found):
            return found
        assert time.monotonic() < end, f"the phone does not see {title}: {found}"
        time.sleep(0.1)


def listed(computer, *arguments):
    return json.loads(computer.run("moments", "list", "--json", *arguments))["moments"]


def until_listed(computer, title, condition=lambda moment: True):
    end = time.monotonic() + 30
    while True:
        for moment in listed(computer, "--search", title):
            if condition(moment):
                return moment
        assert time.monotonic() < end, f"the computer does not list {title}"
        time.sleep(0.1)


def test_what_the_computer_adds_opens_on_the_phone(device, computer, folder, hub):
    large = folder / "large.jpg"
    subprocess.run(["/usr/bin/ffmpeg", "-loglevel", "error", "-y", "-f", "lavfi", "-i", "testsrc2=size=4032x3024,noise=alls=30:all_seed=1",
                    "-frames:v", "1", "-q:v", "2", large], check=True)
    photos = [FIXTURES / "orientation-6.jpg", FIXTURES / "transparent.png", FIXTURES / "picture.webp", large]
    words = [word for photo in photos for word in ("--photo", str(photo))]
    added = computer.run("moments", "add", "Von hier 🌊", "--words", "-", "--mood", "joy", "--date", "2024-05-17T18:30:05+02:00", "--place",
                         "Zürich@47.3769,8.5417", "--favourite", "--json", *words, given="Kalt,\nund schön.")
    assert added, computer.errors
    found = seen(device, "Von hier")
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
    assert (big["original"]["width"], big["medium"]["width"], big["medium"]["height"]) == (4032, 2048, 1536)
    assert big["thumbnail"][1:] == [320, 240] and big["thumbnail"][0] <= 16384
    # What the terminal saves is what the phone has.
    saved = folder / "saved"
    saved.mkdir()
    files = json.loads(computer.run("moments", "show", "Von hier 🌊", "--save", str(saved), "--json"))["saved"]
    digests = [hashlib.sha256(pathlib.Path(file["file"]).read_bytes()).hexdigest() for file in files]
    assert digests == [photo["original"]["digest"] for photo in found["photos"]]


def test_what_the_phone_adds_opens_at_the_computer(device, computer, folder, hub):
    device.unlock()
    device.add("from the phone", [11, 12])
    device.sent()
    moment = until_listed(computer, "phone")
    assert [(photo["width"], photo["height"]) for photo in moment["photos"]] == [(2600, 2000), (2600, 2000)]
    kept = computer.state / "blobs/kept"
    before = len(list(kept.iterdir()))
    saved = folder / "from-phone"
    saved.mkdir()
    files = json.loads(computer.run("moments", "show", "from the phone", "--save", str(saved), "--json") or computer.errors)["saved"]
    digests = [hashlib.sha256(pathlib.Path(file["file"]).read_bytes()).hexdigest() for file in files]
    assert digests == [photo["original"]["digest"] for photo in seen(device, "from the phone")["photos"]]
    # Fetched when they were looked at, and kept as they are, sealed.
    assert len(list(kept.iterdir())) == before + 2
    # Bytes that the phone sealed are known here as the same file.
    again = folder / "again"
    again.mkdir()
    shutil.copy(files[0]["file"], again / "copy.png")
    report = json.loads(computer.run("moments", "import", str(again), "--json"))
    assert (report["photos"], report["duplicates"]) == (0, 1), report


def test_both_change_and_both_see_it(device, computer, folder, hub):
    assert computer.run("moments", "favourite", "from the phone"), computer.errors
    seen(device, "from the phone", lambda found: found["favourite"])
    device.page.evaluate("""async () => {
        const { moments } = window.m.companion;
        const { moments: [moment] } = await moments.list({ search: "phone" });
        await moments.remove(moment);
    }""")
    device.sent()
    end = time.monotonic() + 30
    while listed(computer, "--search", "phone"):
        assert time.monotonic() < end
        time.sleep(0.1)
    assert computer.run("moments", "restore", "from the phone"), computer.errors
    assert seen(device, "from the phone")["favourite"]


def test_a_photo_that_the_computer_sends_again_keeps_its_content(device, computer, folder, hub):
    """Another phone is put out: every record is sealed anew here, the first phone's photos too."""
    other = Device(device.context.browser, computer)
    other.until("async () => (await window.m.companion.moments.list()).moments.length >= 2", "the moments are there")
    gone = other.page.evaluate("window.m.companion.device.paired.device")
    assert computer.run("devices", "revoke", gone, "--yes", passcode=True) is not None, computer.errors
    other.context.close()
    end = time.monotonic() + 30
    while json.loads(computer.run("hub", "status", "--json"))["waiting"]:
        assert time.monotonic() < end, "it is not sent"
        time.sleep(0.1)
    hub.a_day_passes(computer)
    device.kill()
    device.unlock()
    device.until("async () => window.m.companion.following.connection === 'live'", "live again")
    for title, count in (("from the phone", 2), ("Von hier", 4)):
        found = seen(device, title)
        assert len(found["photos"]) == count, found


def test_a_killed_computer_sends_it_whole(device, computer, folder, hub):
    """Whenever it is killed while a moment's photos go up, the phone sees one moment with all of them."""
    pictures = []
    for seed in range(3):
        pictures.append(folder / f"noise-{seed}.jpg")
        subprocess.run(["/usr/bin/ffmpeg", "-loglevel", "error", "-y", "-f", "lavfi", "-i",
                        f"testsrc2=size=3000x2000,noise=alls=60:all_seed={seed}", "-frames:v", "1", "-q:v", "2", pictures[-1]], check=True)
    words = [word for picture in pictures for word in ("--photo", str(picture))]
    assert computer.run("moments", "add", "killed", "--keep-original", *words), computer.errors
    for _ in range(3):
        daemon = subprocess.run(["pgrep", "-f", f"applockerd --state {computer.state}"], capture_output=True, text=True).stdout.split()
        for one in daemon:
            subprocess.run(["kill", "-9", one])
        time.sleep(0.3)
    computer.until(lambda: json.loads(computer.run("hub", "status", "--json") or "{}").get("connected"))
    found = seen(device, "killed", lambda found: len(found["photos"]) == 3)
    wanted = [hashlib.sha256(picture.read_bytes()).hexdigest() for picture in pictures]
    assert [photo["original"]["digest"] for photo in found["photos"]] == wanted
    count = device.page.evaluate("async () => (await window.m.companion.moments.list({ search: 'killed' })).moments.length")
    assert count == 1
    hub.a_day_passes(computer)
    _, blobs = hub.named(device)
    end = time.monotonic() + 20
    while hub.files() != blobs and time.monotonic() < end:
        time.sleep(0.2)
    assert hub.files() == blobs, f"{len(hub.files())} files at the hub, {len(blobs)} that records name"


def run(browser, programs):
    return run_each(sys.modules[__name__], browser, programs)

"""Moments beside a real hub and a real computer: whatever is killed while photos are on their way, one moment comes out, with all
its photos, and the hub keeps nothing that nobody names."""

import inspect
import json
import pathlib
import shutil
import sqlite3
import sys
import tempfile
import time
import traceback

import story

PIN = "735102"
OPEN = """async (pin) => {
    const { Companion } = await import("/core/companion.js");
    const { madePicture } = await import("/tests/made-moments.js");
    const companion = await Companion.open();
    window.m = { companion, madePicture, progress: [] };
    companion.addEventListener("upload", ({ detail }) => window.m.progress.push(detail));
    if (pin) await companion.unlockWithPIN(pin);
}"""
# Large enough that it takes many pieces.
ADD = """async ([title, seeds]) => {
    const { companion, madePicture } = window.m;
    const photos = [];
    for (const seed of seeds) {
        const picture = await madePicture(2600, 2000, seed, "image/png", true);
        photos.push(await companion.pictures.seal(new Blob([picture]), { keepsOriginal: true }));
    }
    const moment = await companion.moments.save(null, { title, words: "MARKER-AT-THE-HUB", date: 1715961600, photos });
    return { id: moment.id, photos: moment.photos.map(({ id }) => id) };
}"""


class Device:
    """A browser with one companion, whose tabs can be killed."""

    def __init__(self, browser, computer):
        self.computer = computer
        self.context = browser.new_context()
        self.page = None
        self.visit()
        self.page.evaluate(OPEN, None)
        link = computer.asked(["pair"])
        self.page.evaluate("""async ([link, pin]) => {
            await window.m.companion.pair(link, "phone");
            await window.m.companion.setPIN(pin);
        }""", [link, PIN])

    def visit(self):
        self.page = self.context.new_page()
        self.page.goto(f"http://127.0.0.1:{self.computer.port}/tests.html")

    def kill(self):
        """The tab is gone, in the middle of whatever it did; the app is opened again, locked."""
        self.page.close(run_before_unload=False)
        self.visit()
        self.page.evaluate(OPEN, None)

    def add(self, title, seeds):
        return self.page.evaluate(ADD, [title, seeds])

    def until(self, condition, what, seconds=60):
        end = time.monotonic() + seconds
        while not self.page.evaluate(condition):
            assert time.monotonic() < end, f"not in {seconds} s: {what}; {self.state()}"
            time.sleep(0.02)

    def begun(self, share):
        """Some of it is at the hub."""
        self.until(f"() => window.m.progress.some(({{ sent, size }}) => sent > {share} * size && sent < size)", f"{share} of it is sent")

    def sent(self):
        self.page.evaluate("() => window.m.companion.wake()")
        self.until("async () => (await window.m.companion.device.store.waiting()).length === 0", "all sent")

    def state(self):
        return self.page.evaluate("""async () => JSON.stringify([window.m.companion.following.connection, window.m.progress.slice(-3),
            (await window.m.companion.device.store.waiting()).map(({ record: _, uploads, ...line }) => line)])""")

    def unlock(self):
        self.page.evaluate("(pin) => window.m.companion.state === 'locked' ? window.m.companion.unlockWithPIN(pin) : null", PIN)


class Hub:
    """What the hub's own files hold."""

    def __init__(self, folder):
        self.folder = folder / "hub"

    def database(self):
        return sqlite3.connect(next(path for path in self.folder.rglob("*.sqlite*") if not path.name.endswith(("-wal", "-shm"))))

    def files(self):
        return {path.name for path in self.folder.rglob("*") if path.is_file() and len(path.name) == 32}

    def named(self, device):
        """By records: how many there are, and the blobs that they name."""
        records = device.page.evaluate("""async () => {
            const { records } = await window.m.companion.device.hub.records(0, 1000);
            return records.filter(({ sealed, collection }) => sealed && ["moments", "photos"].includes(collection));
        }""")
        count = {kind: sum(1 for record in records if record["collection"] == kind) for kind in ("moments", "photos")}
        return count, {blob for record in records for blob in record["blobs"]}

    def a_day_passes(self, computer):
        """For the blobs alone; the hub sweeps when it starts."""
        computer.asked(["stop-hub"])
        with self.database() as database:
            database.execute("UPDATE blob SET begun = begun - 100000")
        database.close()
        computer.asked(["start-hub"])


def whole(device, made, hub, total):
    """The moment has its photos, each opens with all its bytes, and the hub keeps as much as it should."""
    device.unlock()
    found = device.page.evaluate("""async (id) => {
        const { companion } = window.m;
        const moment = await companion.moments.read(id);
        const sizes = [];
        for (const photo of moment.photos) {
            const image = await createImageBitmap(new Blob([(await companion.pictures.original(photo.id)).bytes]));
            sizes.push([image.width, image.height, (await companion.pictures.thumbnail(photo.id)).length > 100]);
        }
        return { photos: moment.photos.map(({ id }) => id), sizes };
    }""", made["id"])
    assert found["photos"] == made["photos"], f"{found} instead of {made}"
    assert all(size == [2600, 2000, True] for size in found["sizes"]), found["sizes"]
    count, blobs = hub.named(device)
    assert count == total, f"{count} instead of {total}"
    assert blobs <= hub.files(), "a blob that a record names is not there"


def test_a_killed_hub(device, computer, hub):
    made = device.add("hub", [1, 2])
    device.begun(0.2)
    computer.asked(["stop-hub"])
    time.sleep(0.3)
    computer.asked(["start-hub"])
    device.sent()
    whole(device, made, hub, {"moments": 1, "photos": 2})


def test_a_killed_tab(device, computer, hub):
    made = device.add("tab", [3, 4])
    device.begun(0.3)
    device.kill()
    # Nobody opens the gate, and it goes on.
    device.sent()
    whole(device, made, hub, {"moments": 2, "photos": 4})


def test_a_cut_network_and_a_day(device, computer, hub):
    made = device.add("network", [5])
    device.begun(0.3)
    device.context.set_offline(True)
    time.sleep(0.5)
    hub.a_day_passes(computer)
    device.context.set_offline(False)
    device.sent()
    whole(device, made, hub, {"moments": 3, "photos": 5})


def test_what_is_taken_back_leaves_nothing_after_a_day(device, computer, hub):
    made = device.add("taken back", [6, 7])
    device.begun(0.2)
    device.page.evaluate("""async (id) => {
        const { moments } = window.m.companion;
        const moment = await moments.read(id);
        await moments.save(moment, { ...moment, photos: moment.photos.slice(1) });
    }""", made["id"])
    device.sent()
    made["photos"] = made["photos"][1:]
    whole(device, made, hub, {"moments": 4, "photos": 6})
    device.page.evaluate("""async (id) => {
        const { moments } = window.m.companion;
        await moments.erase(await moments.read(id));
    }""", made["id"])
    device.sent()
    hub.a_day_passes(computer)
    device.sent()
    device.until("async () => window.m.companion.following.connection === 'live'", "live again")
    count, blobs = hub.named(device)
    assert count == {"moments": 3, "photos": 5}, count
    deadline = time.monotonic() + 20
    while hub.files() != blobs and time.monotonic() < deadline:
        time.sleep(0.2)
    assert hub.files() == blobs, f"{len(hub.files())} files at the hub, {len(blobs)} that records name"


def test_nothing_is_readable_at_the_hub(device, computer, hub):
    found = [path.name for path in hub.folder.rglob("*") if path.is_file() and b"MARKER-AT-THE-HUB" in path.read_bytes()]
    assert not found, found


def test_a_second_phone_sees_all_of_it_and_both_change_one(device, computer, hub):
    """Neither knows of the other's change: both versions are kept, on both."""
    other = Device(device.context.browser, computer)
    other.until("async () => (await window.m.companion.moments.list()).moments.length === 3", "the moments are there")
    seen = other.page.evaluate("""async () => {
        const { companion } = window.m;
        const { moments } = await companion.moments.list();
        const [photo] = moments[0].photos;
        const { bytes } = await companion.pictures.medium(photo.id);
        return [moments.every(({ words }) => words === "MARKER-AT-THE-HUB"), bytes[0], (await companion.pictures.thumbnail(photo.id)).length > 100];
    }""")
    assert seen == [True, 0xff, True], seen
    for one in (device, other):
        one.unlock()
        one.page.evaluate("""async () => {
            const { moments: [first] } = await window.m.companion.moments.list({ search: "hub" });
            window.m.first = first;
        }""")
    other.context.set_offline(True)
    for one, title in ((device, "by one"), (other, "by other")):
        one.page.evaluate("(title) => window.m.companion.moments.save(window.m.first, { ...window.m.first, title }).then(() => {})", title)
    device.sent()
    other.context.set_offline(False)
    other.sent()
    titles = "async () => (await window.m.companion.moments.list({ search: 'by' })).moments.map(({ title }) => title).sort().join()"
    wanted = "by one,by other (conflict, phone)"
    for one in (device, other):
        one.until(f"async () => (await ({titles})()) === {json.dumps(wanted)}", f"both versions: {one.page.evaluate(titles)}")
    other.context.close()


def run_each(module, browser, programs):
    """The tests of a module in their order, on one device, computer and hub, each given what its parameters name. The first that fails
    is the last."""
    tests = [one for name, one in inspect.getmembers(module, inspect.isfunction) if name.startswith("test_")]
    tests.sort(key=lambda one: one.__code__.co_firstlineno)
    folder, computer, results = pathlib.Path(tempfile.mkdtemp(prefix="applocker-moments-")), None, []
    try:
        computer = story.Computer(programs, folder)
        given = {"device": Device(browser, computer), "computer": computer, "folder": folder, "hub": Hub(folder)}
        for test in tests:
            start, failure = time.monotonic(), None
            try:
                test(**{name: given[name] for name in inspect.signature(test).parameters})
            except Exception:  # Whatever it is, the test failed by it.
                failure = traceback.format_exc(limit=-4)
            results.append({"name": test.__name__[5:], "failure": failure, "milliseconds": round((time.monotonic() - start) * 1000)})
            if failure:
                break
    finally:
        if computer:
            computer.end()
        shutil.rmtree(folder, ignore_errors=True)
    return results


def run(browser, programs):
    return run_each(sys.modules[__name__], browser, programs)

"""Devices without screens, the files of a hub, and a network that stops in the middle of an upload, for tests of
moments with a real hub."""

import contextlib
import os
import pathlib
import sqlite3
import threading

import storage
from phone import PIN
from ports import free_port
from relay import Relay
from waiting import eventually

MARKER = "MARKER-AT-THE-HUB"
OPEN = """async (pin) => {
    const { Companion } = await import("/session/companion.js");
    const { createPicture } = await import("/tests/fake-moments.js");
    const companion = await Companion.open();
    window.m = { companion, createPicture, progress: [] };
    companion.addEventListener("upload", ({ detail }) => window.m.progress.push(detail));
    if (pin) await companion.unlockWithPIN(pin);
}"""
ADD = """async ([title, words, seeds, width, height]) => {
    const { companion, createPicture } = window.m;
    const photos = [];
    for (const seed of seeds) {
        const picture = await createPicture(width, height, seed, "image/png", true);
        photos.push(await companion.momentPhotos.seal(new Blob([picture]), { keepsOriginal: true }));
    }
    const moment = await companion.moments.save(null, { title, words, date: 1715961600, photos });
    return { id: moment.id, photos: moment.photos.map(({ id }) => id) };
}"""


class Device:
    """A browser with one companion and no screens, whose tab can be closed at any time."""

    def __init__(self, new_context, computer, paired=None):
        """`paired`: the stored data of the household's phone (conftest.py); without it a new device called "phone" is
        paired."""
        self.address = f"http://127.0.0.1:{computer.port}"
        self.context = storage.companion_context(new_context, service_workers="block")
        self.visit()
        if paired:
            storage.restore(self.page, paired)
            self.page.evaluate(OPEN, PIN)
        else:
            self.page.evaluate(OPEN, None)
            self.page.evaluate(
                """async ([link, pin]) => {
                await window.m.companion.pair(link, "phone");
                await window.m.companion.setPIN(pin);
            }""",
                [computer.pair(), PIN],
            )

    def visit(self):
        self.page = self.context.new_page()
        self.page.goto(self.address + "/tests.html")

    def close_tab(self):
        """Closes the tab whatever it is doing."""
        self.page.close(run_before_unload=False)

    def reopen(self):
        """Opens the app again; it is locked."""
        self.visit()
        self.page.evaluate(OPEN, None)

    def add(self, title, seeds, size=(2600, 2000)):
        """Saves a moment with a photo for each seed, by default so large that its upload has many parts."""
        return self.page.evaluate(ADD, [title, MARKER, seeds, *size])

    def until(self, condition, what):
        eventually(lambda: self.page.evaluate(condition), lambda: f"{what}; {self.state()}")

    def state(self):
        return self.page.evaluate("""async () => {
            const { companion, progress } = window.m;
            const waiting = await companion.device.store.waiting();
            const lines = waiting.map(({ record: _, uploads, ...line }) => line);
            return JSON.stringify([companion.syncLoop.connection, progress.slice(-3), lines]);
        }""")

    def begun(self, share):
        """Waits until the hub has some of a photo, but not all of it."""
        self.until(
            f"() => window.m.progress.some(({{ sent, size }}) => sent > {share} * size && sent < size)",
            f"{share} of it is sent",
        )

    def failed(self):
        """Waits until the current upload fails because the hub is unreachable."""
        self.until("() => window.m.progress.some(({ problem }) => problem)", "the upload fails")

    def sent(self):
        self.page.evaluate("() => window.m.companion.wake()")
        self.until("async () => (await window.m.companion.device.store.waiting()).length === 0", "all changes are sent")

    def unlock(self):
        self.page.evaluate(
            "(pin) => window.m.companion.state === 'locked' ? window.m.companion.unlockWithPIN(pin) : null", PIN
        )


def files_below(folder):
    """A hub removes files and directories while they are listed, at which rglob fails."""
    return [pathlib.Path(place) / name for place, _, names in os.walk(folder) for name in names]


class HubFiles:
    """The files of a computer's hub."""

    def __init__(self, computer):
        self.computer, self.folder = computer, computer.folder / "hub"

    def files(self):
        return {path.name for path in files_below(self.folder) if len(path.name) == 32}

    def readable(self):
        """The names of the files that contain a moment's text unencrypted."""
        readable = []
        for path in files_below(self.folder):
            with contextlib.suppress(FileNotFoundError):
                if MARKER.encode() in path.read_bytes():
                    readable.append(path.name)
        return readable

    def records(self, device):
        """The records of moments and photos that the hub serves."""
        return device.page.evaluate("""async () => {
            const { records } = await window.m.companion.device.hub.records(0, 1000);
            return records.filter(({ sealed, collection }) => sealed && ["moments", "photos"].includes(collection));
        }""")

    def named(self, device):
        """The number of records by collection, and the blobs that they refer to."""
        records = self.records(device)
        count = {kind: sum(1 for record in records if record["collection"] == kind) for kind in ("moments", "photos")}
        return count, {blob for record in records for blob in record["blobs"]}

    def age(self):
        """Makes unreferenced blobs older than the retention time of any household; the hub removes them when it
        starts."""
        self.computer.stop_hub()
        database = sqlite3.connect(next(path for path in files_below(self.folder) if path.suffix == ".sqlite"))
        with contextlib.closing(database), database:
            database.execute("UPDATE blob SET idle_since = idle_since - 400 * 86400")
        self.computer.start_hub()


class Bottleneck(Relay):
    """A network in front of a hub that forwards a limited number of bytes to it, and then stalls."""

    def __init__(self, target, port):
        self.left, self.changed = None, threading.Condition()
        super().__init__(target, port)

    def allow(self, count):
        """Forwards `count` more bytes; None removes the limit."""
        with self.changed:
            self.left = count
            self.changed.notify_all()

    def is_full(self):
        return self.left is not None and self.left <= 0

    def pass_on(self, part, one, other):
        is_to_hub = one.getsockname()[1] == self.port
        if is_to_hub:
            with self.changed:
                self.changed.wait_for(lambda: not self.is_full())
                if self.left is not None:
                    self.left -= len(part)
        other.sendall(part)


@contextlib.contextmanager
def bottleneck(computer):
    """Listens at the address of the computer's hub, and moves the hub to another port."""
    port = computer.port
    computer.stop_hub()
    computer.port = free_port()
    computer.start_hub()
    network = Bottleneck(computer.port, port)
    try:
        yield network
    finally:
        network.allow(None)
        network.set_offline(True)

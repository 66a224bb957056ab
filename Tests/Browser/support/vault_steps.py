"""Steps of the tests of shared vaults: two households at one hub, and browsers of their members without screens."""

import contextlib
import json
import shutil

import storage
from computer import Computer
from phone import PIN, Phone
from waiting import eventually

OPEN = """async (pin) => {
    const { Companion } = await import("/session/companion.js");
    const { createPicture } = await import("/tests/fake-moments.js");
    const companion = await Companion.open();
    await companion.unlockWithPIN(pin);
    window.v = { companion, createPicture, ours: async () => (await companion.vaults.list())[0] };
}"""
PAIR = """async ([link, name, pin]) => {
    const { Companion } = await import("/session/companion.js");
    const companion = await Companion.open();
    await companion.pair(link, name);
    await companion.setPIN(pin);
    companion.close();
}"""
SEAL = """async ([seed, size]) => {
    const { companion } = await window.v.ours();
    const picture = async () => new Blob([await window.v.createPicture(...size, seed, "image/png", true)]);
    const seal = async () => companion.momentPhotos.seal(await picture());
    window.v.photos = size ? [await seal()] : [];
}"""
SAVE = """async ([title, seed]) => {
    const { companion } = await window.v.ours();
    await companion.moments.save(null, { title, words: "", date: 1715961600 + seed, photos: window.v.photos });
}"""
TITLES = """async () => {
    const { companion } = await window.v.ours();
    return (await companion.moments.list()).moments.map(({ title }) => title).sort().join();
}"""
INVITE = """async () => {
    window.v.invited = await (await window.v.ours()).membership.invite();
    return window.v.invited.link;
}"""
ASKING = """async () => {
    const { membership } = await window.v.ours();
    window.v.asking = await membership.asking(window.v.invited.invitation);
    return window.v.asking !== null;
}"""
ADMIT = "async () => (await window.v.ours()).membership.admit(window.v.invited.invitation, window.v.asking)"
NAMES = "async () => (await (await window.v.ours()).membership.members()).map(({ name }) => name).join()"
SENT = "async () => (await (await window.v.ours()).companion.device.store.waiting()).length === 0"
# The newest key of the vault on this device, and its epoch.
NEWEST = """async () => {
    const { companion } = await window.v.ours();
    const entry = companion.device.keys.ring.entries.filter(({ kind }) => kind === 1).at(-1);
    return [entry.epoch, Array.from(entry.key)];
}"""


class Neighbours:
    """Anna's household and Ben's at one hub: the data of the hub, and of the browsers of three devices. Their computers
    are stopped: a shared vault of phones doesn't need them."""

    def __init__(self, household, browser, folder):
        self.programs, self.port, self.folder, self.count = household.programs, household.first.port, folder, 0
        with household.copy() as computer, contextlib.ExitStack() as stack:
            other = Computer(self.programs, folder / "ben", self.port)
            other.folder.mkdir()
            stack.callback(other.end)
            other.start_applocker()
            other.expect("setup", passcode=True)
            other.expect("hub", "connect", f"http://127.0.0.1:{self.port}", passcode=True)
            eventually(other.is_connected)
            self.anna = household.paired
            self.ben = paired(browser, other, "Ben's phone")
            self.cleo = paired(browser, computer, "Anna's desk")
            computer.end()
            shutil.copytree(computer.folder / "hub", folder / "hub")

    @contextlib.contextmanager
    def hub(self, *options):
        """Runs a hub with a copy of that data."""
        self.count += 1
        computer = Computer(self.programs, self.folder / str(self.count), self.port)
        shutil.copytree(self.folder / "hub", computer.folder / "hub")
        try:
            computer.hub_options = list(options)
            computer.start_hub()
            yield computer
        finally:
            computer.end()
            shutil.rmtree(computer.folder, ignore_errors=True)


def paired(browser, computer, name):
    """Pairs a browser with the computer and returns its stored data."""
    context = storage.companion_context(browser.new_context, remembers_keys=True, service_workers="block")
    page = context.new_page()
    page.goto(f"http://127.0.0.1:{computer.port}/tests.html")
    page.evaluate(PAIR, [computer.pair(), name, PIN])
    stored = storage.dump(page)
    context.close()
    return stored


# Whether every photo of the vault's moments is known here: a photo's record may arrive after its moment's.
HAS_PHOTOS = """async () => {
    const { companion } = await window.v.ours();
    const { moments } = await companion.moments.list();
    const facts = moments.flatMap(({ photos }) => photos.map(({ id }) => companion.momentPhotos.facts(id)));
    return (await Promise.allSettled(facts)).every(({ status }) => status === "fulfilled");
}"""


class Person:
    """A browser that runs the companion without its screens."""

    def __init__(self, new_context, hub, stored, has_clock=False):
        self.phone = Phone(new_context, hub, has_clock=has_clock)
        self.context, self.page = self.phone.context, self.phone.page
        self.page.goto(f"{self.phone.address}/tests.html")
        storage.restore(self.page, stored)
        self.page.evaluate(OPEN, PIN)

    def do(self, script, arg=None):
        return self.page.evaluate(script, arg)

    def add(self, title, seed, size=(320, 240)):
        """Saves a moment in the vault; `size`: of its photo, None for no photo."""
        self.do(SEAL, [seed, size])
        self.do(SAVE, [title, seed])

    def until(self, script, what):
        eventually(lambda: self.do(script), what)

    def sent(self):
        self.until(SENT, "all changes are sent")

    def sees(self, titles):
        wanted = ",".join(sorted(titles))
        self.until(f"async () => (await ({TITLES})()) === {json.dumps(wanted)}", wanted)


class CompanionTab(Person):
    """Another tab of a phone's browser, which runs the companion without its screens."""

    def __init__(self, phone):
        self.phone, self.context, self.page = phone, phone.context, phone.context.new_page()
        self.page.goto(f"{phone.address}/tests.html")
        self.page.evaluate(OPEN, PIN)


def joins(inviter, guest, link=None, agrees=True):
    """The guest asks to join with the inviter's link; the inviter accepts or withdraws the invitation. Returns the name
    that the inviter sees and the guest's result."""
    link = link or inviter.do(INVITE)
    guest.do(
        """(link) => {
        window.v.joining = window.v.companion.vaults.join(link).then(
            (vault) => ({ id: vault.id, name: vault.name }),
            (error) => ({ code: error.code, message: error.message }));
    }""",
        link,
    )
    inviter.until(ASKING, "the guest's request arrives")
    if agrees:
        inviter.do(ADMIT)
    else:
        inviter.do("async () => (await window.v.ours()).membership.withdraw(window.v.invited.invitation)")
    return inviter.do("() => window.v.asking.name"), guest.do("() => window.v.joining")


def share(anna, *others):
    """Creates a vault with a moment and its photo of each, which all of them have."""
    anna.do("async () => { await window.v.companion.vaults.create('MARKER-OURS'); }")
    for other in others:
        assert "id" in joins(anna, other)[1]
    anna.add("MARKER-by-anna", 1)
    others[0].add("MARKER-by-ben", 2)
    for one in (anna, *others):
        one.sees(["MARKER-by-anna", "MARKER-by-ben"])
        one.until(HAS_PHOTOS, "the photos of both moments")
        one.sent()

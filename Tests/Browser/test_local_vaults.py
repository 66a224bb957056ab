"""A vault that is only on this device: nothing of it reaches the hub, and it works without one."""

import base64
import sqlite3

import pytest

import recordings
from moment_devices import files_below
from settings_steps import page_of
from test_moments_backup import PASSPHRASE, SHOWN, STRETCH_LITTLE, WRITE, chosen
from vault_steps import CompanionTab
from waiting import eventually, eventually_equals

pytestmark = pytest.mark.computer_is_off

NAME = "MARKER-only-here"
# The screens' own companion and those of `inside` open the same database.
IN_VAULT = """
    const main = companion;
    return (async (companion) => { BODY })((await main.vaults.list())[0].companion);"""
SAVE = """
    const { createPicture } = await import("/tests/fake-moments.js");
    const picture = new Blob([await createPicture(640, 480, 3, "image/png", true)]);
    const photos = [await companion.momentPhotos.seal(picture, { keepsOriginal: true })];
    await companion.moments.save(null, { title: arg, words: "MARKER-words", date: 1715961600, photos });"""
STORED = """
    const { store } = companion.device;
    const { hub, household } = companion.device.paired;
    return {
        hub, household, outbox: (await store.waiting()).length, photos: (await store.records("photos"))
            .filter(({ record }) => record.sealed).length,
    };"""
PIECES = """async (prefix) => {
    const names = (await indexedDB.databases()).map(({ name }) => name).filter((name) => name.startsWith(prefix));
    let count = 0;
    for (const name of names) {
        const database = await new Promise((resolve) => {
            const request = indexedDB.open(name);
            // It was deleted meanwhile.
            request.onupgradeneeded = () => request.transaction.abort();
            request.onsuccess = () => resolve(request.result);
            request.onerror = () => resolve(null);
        });
        if (!database) continue;
        count += await new Promise((resolve) => {
            const request = database.transaction("pieces").objectStore("pieces").count();
            request.onsuccess = () => resolve(request.result);
        });
        database.close();
    }
    return [names.length, count];
}"""


def in_vault(phone, body, arg=None):
    return phone.inside(IN_VAULT.replace("BODY", body), arg)


def pieces(phone):
    """How many databases of vaults there are, and how many pieces of content they have."""
    return phone.page.evaluate(PIECES, "applocker/")


def tokens_used(phone):
    """From now on: the tokens with which pages of this browser ask the hub."""
    tokens = set()
    phone.context.on("request", lambda request: tokens.add(request.headers.get("authorization")))
    return tokens


def create(phone):
    page = page_of(phone, "vaults", "Vaults")
    page.get_by_role("button", name="New vault only on this device").click()
    page.get_by_label("Name").fill(NAME)
    phone.check()
    phone.picture("local-vault-new")
    page.get_by_role("button", name="Create").click()
    page.get_by_role("heading", name="Vault only on this device", level=1).wait_for()
    return page


@pytest.mark.service_worker
def test_a_vault_that_is_only_on_this_device_needs_no_hub_and_never_reaches_it(phone, computer):
    page_of(phone, "about", "Version and update").get_by_text("Works offline").wait_for()
    tokens = tokens_used(phone)
    computer.stop_hub()
    page = create(phone)
    page.get_by_text(NAME).first.wait_for()
    phone.check()
    phone.picture("local-vault")
    assert page.get_by_role("button", name="Invite a device").count() == 0
    page.get_by_role("button", name="Show its moments").click()
    computer.start_hub()
    phone.confirm("Open your moments")
    chip = page.get_by_role("button", name=NAME)
    assert chip.get_attribute("aria-pressed") == "true"
    computer.stop_hub()
    phone.go("moments/new")
    page.get_by_label("Title").fill("MARKER-alone")
    page.get_by_role("button", name="Save").first.click()
    page.get_by_text("MARKER-alone").first.wait_for()
    phone.picture("local-vault-moments")
    computer.start_hub()
    in_vault(phone, SAVE, "MARKER-photo")
    stored = in_vault(phone, STORED)
    assert (stored["hub"], stored["outbox"], stored["photos"]) == ("", 0, 1)
    # Also what the sweep of unlocking finds stays: the photo opens in each session.
    for _ in range(2):
        shown = in_vault(phone, SHOWN)
        assert sorted(title for title, *_ in shown) == ["MARKER-alone", "MARKER-photo"]
        assert [len(photos) for *_, photos in shown].count(1) == 1
    computer.stop_hub()
    for path in files_below(computer.folder / "hub"):
        content = path.read_bytes()
        for needle in (stored["household"].encode(), bytes.fromhex(stored["household"])):
            assert needle not in content, path
    with sqlite3.connect(computer.folder / "hub/hub.sqlite") as database:
        assert database.execute("SELECT count(*) FROM household").fetchone() == (1,)
    assert len(tokens - {None}) == 1, "requests of the main session alone"


def test_erased_photos_and_a_deleted_vault_leave_nothing_on_the_device(phone):
    create(phone)
    in_vault(phone, SAVE, "MARKER-photo")
    databases, count = pieces(phone)
    assert databases == 1 and count > 0
    in_vault(phone, "const [one] = (await companion.moments.list()).moments; await companion.moments.erase(one);")
    eventually_equals(lambda: pieces(phone), [1, 0], "the pieces are gone")
    phone.page.get_by_role("button", name="Delete this vault").click()
    phone.page.get_by_text("It is empty.").wait_for()
    phone.page.get_by_role("button", name="Cancel").click()
    in_vault(phone, SAVE, "MARKER-another")
    phone.page.get_by_role("button", name="Delete this vault").click()
    phone.page.get_by_text("1 moment, with photos and recordings, is permanently deleted.").wait_for()
    phone.check()
    phone.confirm("Delete this vault?")
    phone.page.get_by_text("No other vault yet").wait_for()
    eventually_equals(lambda: pieces(phone), [0, 0], "the database is gone")


def test_what_an_ended_session_could_not_keep_is_kept_by_the_next_one(phone):
    create(phone)
    # The tab ends between the commit of a change and its step into the store.
    tab = CompanionTab(phone)
    tab.do("async () => { (await window.v.ours()).companion.syncLoop.send = async () => {}; }")
    tab.add("MARKER-cut", 5)
    assert tab.do("async () => (await (await window.v.ours()).companion.device.store.waiting()).length") == 2
    tab.page.close()
    eventually_equals(lambda: in_vault(phone, STORED)["outbox"], 0, "the next session keeps it")
    [[title, *_, photos]] = in_vault(phone, SHOWN)
    assert (title, len(photos)) == ("MARKER-cut", 1)


def test_two_tabs_of_a_local_vault_show_each_others_moments(phone):
    tokens = tokens_used(phone)
    create(phone)
    one, other = CompanionTab(phone), CompanionTab(phone)
    one.add("MARKER-one", 1)
    other.sees(["MARKER-one"])
    other.add("MARKER-other", 2)
    one.sees(["MARKER-one", "MARKER-other"])
    one.do("async () => { await (await window.v.ours()).companion.refresh(); }")
    one.add("MARKER-third", 3)
    other.sees(["MARKER-one", "MARKER-other", "MARKER-third"])
    assert len(tokens - {None}) == 1, "requests of the main session alone"


def test_two_tabs_that_change_one_moment_of_a_local_vault_keep_both_versions(phone):
    create(phone)
    one, other = CompanionTab(phone), CompanionTab(phone)
    one.add("MARKER-first", 1, None)
    other.sees(["MARKER-first"])
    for tab in (one, other):
        tab.do("""async () => {
            const { companion } = await window.v.ours();
            [window.v.read] = (await companion.moments.list()).moments;
        }""")
    change = """async (title) => {
        const { companion } = await window.v.ours();
        await companion.moments.save(window.v.read, { ...window.v.read, title });
    }"""
    one.do(change, "MARKER-by-one")
    one.sent()
    other.do(change, "MARKER-by-other")
    for tab in (one, other):
        tab.sees(["MARKER-by-one", "MARKER-by-other (conflict, Anna's phone)"])


def test_a_local_vault_is_restored_from_its_backup_into_another(phone, computer):
    create(phone)
    in_vault(phone, SAVE, "MARKER-photo")
    film = base64.b64encode(recordings.video()).decode()
    in_vault(phone, recordings.SAVE, {"title": "MARKER-film", "files": [film], "photos": 0})
    before = in_vault(phone, SHOWN)
    assert sorted((title, len(content)) for title, _, _, content in before) == [("MARKER-film", 1), ("MARKER-photo", 1)]
    page = phone.page
    page.get_by_role("button", name="Back it up").click()
    page.get_by_role("heading", name="Backup of Everline", level=1).wait_for()
    assert page.get_by_role("button", name=NAME).get_attribute("aria-pressed") == "true"
    phone.check()
    phone.picture("local-vault-backup")
    page.evaluate(STRETCH_LITTLE)
    path = computer.folder / "local.aplockerbackup"
    path.write_bytes(base64.b64decode(in_vault(phone, WRITE, PASSPHRASE)))
    phone.inside("const [vault] = await companion.vaults.list(); await companion.vaults.leave(vault.id);")
    create(phone)
    assert in_vault(phone, SHOWN) == []
    chosen(phone, path).get_by_role("button", name="Restore", exact=True).click()
    page.get_by_text("2 moments with 1 photo, 1 video restored.").wait_for()
    assert in_vault(phone, SHOWN) == before
    page.get_by_role("button", name="Mine", exact=True).click()
    eventually(lambda: phone.inside(SHOWN) == [], "the own moments are without them")


def test_dates_of_a_local_vault_are_not_sent_as_reminders(phone):
    create(phone)
    reminders = phone.inside("""
        const { remindersOf } = await import("/features/notifications/reminders.js");
        const { vaultNotices } = await import("/features/notifications/vault-notices.js");
        const { dayAfter, localDay } = await import("/formats/special-date.js");
        const [local] = await companion.vaults.list();
        const date = { name: "MARKER-date", day: dayAfter(localDay(companion.now()), 2), yearly: false };
        const counts = [];
        for (const vault of [local.companion, companion]) {
            await (await vault.dates()).save(null, date);
            counts.push((await remindersOf(companion)).length);
        }
        return [counts, (await vaultNotices(companion)).length];""")
    assert reminders == [[0, 1], 0], "dates in the local vault, then also in the own one; vaults that can notify"

"""Everline is reset."""

import pytest

from camera import CAMERA
from moment_devices import HubFiles
from phone import PIN
from settings_steps import page_of
from waiting import eventually_equals

pytestmark = pytest.mark.computer_is_off

PHOTOS = (
    CAMERA
    + """
    const photos = [
        await companion.momentPhotos.seal(await createPhoto(1, "2024:05:17 18:30:05", "+02:00"),
            { keepsOriginal: true }),
        await companion.momentPhotos.seal(await createPhoto(2, "2024:05:17 19:30:05", "+02:00")),
    ];
    const save = (title, photos) =>
        companion.moments.save(null, { title, words: "", date: 1715963405, offset: 120, photos });
    await save("MARKER-LAKE", photos);
    await companion.moments.remove(await save("MARKER-TRASH", []));
    await companion.notes.save(null, { title: "A note", body: "stays" });
    await companion.privateStorage.set("together", "2019-06-01");"""
)
LEFT = """
    const { store } = companion.device;
    const rows = [...await store.records("moments"), ...await store.records("photos")];
    const { moments } = await companion.moments.list();
    const trash = (await companion.moments.list({ trash: true })).moments;
    return {
        moments: moments.length + trash.length,
        sealed: rows.filter(({ record }) => record.sealed).length,
        waiting: (await store.waiting()).length,
        staged: (await store.staged()).length,
        index: await store.fact("momentIndex", null),
        together: await companion.privateStorage.get("together"),
        notes: (await companion.notes.list()).notes.length,
        problems: (await companion.report()).misbehaviour,
    };"""
NOTHING = {
    "moments": 0,
    "sealed": 0,
    "waiting": 0,
    "staged": 0,
    "index": None,
    "together": None,
    "notes": 1,
    "problems": [],
}


def blobs(computer):
    return HubFiles(computer).files()


def with_photos(phone, computer):
    phone.inside(PHOTOS)
    eventually_equals(lambda: len(blobs(computer)), 2)


def check_erased(phone):
    eventually_equals(lambda: phone.inside(LEFT), NOTHING, "Everline is erased")


def freed(phone, computer):
    """After the retention time the hub has no blob without a record."""
    HubFiles(computer).age()
    phone.online_again()
    eventually_equals(lambda: blobs(computer), set(), "the hub freed their bytes")


def open_confirmation(phone):
    page = page_of(phone, "everline/reset", "Reset Everline")
    page.get_by_role("button", name="Reset Everline…").click()
    phone.confirm("Reset Everline?")
    page.get_by_role("heading", name="Erase everything?").wait_for()
    return page


def test_a_reset_requires_the_pin_and_a_typed_word(phone, computer):
    with_photos(phone, computer)
    page = page_of(phone, "everline/reset", "Reset Everline")
    page.get_by_text("2 moments and 2 photos, those in the trash too, are permanently erased.").wait_for()
    phone.check()
    phone.picture("everline-reset")
    page = open_confirmation(phone)
    page.get_by_label("Type “erase”").fill("yes")
    page.get_by_role("button", name="Erase everything").click()
    page.get_by_text("Type the word “erase”, or cancel.").wait_for()
    phone.check()
    phone.picture("everline-reset-word")
    page.get_by_role("button", name="Cancel").click()
    assert phone.inside(LEFT)["moments"] == 2


def test_a_reset_erases_every_device_and_the_hub(phone, computer):
    computer.open_vault()
    with_photos(phone, computer)
    other = phone.another(name="Other").pair()
    eventually_equals(lambda: other.inside(LEFT)["moments"], 2)
    page = open_confirmation(phone)
    page.get_by_label("Type “erase”").fill("Erase ")
    page.get_by_role("button", name="Erase everything").click()
    # It is shown for some seconds; what follows stays.
    other.page.get_by_text("Everline was reset: Anna's phone").wait_for()
    page.get_by_text("2 moments and 2 photos erased here.").wait_for()
    phone.picture("everline-reset-done")
    check_erased(phone)
    check_erased(other)
    freed(phone, computer)
    assert "A note" in computer.run("note", "list", passcode=True)


def test_an_offline_reset_erases_this_device_and_is_sent_later(phone, computer):
    with_photos(phone, computer)
    page = open_confirmation(phone)
    # The PIN was accepted; now the network is disconnected.
    computer.stop_hub()
    phone.online_again()
    page.get_by_text("Offline. Showing").wait_for()
    page.get_by_label("Type “erase”").fill("erase")
    page.get_by_role("button", name="Erase everything").click()
    page.get_by_text("The hub can’t be reached: it and your other devices are updated").wait_for()
    sealed = page.evaluate("""async () => {
        const { CompanionStore } = await import("/store/store.js");
        const store = await CompanionStore.open();
        const rows = [...await store.records("moments"), ...await store.records("photos")];
        const lines = (await store.waiting()).filter(({ record }) => ["moments", "photos"].includes(record.collection));
        store.close();
        const sealed = (entries) => entries.filter(({ record }) => record.sealed).length;
        return [sealed(rows), sealed(lines), lines.length];
    }""")
    assert sealed == [0, 0, 4], sealed
    assert len(blobs(computer)) == 2
    computer.start_hub()
    phone.online_again()
    check_erased(phone)
    freed(phone, computer)


def test_another_tab_erases_before_the_hub_receives_the_reset(phone):
    phone.inside(PHOTOS)
    page = phone.page
    assert (
        page.evaluate(
            """async (pin) => {
        const { Companion } = await import("/session/companion.js");
        // While there is a network to fetch it from.
        window.reset = await import("/features/backup/moment-reset.js");
        window.tabs = [await Companion.open(), await Companion.open()];
        for (const companion of window.tabs) await companion.unlockWithPIN(pin);
        return (await window.tabs[1].moments.list()).moments.length;
    }""",
            PIN,
        )
        == 1
    )
    phone.context.set_offline(True)
    page.evaluate("() => window.reset.resetMoments(window.tabs[0], { signal: new AbortController().signal })")
    eventually_equals(lambda: page.evaluate("async () => (await window.tabs[1].moments.list()).moments.length"), 0)
    page.evaluate("() => window.tabs.forEach((companion) => companion.close())")


def test_what_was_erased_is_sent_at_the_end(phone, computer):
    with_photos(phone, computer)
    sends = phone.inside("""
        const { resetMoments } = await import("/features/backup/moment-reset.js");
        let sends = 0;
        const send = companion.sendSoon.bind(companion);
        companion.sendSoon = () => {
            sends += 1;
            send();
        };
        const changed = companion.device.changed.bind(companion.device);
        // Counted after the last record was erased.
        companion.device.changed = (keys) => {
            sends = 0;
            changed(keys);
        };
        await resetMoments(companion, { signal: new AbortController().signal });
        return sends;""")
    assert sends == 1
    freed(phone, computer)

"""Uploads to a real hub: an interruption at any point results in one moment with all its photos, and the hub stores no
blob without a record."""

import json

import pytest

from moment_devices import MARKER, Device, HubFiles, bottleneck
from waiting import eventually, eventually_equals

pytestmark = pytest.mark.computer_is_off

# A number of bytes to the hub: most of the first photo, which has 11.8 million.
BEGINNING = 8_000_000
SMALL = (640, 480)


@pytest.fixture
def hub(computer):
    hub = HubFiles(computer)
    yield hub
    assert not hub.readable()


@pytest.fixture
def network(computer):
    """A network between the device and the hub in which an upload stalls for as long as the test needs."""
    with bottleneck(computer) as network:
        yield network


def check_complete(companion, made, hub, total):
    """Checks that the moment has its photos, each opens with all its bytes, and the hub stores the right number of
    records and blobs."""
    companion.unlock()
    found = companion.page.evaluate(
        """async (id) => {
        const { companion } = window.m;
        const moment = await companion.moments.read(id);
        const sizes = [];
        for (const photo of moment.photos) {
            const image = await createImageBitmap(new Blob([(await companion.momentPhotos.original(photo.id)).bytes]));
            sizes.push([image.width, image.height, (await companion.momentPhotos.thumbnail(photo.id)).length > 100]);
        }
        return { photos: moment.photos.map(({ id }) => id), sizes };
    }""",
        made["id"],
    )
    assert found["photos"] == made["photos"], f"{found} instead of {made}"
    assert all(size == [2600, 2000, True] for size in found["sizes"]), found["sizes"]
    count, blobs = hub.named(companion)
    assert count == total, f"{count} instead of {total}"
    assert blobs <= hub.files(), "a blob that a record names is missing"


def test_an_upload_completes_after_the_hub_is_killed(network, companion, computer, hub):
    network.allow(BEGINNING)
    made = companion.add("hub", [1, 2])
    companion.begun(0.2)
    computer.stop_hub()
    network.allow(None)
    companion.failed()
    computer.start_hub()
    companion.sent()
    check_complete(companion, made, hub, {"moments": 1, "photos": 2})


def test_an_upload_completes_after_its_tab_is_closed(network, companion, hub):
    network.allow(BEGINNING)
    made = companion.add("tab", [3, 4])
    companion.begun(0.3)
    companion.close_tab()
    network.allow(None)
    # The upload continues while the app is locked.
    companion.reopen()
    companion.sent()
    assert companion.page.evaluate("() => window.m.companion.state") == "locked"
    check_complete(companion, made, hub, {"moments": 1, "photos": 2})


def test_an_upload_completes_after_a_day_without_a_network(network, companion, hub):
    network.allow(BEGINNING)
    made = companion.add("network", [5])
    companion.begun(0.3)
    companion.context.set_offline(True)
    companion.failed()
    assert hub.files(), "no part of the upload is at the hub"
    hub.age()
    eventually(lambda: not hub.files(), "the hub removes files that no record names")
    network.allow(None)
    companion.context.set_offline(False)
    companion.sent()
    check_complete(companion, made, hub, {"moments": 1, "photos": 1})


def test_removed_photos_and_moments_are_erased_after_the_retention_time(network, companion, hub):
    companion.add("stays", [8], SMALL)
    companion.sent()
    network.allow(BEGINNING)
    made = companion.add("removed", [6, 7])
    companion.begun(0.2)
    companion.page.evaluate(
        """async (id) => {
        const { moments } = window.m.companion;
        const moment = await moments.read(id);
        await moments.save(moment, { ...moment, photos: moment.photos.slice(1) });
    }""",
        made["id"],
    )
    network.allow(None)
    companion.sent()
    made["photos"] = made["photos"][1:]
    check_complete(companion, made, hub, {"moments": 2, "photos": 2})
    companion.page.evaluate(
        """async (id) => {
        const { moments } = window.m.companion;
        await moments.erase(await moments.read(id));
    }""",
        made["id"],
    )
    companion.sent()
    hub.age()
    companion.sent()
    companion.until("async () => window.m.companion.syncLoop.connection === 'live'", "the phone is connected again")
    count, blobs = hub.named(companion)
    assert count == {"moments": 1, "photos": 1}, count
    assert blobs
    eventually_equals(hub.files, blobs, "the hub has only the files that records name")


def test_nothing_is_readable_at_the_hub(network, companion, hub):
    network.allow(BEGINNING)
    companion.add("sealed", [9])
    companion.begun(0.3)
    assert hub.files() and not hub.readable(), "the upload is not in progress, or is readable"
    network.allow(None)
    companion.sent()
    words = companion.page.evaluate(
        "async () => (await window.m.companion.moments.list()).moments.map(({ words }) => words)"
    )
    assert words == [MARKER]
    assert not hub.readable()


def test_concurrent_changes_by_two_phones_keep_both_versions(companion, new_context, computer, hub):
    """Neither device has received the other's change: both keep both versions."""
    first, *_ = [companion.add(title, [seed], SMALL) for title, seed in (("one", 1), ("two", 2), ("three", 3))]
    companion.sent()
    other = Device(new_context, computer)
    other.until("async () => (await window.m.companion.moments.list()).moments.length === 3", "the moments arrive")
    seen = other.page.evaluate("""async () => {
        const { companion } = window.m;
        const { moments } = await companion.moments.list();
        const [photo] = moments[0].photos;
        const { bytes } = await companion.momentPhotos.medium(photo.id);
        const thumbnail = await companion.momentPhotos.thumbnail(photo.id);
        return [moments.map(({ words }) => words), bytes[0], thumbnail.length > 100];
    }""")
    assert seen == [[MARKER] * 3, 0xFF, True], seen
    for one in (companion, other):
        one.page.evaluate("async (id) => { window.m.first = await window.m.companion.moments.read(id); }", first["id"])
    other.context.set_offline(True)
    for one, title in ((companion, "by one"), (other, "by other")):
        one.page.evaluate(
            "(title) => window.m.companion.moments.save(window.m.first, { ...window.m.first, title }).then(() => {})",
            title,
        )
    companion.sent()
    other.context.set_offline(False)
    other.sent()
    titles = """async () => {
        const { moments } = await window.m.companion.moments.list({ search: "by" });
        return moments.map(({ title }) => title).sort().join();
    }"""
    wanted = "by one,by other (conflict, phone)"
    for one in (companion, other):
        one.until(f"async () => (await ({titles})()) === {json.dumps(wanted)}", "both versions are listed")

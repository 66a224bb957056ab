"""The settings that affect more than this device: the household's devices, the hub, notifications, updates, and
leaving."""

import shutil

import pytest

from settings_steps import page_of
from waiting import eventually, eventually_equals


def test_a_device_is_renamed_and_removed(phone, computer):
    other = phone.another(name="Tom's <b>phone</b> 🦊").pair()
    page = page_of(phone, "devices", "Devices")
    page.get_by_role("button", name="Tom's <b>phone</b> 🦊").wait_for()
    phone.check()
    phone.picture("devices")
    page.get_by_role("button", name="Tom's <b>phone</b> 🦊").click()
    page.get_by_role("button", name="Rename").wait_for()
    phone.picture("device")
    phone.check()
    page.get_by_role("button", name="Rename").click()
    page.get_by_label("Name", exact=True).fill(" ")
    page.get_by_role("button", name="Rename").click()
    page.get_by_text("A device needs a name").wait_for()
    page.get_by_label("Name", exact=True).fill("Tom’s tablet")
    page.get_by_role("button", name="Rename").click()
    phone.confirm("Rename this device?")
    page.get_by_text("Renamed", exact=True).wait_for()
    page.get_by_role("button", name="Tom’s tablet").wait_for()
    assert "Tom’s tablet" in computer.run("devices", "--json")
    page.get_by_role("button", name="Tom’s tablet").click()
    page.get_by_role("button", name="Revoke it").click()
    page.get_by_text("Your keys are replaced").wait_for()
    phone.picture("device-remove")
    phone.type_pin()
    page.get_by_role("heading", name="Revocation of Tom’s tablet").wait_for()
    page.get_by_text("Unsent changes are lost").wait_for()
    page.get_by_role("button", name="Close").click()
    eventually_equals(page.get_by_role("button", name="Tom’s tablet").count, 0)
    other.page.get_by_role("heading", name="This device was revoked").wait_for()
    page.locator(".row", has_text="Computer ·").click()
    page.get_by_text("A computer can be revoked only at a computer").wait_for()
    assert page.get_by_role("button", name="Revoke it").count() == 0
    page.get_by_role("button", name="Close").click()


def test_sync_shows_its_state(phone, computer):
    page = page_of(phone, "sync", "Sync and storage")
    page.get_by_text("Up to date", exact=True).wait_for()
    page.get_by_role("button", name="Sync now").click()
    page.get_by_text("Everything is up to date").wait_for()
    computer.stop_hub()
    page.get_by_text("Not connected", exact=True).wait_for()
    page.get_by_role("button", name="Sync now").click()
    page.locator(".section-foot", has_text="The hub can’t be reached").wait_for()
    phone.check()
    phone.picture("sync-offline")
    computer.start_hub()
    phone.online_again()
    page.get_by_text("Up to date", exact=True).wait_for()


def test_invalid_hub_responses_are_reported(phone):
    phone.inside("await companion.device.reportProtocolViolation('an older list of devices than the computer has');")
    page = page_of(phone, "sync", "Sync and storage")
    page.get_by_text("The hub returned an older list of devices than the computer has; it was refused.").wait_for()
    phone.check()
    phone.picture("sync-misbehaviour")


@pytest.mark.computer_is_off
def test_leaving_with_unsent_changes_shows_a_warning(phone):
    page = page_of(phone, "remove", "Revoke this device")
    # Shows a warning about unsent changes until the hub has them.
    eventually(lambda: not page.get_by_text("only on this device").is_visible(), "all is sent")
    # A refused change remains until the note is changed or deleted.
    phone.inside("""
        const { store } = companion.device;
        const note = await companion.notes.save(null, { title: "Refused", body: "" });
        const key = `notes/${note.id}`;
        let row = null;
        while (!(row = await store.record(key)) || (await store.waitingFor(key))) {
            await new Promise((done) => setTimeout(done, 10));
        }
        await store.write({ waiting: [{ key, record: row.record, problem: "too_large" }] });""")
    page_of(phone, "sync", "Sync and storage")
    page.get_by_text("Changes the hub refused").wait_for()
    phone.check()
    page_of(phone, "remove", "Revoke this device")
    page.get_by_text("1 change of your notes is only on this device").wait_for()
    phone.check()
    phone.picture("remove-unsent")


PUSH = """async () => {
    // Chromium has no push service here; the hub receives a simulated subscription.
    const pair = await crypto.subtle.generateKey({ name: "ECDH", namedCurve: "P-256" }, true, ["deriveBits"]);
    const text = (bytes) =>
        btoa(String.fromCharCode(...bytes)).replaceAll("=", "").replaceAll("+", "-").replaceAll("/", "_");
    const point = new Uint8Array(await crypto.subtle.exportKey("raw", pair.publicKey));
    const keys = { p256dh: text(point), auth: text(new Uint8Array(16)) };
    let subscription = null;
    PushManager.prototype.getSubscription = async () => subscription;
    PushManager.prototype.subscribe = async ({ applicationServerKey }) => (subscription = {
        endpoint: "https://push.example/1",
        options: { applicationServerKey: applicationServerKey.buffer ?? applicationServerKey },
        toJSON: () => ({ endpoint: "https://push.example/1", expirationTime: null, keys }),
        unsubscribe: async () => (subscription = null, true),
    });
}"""


def turn_on_notifications(phone):
    phone.context.grant_permissions(["notifications"])
    phone.page.evaluate(PUSH)
    page = page_of(phone, "notifications", "Notifications")
    # The page waits ten seconds for it, and a busy machine may take longer to fetch the app's files.
    phone.page.wait_for_function("() => navigator.serviceWorker.ready.then(() => true)")
    page.get_by_role("switch", name="Notifications").click()
    page.get_by_role("heading", name="Kinds").wait_for()
    return page


@pytest.mark.service_worker
@pytest.mark.computer_is_off
def test_notifications_are_turned_on_chosen_and_turned_off(phone):
    page = turn_on_notifications(phone)
    has_push = "return (await companion.household.devices()).find((device) => device.isThis).atHub.hasPush;"
    assert phone.inside(has_push) is True
    phone.check()
    phone.picture("notifications-on")
    page.get_by_role("switch", name="A wrong passcode").click()
    eventually(lambda: phone.stored("noticeKinds", {}).get("failed") is False)
    page_of(phone, "notifications", "Notifications")
    page.get_by_role("heading", name="Kinds").wait_for()
    assert not page.get_by_role("switch", name="A wrong passcode").is_checked()
    assert page.get_by_role("switch", name="An app is waiting").is_checked()
    page.get_by_role("switch", name="Notifications").click()
    page.get_by_role("heading", name="Kinds").wait_for(state="detached")
    assert phone.inside(has_push) is False


@pytest.mark.service_worker
@pytest.mark.computer_is_off
def test_removing_the_device_ends_its_notifications(phone):
    page = turn_on_notifications(phone)
    page.evaluate("async () => (await navigator.serviceWorker.ready).showNotification('MARKER')")
    left = """async () => {
        const registration = await navigator.serviceWorker.ready;
        const isSubscribed = (await registration.pushManager.getSubscription()) !== null;
        return [isSubscribed, (await registration.getNotifications()).length];
    }"""
    eventually_equals(lambda: page.evaluate(left), [True, 1], "subscribed, and one is shown")
    page_of(phone, "remove", "Revoke this device")
    page.get_by_role("button", name="Revoke this device").click()
    phone.type_pin()
    page.get_by_role("heading", name="Welcome to AppLocker").wait_for()
    eventually_equals(lambda: page.evaluate(left), [False, 0], "the subscription and its notifications are removed")


@pytest.mark.service_worker
@pytest.mark.computer_is_off
def test_the_version_has_the_hash_of_its_files(phone):
    page = page_of(phone, "about", "Version and update")
    page.get_by_text("Works offline").wait_for()
    shown = page.locator(".settings-hash").get_attribute("aria-label")
    assert shown == page.evaluate("async () => (await (await fetch('/assets.json')).json()).version")
    page.get_by_text("Advanced").click()
    assert page.locator(".settings-hash").inner_text().replace(" ", "").replace("\n", "") == shown
    page.get_by_role("button", name="Check for updates").click()
    page.get_by_text("This is the newest version that the hub serves").wait_for()


@pytest.mark.service_worker
@pytest.mark.computer_is_off
def test_a_pending_update_is_offered(phone, computer):
    page = page_of(phone, "about", "Version and update")
    page.get_by_text("Works offline").wait_for()
    before = page.locator(".settings-hash").get_attribute("aria-label")
    phone.check()
    computer.stop_hub()
    newer = shutil.copytree(computer.web, computer.folder / "newer")
    with (newer / "styles/settings.css").open("a") as file:
        file.write("\n.settings-new { color: inherit; }\n")
    computer.start_hub(newer)
    page.get_by_role("button", name="Check for updates").click()
    page.get_by_text("A new version is ready").wait_for()
    phone.check()
    phone.picture("about-update")
    assert page.locator(".settings-hash").get_attribute("aria-label") == before, (
        "the update is not installed without consent"
    )
    page.get_by_role("button", name="Update", exact=True).click()
    phone.unlock()
    page_of(phone, "about", "Version and update")
    page.locator(".settings-hash").wait_for(state="attached")
    assert page.locator(".settings-hash").get_attribute("aria-label") != before


def test_removing_this_device_requires_the_pin(phone, computer):
    page = page_of(phone, "remove", "Revoke this device")
    page.get_by_role("button", name="Revoke this device").click()
    page.get_by_role("heading", name="Revoke this device?").wait_for()
    phone.picture("remove")
    page.get_by_role("button", name="Cancel").click()
    page.get_by_role("button", name="Revoke this device").click()
    phone.type_pin()
    page.get_by_role("heading", name="Welcome to AppLocker").wait_for()
    eventually(lambda: phone.name not in computer.expect("devices", "--json"))
    left = page.evaluate("""async () => {
        const database = await new Promise((resolve) => {
            const request = indexedDB.open("applocker");
            request.onsuccess = () => resolve(request.result);
        });
        const stores = [...database.objectStoreNames];
        const counts = await Promise.all(stores.map((store) => new Promise((resolve) => {
            const request = database.transaction(store).objectStore(store).count();
            request.onsuccess = () => resolve(request.result);
        })));
        database.close();
        return counts;
    }""")
    assert not any(left), left

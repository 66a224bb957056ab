"""The real service worker in Chromium shows push messages, which are records that a household sealed."""

import json

import pytest

from notified import Notified
from waiting import eventually, eventually_equals

pytestmark = [pytest.mark.xdist_group("notifications"), pytest.mark.computer_is_off]

# Clicks the first notification, or its button for `action`.
CLICK = """async (action) => {
    const [notification] = await self.registration.getNotifications();
    self.dispatchEvent(new NotificationEvent("notificationclick", { notification, action }));
}"""
# Records each number that the worker sets as the app's badge.
COUNT_BADGES = """() => {
    self.badges = [];
    navigator.setAppBadge = async (number) => void badges.push(number);
    navigator.clearAppBadge = async () => void badges.push(0);
}"""


@pytest.fixture(scope="module")
def notified(whole_chromium):
    """One for all tests of this file; each test starts with the state after pairing."""
    notified = Notified(whole_chromium)
    yield notified
    notified.end()


@pytest.fixture
def phone(notified):
    notified.as_paired()
    return notified


@pytest.fixture
def disposable_phone(whole_chromium):
    """One of its own, for a test that makes it unusable."""
    notified = Notified(whole_chromium)
    yield notified
    notified.end()


WAITING = "Firefox is waiting on den-pc"
SOMETHING = "New event on one of your computers"
ID = "0123456789abcdef0123456789abcdef"


def test_a_locked_phone_shows_a_launch_with_its_answers(phone):
    assert phone.run("() => companion.state") == "locked"
    shown = phone.push(phone.launch(ID), WAITING)
    assert shown == [
        {
            "title": WAITING,
            "body": "Approve it? Started by anna.",
            "tag": "launch-" + ID,
            "silent": False,
            "actions": ["approve", "deny"] if len(shown[0]["actions"]) == 2 else ["approve", "deny", "open"],
        }
    ]


def test_messages_that_do_not_open_show_a_generic_notification(phone):
    wrong_key = phone.run("""async () => JSON.stringify(await household.sealed("requests", randomID(), launch(),
        { key: crypto.getRandomValues(new Uint8Array(32)) }))""")
    stranger = phone.run("""async () => {
        const { createDevice } = await import("/tests/fake-household.js");
        const author = await createDevice();
        return JSON.stringify(await household.sealed("requests", randomID(), launch(), { author }));
    }""")
    changed = phone.launch().replace('"epoch":1', '"epoch":2')
    for message in ["", "no record", "{}", wrong_key, stranger, changed]:
        assert [one["title"] for one in phone.push(message, SOMETHING)] == [SOMETHING]
        phone.clear()


def test_events_are_shown_in_plain_words(phone):
    for kind, title in [
        ("blocked", "Firefox was blocked on den-pc"),
        ("failed", "Wrong passcode on den-pc"),
        ("photographed", "den-pc took a photo"),
        ("apps", "Locked apps were changed on den-pc"),
        ("rules", "Rules were changed on den-pc"),
        ("backup", "A backup was made or imported on den-pc"),
        ("recovery", "A recovery sheet was printed or used on den-pc"),
        ("another_one", "New event on den-pc"),
    ]:
        shown = phone.push(phone.event(kind), title)
        assert [(one["body"], one["actions"], one["silent"]) for one in shown] == [
            ("Something about Firefox.", [], False)
        ]
        phone.clear()
    # Long names are truncated.
    title = phone.push(phone.event("blocked", appName="x" * 500), "x" * 79 + "… was blocked on den-pc")[0]["title"]
    assert len(title) < 120


def test_a_declarative_message_shows_what_is_sealed_inside(phone):
    inside = json.loads(phone.event("failed"))
    fallback = {
        "title": "New event",
        "body": "Open AppLocker to see it.",
        "navigate": phone.site.address,
        "data": inside,
    }
    message = json.dumps({"web_push": 8030, "notification": fallback, "mutable": True})
    assert [one["title"] for one in phone.push(message, "Wrong passcode on den-pc")] == ["Wrong passcode on den-pc"]


def test_a_launch_is_shown_once(phone):
    phone.push(phone.event("blocked"), "Firefox was blocked on den-pc")
    assert [one["title"] for one in phone.push(phone.launch(ID), WAITING)] == [WAITING]
    phone.deliver(phone.event("blocked"))
    eventually_equals(
        lambda: [(one["title"], one["silent"]) for one in phone.shown()], [(WAITING, True)], "shown once more, silently"
    )
    assert len(phone.shown()[0]["actions"]) >= 2
    # Another app has its own notification.
    phone.push(phone.event("blocked", app="gimp", appName="GIMP"), "GIMP was blocked on den-pc")
    assert len(phone.shown()) == 2


def test_an_answered_launch_replaces_its_prompt(phone):
    phone.push(phone.launch(ID), WAITING)
    phone.push(phone.launch("f" * 32), WAITING)
    shown = phone.push(phone.launch(ID, revision=2, outcome="allowed"), "Firefox was approved on den-pc")
    assert sorted((one["title"], one["actions"] == []) for one in shown) == [
        (WAITING, False),
        ("Firefox was approved on den-pc", True),
    ]
    phone.clear()
    # The message arrived after the launch timed out: there is nothing to answer.
    shown = phone.push(phone.launch(expires=1), "Firefox timed out on den-pc")
    assert shown[0]["actions"] == []


def test_a_log_entry_of_a_vault_shows_only_its_device(phone):
    # Sealed under a key that is not available while the app is locked.
    entry = """async (isStranger) => {
        const { createDevice } = await import("/tests/fake-household.js");
        const { sealEnvelope } = await import("/crypto/envelope.js");
        const { signRecord } = await import("/crypto/signature.js");
        const author = isStranger ? await createDevice() : household.computer;
        const name = { vault: household.vault, collection: "audit", id: randomID(), revision: 1 };
        const sealed = await sealEnvelope(new TextEncoder().encode('{"kind":"exported"}'), name, household.vaultKey, 1);
        return JSON.stringify(await signRecord(author.key, name, { epoch: 1, author: author.id, sealed }));
    }"""
    shown = phone.push(phone.run(entry), "New entry from one of your devices")
    assert [(one["body"], one["actions"], one["silent"]) for one in shown] == [("Open AppLocker to see it.", [], False)]
    phone.clear()
    phone.run(
        "async () => household.store(await household.sealed('devices', household.computer.id, { name: 'den-pc' }))"
    )
    eventually(
        lambda: phone.run("async () => !!(await companion.device.store.record(`devices/${household.computer.id}`))"),
        "the computer has its name",
    )
    for _ in range(2):
        shown = phone.push(phone.run(entry), "New entry from den-pc")
        assert [(one["title"], "xported" in str(one)) for one in shown] == [("New entry from den-pc", False)]
    phone.worker.evaluate(CLICK, "")
    eventually_equals(lambda: phone.run("() => location.hash"), "#/settings/audit", "the log is opened")
    phone.run("() => notifications.setWantedKinds(companion, { vault: false })")
    phone.push(phone.run(entry), "AppLocker is up to date")
    phone.run("() => notifications.setWantedKinds(companion, { vault: true })")
    # An entry by another device is not trusted.
    phone.push(phone.run(entry, True), SOMETHING)


def test_unwanted_kinds_become_one_silent_notification(phone):
    phone.run("() => notifications.setWantedKinds(companion, { blocked: false })")
    assert phone.run("() => notifications.wantedKinds(companion)") == {
        "launch": True,
        "blocked": False,
        "failed": True,
        "photographed": True,
        "changed": True,
        "vault": True,
        "moment": True,
        "remark": True,
        "date": True,
        "memory": True,
    }
    for _ in range(3):
        shown = phone.push(phone.event("blocked", appName="Secret"), "AppLocker is up to date")
        assert [(one["tag"], one["silent"], "Secret" in one["body"]) for one in shown] == [("quiet", True, False)]
    phone.push(phone.event("failed"), "Wrong passcode on den-pc")
    # Opening AppLocker removes all notifications except those of pending launches.
    phone.push(phone.launch(ID), WAITING)
    phone.run("() => notifications.seen()")
    eventually_equals(lambda: [one["title"] for one in phone.shown()], [WAITING], "only the launch remains")


def test_in_quiet_hours_notifications_are_silent(phone):
    phone.run("() => notifications.setQuietHours(companion, { isOn: true, from: '00:00', to: '24:00' })")
    assert phone.push(phone.event("failed"), "Wrong passcode on den-pc")[0]["silent"] is True
    phone.clear()
    assert phone.push(phone.launch(ID), WAITING)[0]["silent"] is False, "a waiting launch is excepted"
    phone.clear()
    phone.run("() => notifications.setQuietHours(companion, { launch: false })")
    assert phone.push(phone.launch(ID), WAITING)[0]["silent"] is True


def test_a_shown_notification_is_recorded_here_and_confirmed_to_the_hub(phone):
    assert phone.run("() => notifications.lastShown(companion)") == 0
    phone.worker.evaluate("""() => {
        self.requests = [];
        self.realFetch = self.fetch;
        self.fetch = async (url, { method }) => {
            requests.push([method, new URL(url).pathname]);
            return Response.json({});
        };
    }""")
    try:
        phone.push(phone.event("failed"), "Wrong passcode on den-pc")
        eventually_equals(
            lambda: phone.worker.evaluate("() => requests"), [["GET", "/v1/device"]], "the request to the hub"
        )
    finally:
        phone.worker.evaluate("() => { self.fetch = self.realFetch; }")
    assert phone.run("() => notifications.lastShown(companion).then((time) => Math.abs(Date.now() - time))") < 60_000


def test_the_badge_counts_pending_launches(phone):
    phone.run("() => notifications.setWantedKinds(companion, { blocked: false })")
    phone.worker.evaluate(COUNT_BADGES)
    phone.push(phone.launch(ID), WAITING)
    phone.push(phone.event("failed"), "Wrong passcode on den-pc")
    phone.push(phone.event("blocked", app="gimp"), "AppLocker is up to date")
    # An answered launch is not pending.
    phone.push(phone.launch(ID, revision=2, outcome="denied"), "Firefox was denied on den-pc")
    phone.run("() => notifications.seen()")
    eventually_equals(phone.shown, [], "no notification remains")
    eventually_equals(lambda: phone.worker.evaluate("() => badges"), [1, 2, 2, 1, 0], "the app's badge")


@pytest.mark.parametrize("name", ["Calculator", "Notes"])
def test_disguised_notifications_are_all_the_same(phone, name):
    disguise = name.lower()
    wanted = {"title": name, "body": "Open the app to see it.", "actions": []}
    phone.worker.evaluate(COUNT_BADGES)
    phone.run(f"() => companion.device.store.write({{ facts: {{ guise: '{disguise}' }} }})")
    try:
        for message in [
            phone.launch(ID),
            phone.event("blocked"),
            phone.event("failed"),
            phone.event("photographed"),
            "?",
            phone.launch(ID, revision=2, outcome="allowed"),
        ]:
            shown = phone.push(message, name)
            assert [{key: one[key] for key in wanted} for one in shown] == [wanted] * len(shown)
            pictures = phone.run("""async () => (await (await navigator.serviceWorker.ready).getNotifications())
                .flatMap(({ icon, badge }) => [icon, badge].map((one) => new URL(one).pathname))""")
            assert set(pictures) == {f"/icons/{disguise}-icon-192.png", f"/icons/{disguise}-badge-96.png"}
            phone.clear()
        # A badge would reveal the disguise.
        assert set(phone.worker.evaluate("() => badges")) == {0}
        # It opens what it would open without the disguise.
        phone.run("() => { location.hash = ''; }")
        phone.push(phone.launch(ID), name)
        phone.worker.evaluate(CLICK, "")
        eventually_equals(lambda: phone.run("() => location.hash"), f"#/launch/{ID}", "the launch is opened")
    finally:
        phone.run("() => companion.device.store.write({ facts: { guise: 'applocker' } })")


def test_tapping_a_notification_opens_its_subject(phone):
    for message, title, action, address in [
        (phone.launch(ID), WAITING, "approve", f"#/launch/{ID}?answer=approve"),
        (phone.launch(ID), WAITING, "deny", f"#/launch/{ID}?answer=deny"),
        (phone.launch(ID), WAITING, "open", f"#/launch/{ID}"),
        (phone.launch(ID), WAITING, "", f"#/launch/{ID}"),
        (phone.event("failed"), "Wrong passcode on den-pc", "approve", "#/alerts"),
        ("?", SOMETHING, "", "#/home"),
    ]:
        phone.run("() => { window.stayed = true; location.hash = ''; }")
        phone.push(message, title)
        phone.worker.evaluate(CLICK, action)
        eventually_equals(lambda: phone.run("() => location.hash"), address, address)
        eventually_equals(phone.shown, [], "closed")
        assert phone.run("() => [window.stayed, companion.state]") == [True, "locked"]


STUB = """() => {
    // Chromium has no push service here.
    const manager = PushManager.prototype;
    let subscription = null;
    window.made = 0;
    manager.getSubscription = async () => subscription;
    manager.subscribe = async ({ applicationServerKey, userVisibleOnly }) => {
        if (!userVisibleOnly) throw new Error("not visible");
        if (window.silent) return new Promise(() => {});
        window.made += 1;
        const endpoint = `https://push.example/${window.made}`;
        return (subscription = {
            endpoint, options: { applicationServerKey: applicationServerKey.buffer ?? applicationServerKey },
            toJSON: () => ({ endpoint, expirationTime: null, keys: { p256dh: "p", auth: "a" } }),
            unsubscribe: async () => (subscription = null, true),
        });
    };
}"""


def test_a_push_subscription_is_created_renewed_and_ended(phone):
    phone.run(STUB)
    state = "() => notifications.notificationState(companion)"
    assert phone.run(state) == {"permission": "granted", "here": False, "atHub": False}
    assert phone.run("() => notifications.renewSubscription(companion)") is None
    assert phone.run("() => made") == 0
    phone.run("() => notifications.subscribe(companion)")
    assert phone.run(state) == {"permission": "granted", "here": True, "atHub": True}
    assert phone.run("() => subscriptions") == [
        {"endpoint": "https://push.example/1", "keys": {"p256dh": "p", "auth": "a"}}
    ]
    # A browser that knows declarative messages gets a text for the case that the worker doesn't run.
    phone.run("() => { window.pushManager = {}; }")
    assert phone.run("() => notifications.renewSubscription(companion)") is None
    fallback = phone.run("() => subscriptions.at(-1).fallback")
    assert fallback == {
        "title": "New event on one of your computers",
        "body": "Open AppLocker to see it.",
        "navigate": phone.site.address + "/",
    }
    phone.run("() => companion.device.store.write({ facts: { guise: 'calculator' } })")
    assert phone.run("() => notifications.renewSubscription(companion)") is None
    assert "AppLocker" not in json.dumps(phone.run("() => subscriptions.at(-1).fallback"))
    phone.run("""() => {
        delete window.pushManager;
        subscriptions.length = 1;
        return companion.device.store.write({ facts: { guise: 'applocker' } });
    }""")
    # Sent to the hub again each time, created again if the browser ended it or the hub has another key.
    assert phone.run("() => notifications.renewSubscription(companion)") is None
    assert phone.run("() => [made, subscriptions.length]") == [1, 2]
    phone.run("async () => (await (await navigator.serviceWorker.ready).pushManager.getSubscription()).unsubscribe()")
    assert phone.run("() => notifications.renewSubscription(companion)") is None
    assert phone.run("() => [made, subscriptions.at(-1).endpoint]") == [2, "https://push.example/2"]
    phone.run("() => { window.pushKey = 'B' + 'A'.repeat(86); }")
    assert phone.run("() => notifications.renewSubscription(companion)") is None
    assert phone.run("() => made") == 3
    # A push service without a response.
    phone.run("""() => {
        window.setTimeout = (body, milliseconds) => ownSetTimeout(body, milliseconds / 50);
        window.silent = true;
    }""")
    phone.run("async () => (await (await navigator.serviceWorker.ready).pushManager.getSubscription()).unsubscribe()")
    assert (
        phone.run("() => notifications.renewSubscription(companion)")
        == "The browser’s push service did not answer; try again when the network is better."
    )
    assert phone.run("() => notifications.subscribe(companion).then(() => 'made', (error) => error.code)") == "noPush"
    phone.run("() => { window.setTimeout = window.ownSetTimeout; }")
    phone.run("() => notifications.unsubscribe(companion)")
    assert phone.run(state) == {"permission": "granted", "here": False, "atHub": False}
    assert phone.run("() => notifications.renewSubscription(companion)") is None


def test_quiet_hours_are_set_on_their_page(phone):
    page = phone.page
    phone.run(STUB)
    phone.run("() => notifications.subscribe(companion)")
    phone.run("""async () => {
        const settings = await import("/features/notifications/settings.js");
        const signal = new AbortController().signal;
        document.body.replaceChildren(...(await settings.notifications({ companion, signal })).body);
    }""")
    assert page.get_by_label("From").count() == 0
    page.get_by_text("No notification has arrived on this device yet.").wait_for()
    page.get_by_text("With Approve and Deny in the notification").wait_for()
    page.get_by_role("switch", name="Quiet hours").check()
    page.get_by_label("From").fill("21:30")
    page.get_by_label("To", exact=True).fill("06:15")
    page.get_by_role("switch", name="Sound for an intruder photo").uncheck()
    eventually_equals(
        lambda: phone.run("() => notifications.quietHours(companion)"),
        {"isOn": True, "from": "21:30", "to": "06:15", "launch": True, "photographed": False},
        "the quiet hours",
    )
    # The second change is made before the first one is stored.
    page.evaluate("""() => {
        for (const [label, value] of [["From", "22:45"], ["To", "07:15"]]) {
            const field = [...document.querySelectorAll("label")].find((one) => one.innerText === label).control;
            field.value = value;
            field.dispatchEvent(new Event("change"));
        }
    }""")
    eventually_equals(
        lambda: phone.run(
            "async () => { const { from, to } = await notifications.quietHours(companion); return [from, to]; }"
        ),
        ["22:45", "07:15"],
        "the hours of both changes",
    )
    phone.run("() => document.body.replaceChildren()")


def test_a_test_notification_reaches_only_this_device(phone):
    assert phone.run("() => notifications.testPush(companion, 100)") == "noSubscription"
    phone.run("() => subscriptions.push({})")
    assert phone.run("() => notifications.testPush(companion, 100)") == "notYet"
    phone.run("() => { window.sent = null; window.test = notifications.testPush(companion, 300_000); }")
    eventually(lambda: phone.run("() => window.sent !== null"), "sent")
    assert phone.run("() => sent.devices.length === 1 && sent.devices[0] === companion.device.facts.device") is True
    payload = phone.run("() => atob(sent.payload)")
    assert [one["title"] for one in phone.push('{"test":"' + "0" * 32 + '"}', SOMETHING)] == [SOMETHING]
    phone.push(payload, "Notifications reach this device")
    assert phone.run("() => window.test") == "arrived"
    phone.clear()
    # Only once.
    assert [one["title"] for one in phone.push(payload, SOMETHING)] == [SOMETHING]


def test_the_worker_renews_a_changed_subscription(disposable_phone):
    phone = disposable_phone
    stub = STUB.replace("window", "self")
    phone.run("() => companion.device.store.write({ facts: { wantsPush: true } })")
    phone.worker.evaluate(stub)
    phone.worker.evaluate(
        """(pushKey) => {
        self.requests = [];
        self.fetch = async (url, options) => {
            self.requests.push([options.method, new URL(url).pathname, options.body]);
            return url.endsWith("/v1/hub") ? Response.json({ pushKey }) : new Response(null, { status: 204 });
        };
        self.dispatchEvent(new ExtendableEvent("pushsubscriptionchange"));
    }""",
        phone.run("() => pushKey"),
    )
    eventually_equals(lambda: len(phone.worker.evaluate("() => requests")), 2, "a request to the hub")
    assert phone.worker.evaluate("() => requests[1]") == [
        "PUT",
        "/v1/push",
        '{"endpoint":"https://push.example/1","keys":{"p256dh":"p","auth":"a"}}',
    ]


def test_a_removed_device_is_reported(disposable_phone):
    phone = disposable_phone
    launch = phone.launch()
    phone.run("() => companion.remove()")
    phone.push(launch, "This device is no longer paired")

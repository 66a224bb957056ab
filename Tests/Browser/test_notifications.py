"""What is pushed is shown: by the real service worker in Chromium, with records that a household sealed."""

import pytest

from notified import Notified

pytestmark = [pytest.mark.xdist_group("notifications"), pytest.mark.computer_is_off]


def equal(found, wanted):
    assert found == wanted


@pytest.fixture(scope="module")
def notified(whole_chromium):
    """One for all tests of this file, each of which begins as it was when it had just been paired."""
    notified = Notified(whole_chromium)
    yield notified
    notified.end()


@pytest.fixture
def phone(notified):
    notified.as_paired()
    return notified


@pytest.fixture
def spoiled_phone(whole_chromium):
    """One of its own, for a test that leaves it unusable."""
    notified = Notified(whole_chromium)
    yield notified
    notified.end()


WAITING = "Firefox is waiting on den-pc"
SOMETHING = "Something happened on a computer of yours"
ID = "0123456789abcdef0123456789abcdef"


def test_a_locked_phone_shows_a_launch_and_its_answers(phone):
    equal(phone.run("() => companion.state"), "locked")
    shown = phone.push(phone.launch(ID), WAITING)
    equal(shown, [{"title": WAITING, "body": "Let it open? Started by anna.", "tag": "launch-" + ID, "silent": False,
                   "actions": ["approve", "deny"] if len(shown[0]["actions"]) == 2 else ["approve", "deny", "open"]}])


def test_what_does_not_open_is_shown_all_the_same(phone):
    wrong_key = phone.run("""async () => JSON.stringify(await household.sealed("requests", randomID(), launch(),
        { key: crypto.getRandomValues(new Uint8Array(32)) }))""")
    stranger = phone.run("""async () => {
        const { madeDevice } = await import("/tests/made-household.js");
        return JSON.stringify(await household.sealed("requests", randomID(), launch(), { author: await madeDevice() }));
    }""")
    changed = phone.launch().replace('"epoch":1', '"epoch":2')
    for message in ["", "no record", "{}", wrong_key, stranger, changed]:
        equal([one["title"] for one in phone.push(message, SOMETHING)], [SOMETHING])
        phone.clear()


def test_events_are_told_in_plain_words(phone):
    for kind, title in [("blocked", "Firefox was blocked on den-pc"), ("failed", "A wrong passcode on den-pc"),
                        ("photographed", "den-pc took a photo"), ("another_one", "News from den-pc")]:
        shown = phone.push(phone.event(kind), title)
        equal([(one["body"], one["actions"], one["silent"]) for one in shown], [("Something about Firefox.", [], False)])
        phone.clear()
    # Names are as long as somebody made them.
    title = phone.push(phone.event("blocked", appName="x" * 500), "x" * 79 + "… was blocked on den-pc")[0]["title"]
    equal(len(title) < 120, True)


def test_a_launch_is_told_once(phone):
    phone.push(phone.event("blocked"), "Firefox was blocked on den-pc")
    equal([one["title"] for one in phone.push(phone.launch(ID), WAITING)], [WAITING])
    phone.deliver(phone.event("blocked"))
    phone.until(lambda: [(one["title"], one["silent"]) for one in phone.shown()] == [(WAITING, True)], "shown once more, silently")
    equal(len(phone.shown()[0]["actions"]) >= 2, True)
    # Another app is another thing.
    phone.push(phone.event("blocked", app="gimp", appName="GIMP"), "GIMP was blocked on den-pc")
    equal(len(phone.shown()), 2)


def test_an_answered_launch_takes_the_place_of_its_question(phone):
    phone.push(phone.launch(ID), WAITING)
    phone.push(phone.launch("f" * 32), WAITING)
    shown = phone.push(phone.launch(ID, revision=2, outcome="allowed"), "Firefox was opened on den-pc")
    equal(sorted((one["title"], one["actions"] == []) for one in shown), [(WAITING, False), ("Firefox was opened on den-pc", True)])
    phone.clear()
    # The network kept it until its time was over: there is nothing to answer.
    shown = phone.push(phone.launch(expires=1), "Firefox waited too long on den-pc")
    equal(shown[0]["actions"], [])
    phone.clear()
    phone.push(phone.launch(ID), WAITING)
    phone.run("(id) => notifications.launchIsOver(id)", ID)
    phone.until(lambda: phone.shown() == [], "closed")


def test_the_log_of_a_vault_says_only_whose_news_it_is(phone):
    # Under a key that is behind the gate.
    entry = """async (isStranger) => {
        const { madeDevice } = await import("/tests/made-household.js");
        const { sealEnvelope } = await import("/crypto/envelope.js");
        const { signRecord } = await import("/crypto/signature.js");
        const author = isStranger ? await madeDevice() : household.computer;
        const name = { vault: household.vault, collection: "audit", id: randomID(), revision: 1 };
        const sealed = await sealEnvelope(new TextEncoder().encode('{"kind":"exported"}'), name, household.vaultKey, 1);
        return JSON.stringify(await signRecord(author.key, name, { epoch: 1, author: author.id, sealed }));
    }"""
    shown = phone.push(phone.run(entry), "News from a device of yours")
    equal([(one["body"], one["actions"], one["silent"]) for one in shown], [("Open AppLocker to see it.", [], False)])
    phone.clear()
    phone.run("async () => household.store(await household.sealed('devices', household.computer.id, { name: 'den-pc' }))")
    phone.until(lambda: phone.run("async () => !!(await companion.device.store.record(`devices/${household.computer.id}`))"), "its name")
    for _ in range(2):
        shown = phone.push(phone.run(entry), "News from den-pc")
        equal([(one["title"], "xported" in str(one)) for one in shown], [("News from den-pc", False)])
    phone.worker.evaluate("""async () => {
        const [notification] = await self.registration.getNotifications();
        self.dispatchEvent(new NotificationEvent("notificationclick", { notification, action: "" }));
    }""")
    phone.until(lambda: phone.run("() => location.hash") == "#/settings/audit", "the log")
    phone.run("() => notifications.setWantedKinds(companion, { vault: false })")
    phone.push(phone.run(entry), "AppLocker is up to date")
    phone.run("() => notifications.setWantedKinds(companion, { vault: true })")
    # Nobody else's word.
    phone.push(phone.run(entry, True), SOMETHING)


def test_what_nobody_wants_to_be_told_is_one_quiet_line(phone):
    phone.run("() => notifications.setWantedKinds(companion, { blocked: false })")
    equal(phone.run("() => notifications.wantedKinds(companion)"),
          {"launch": True, "blocked": False, "failed": True, "photographed": True, "vault": True})
    for _ in range(3):
        shown = phone.push(phone.event("blocked", appName="Secret"), "AppLocker is up to date")
        equal([(one["tag"], one["silent"], "Secret" in one["body"]) for one in shown], [("quiet", True, False)])
    phone.push(phone.event("failed"), "A wrong passcode on den-pc")
    # Looking at AppLocker ends all but what still waits for an answer.
    phone.push(phone.launch(ID), WAITING)
    phone.run("() => notifications.seen()")
    phone.until(lambda: [one["title"] for one in phone.shown()] == [WAITING], "the launch alone")


def test_the_badge_counts_what_waits(phone):
    phone.run("() => notifications.setWantedKinds(companion, { blocked: false })")
    phone.worker.evaluate("""() => {
        self.badges = [];
        navigator.setAppBadge = async (number) => void badges.push(number);
        navigator.clearAppBadge = async () => void badges.push(0);
    }""")
    phone.push(phone.launch(ID), WAITING)
    phone.push(phone.event("failed"), "A wrong passcode on den-pc")
    phone.push(phone.event("blocked", app="gimp"), "AppLocker is up to date")
    # Answered, it waits no more.
    phone.push(phone.launch(ID, revision=2, outcome="denied"), "Firefox stays closed on den-pc")
    phone.run("() => notifications.seen()")
    phone.until(lambda: phone.shown() == [], "nothing is shown")
    phone.until(lambda: phone.worker.evaluate("() => badges") == [1, 2, 2, 1, 0], f"{phone.worker.evaluate('() => badges')}")


def test_in_disguise_every_notification_is_the_same(phone):
    calculator = {"title": "Calculator", "body": "Open it to see more.", "actions": []}
    phone.worker.evaluate("""() => {
        self.badges = [];
        navigator.setAppBadge = async (number) => void badges.push(number);
        navigator.clearAppBadge = async () => void badges.push(0);
    }""")
    phone.run("() => companion.device.store.write({ facts: { guise: 'calculator' } })")
    try:
        for message in [phone.launch(ID), phone.event("blocked"), phone.event("failed"), phone.event("photographed"), "?",
                        phone.launch(ID, revision=2, outcome="allowed")]:
            shown = phone.push(message, "Calculator")
            equal([{key: one[key] for key in calculator} for one in shown], [calculator] * len(shown))
            pictures = phone.run("""async () => (await (await navigator.serviceWorker.ready).getNotifications())
                .flatMap(({ icon, badge }) => [icon, badge].map((one) => new URL(one).pathname))""")
            equal(set(pictures), {"/icons/calculator-icon-192.png", "/icons/calculator-badge-96.png"})
            phone.clear()
        # A number on a calculator would tell.
        equal(set(phone.worker.evaluate("() => badges")), {0})
        # It leads where it would without.
        phone.run("() => { location.hash = ''; }")
        phone.push(phone.launch(ID), "Calculator")
        phone.worker.evaluate("""async () => {
            const [notification] = await self.registration.getNotifications();
            self.dispatchEvent(new NotificationEvent("notificationclick", { notification, action: "" }));
        }""")
        phone.until(lambda: phone.run("() => location.hash") == f"#/launch/{ID}", "the launch")
    finally:
        phone.run("() => companion.device.store.write({ facts: { guise: 'applocker' } })")


def test_a_tap_leads_to_what_it_is_about(phone):
    for message, title, action, address in [
            (phone.launch(ID), WAITING, "approve", f"#/launch/{ID}?answer=approve"),
            (phone.launch(ID), WAITING, "deny", f"#/launch/{ID}?answer=deny"),
            (phone.launch(ID), WAITING, "open", f"#/launch/{ID}"), (phone.launch(ID), WAITING, "", f"#/launch/{ID}"),
            (phone.event("failed"), "A wrong passcode on den-pc", "approve", "#/alerts"), ("?", SOMETHING, "", "#/home")]:
        phone.run("() => { window.stayed = true; location.hash = ''; }")
        phone.push(message, title)
        phone.worker.evaluate("""async (action) => {
            const [notification] = await self.registration.getNotifications();
            self.dispatchEvent(new NotificationEvent("notificationclick", { notification, action }));
        }""", action)
        phone.until(lambda: phone.run("() => location.hash") == address, address)
        phone.until(lambda: phone.shown() == [], "closed")
        equal(phone.run("() => [window.stayed, companion.state]"), [True, "locked"])


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


def test_a_subscription_is_made_kept_and_ended(phone):
    phone.run(STUB)
    state = "() => notifications.notificationState(companion)"
    equal(phone.run(state), {"permission": "granted", "here": False, "atHub": False})
    equal(phone.run("() => notifications.resubscribeAtStart(companion)"), None)
    equal(phone.run("() => made"), 0)
    phone.run("() => notifications.subscribe(companion)")
    equal(phone.run(state), {"permission": "granted", "here": True, "atHub": True})
    equal(phone.run("() => subscriptions"), [{"endpoint": "https://push.example/1", "keys": {"p256dh": "p", "auth": "a"}}])
    # Told again at each start, made anew where the browser ended it, or the hub has another key.
    equal(phone.run("() => notifications.resubscribeAtStart(companion)"), None)
    equal(phone.run("() => [made, subscriptions.length]"), [1, 2])
    phone.run("async () => (await (await navigator.serviceWorker.ready).pushManager.getSubscription()).unsubscribe()")
    equal(phone.run("() => notifications.resubscribeAtStart(companion)"), None)
    equal(phone.run("() => [made, subscriptions.at(-1).endpoint]"), [2, "https://push.example/2"])
    phone.run("() => { window.pushKey = 'B' + 'A'.repeat(86); }")
    equal(phone.run("() => notifications.resubscribeAtStart(companion)"), None)
    equal(phone.run("() => made"), 3)
    # A push service that does not answer.
    phone.run("""() => {
        const slow = (window.slow = window.setTimeout);
        window.setTimeout = (body, milliseconds) => slow(body, milliseconds / 50);
        window.silent = true;
    }""")
    phone.run("async () => (await (await navigator.serviceWorker.ready).pushManager.getSubscription()).unsubscribe()")
    equal(phone.run("() => notifications.resubscribeAtStart(companion)"),
          "The browser's push service did not answer; try again when the network is better.")
    equal(phone.run("() => notifications.subscribe(companion).then(() => 'made', (error) => error.code)"), "noPush")
    phone.run("() => { window.setTimeout = window.slow; }")
    phone.run("() => notifications.unsubscribe(companion)")
    equal(phone.run(state), {"permission": "granted", "here": False, "atHub": False})
    equal(phone.run("() => notifications.resubscribeAtStart(companion)"), None)


def test_a_test_is_this_devices_own(phone):
    equal(phone.run("() => notifications.testPush(companion, 100)"), "noSubscription")
    phone.run("() => subscriptions.push({})")
    equal(phone.run("() => notifications.testPush(companion, 100)"), "notYet")
    phone.run("() => { window.sent = null; window.test = notifications.testPush(companion); }")
    phone.until(lambda: phone.run("() => window.sent !== null"), "sent")
    equal(phone.run("() => sent.devices.length === 1 && sent.devices[0] === companion.device.facts.device"), True)
    payload = phone.run("() => atob(sent.payload)")
    equal([one["title"] for one in phone.push('{"test":"' + "0" * 32 + '"}', SOMETHING)], [SOMETHING])
    phone.push(payload, "Notifications reach this device")
    equal(phone.run("() => window.test"), "arrived")
    phone.clear()
    # Once.
    equal([one["title"] for one in phone.push(payload, SOMETHING)], [SOMETHING])


def test_the_worker_makes_another_subscription_by_itself(spoiled_phone):
    phone = spoiled_phone
    stub = STUB.replace("window", "self")
    phone.run("() => companion.device.store.write({ facts: { wantsPush: true } })")
    phone.worker.evaluate(stub)
    phone.worker.evaluate("""(pushKey) => {
        self.told = [];
        self.fetch = async (url, options) => {
            self.told.push([options.method, new URL(url).pathname, options.body]);
            return url.endsWith("/v1/hub") ? Response.json({ pushKey }) : new Response(null, { status: 204 });
        };
        self.dispatchEvent(new ExtendableEvent("pushsubscriptionchange"));
    }""", phone.run("() => pushKey"))
    phone.until(lambda: len(phone.worker.evaluate("() => told")) == 2, "told")
    equal(phone.worker.evaluate("() => told[1]"),
          ["PUT", "/v1/push", '{"endpoint":"https://push.example/1","keys":{"p256dh":"p","auth":"a"}}'])


def test_a_device_that_was_removed_says_so(spoiled_phone):
    phone = spoiled_phone
    launch = phone.launch()
    phone.run("() => companion.remove()")
    phone.push(launch, "This device is not paired any more")

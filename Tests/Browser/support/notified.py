"""A companion that receives push messages: its real service worker in Chromium, and a household created in the page."""

import pathlib

import pages
from waiting import eventually, eventually_equals

PROBE = (pathlib.Path(pages.__file__).parent / "probe.js").read_bytes()
PAGE = b'<!doctype html><html lang="en"><title>Notices</title><script type="module" src="/probe.js"></script></html>'
PREPARE = """async () => {
    await window.started;
    const { FakeHousehold, refusing } = await import("/tests/fake-household.js");
    const { Companion } = await import("/session/companion.js");
    const { randomID } = await import("/crypto/bytes.js");
    Object.assign(window, {
        randomID, refusing, household: await FakeHousehold.make(),
        notifications: await import("/features/notifications/notifications.js"),
    });
    const respond = household.defaultResponse.bind(household);
    window.subscriptions = [];
    household.defaultResponse = async (route, url, body, signal) => {
        if (route === "GET /v1/hub") return { name: "made", version: "1", time: 1, pushKey: window.pushKey };
        if (route === "PUT /v1/push") subscriptions.push(body);
        if (route === "DELETE /v1/push") subscriptions.length = 0;
        if (route === "POST /v1/push/messages") {
            window.sent = body;
            return { subscriptions: subscriptions.length };
        }
        if (route === "GET /v1/devices") {
            return { devices: [{ id: household.phone.id, hasPush: subscriptions.length > 0 }] };
        }
        return respond(route, url, body, signal);
    };
    // A point on the curve, as a hub's key is.
    const pair = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, ["sign"]);
    const { base64url } = await import("/crypto/bytes.js");
    window.hubKey = base64url(new Uint8Array(await crypto.subtle.exportKey("raw", pair.publicKey)));
    Object.assign(window, { pushKey: hubKey, ownSetTimeout: window.setTimeout });
    household.serve();
    window.companion = await Companion.open();
    await companion.pair(household.link(), "phone");
    await companion.setPIN("735102");
    window.launch = (more = {}) => ({
        computer: household.computer.id, computerName: "den-pc", prompt: "1", app: "firefox", appName: "Firefox",
        path: "/usr/bin/firefox", userName: "anna", clock: Date.now(), expires: Date.now() + 60_000,
        defaultGrantSeconds: 60,
        ...more,
    });
    window.createEvent = (kind, more = {}) => ({
        kind, computer: household.computer.id, computerName: "den-pc", time: Date.now(),
        app: "firefox", appName: "Firefox",
        sentence: "Something about Firefox.", ...more,
    });
}"""
SHOWN = """async () => (await (await navigator.serviceWorker.ready).getNotifications()).map((one) => ({
    title: one.title, body: one.body, tag: one.tag, silent: one.silent,
    actions: one.actions.map(({ action }) => action) }))"""


# Counts the messages that the worker is done with. While a notification is being drawn, Chromium does not list it, and
# afterwards the worker records it and confirms it to the hub: a test waits for this count.
COUNT_HANDLED = """() => {
    const { waitUntil } = ExtendableEvent.prototype;
    self.handled = 0;
    ExtendableEvent.prototype.waitUntil = function (work) {
        const done = () => {
            if (this.type === "push") self.handled += 1;
        };
        waitUntil.call(this, Promise.resolve(work).finally(done));
    };
}"""


def deliver(session, worker, origin, registration, message):
    """Delivers a message as the push service would; returns when the worker is done with it. Meanwhile nothing asks for
    the notifications: Chromium then drops one that is still being drawn."""
    before = worker.evaluate(f"() => {{ if (self.handled === undefined) ({COUNT_HANDLED})(); return self.handled; }}")
    session.send(
        "ServiceWorker.deliverPushMessage", {"origin": origin, "registrationId": registration, "data": message}
    )
    eventually(lambda: worker.evaluate("() => self.handled") > before, "the message is handled")


class Notified:
    """A locked companion of a household created in the page, with its real service worker."""

    def __init__(self, browser):
        self.site = pages.Site()
        self.site.changed.update({name: path.read_bytes() for name, path in pages.shell_files()})
        self.site.changed.update({"index.html": PAGE, "probe.js": PROBE})
        self.context = browser.new_context()
        self.context.grant_permissions(["notifications"], origin=self.site.address)
        self.page = self.context.new_page()
        self.session = self.context.new_cdp_session(self.page)
        self.registration = None
        self.session.on("ServiceWorker.workerRegistrationUpdated", self.registered)
        self.session.send("ServiceWorker.enable")
        self.page.goto(self.site.address)
        self.page.wait_for_function("() => window.started")
        self.page.evaluate(PREPARE)
        eventually(lambda: self.page.evaluate("() => app.offline.state === 'ready'"), "the worker is active")
        # Locked: everything that follows works without its keys.
        self.page.evaluate("() => companion.lock()")

    def registered(self, event):
        for registration in event["registrations"]:
            if not registration["isDeleted"]:
                self.registration = registration["registrationId"]

    def run(self, script, *arguments):
        return self.page.evaluate(script, *arguments)

    @property
    def worker(self):
        return self.context.service_workers[0]

    def sealed(self, collection, body, id=None, revision=1):
        """Returns the record as the hub would push it."""
        return self.run(
            """async ([collection, body, id, revision]) => JSON.stringify(
            await household.sealed(collection, id ?? randomID(), eval_(body), { revision }))""".replace(
                "eval_(body)", "window[body.make](...body.arguments)"
            ),
            [collection, body, id, revision],
        )

    def launch(self, id=None, revision=1, **more):
        return self.sealed("requests", {"make": "launch", "arguments": [more]}, id, revision)

    def event(self, kind, **more):
        return self.sealed("events", {"make": "createEvent", "arguments": [kind, more]})

    def shown(self):
        return self.run(SHOWN)

    def deliver(self, message):
        """Delivers a message as the push service would; returns when the worker is done with it."""
        deliver(self.session, self.worker, self.site.address, self.registration, message)

    def push(self, message, expected):
        """Returns the notifications after this message. `expected`: a title that must be among them."""
        self.deliver(message)
        eventually(lambda: any(one["title"] == expected for one in self.shown()), lambda: f"{expected}; {self.shown()}")
        return self.shown()

    def clear(self):
        self.run("""async () => {
            const registration = await navigator.serviceWorker.ready;
            for (const one of await registration.getNotifications()) one.close();
        }""")
        eventually_equals(self.shown, [], "no notification remains")

    def as_paired(self):
        """Restores the state after pairing."""
        self.clear()
        self.run("""async () => {
            const kinds = Object.keys(await notifications.wantedKinds(companion));
            await notifications.setWantedKinds(companion, Object.fromEntries(kinds.map((kind) => [kind, true])));
            await companion.device.store.write({
                facts: { guise: "applocker", wantsPush: false, lastNotice: 0 },
            });
            await notifications.setQuietHours(companion, { isOn: false, launch: true, photographed: true });
            window.subscriptions.length = 0;
            Object.assign(window, { pushKey: hubKey, setTimeout: ownSetTimeout, silent: false });
            delete window.pushManager;
            location.hash = "";
        }""")

    def end(self):
        self.context.close()
        self.site.stop()

"""A phone with screens, its real service worker, and a push service whose messages a test delivers to that worker."""

import json

from notified import deliver
from phone import Phone
from push_service import STUB
from waiting import eventually, eventually_equals

SHOWN = """async () => (await (await navigator.serviceWorker.ready).getNotifications())
    .map(({ title, body, silent }) => [title, body, silent])"""
CLEAR = """async () => {
    for (const one of await (await navigator.serviceWorker.ready).getNotifications()) one.close();
}"""
CLICK = """async () => {
    const [notification] = await self.registration.getNotifications();
    self.dispatchEvent(new NotificationEvent("notificationclick", { notification, action: "" }));
}"""
NOTHING = ["AppLocker is up to date", "No new notification.", True]
GENERAL = ["New event on one of your computers", "Open AppLocker to see it.", False]


class NotifiedPhone:
    """A phone with its service worker, unlocked, whose browser subscribes to this push service."""

    def __init__(self, new_context, hub, stored, service, name="Ben's phone"):
        self.phone = Phone(new_context, hub, name=name, has_service_worker=True)
        self.context, self.page = self.phone.context, self.phone.page
        self.context.grant_permissions(["notifications"], origin=self.phone.address)
        self.context.add_init_script(f"({STUB})({json.dumps(service.describe())});")
        self.phone.begin(stored)
        self.registration = None
        self.session = self.context.new_cdp_session(self.page)
        self.session.on("ServiceWorker.workerRegistrationUpdated", self.registered)
        self.session.send("ServiceWorker.enable")
        ready = "() => navigator.serviceWorker.ready.then(() => true)"
        eventually(lambda: self.page.evaluate(ready) and self.registration, "the worker is active")

    def registered(self, event):
        for registration in event["registrations"]:
            if not registration["isDeleted"]:
                self.registration = registration["registrationId"]

    def deliver(self, message):
        """Returns the title, the text and whether it is silent of the one notification that is shown for it."""
        self.page.evaluate(CLEAR)
        eventually_equals(lambda: self.page.evaluate(SHOWN), [], "no notification remains")
        deliver(self.session, self.context.service_workers[0], self.phone.address, self.registration, message)
        eventually(lambda: self.page.evaluate(SHOWN), "it is listed")
        [shown] = self.page.evaluate(SHOWN)
        return shown

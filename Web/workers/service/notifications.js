// Shows a notification for every push, because browsers end the subscription of an app that shows none.
import { clockOf } from "../../household/computer-clocks.js";
import { DeviceSession } from "../../sync/device-session.js";
import { noticeOf, reminderNotice, testNotice } from "./notice-text.js";
import {
    disguised, factNames, identityOf, isKindOn, isSilentNow, unknownNotice, usualQuietHours,
} from "../notification-text.js";
import { openPush } from "../open-push.js";
import { renewIfWanted } from "../push-subscription.js";
import { textOf, utf8 } from "../../crypto/bytes.js";
import { localDay } from "../../formats/special-date.js";
import { systemTime } from "../../hub/time.js";
import { CompanionStore } from "../../store/store.js";
import { Tabs } from "../../store/tabs.js";

/** @typedef {import("../notification-text.js").Notice} Notice */

const worker = /** @type {ServiceWorkerGlobalScope} */ (/** @type {unknown} */ (self));
const answers = [{ action: "approve", title: "Approve" }, {
    action: "deny", title: "Deny",
}, { action: "open", title: "Open" }];

/**
 * Opens the companion's state and closes it again: browsers end workers at any time.
 * @template Value
 * @param {(device: DeviceSession) => Promise<Value>} body
 */
async function withDevice(body) {
    const store = await CompanionStore.open();
    const device = new DeviceSession(store, new Tabs("applocker"), systemTime);
    try {
        await device.load();
        return await body(device);
    } finally {
        device.tabs.close();
        store.close();
    }
}

/** @param {PushEvent} event */
export async function pushed(event) {
    const message = messageOf(event);
    const { notice, hours } = await withDevice(async (device) => ({
        notice: await read(device, message), hours: await device.store.fact(factNames.quietHours, usualQuietHours),
    })).catch(() => ({ notice: unknownNotice, hours: usualQuietHours }));
    await show(notice, isSilentNow(hours, notice.kind, new Date()));
    await withDevice(confirm).catch(() => {});
}

/**
 * What a device sent, also from inside a declarative message.
 * @param {PushEvent & { notification?: Notification | null }} event
 */
function messageOf({ data, notification }) {
    if (notification) return utf8(JSON.stringify(notification.data));
    if (!data) return new Uint8Array();
    const bytes = new Uint8Array(data.arrayBuffer());
    try {
        const message = JSON.parse(textOf(bytes));
        return message.web_push === 8030 ? utf8(JSON.stringify(message.notification.data)) : bytes;
    } catch {
        return bytes;
    }
}

/**
 * Records that a notification was shown: here, and by a request to the hub, whose time of it the computers see.
 * @param {DeviceSession} device
 */
async function confirm(device) {
    if (!device.facts) return;
    await device.store.write({ facts: { [factNames.lastShown]: systemTime.now() } });
    await device.hub.ownDevice();
}

/** @param {DeviceSession} device @param {Uint8Array} message @returns {Promise<Notice>} */
async function read(device, message) {
    if (!device.facts) {
        // Removed here while the hub was unreachable.
        await (await worker.registration.pushManager.getSubscription())?.unsubscribe();
        return {
            ...unknownNotice, title: "This device is no longer paired",
            body: "Pair it again to receive notifications.",
        };
    }
    if (await isTest(device, message)) return testNotice;
    const opened = await openPush(device, message);
    const clocks = await device.store.fact("clocks", {});
    const notice = noticeOf(opened, (computer) => clockOf(clocks, computer, systemTime.now()));
    const kinds = await device.store.fact(factNames.kinds, /** @type {Record<string, boolean>} */ ({}));
    if (notice.reminder) return wantedReminder(notice.reminder, kinds);
    return { ...notice, quiet: notice.quiet || !isKindOn(kinds, notice.kind) };
}

/**
 * Only on its day, whenever it is delivered, and of the kinds that are on.
 * @param {import("../../formats/reminder.js").Reminder} reminder
 * @param {Record<string, boolean>} kinds
 * @returns {Notice}
 */
function wantedReminder({ day, dates, memories }, kinds) {
    const wanted = { day, dates: isKindOn(kinds, "date") ? dates : 0, memories: memories && isKindOn(kinds, "memory") };
    const isToday = day === localDay(systemTime.now());
    return { ...reminderNotice(wanted), quiet: !isToday || (wanted.dates === 0 && !wanted.memories) };
}

/**
 * A test push contains a random word that this device stored; anything else is rejected.
 * @param {DeviceSession} device
 * @param {Uint8Array} message
 */
async function isTest(device, message) {
    const word = await device.store.fact(factNames.test, "");
    let test;
    try {
        ({ test } = JSON.parse(textOf(message)));
    } catch {
        return false;
    }
    if (word === "" || test !== word) return false;
    await device.store.write({ facts: { [factNames.test]: "" } });
    for (const client of await worker.clients.matchAll({ type: "window", includeUncontrolled: true })) {
        client.postMessage({ kind: "pushTest", word });
    }
    return true;
}

/** @param {Notice} notice @param {boolean} isSilent in quiet hours */
async function show(notice, isSilent) {
    const there = await shownNow();
    /** @param {(other: Notice) => boolean} matches */
    const shown = (matches) => there.find(({ data }) => data?.notice && matches(data.notice));
    if (notice.kind === "blocked") {
        // The same launch is pending: its notification is shown once more.
        const asking = shown((other) => other.answers && other.about === notice.about)?.data.notice;
        if (asking) return draw(asking, true, there);
    }
    if (notice.kind === "launch") shown((other) => other.kind === "blocked" && other.about === notice.about)?.close();
    const answered = notice.kind === "launch" && !notice.answers && shown(({ tag }) => tag === notice.tag);
    // Kinds that are turned off share one silent notification.
    if (notice.quiet && !answered) {
        return draw({
            ...unknownNotice, tag: "quiet", title: "AppLocker is up to date",
            body: "No new notification.", quiet: true,
        }, true, there);
    }
    const before = notice.reminder && shown(({ tag }) => tag === notice.tag)?.data.notice.reminder;
    await draw(before ? joined(notice, before) : notice, isSilent || notice.quiet, there);
}

/**
 * The reminder of another PIN on the same day hides none, and is not counted twice if it is delivered again.
 * @param {Notice} notice
 * @param {import("../../formats/reminder.js").Reminder} before
 * @returns {Notice}
 */
function joined(notice, before) {
    const { reminder } = notice;
    if (!reminder || reminder.day !== before.day) return notice;
    return reminderNotice({
        day: before.day, dates: Math.max(reminder.dates, before.dates), memories: reminder.memories || before.memories,
    });
}

const shownNow = () => worker.registration.getNotifications();

/** What the app looks like; unknown if that can't be read. */
async function appIdentity() {
    try {
        const store = await CompanionStore.open();
        try {
            return identityOf(await store.fact(factNames.identity, "applocker"));
        } finally {
            store.close();
        }
    } catch {
        return "unknown";
    }
}

/** By what the app looks like. */
const pictures = {
    applocker: { icon: "/icons/icon-192.png", badge: "/icons/badge-96.png" },
    calculator: { icon: "/icons/calculator-icon-192.png", badge: "/icons/calculator-badge-96.png" },
    notes: { icon: "/icons/notes-icon-192.png", badge: "/icons/notes-badge-96.png" },
    unknown: {},
};

/** @param {Notice} notice @param {boolean} isSilent @param {Notification[]} there those from before */
async function draw(notice, isSilent, there) {
    const identity = await appIdentity();
    const { title, body, answers: asks } = identity === "applocker" ? notice : disguised(notice, identity);
    await worker.registration.showNotification(title, {
        body, tag: notice.tag, silent: isSilent, renotify: !isSilent, requireInteraction: asks,
        ...pictures[identity], lang: "en", data: { notice }, actions: asks ? answers : [],
    });
    // Not queried again: Chromium reports a notification that it is still drawing as closed.
    await count(there.filter(({ tag }) => tag !== notice.tag), notice.quiet ? 0 : 1);
}

/**
 * The badge: how many are to be looked at.
 * @param {Notification[]} there
 * @param {number} more
 */
async function count(there, more) {
    const number = more + there.filter(({ data }) => data?.notice && !data.notice.quiet).length;
    const { navigator } = worker;
    // Neither a calculator nor a note pad has a badge.
    await (number > 0 && (await appIdentity()) === "applocker"
        ? navigator.setAppBadge?.(number)
        : navigator.clearAppBadge?.())?.catch(() => {});
}

/**
 * Opens the app where the notification leads. The answer is sent there, after unlocking: this worker has no signing
 * key.
 * @param {NotificationEvent} event
 */
export async function clicked({ notification, action }) {
    const { tag } = notification;
    notification.close();
    await count((await shownNow()).filter((other) => other.tag !== tag), 0);
    /** @type {Notice} */
    const notice = notification.data?.notice ?? unknownNotice;
    const answer = notice.answers && (action === "approve" || action === "deny") ? `?answer=${action}` : "";
    const address = `/#${notice.address}${answer}`;
    const windows = await worker.clients.matchAll({ type: "window", includeUncontrolled: true });
    const open = windows.find(({ focused }) => focused) ?? windows[0];
    if (!open) return void (await worker.clients.openWindow(address));
    await open.focus().catch(() => {});
    // Another address after the "#" does not reload: AppLocker stays unlocked.
    await open.navigate(address).catch(() => open.postMessage({ kind: "go", address }));
}

/** Called when the person opens AppLocker. */
export async function seen() {
    for (const notification of await worker.registration.getNotifications()) {
        if (!notification.data?.notice?.answers) notification.close();
    }
    await worker.navigator.clearAppBadge?.().catch(() => {});
}

/** The browser ended a subscription: renews it if the hub can be reached, otherwise at the next start. */
export async function resubscribe() {
    await withDevice(async (device) => {
        if (device.facts) await renewIfWanted(device, worker.registration);
    });
}

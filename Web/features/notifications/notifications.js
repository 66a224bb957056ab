// Notifications of a page: permission, subscription, kinds, and a test.
import { hex, randomBytes } from "../../crypto/bytes.js";
import { HubUnreachable } from "../../hub/errors.js";
import { CompanionError } from "../../household/errors.js";
import {
    factNames, isKindOn, noticeKinds, usualQuietHours, usualReminderTime,
} from "../../workers/notification-text.js";
import { changingSubscription, ended, keepSubscription, renewIfWanted, soon } from "../../workers/push-subscription.js";

/** @typedef {import("../../workers/notification-text.js").NoticeKind} NoticeKind */
/** @typedef {import("../../workers/notification-text.js").QuietHours} QuietHours */
/**
 * `install`: an iPhone or iPad, where the app has to be on the Home Screen. `unsupported`: this browser can't.
 * @typedef {"default" | "granted" | "denied" | "install" | "unsupported"} Permission
 */

/** @returns {Permission} */
export function permission() {
    if (/** @type {{ standalone?: boolean }} */ (navigator).standalone === false) return "install";
    if (typeof Notification === "undefined" || typeof PushManager === "undefined" || !navigator.serviceWorker) {
        return "unsupported";
    }
    return Notification.permission;
}

const registered = () => soon(
    navigator.serviceWorker.ready,
    "AppLocker is not installed on this device yet, which notifications require; reload and try again.");

/**
 * `here`: this browser has a subscription. `atHub`: the hub has it; null if the hub can't be reached.
 * @param {Companion} companion
 * @returns {Promise<{ permission: Permission, here: boolean, atHub: boolean | null }>}
 */
export async function notificationState({ device }) {
    const registration = await navigator.serviceWorker?.getRegistration("/").catch(() => undefined);
    const subscription = await registration?.pushManager?.getSubscription().catch(() => null);
    const atHub = await device.hub.devices().then(
        (devices) => devices.some(({ id, hasPush }) => id === device.paired.device && hasPush), () => null);
    return { permission: permission(), here: Boolean(subscription), atHub };
}

/**
 * The members of shared vaults that push to this device; loaded where there are some. Empty while it is locked.
 * @param {Companion} companion
 * @param {boolean} isWanted
 */
async function noticedHubs(companion, isWanted) {
    const vaults = await companion.vaults.list().catch(() => []);
    if (vaults.length === 0) return [];
    return import("./vault-notices.js").then((notices) => notices.noticedHubs(companion, isWanted)).catch(() => []);
}

/**
 * Call it from a tap: browsers ask the person only then. Throws CompanionError `noNotifications`, `noPush`, HubError,
 * HubUnreachable.
 * @param {Companion} companion
 */
export async function subscribe(companion) {
    const refused = /** @type {Record<string, string>} */ ({
        install: "Put AppLocker on the Home Screen first: Share, then “Add to Home Screen”.",
        unsupported: "This browser does not support notifications of web apps.",
        denied: "Notifications are turned off for AppLocker in this device’s settings.",
        default: "Notifications were not allowed.",
    });
    let found = permission();
    if (found === "default") found = await Notification.requestPermission();
    if (found !== "granted") throw new CompanionError("noNotifications", refused[found]);
    const { device } = companion;
    const registration = await registered();
    await changingSubscription(async () => {
        await keepSubscription(device, registration, () => noticedHubs(companion, true));
        await companion.settings.set(factNames.wanted, true);
    });
    companion.reportNotifications(null);
}

/**
 * First on this device, so that nothing is shown even if the hub fails. Throws HubError, HubUnreachable.
 * @param {Companion} companion
 */
export async function unsubscribe(companion) {
    await companion.settings.set(factNames.wanted, false);
    companion.reportNotifications(null);
    const registration = await navigator.serviceWorker?.getRegistration("/");
    const end = async () => {
        const subscription = await registration?.pushManager?.getSubscription();
        if (subscription) await ended(subscription);
    };
    await end();
    // Once more after a change that had begun before.
    await changingSubscription(async () => {
        await companion.settings.set(factNames.wanted, false);
        await end();
        await noticedHubs(companion, false);
        await companion.device.hub.removePush();
    });
}

/**
 * Whether a person turned them on, on this device.
 * @param {Companion} companion
 */
export const areNotificationsOn = ({ settings }) => settings.get(factNames.wanted, false);

/** For an erased device: ends its subscription and closes its notifications. */
export async function forgetNotifications() {
    const registration = await navigator.serviceWorker?.getRegistration("/");
    for (const notification of (await registration?.getNotifications?.()) ?? []) notification.close();
    await navigator.clearAppBadge?.();
    await (await registration?.pushManager?.getSubscription())?.unsubscribe();
}

/**
 * Browsers end subscriptions without notice: called at each start, and when the app returns to the front.
 * @param {Companion} companion
 * @returns {Promise<string | null>} why notifications don't come although they are wanted; one sentence
 */
export async function renewSubscription(companion) {
    const { device, settings } = companion;
    if (!device.facts) return null;
    if (!(await settings.get(factNames.wanted, false))) {
        // Another session turned them off.
        await changingSubscription(() => noticedHubs(companion, false));
        return null;
    }
    if (permission() !== "granted") return "Notifications were turned off for AppLocker in this device’s settings.";
    try {
        await renewIfWanted(device, await registered(), () => noticedHubs(companion, true));
        return null;
    } catch (error) {
        // Notifications arrive without this device's connection to the hub, which is shown elsewhere.
        return error instanceof HubUnreachable ? null : /** @type {Error} */ (error).message;
    }
}

// Which kinds

/** @param {Companion} companion @returns {Promise<Record<NoticeKind, boolean>>} */
export async function wantedKinds({ settings }) {
    const kept = await settings.get(factNames.kinds, /** @type {Record<string, boolean>} */ ({}));
    return /** @type {Record<NoticeKind, boolean>} */ (Object.fromEntries(
        noticeKinds.map((kind) => [kind, isKindOn(kept, kind)])));
}

/**
 * Unwanted kinds are still shown as one silent notification: browsers end a subscription whose pushes show nothing.
 * @param {Companion} companion
 * @param {Partial<Record<NoticeKind, boolean>>} change
 */
export async function setWantedKinds(companion, change) {
    await companion.settings.set(factNames.kinds, { ...(await wantedKinds(companion)), ...change });
    companion.reportNotifications(companion.notificationProblem);
}

/**
 * When reminders are shown, "HH:MM".
 * @param {Companion} companion
 * @returns {Promise<string>}
 */
export const reminderTime = ({ settings }) => settings.get(factNames.reminderTime, usualReminderTime);

/** @param {Companion} companion @param {string} time "HH:MM" */
export async function setReminderTime(companion, time) {
    await companion.settings.set(factNames.reminderTime, time);
    companion.reportNotifications(companion.notificationProblem);
}

/** Safari shows no buttons in a notification. */
export const offersAnswers = () => typeof Notification !== "undefined"
    && (/** @type {{ maxActions?: number }} */ (Notification).maxActions ?? 0) > 0;

/** @param {Companion} companion @returns {Promise<QuietHours>} */
export const quietHours = ({ settings }) => settings.get(factNames.quietHours, usualQuietHours);

/** @param {Companion} companion @param {Partial<QuietHours>} change */
export async function setQuietHours(companion, change) {
    await companion.settings.set(factNames.quietHours, { ...(await quietHours(companion)), ...change });
}

// Whether they arrive

/**
 * When this device last showed a notification, in milliseconds since 1970; 0: never.
 * @param {Companion} companion
 * @returns {Promise<number>}
 */
export const lastShown = ({ settings }) => settings.get(factNames.lastShown, 0);

/**
 * Sends a push to this device through hub, push service and worker. Throws CompanionError `noPush`, HubError,
 * HubUnreachable.
 * @param {Companion} companion
 * @param {number} [milliseconds] how long it may take
 * @returns {Promise<"arrived" | "notYet" | "noSubscription">} `notYet`: the hub sent it; nothing arrived.
 *   `noSubscription`: the hub has none for this device
 */
export async function testPush({ device, settings }, milliseconds = 15_000) {
    const word = hex(randomBytes(16));
    await settings.set(factNames.test, word);
    /** @type {() => void} */
    let end = () => {};
    const arrived = new Promise((resolve) => {
        /** @param {MessageEvent} event */
        const receive = (event) => {
            if (event.data?.kind === "pushTest" && event.data.word === word) resolve("arrived");
        };
        navigator.serviceWorker.addEventListener("message", receive);
        const timer = setTimeout(() => resolve("notYet"), milliseconds);
        end = () => {
            navigator.serviceWorker.removeEventListener("message", receive);
            clearTimeout(timer);
        };
    });
    try {
        const sent = await device.hub.push({
            content: { test: word }, urgency: "high", ttl: 60, devices: [device.paired.device],
        });
        return sent === 0 ? "noSubscription" : /** @type {"arrived" | "notYet"} */ (await arrived);
    } finally {
        end();
    }
}

// What was seen

/** Clears the badge and all notifications but those of pending launches. */
export async function seen() {
    const registration = await navigator.serviceWorker?.getRegistration("/");
    registration?.active?.postMessage({ kind: "seen" });
}

// Notifications in pages: marks them as seen, opens the tapped one, and keeps them coming.
import { areNotificationsOn, renewSubscription, seen } from "../features/notifications/notifications.js";
import { followArrivals } from "../features/notifications/signals.js";

/** @param {Companion} companion */
export function followNotifications(companion) {
    const look = () => {
        if (!document.hidden && companion.state === "unlocked") seen().catch(() => {});
    };
    companion.addEventListener("state", look);
    /** @type {object | null} */
    let session = null;
    companion.addEventListener("state", () => {
        const now = companion.state === "unlocked" ? companion.unlockedSession : null;
        // Shared vaults can be asked for pushes only while they are open.
        if (now && now !== session) renew();
        session = now;
    });
    companion.vaults.addEventListener("unlocked", () => renew());
    document.addEventListener("visibilitychange", look);
    let isRenewing = false;
    let isWantedAgain = false;
    const renew = async () => {
        isWantedAgain = isRenewing;
        if (document.hidden || isRenewing) return;
        isRenewing = true;
        await renewSubscription(companion).then((problem) => companion.reportNotifications(problem)).catch(() => {});
        isRenewing = false;
        // What it is called may have changed meanwhile.
        if (isWantedAgain) renew();
    };
    document.addEventListener("visibilitychange", renew);
    companion.addEventListener("identity", renew);
    /** @type {Promise<() => Promise<void>> | null} */
    let reminders = null;
    const remind = async () => {
        if (companion.state !== "unlocked" || (!reminders && !(await areNotificationsOn(companion)))) return;
        reminders ??= import("../features/notifications/reminders.js")
            .then(({ followReminders }) => followReminders(companion));
        await (await reminders)();
    };
    // Also after each renewal: the subscription exists, and another day may have begun.
    companion.addEventListener("notifications", () => {
        remind().catch(() => (reminders = null));
    });
    navigator.serviceWorker?.addEventListener("message", ({ data }) => {
        if (data?.kind === "go" && typeof data.address === "string" && data.address.startsWith("/#/")) {
            location.hash = data.address.slice(1);
        }
    });
    followArrivals(companion);
    renew();
}

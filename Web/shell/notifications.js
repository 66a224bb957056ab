// Notifications in pages: marks them as seen, and opens the tapped one.
import { resubscribeAtStart, seen } from "../features/notifications/notifications.js";
import { followArrivals } from "../features/notifications/signals.js";

/** @param {Companion} companion */
export function followNotifications(companion) {
    const look = () => {
        if (!document.hidden && companion.state === "unlocked") seen().catch(() => {});
    };
    companion.addEventListener("state", look);
    document.addEventListener("visibilitychange", look);
    navigator.serviceWorker?.addEventListener("message", ({ data }) => {
        if (data?.kind === "go" && typeof data.address === "string" && data.address.startsWith("/#/")) {
            location.hash = data.address.slice(1);
        }
    });
    followArrivals(companion);
    resubscribeAtStart(companion).catch(() => {});
}

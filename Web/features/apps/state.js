// Whether an app is locked, in words.
import { element } from "../../ui/element.js";
import { badge } from "../../ui/parts.js";
import { timeOfDay } from "../../ui/words.js";

/** @typedef {import("../../formats/record-bodies.js").RemoteApp} RemoteApp */

/**
 * A computer reports the end of a grant in minutes, so nothing finer is shown.
 * @param {RemoteApp} app
 */
export function stateWords({ state, opensUntil }) {
    switch (state) {
        case "locked": return "Locked";
        case "unlocked": return opensUntil
            ? `Unlocked until ${timeOfDay(opensUntil / 1000)}`
            : "Unlocked until it is locked";
        case "outside_schedule": return "Unlocked by its schedule";
        case "monitoring_off": return "Unlocked: monitoring is off";
        default: return "Unknown state";
    }
}

/** @param {RemoteApp} app @param {number} now milliseconds since 1970 */
export function stateBadge({ state, opensUntil }, now) {
    if (state === "locked") return badge("Locked", "good");
    if (state === "unlocked" && opensUntil) {
        return element("span", { class: "badge badge-warning numbers", "data-until": opensUntil },
            left(opensUntil, now));
    }
    return badge("Unlocked", state === "monitoring_off" ? "danger" : "warning");
}

/** @param {number} until @param {number} now */
function left(until, now) {
    const minutes = Math.ceil((until - now) / 60_000);
    return minutes > 0 ? `${minutes} min left` : "Under 1 min left";
}

/**
 * Updates countdowns each second.
 * @param {Element} place
 * @param {number} now milliseconds since 1970
 */
export function tickStates(place, now) {
    for (const node of place.querySelectorAll("[data-until]")) {
        const words = left(Number(/** @type {HTMLElement} */ (node).dataset.until), now);
        if (node.textContent !== words) node.textContent = words;
    }
}

// For how long a person may open something, and the words for it.

/**
 * What a person may choose for how long something opens.
 * @typedef {{ label: string, value: import("../household/commands.js").Grant }} GrantChoice
 */

/** @param {number} seconds @returns {import("../household/commands.js").Grant} */
const lasting = (seconds) => ({ kind: "duration", seconds });

/** @type {GrantChoice[]} */
export const launchGrants = [
    { label: "This launch only", value: { kind: "this_launch" } },
    { label: "5 minutes", value: lasting(300) },
    { label: "15 minutes", value: lasting(900) },
    { label: "1 hour", value: lasting(3600) },
    { label: "Until locked", value: { kind: "until_locked" } },
];

/** @type {GrantChoice[]} */
export const appGrants = [
    { label: "30 seconds", value: lasting(30) },
    { label: "5 minutes", value: lasting(300) },
    { label: "15 minutes", value: lasting(900) },
    { label: "30 minutes", value: lasting(1800) },
    { label: "1 hour", value: lasting(3600) },
    { label: "Until locked", value: { kind: "until_locked" } },
];

/**
 * "for 5 minutes", "until it is locked".
 * @param {import("../household/commands.js").Grant} grant
 */
export function grantWords({ kind, seconds }) {
    if (kind === "this_launch") return "for this launch only";
    if (kind === "until_locked") return "until it is locked";
    return seconds ? `for ${secondsWords(seconds)}` : "for the default time";
}

/**
 * "30 seconds", "5 minutes", "1 hour".
 * @param {number} seconds
 */
export function secondsWords(seconds) {
    const [count, unit] = seconds < 60 ? [seconds, "second"]
        : seconds < 3600 || seconds % 3600 ? [Math.round(seconds / 60), "minute"] : [seconds / 3600, "hour"];
    return `${count} ${unit}${count === 1 ? "" : "s"}`;
}

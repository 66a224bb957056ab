// Durations of grants, and their words.

/** @typedef {{ label: string, value: import("../household/commands.js").Grant }} GrantChoice */

/** @param {number} seconds @returns {GrantChoice} */
const lasting = (seconds) => ({ label: secondsWords(seconds), value: { kind: "duration", seconds } });

/** @type {GrantChoice} */
const untilLocked = { label: "Until locked", value: { kind: "until_locked" } };

/** @type {GrantChoice[]} */
export const launchGrants = [
    { label: "This launch only", value: { kind: "this_launch" } }, ...[300, 900, 3600].map(lasting), untilLocked,
];
export const appGrants = [...[30, 300, 900, 1800, 3600].map(lasting), untilLocked];

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

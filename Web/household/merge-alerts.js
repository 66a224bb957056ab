// Merges alerts: an app that retries at once is shown once, with a count.

/** @typedef {import("./household.js").Alert} Alert */
/**
 * The first of them, with the keys of all.
 * @typedef {Alert & { keys: string[], lastTime: number }} MergedAlert
 */

/** Milliseconds. */
const together = 5000;

/**
 * Newest first. Merges alerts of one kind, app and computer within 5 seconds of the first.
 * @param {Alert[]} alerts
 * @returns {MergedAlert[]}
 */
export function mergeAlerts(alerts) {
    const inOrder = [...alerts].sort((one, other) => one.time - other.time || one.sequence - other.sequence);
    /** @type {Map<string, MergedAlert>} */
    const latest = new Map();
    /** @type {MergedAlert[]} */
    const found = [];
    for (const alert of inOrder) {
        const about = `${alert.kind}\n${alert.computer}\n${alert.app}`;
        // Photos are not merged.
        const before = alert.app && !alert.photo ? latest.get(about) : undefined;
        if (before && alert.time - before.time < together) {
            before.keys.push(alert.key);
            before.lastTime = alert.time;
            continue;
        }
        const one = { ...alert, keys: [alert.key], lastTime: alert.time };
        latest.set(about, one);
        found.push(one);
    }
    return found.reverse();
}

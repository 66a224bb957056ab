// Says what another device of the vault wants said, as soon as this one is open.
import { timeOfDay, dayName } from "../views/words.js";
import { deviceNames, kindOf } from "./audit-words.js";

/** @typedef {import("../core/companion.js").Companion} Companion */

const shownFor = 15_000;

/**
 * @param {Companion} companion
 * @param {(sentence: string, options: { milliseconds: number }) => void} tell
 */
export function followAudit(companion, tell) {
    const look = async () => {
        if (companion.state !== "unlocked") return;
        const lines = await companion.audit.takeAlerts();
        if (lines.length === 0) return;
        const name = await deviceNames(companion);
        if (companion.state !== "unlocked") return;
        const [{ device, at }] = lines;
        const more = lines.length > 1 ? ` And ${lines.length - 1} more, in “What was done”.` : "";
        tell(`${kindOf(lines[0]).words}: ${name(device)}, ${dayName(at)}, ${timeOfDay(at)}.${more}`, { milliseconds: shownFor });
    };
    companion.addEventListener("state", () => void look().catch(() => {}));
    companion.addEventListener("changed", (event) => {
        const keys = /** @type {CustomEvent<string[]>} */ (event).detail;
        if (keys.some((key) => key.startsWith("audit/"))) look().catch(() => {});
    });
}

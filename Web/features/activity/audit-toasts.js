// Shows the audit entries that another device of the vault marked as alerts, as soon as this one is unlocked.
import { timeOfDay, dayName } from "../../ui/words.js";
import { deviceNames, kindOf } from "./words.js";

const shownFor = 15_000;

/** @param {Companion} companion @param {(sentence: string, options: { milliseconds: number }) => void} toast */
export function followAudit(companion, toast) {
    const look = async () => {
        if (companion.state !== "unlocked") return;
        const lines = await companion.audit.newAlerts();
        if (lines.length === 0) return;
        const name = await deviceNames(companion);
        if (companion.state !== "unlocked") return;
        const [{ device, at }] = lines;
        const more = lines.length > 1 ? ` And ${lines.length - 1} more, in “Activity”.` : "";
        toast(`${kindOf(lines[0]).words}: ${name(device)}, ${dayName(at)}, ${timeOfDay(at)}.${more}`,
            { milliseconds: shownFor });
    };
    companion.addEventListener("state", () => void look().catch(() => {}));
    companion.addEventListener("changed", (event) => {
        const keys = /** @type {CustomEvent<string[]>} */ (event).detail;
        if (keys.some((key) => key.startsWith("audit/"))) look().catch(() => {});
    });
}

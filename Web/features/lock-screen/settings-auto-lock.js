// The settings of auto-lock: how long a hidden companion stays unlocked.
import { AutoLock, lockAfterChoices } from "./auto-lock.js";
import { element } from "../../ui/element.js";
import { radioRow, section } from "../../ui/parts.js";
import { sentenceOf } from "../../ui/words.js";

const labels = ["Immediately", "After 1 minute", "After 5 minutes"];

/** @type {SettingsPage} */
export async function autoLock({ companion, signal, toast }) {
    const watch = new AutoLock(companion, document);
    signal.addEventListener("abort", () => watch.end(), { once: true });
    await watch.ready;
    const choice = (/** @type {number} */ seconds, /** @type {number} */ index) =>
        radioRow({
            title: labels[index], name: "autolock", checked: watch.seconds === seconds,
            choose: () => watch.set(seconds).catch((error) => toast(sentenceOf(error))),
        });
    return {
        title: "Auto-lock",
        body: [section("Lock when AppLocker is hidden", [
            element("div",
                { class: "card rows", role: "radiogroup", "aria-label": "Lock when AppLocker is hidden" },
                ...lockAfterChoices.map(choice))],
            { foot: "The content is always covered immediately, and AppLocker always starts locked." })],
    };
}

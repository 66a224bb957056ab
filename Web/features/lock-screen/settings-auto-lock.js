// The settings of auto-lock: how long a hidden companion, and a visible one that nobody touches, stays unlocked.
import { AutoLock, lockAfterChoices } from "./auto-lock.js";
import { IdleLock, idleChoices } from "./idle-lock.js";
import { element } from "../../ui/element.js";
import { radioRow, section } from "../../ui/parts.js";
import { sentenceOf } from "../../ui/words.js";

const hiddenLabels = ["Immediately", "After 1 minute", "After 5 minutes"];
const idleLabels = ["1 minute", "5 minutes", "15 minutes", "Never"];

/** @param {Companion} companion */
export async function autoLockWords(companion) {
    const watch = new AutoLock(companion, document);
    await watch.ready;
    watch.end();
    return hiddenLabels[lockAfterChoices.indexOf(watch.seconds)].replace("After ", "");
}

/** @type {SettingsPage} */
export async function autoLock({ companion, signal, toast }) {
    const [hidden, idle] = [new AutoLock(companion, document), new IdleLock(companion, document)];
    for (const watch of [hidden, idle]) signal.addEventListener("abort", () => watch.end(), { once: true });
    await Promise.all([hidden.ready, idle.ready]);
    /**
     * @param {string} title @param {string} foot @param {AutoLock | IdleLock} watch
     * @param {readonly number[]} choices @param {string[]} labels
     */
    const group = (title, foot, watch, choices, labels) =>
        section(title, [element("div", { class: "card rows", role: "radiogroup", "aria-label": title },
            ...choices.map((seconds, index) => radioRow({
                title: labels[index], name: title, checked: watch.seconds === seconds,
                choose: () => watch.set(seconds).catch((error) => toast(sentenceOf(error))),
            })))], { foot });
    return {
        title: "Auto-lock",
        body: [
            group("Lock when AppLocker is hidden",
                "The content is always covered immediately, and AppLocker always starts locked.",
                hidden, lockAfterChoices, hiddenLabels),
            group("Lock when it is idle", "Keys, scrolling, playing media, and a running import or export count "
                + "as a touch.", idle, idleChoices, idleLabels),
        ],
    };
}

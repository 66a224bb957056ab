// The settings of auto-lock: how long a hidden companion, and a visible one without input, stays unlocked.
import { hiddenLock } from "./auto-lock.js";
import { idleLock } from "./idle-lock.js";
import { LockSetting } from "./lock-setting.js";
import { element } from "../../ui/element.js";
import { radioRow, section } from "../../ui/parts.js";
import { sentenceOf } from "../../ui/words.js";

const hiddenLabels = ["Immediately", "After 1 minute", "After 5 minutes"];
const idleLabels = ["1 minute", "5 minutes", "15 minutes", "Never"];

/** @param {Companion} companion */
export async function autoLockWords(companion) {
    const setting = new LockSetting(companion, hiddenLock);
    await setting.read();
    return hiddenLabels[hiddenLock.choices.indexOf(setting.seconds)].replace("After ", "");
}

/** @type {SettingsPage} */
export async function autoLock({ companion, toast }) {
    /**
     * @param {string} title @param {string} foot @param {import("./lock-setting.js").LockChoice} choice
     * @param {string[]} labels
     */
    const group = async (title, foot, choice, labels) => {
        const setting = new LockSetting(companion, choice);
        await setting.read();
        return section(title, [element("div", { class: "card rows", role: "radiogroup", "aria-label": title },
            ...choice.choices.map((seconds, index) => radioRow({
                title: labels[index], name: title, checked: setting.seconds === seconds,
                choose: () => setting.set(seconds).catch((error) => toast(sentenceOf(error))),
            })))], { foot });
    };
    return {
        title: "Auto-lock",
        body: [
            await group("Lock when AppLocker is hidden",
                "The content is always covered immediately, and AppLocker always starts locked.",
                hiddenLock, hiddenLabels),
            await group("Lock when it is idle", "Keys, scrolling, playing media, and a running import or export count "
                + "as a touch.", idleLock, idleLabels),
        ],
    };
}

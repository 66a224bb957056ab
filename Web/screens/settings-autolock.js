// How long a companion that nobody looks at stays open.
import { AutoLock, lockAfterChoices } from "../core/autolock.js";
import { element } from "../views/element.js";
import { section } from "../views/parts.js";
import { sentenceOf } from "../views/words.js";

const labels = ["At once", "After 1 minute", "After 5 minutes"];

/** @type {import("./settings.js").SettingsPage} */
export async function autoLock({ companion, signal, tell }) {
    const watch = new AutoLock(companion, document);
    signal.addEventListener("abort", () => watch.end(), { once: true });
    await watch.ready;
    const choice = (/** @type {number} */ seconds, /** @type {number} */ index) => element("label", { class: "row settings-choice" },
        element("span", { class: "row-text" }, element("span", { class: "row-title" }, labels[index])),
        element("input", {
            type: "radio", name: "autolock", class: "settings-radio", checked: watch.seconds === seconds,
            onchange: async () => {
                try {
                    await watch.set(seconds);
                    // This page's own watch hears of it as the other tabs do.
                    companion.device.tell("state");
                } catch (error) {
                    tell(sentenceOf(error));
                }
            },
        }));
    return {
        title: "Auto-lock",
        body: [section("Lock when AppLocker is out of sight", [
            element("div", { class: "card rows", role: "radiogroup", "aria-label": "Lock when AppLocker is out of sight" },
                ...lockAfterChoices.map(choice))],
            { foot: "What is shown is covered at once in any case. Starting AppLocker anew always asks." })],
    };
}

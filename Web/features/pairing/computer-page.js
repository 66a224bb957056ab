// A device that is paired with a computer, before it has a link.
import { backButton, entryPage, replacePage } from "../../ui/entry-page.js";
import { stepRows } from "../../ui/parts.js";
import { linkInput } from "./link-input.js";

/**
 * How to get a link from a computer, and the field for it.
 * @param {AbortSignal} signal
 * @param {() => HTMLElement} back
 * @param {string} [title]
 * @param {string} [text]
 */
export function computerPage(signal, back, title = "Connect to your computer", text = "") {
    const page = entryPage(title, text,
        stepRows([
            ["computer", "On your computer, open AppLocker and choose Devices, or run “applocker pair”."],
            ["phone", "Scan the code that it shows with this device’s camera."],
            ["check", "Compare three words, confirm at the computer, then choose a PIN here."],
        ]),
        linkInput(signal), backButton(() => replacePage(page, back())));
    return page;
}

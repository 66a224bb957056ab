// A sheet that asks for a PIN.
import { element } from "./element.js";
import { button } from "./parts.js";
import { PINEntry } from "./pin-entry.js";
import { sheet } from "./sheet.js";
import { sentenceOf } from "./words.js";

/** @typedef {import("./sheet.js").Question} Question */

/**
 * @param {Question} question
 * @param {AbortSignal} signal
 * @param {(pin: string) => Promise<void>} submit throws if the PIN is refused
 * @param {(entry: PINEntry, end: (answer: boolean) => void) => import("./element.js").Child[]} [around] what is shown
 *   with the entry
 * @returns {Promise<boolean>} whether it was right
 */
export async function pinSheet({ title, text, action }, signal, submit, around = ({ element: keypad }) => [keypad]) {
    const answer = await sheet(title, signal, (/** @type {(answer: boolean) => void} */ end, closed) => {
        const entry = new PINEntry({
            go: action, signal: closed, explain: sentenceOf,
            submit: async (pin) => {
                await submit(pin);
                end(true);
            },
        });
        return [
            text && element("p", { class: "soft", dir: "auto" }, text), ...around(entry, end),
            button("Cancel", () => end(false), { kind: "plain", wide: true }),
        ];
    });
    return answer === true;
}

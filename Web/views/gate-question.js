// The gate once more, for what matters: the PIN or the passkey really opens, and what it opened is dropped.
import { askPasskey, isAvailable } from "../core/passkey.js";
import { element } from "./element.js";
import { passkeyComesFirst } from "./gate-order.js";
import { button } from "./parts.js";
import { PINEntry } from "./pin-entry.js";
import { sheet } from "./sheet.js";
import { sentenceOf } from "./words.js";

/** @typedef {import("../core/companion.js").Companion} Companion */
/** @typedef {import("./sheet.js").Question} Question */

/**
 * True where the person showed that they may.
 * @param {Companion} companion
 * @param {Question} question
 * @param {AbortSignal} signal
 * @returns {Promise<boolean>}
 */
export async function confirmWithGate(companion, { title, text, action }, signal) {
    const passkey = (await isAvailable()) ? await companion.passkey() : null;
    const isFirst = await passkeyComesFirst(companion);
    const ended = new AbortController();
    signal.addEventListener("abort", () => ended.abort(), { once: true });
    const answer = await sheet(title, signal, (/** @type {(answer: boolean) => void} */ end) => {
        const entry = new PINEntry({
            go: action, signal: ended.signal, explain: sentenceOf,
            submit: async (pin) => {
                await companion.confirmWithPIN(pin);
                end(true);
            },
        });
        const withPasskey = async () => {
            try {
                if (!passkey) return;
                await companion.confirmWithPasskey(await askPasskey(passkey));
                end(true);
            } catch (error) {
                entry.say(sentenceOf(error));
            }
        };
        const other = passkey && button(`${action} with Face ID or fingerprint`, withPasskey, { kind: isFirst ? "primary" : "", wide: true, icon: "face" });
        return [
            text && element("p", { class: "soft", dir: "auto" }, text),
            isFirst && other, entry.element, !isFirst && other,
            button("Cancel", () => end(false), { kind: "plain", wide: true }),
        ];
    });
    ended.abort();
    return answer === true;
}

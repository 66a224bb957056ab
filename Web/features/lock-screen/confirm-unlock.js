// Asks for the PIN or the passkey before important actions: it unwraps the keys and drops them.
import { askPasskey, isAvailable } from "../../household/passkey.js";
import { explainRefusal, pinIsOffline } from "./explain-refusal.js";
import { passkeyComesFirst } from "./unlock-order.js";
import { button } from "../../ui/parts.js";
import { pinSheet } from "../../ui/pin-sheet.js";
import { sentenceOf } from "../../ui/words.js";

/** @typedef {import("../../ui/sheet.js").Question} Question */

/** @param {Companion} companion @param {Question} question @param {AbortSignal} signal @returns {Promise<boolean>} */
export async function confirmUnlock(companion, { title, text, action }, signal) {
    const passkey = (await isAvailable()) ? await companion.passkey() : null;
    const isFirst = await passkeyComesFirst(companion);
    const submit = async (/** @type {string} */ pin) => {
        await companion.confirmWithPIN(pin).catch(async (error) => {
            throw await explainRefusal(companion, error);
        });
    };
    return pinSheet({ title, text, action }, signal, submit, (entry, end) => {
        if (companion.syncLoop.connection === "waiting") entry.showMessage(pinIsOffline);
        const withPasskey = async () => {
            try {
                if (!passkey) return;
                await companion.confirmWithPasskey(await askPasskey(passkey));
                end(true);
            } catch (error) {
                entry.showMessage(sentenceOf(error));
            }
        };
        const other = passkey && button(`${action} with Face ID or fingerprint`, withPasskey,
            { kind: isFirst ? "primary" : "", wide: true, icon: "face" });
        return [isFirst && other, entry.element, !isFirst && other];
    });
}

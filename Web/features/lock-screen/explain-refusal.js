// Why a PIN was refused, and what follows.
import { wrongPINSentence } from "../../ui/pin-entry.js";

/** The hub counts wrong PINs before it answers. */
export const pinIsOffline = "You’re offline. Your PIN works again once the hub is reachable.";

/**
 * Adds how many tries are left, and that a PIN needs the hub.
 * @param {Companion} companion
 * @param {unknown} error
 */
export async function explainRefusal(companion, error) {
    if (!(error instanceof Error)) return error;
    if (error.name === "HubUnreachable") error.message = pinIsOffline;
    if (/** @type {{ code?: string }} */ (error).code === "wrongPIN") {
        const state = await companion.pinState().catch(() => null);
        if (state) error.message = wrongPINSentence(state.failures, "this device has to be paired again");
    }
    return error;
}

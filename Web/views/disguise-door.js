// What stands before the app while it is to look harmless, and how its owner comes back.
import { askPasskey, isAvailable } from "../core/passkey.js";
import { checkPIN } from "../core/pin.js";
import { isPanic } from "./disguise.js";
import { calculatorPage } from "./disguise-calculator.js";

/** @typedef {import("../core/companion.js").Companion} Companion */

/**
 * What fails, fails in silence: whoever looks on sees a number that stays. The hub counts each try as any other.
 * @param {Companion} companion
 * @param {() => void} gate shows the gate itself
 * @param {AbortSignal} signal
 */
export function harmless(companion, gate, signal) {
    let isBusy = false;
    /** @param {() => Promise<void>} open */
    const alone = async (open) => {
        if (isBusy) return;
        isBusy = true;
        await open().catch(() => {});
        isBusy = false;
    };
    return calculatorPage({
        signal,
        offer: (digits) => alone(async () => {
            if (companion.state !== "locked") return;
            // What no PIN can be costs no try.
            checkPIN(digits);
            await companion.unlockWithPIN(digits);
        }),
        other: () => alone(async () => {
            // A panic hides for a while, and its owner may have a PIN with letters. What was lost needs to be said.
            if (isPanic() || companion.state === "lost" || companion.state === "revoked") return gate();
            const passkey = await companion.passkey();
            if (passkey && (await isAvailable())) await companion.unlockWithPasskey(await askPasskey(passkey));
        }),
    });
}

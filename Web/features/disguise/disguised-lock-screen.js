// What replaces the lock screen while the disguise is on, a calculator or a note pad, and how the owner unlocks it.
import { askPasskey, isAvailable } from "../../household/passkey.js";
import { checkPIN } from "../../household/pin-rules.js";
import { appIdentity, checkPINForIdentity, isPanic } from "../../ui/app-identity.js";
import { calculatorPage } from "./calculator-page.js";
import { notePadPage } from "./note-pad-page.js";

/**
 * `offer`: a number that is meant as the PIN. `other`: the calculator's display or the notes' title was held, or Shift
 * and Enter were pressed.
 * @typedef {{ offer: (digits: string) => void, other: () => void, signal: AbortSignal }} DisguiseWays
 */

/**
 * Failures are silent: the number stays. The hub counts each attempt.
 * @param {Companion} companion
 * @param {() => void} showLockScreen shows the lock screen
 * @param {AbortSignal} signal
 */
export function disguisedLockScreen(companion, showLockScreen, signal) {
    let isBusy = false;
    /** @param {() => Promise<void>} open */
    const alone = async (open) => {
        if (isBusy) return;
        isBusy = true;
        await open().catch(() => {});
        isBusy = false;
    };
    const identity = appIdentity();
    return (identity === "notes" ? notePadPage : calculatorPage)({
        signal,
        offer: (digits) => alone(async () => {
            if (companion.state !== "locked") return;
            // A number that can't be a PIN costs no attempt.
            checkPIN(digits);
            checkPINForIdentity(digits, identity);
            await companion.unlockWithPIN(digits);
        }),
        other: () => alone(async () => {
            // A panic is temporary, and its owner may have a PIN with letters. A loss of data has to be shown.
            if (isPanic() || companion.state === "lost" || companion.state === "revoked") return showLockScreen();
            const passkey = await companion.passkey();
            if (passkey && (await isAvailable())) await companion.unlockWithPasskey(await askPasskey(passkey));
        }),
    });
}

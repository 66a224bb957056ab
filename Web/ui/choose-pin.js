// Choosing a PIN: it is typed twice, and a short one is accepted only after its risk was shown.
import { checkPIN, shortPINRisk } from "../household/pin-rules.js";
import { checkPINForIdentity } from "./app-identity.js";
import { PINEntry } from "./pin-entry.js";
import { ask } from "./sheet.js";
import { sentenceOf } from "./words.js";

/**
 * Whether it is chosen. Throws CompanionError `weakPIN`.
 * @param {string} pin
 * @param {AbortSignal} signal
 * @param {{ loss?: string, check?: (pin: string) => void }} options `loss`: as of `shortPINRisk`; `check`: a rule of
 *   its own, by default of PINs that open AppLocker
 */
export async function isChosen(pin, signal, { loss, check = checkPINForIdentity } = {}) {
    checkPIN(pin);
    check(pin);
    const risk = shortPINRisk(pin, loss);
    return risk === null || ask({ title: `Use ${pin.length} digits?`, text: risk, action: "Use this PIN" }, signal);
}

/**
 * The entry of a new PIN.
 * @param {AbortSignal} signal
 * @param {{ isChosen: (pin: string) => Promise<boolean>, become: (step: "first" | "again") => void,
 *   done: (pin: string) => Promise<void> }} options `isChosen`: of the first time; `become`: the next step begins;
 *   `done`: it was typed twice
 */
export function newPINEntry(signal, { isChosen: isAccepted, become, done }) {
    let first = "";
    signal.addEventListener("abort", () => {
        first = "";
    }, { once: true });
    /** @type {PINEntry} */
    const entry = new PINEntry({
        go: "Continue", signal, explain: sentenceOf,
        submit: async (pin) => {
            if (first === "") {
                if (!(await isAccepted(pin))) return;
                first = pin;
                return become("again");
            }
            const isSame = first === pin;
            first = "";
            become("first");
            if (!isSame) return entry.showMessage("The two PINs differ; choose one again.");
            await done(pin);
        },
    });
    return entry;
}

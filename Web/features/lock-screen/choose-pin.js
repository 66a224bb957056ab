// A PIN as it is chosen: what is refused, and what is asked before a short one.
import { checkPIN, shortPINRisk } from "../../household/pin-rules.js";
import { checkPINForIdentity } from "../../ui/app-identity.js";
import { ask } from "../../ui/sheet.js";

/**
 * Whether it is chosen: a short one only after the risk was shown. Throws CompanionError `weakPIN`.
 * @param {string} pin
 * @param {AbortSignal} signal
 */
export async function isChosen(pin, signal) {
    checkPIN(pin);
    checkPINForIdentity(pin);
    const risk = shortPINRisk(pin);
    return risk === null || ask({ title: `Use ${pin.length} digits?`, text: risk, action: "Use this PIN" }, signal);
}

// Refuses PINs that are easy to guess.
import { CompanionError } from "./errors.js";

/** As many digits as the calculator accepts. */
export const mostDigits = 32;
/** Of letters and digits; a calculator takes no fewer. */
export const usualLength = 6;
/** Of digits alone, after `shortPINRisk` was shown. */
const leastDigits = 4;
/** Wrong PINs after which the hub destroys its share. docs/hub-protocol.md. */
const guesses = 10;
const common = new Set(["2580", "0852", "1122", "13579", "24680", "password", "passwort", "qwerty", "qwertz",
    "letmein", "iloveyou", "abcabc", "112233", "123123", "147258", "159753", "789456"]);

/** @param {string} pin */
function isRun(pin) {
    const codes = [...pin].map((character) => character.codePointAt(0) ?? 0);
    const steps = codes.slice(1).map((code, index) => code - codes[index]);
    return steps.every((step) => step === steps[0] && Math.abs(step) <= 1);
}

/** @param {string} pin */
const isRepeated = (pin) => /^(.{1,3})\1+$/u.test(pin);

/**
 * Years, and birthdays and wedding days in either order.
 * @param {string} pin
 */
function isDate(pin) {
    if (/^(19|20)\d\d$/.test(pin)) return true;
    const match = /^(\d\d)(\d\d)((?:19|20)?\d\d)$/.exec(pin) ?? /^((?:19|20)\d\d)(\d\d)(\d\d)$/.exec(pin);
    const [one, other] = (match?.slice(1) ?? []).filter((part) => part.length === 2).map(Number);
    return pin.length === 8 && match !== null && Math.min(one, other) >= 1
        && Math.min(one, other) <= 12 && Math.max(one, other) <= 31;
}

/**
 * Throws CompanionError `weakPIN`, whose message explains why.
 * @param {string} pin
 */
export function checkPIN(pin) {
    /** @param {string} sentence */
    const refuse = (sentence) => {
        throw new CompanionError("weakPIN", sentence);
    };
    if ([...pin].length < (/^\d+$/.test(pin) ? leastDigits : usualLength)) {
        refuse(`A PIN has at least ${leastDigits} digits; with letters, at least ${usualLength} characters.`);
    }
    if (isRun(pin)) refuse("Sequences of digits or letters are easy to guess; choose another PIN.");
    if (isRepeated(pin)) refuse("A repeating PIN is easy to guess; choose another one.");
    if (isDate(pin)) refuse("A date is easy to guess; choose another PIN.");
    if (common.has(pin.toLowerCase())) refuse("This PIN is very common; choose another one.");
}

/**
 * What somebody who guesses achieves with a PIN shorter than usual; null for others.
 * @param {string} pin one that `checkPIN` accepts
 * @param {string} [loss] after as many guesses
 */
export function shortPINRisk(pin, loss = "this device must be paired again") {
    if (pin.length >= usualLength) return null;
    const count = (/** @type {number} */ number) => number.toLocaleString("en");
    const all = 10 ** pin.length;
    return `Somebody can try ${guesses} of ${count(all)} PINs before ${loss}, a `
        + `chance of 1 in ${count(all / guesses)}; with ${usualLength} digits it is 1 in `
        + `${count(10 ** usualLength / guesses)}.`;
}

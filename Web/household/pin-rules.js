// Refuses PINs that are easy to guess.
import { CompanionError } from "./errors.js";

/** As many digits as the calculator accepts. */
export const mostDigits = 32;
const leastLength = 6;
const common = new Set(["password", "passwort",
    "qwerty", "qwertz", "letmein", "iloveyou", "abcabc", "112233", "123123", "147258", "159753", "789456"]);

/** @param {string} pin */
function isRun(pin) {
    const codes = [...pin].map((character) => character.codePointAt(0) ?? 0);
    const steps = codes.slice(1).map((code, index) => code - codes[index]);
    return steps.every((step) => step === steps[0] && Math.abs(step) <= 1);
}

/** @param {string} pin */
const isRepeated = (pin) => /^(.{1,3})\1+$/u.test(pin);

/**
 * Birthdays and wedding days, in either order.
 * @param {string} pin
 */
function isDate(pin) {
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
    if ([...pin].length < leastLength) refuse(`A PIN has at least ${leastLength} digits or letters.`);
    if (isRun(pin)) refuse("Sequences of digits or letters are easy to guess; choose another PIN.");
    if (isRepeated(pin)) refuse("A repeating PIN is easy to guess; choose another one.");
    if (isDate(pin)) refuse("A date is easy to guess; choose another PIN.");
    if (common.has(pin.toLowerCase())) refuse("This PIN is very common; choose another one.");
}

// The code of a recovery sheet: 20 bytes and a check, as people write them. docs/formats.md, "Recovery code".
import { fields } from "./bytes.js";
import { FormatError } from "./errors.js";
import { sha256 } from "./primitives.js";

/** Crockford's base 32. */
const digits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const length = 20;
const [secretDigits, checkDigits] = [32, 4];

/** @param {Uint8Array} bytes whose bits are a multiple of five, or are cut to one @param {number} count of digits */
function encoded(bytes, count) {
    const bits = Array.from(bytes, (byte) => byte.toString(2).padStart(8, "0")).join("");
    return Array.from({ length: count }, (_, index) => digits[parseInt(bits.slice(index * 5, index * 5 + 5), 2)])
        .join("");
}

/** @param {Uint8Array} secret */
const checkOf = async (secret) => encoded(await sha256(fields("applocker/1/recovery-check", secret)), checkDigits);

/**
 * Nine groups of four digits.
 * @param {Uint8Array} secret 20 bytes
 */
export async function codeGroups(secret) {
    return (encoded(secret, secretDigits) + (await checkOf(secret))).match(/.{4}/g) ?? [];
}

/**
 * Digits as they are meant: without regard to case, spaces and dashes.
 * @param {string} typed
 */
export const digitsOf = (typed) =>
    typed.replaceAll(/[\s-]/g, "").toUpperCase().replaceAll(/[IL]/g, "1").replaceAll("O", "0");

/**
 * The secret of a code that was typed. Throws FormatError `malformed`.
 * @param {string} typed
 * @returns {Promise<Uint8Array>}
 */
export async function readCode(typed) {
    const code = digitsOf(typed);
    const malformed = new FormatError("malformed", "This is not a recovery code; compare it with the sheet.");
    if (code.length !== secretDigits + checkDigits || [...code].some((digit) => !digits.includes(digit))) {
        throw malformed;
    }
    const bits = [...code.slice(0, secretDigits)].map((digit) => digits.indexOf(digit).toString(2).padStart(5, "0"))
        .join("");
    const secret = Uint8Array.from({ length }, (_, index) => parseInt(bits.slice(index * 8, index * 8 + 8), 2));
    if ((await checkOf(secret)) !== code.slice(secretDigits)) throw malformed;
    return secret;
}

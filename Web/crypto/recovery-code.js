// The code of a recovery sheet: 20 bytes and a check, as people write them. docs/formats.md, "Recovery code".
import { base32, isBase32, plainCode, unbase32 } from "./base32.js";
import { fields } from "./bytes.js";
import { FormatError } from "./errors.js";
import { sha256 } from "./primitives.js";

const length = 20;
const [secretDigits, checkDigits] = [32, 4];

/** @param {Uint8Array} secret */
const checkOf = async (secret) => base32(await sha256(fields("applocker/1/recovery-check", secret)), checkDigits);

/**
 * Nine groups of four digits.
 * @param {Uint8Array} secret 20 bytes
 */
export async function codeGroups(secret) {
    return (base32(secret, secretDigits) + (await checkOf(secret))).match(/.{4}/g) ?? [];
}

/**
 * The secret of a code that was typed. Throws FormatError `malformed`.
 * @param {string} typed
 * @returns {Promise<Uint8Array>}
 */
export async function readCode(typed) {
    const code = plainCode(typed);
    const malformed = new FormatError("malformed", "This is not a recovery code; compare it with the sheet.");
    if (code.length !== secretDigits + checkDigits || !isBase32(code)) throw malformed;
    const secret = unbase32(code.slice(0, secretDigits), length);
    if ((await checkOf(secret)) !== code.slice(secretDigits)) throw malformed;
    return secret;
}

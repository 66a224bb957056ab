// Crockford's base 32, in which recovery codes and pairing codes are written.

const digits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/**
 * The digits of a code in upper case, I and L as 1, O as 0, without what is between them.
 * @param {string} typed
 */
export const plainCode = (typed) =>
    typed.replace(/[\s-]/g, "").toUpperCase().replace(/[IL]/g, "1").replace(/O/g, "0");

/** @param {string} code of `plainCode` */
export const isBase32 = (code) => [...code].every((digit) => digits.includes(digit));

/**
 * @param {Uint8Array} bytes whose bits are a multiple of five, or are cut to one
 * @param {number} count of digits
 */
export function base32(bytes, count) {
    const bits = Array.from(bytes, (byte) => byte.toString(2).padStart(8, "0")).join("");
    return Array.from({ length: count }, (_, index) => digits[parseInt(bits.slice(index * 5, index * 5 + 5), 2)])
        .join("");
}

/**
 * @param {string} code of which `isBase32` is true
 * @param {number} length in bytes
 */
export function unbase32(code, length) {
    const bits = [...code].map((digit) => digits.indexOf(digit).toString(2).padStart(5, "0")).join("");
    return Uint8Array.from({ length }, (_, index) => parseInt(bits.slice(index * 8, index * 8 + 8), 2));
}

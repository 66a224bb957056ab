// Hides the size of small content: at least 256 bytes, above that Padmé (Nikitin and others, PETS 2019).
import { concat, u32, wipe } from "./bytes.js";
import { FormatError } from "./errors.js";

export const minimumPadded = 256;
export const maximumPadded = 16 * 1024 * 1024;

/** @param {number} count */
export function paddedLength(count) {
    const length = count + 4;
    if (length <= minimumPadded) return minimumPadded;
    const exponent = 31 - Math.clz32(length);
    const significant = 32 - Math.clz32(exponent);
    const unit = 2 ** (exponent - significant);
    return Math.ceil(length / unit) * unit;
}

/** @param {Uint8Array} body */
export function pad(body) {
    const length = paddedLength(body.length);
    if (length > maximumPadded) {
        throw new FormatError(
            "tooLarge", `This has ${body.length} bytes; a record has at most 16 MiB. Add it as a file instead.`);
    }
    return concat(u32(body.length), body, new Uint8Array(length - 4 - body.length));
}

/**
 * Null if the padding differs from what `pad` writes. Wipes its argument.
 * @param {Uint8Array} padded
 */
export function unpad(padded) {
    if (padded.length < minimumPadded) return null;
    const count = new DataView(padded.buffer, padded.byteOffset).getUint32(0);
    const isRight = count <= padded.length - 4 && paddedLength(count) === padded.length
        && padded.subarray(4 + count).every((byte) => byte === 0);
    const body = isRight ? padded.slice(4, 4 + count) : null;
    wipe(padded);
    return body;
}

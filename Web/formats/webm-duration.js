// What a browser records as WebM lacks its duration, so that players show none and can't seek: this adds it. Matroska,
// RFC 9559, sections 5.1.2 (Info) and 4.1; EBML, RFC 8794.
import { concat } from "../crypto/bytes.js";

const [fileID, segmentID, seekID, infoID] = [0x1a45dfa3, 0x18538067, 0x114d9b74, 0x1549a966];
const [scaleID, durationID] = [0x2ad7b1, 0x4489];
/** The information is in the first bytes. */
const mostRead = 1_024;
const usualScale = 1_000_000;

/**
 * An element's header, or null. `from`, `to`: of its content.
 * @param {Uint8Array} bytes
 * @param {number} at
 */
function header(bytes, at) {
    const idLength = Math.clz32(bytes[at] ?? 0) - 23;
    const sizeLength = Math.clz32(bytes[at + idLength] ?? 0) - 23;
    const from = at + idLength + sizeLength;
    if (idLength > 4 || sizeLength > 8 || from > bytes.length) return null;
    const number = (/** @type {Uint8Array} */ part) => part.reduce((value, byte) => value * 256 + byte, 0);
    // Without its first bit, with which 8 bytes would be rounded.
    const digits = bytes.slice(at + idLength, from);
    digits[0] &= 0xff >> sizeLength;
    const size = number(digits);
    return {
        id: number(bytes.subarray(at, at + idLength)), sizeAt: at + idLength, from, to: from + size,
        isUnknown: size >= 2 ** (7 * sizeLength) - 1,
    };
}

/**
 * The same file with its duration, or unchanged if it is no recording, or has one: a complete file has a known size and
 * an index, which would be wrong afterwards.
 * @param {Blob} file
 * @param {number} seconds
 * @returns {Promise<Blob>}
 */
export async function withDuration(file, seconds) {
    const start = new Uint8Array(await file.slice(0, mostRead).arrayBuffer());
    let info = null;
    // The header of the file, then the segment, whose content this reads.
    const first = header(start, 0);
    const segment = first?.id === fileID ? header(start, first.to) : null;
    if (segment?.id !== segmentID || !segment.isUnknown) return file;
    for (let at = segment.from; at < start.length && !info;) {
        const one = header(start, at);
        if (!one || one.to > start.length) break;
        if (one.id === seekID) return file;
        if (one.id === infoID) info = one;
        at = one.to;
    }
    if (!info) return file;
    let scale = usualScale;
    for (let at = info.from; at < info.to;) {
        const one = header(start, at);
        if (!one || one.to > info.to || one.id === durationID) return file;
        if (one.id === scaleID) scale = start.subarray(one.from, one.to).reduce((value, byte) => value * 256 + byte, 0);
        at = one.to;
    }
    if (scale === 0) return file;
    const value = new DataView(new ArrayBuffer(8));
    value.setFloat64(0, (seconds * 1e9) / scale);
    const content = concat(start.subarray(info.from, info.to), [0x44, 0x89, 0x88], new Uint8Array(value.buffer));
    // A size of 8 bytes.
    const size = new DataView(new ArrayBuffer(8));
    size.setUint32(0, 0x01000000);
    size.setUint32(4, content.length);
    return new Blob([start.subarray(0, info.sizeAt), new Uint8Array(size.buffer), content,
        file.slice(info.to)], { type: file.type });
}

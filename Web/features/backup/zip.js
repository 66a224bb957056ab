// Streams a ZIP without compression, because photos are already compressed. PKWARE APPNOTE 6.3.10, sections 4.3 to 4.5,
// without ZIP64.
import { concat, utf8 } from "../../crypto/bytes.js";

/** Limits of the format's fields of 4 and 2 bytes; more would need ZIP64. */
export const zipLimits = Object.freeze({ bytes: 0xffff_ffff, files: 0xffff });

/** @typedef {Iterable<Uint8Array> | AsyncIterable<Uint8Array>} Pieces */

const [localLength, centralLength, endLength] = [30, 46, 22];
const isUTF8 = 0x0800;
/** Small enough to drop no frame. */
const sliceLength = 1 << 20;

/** @param {number} value @param {number} count of bytes, the lowest first */
function little(value, count) {
    const bytes = new Uint8Array(count);
    for (let index = 0, rest = value; index < count; index += 1, rest = Math.floor(rest / 256)) {
        bytes[index] = rest % 256;
    }
    return bytes;
}

const table = Uint32Array.from({ length: 256 }, (_, index) => {
    let value = index;
    for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ 0xedb8_8320 : value >>> 1;
    return value;
});

/**
 * CRC-32 of ISO 3309.
 * @param {Uint8Array} bytes
 * @param {number} [before] of the bytes before
 */
export function crc32(bytes, before = 0) {
    let sum = ~before;
    for (let index = 0; index < bytes.length; index += 1) sum = table[(sum ^ bytes[index]) & 255] ^ (sum >>> 8);
    return ~sum >>> 0;
}

/** @param {Uint8Array} bytes @param {number} before */
async function crc32InSlices(bytes, before) {
    let sum = before;
    for (let start = 0; start < bytes.length; start += sliceLength) {
        sum = crc32(bytes.subarray(start, start + sliceLength), sum);
        if (start + sliceLength < bytes.length) await new Promise((done) => setTimeout(done));
    }
    return sum;
}

/**
 * MS-DOS date and time: from 1980 to 2107, every other second.
 * @param {string} local "2024-05-17T18:30:05", by the clocks there
 */
function dosTime(local) {
    const [year, month, day, hour, minute, second] = local.split(/\D/).map(Number);
    if (year < 1980) return concat(little(0, 2), little((1 << 5) | 1, 2));
    return concat(little((hour << 11) | (minute << 5) | (second >> 1), 2),
        little((Math.min(year - 1980, 127) << 9) | (month << 5) | day, 2));
}

/** @param {{ name: string, size: number }[]} files */
export const zipLength = (files) => files.reduce(
    (sum, { name, size }) => sum + localLength + centralLength + 2 * utf8(name).length + size, endLength);

const tooLarge = () => new RangeError("This does not fit into a ZIP.");

export class ZipWriter {
    #length = 0;
    /** @type {Uint8Array[]} */
    #central = [];

    /** @param {(part: Uint8Array | Blob) => unknown} write called in order; awaited */
    constructor(write) {
        this.write = write;
    }

    /** @param {Uint8Array | Blob} part */
    async #put(part) {
        this.#length += part instanceof Blob ? part.size : part.length;
        await this.write(part);
    }

    /**
     * Throws a RangeError beyond the format's limits, and what the pieces throw, before anything is written of it.
     * @param {string} name with "/" between folders; every name once
     * @param {Pieces} pieces
     * @param {string} local when it was last changed, "2024-05-17T18:30:05"
     */
    async add(name, pieces, local) {
        const path = utf8(name);
        // The checksum is before the content, which waits in blobs: the browser can keep them outside this page's
        // memory.
        /** @type {Blob[]} */
        const content = [];
        let [sum, length] = [0, 0];
        for await (const piece of pieces) {
            length += piece.length;
            if (this.#length + localLength + path.length + length > zipLimits.bytes) throw tooLarge();
            sum = await crc32InSlices(piece, sum);
            content.push(new Blob([piece]));
        }
        const after = this.#length + localLength + path.length + length;
        if (this.#central.length >= zipLimits.files || after > zipLimits.bytes || path.length > 0xffff) {
            throw tooLarge();
        }
        const start = this.#length;
        const size = little(length, 4);
        const shared = concat(
            little(20, 2), little(isUTF8, 2), little(0, 2), dosTime(local),
            little(sum, 4), size, size,
            little(path.length, 2), little(0, 2));
        await this.#put(concat([0x50, 0x4b, 3, 4], shared, path));
        for (const part of content) await this.#put(part);
        this.#central.push(concat([0x50, 0x4b, 1, 2], little(20, 2), shared, new Uint8Array(10),
            little(start, 4), path));
    }

    /** Writes the central directory; call it last. Throws as `add`. */
    async end() {
        const start = this.#length;
        const length = this.#central.reduce((sum, entry) => sum + entry.length, 0);
        if (start + length > zipLimits.bytes) throw tooLarge();
        for (const entry of this.#central) await this.#put(entry);
        const count = little(this.#central.length, 2);
        await this.#put(concat([0x50, 0x4b, 5, 6], new Uint8Array(4), count, count, little(length, 4), little(start, 4),
            little(0, 2)));
    }
}

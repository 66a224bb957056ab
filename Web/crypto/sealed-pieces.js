// Seals content that is larger than memory: read and sealed chunk by chunk, and passed on in pieces of one length.
import { randomBytes, randomID } from "./bytes.js";
import { FormatError } from "./errors.js";
import { SHA256 } from "./sha256.js";
import { ContentStream } from "./stream.js";

/**
 * `size`, `digest`: of the content, in bytes and SHA-256; `sealedSize`, `hash`: of its blob.
 * @typedef {{ size: number, key: Uint8Array, blob: string, sealedSize: number, hash: Uint8Array, digest: Uint8Array }}
 *   SealedBlob
 */

/**
 * Throws FormatError `malformed` if less is read than is announced, and what `read` and `put` throw.
 * @param {number} size of the content, in bytes; at least 1
 * @param {(start: number, end: number) => Promise<Uint8Array>} read a part of the content, which is wiped
 * @param {Uint8Array} name of `streamName`
 * @param {number} logarithm of the chunks' size
 * @param {{ length: number, put: (blob: string, index: number, piece: Uint8Array) => Promise<unknown> }} pieces
 *   `length` of each but the last one
 * @returns {Promise<SealedBlob>}
 */
export async function sealInPieces(size, read, name, logarithm, { length, put }) {
    const [key, blob] = [randomBytes(32), randomID()];
    const stream = await ContentStream.sealing(name, key, logarithm);
    const [digest, hash] = [new SHA256(), new SHA256()];
    let piece = new Uint8Array(length);
    let [used, index, sealedSize] = [0, 0, 0];
    const flush = async () => {
        const whole = piece.subarray(0, used);
        hash.update(whole);
        await put(blob, index, used === length ? whole : whole.slice());
        piece = new Uint8Array(length);
        [used, index] = [0, index + 1];
    };
    /** @param {Uint8Array} bytes */
    const add = async (bytes) => {
        sealedSize += bytes.length;
        for (let at = 0; at < bytes.length;) {
            const part = bytes.subarray(at, at + length - used);
            piece.set(part, used);
            [used, at] = [used + part.length, at + part.length];
            if (used === length) await flush();
        }
    };
    await add(stream.header);
    const count = Math.ceil(size / stream.chunkSize);
    for (let chunk = 0; chunk < count; chunk += 1) {
        const [start, end] = [chunk * stream.chunkSize, Math.min(size, (chunk + 1) * stream.chunkSize)];
        const plain = await read(start, end);
        if (plain.length !== end - start) throw new FormatError("malformed", "The file ends too early.");
        digest.update(plain);
        const sealed = await stream.seal(plain, chunk, chunk === count - 1);
        plain.fill(0);
        await add(sealed);
    }
    if (used > 0) await flush();
    return { size, key, blob, sealedSize, hash: hash.digest(), digest: digest.digest() };
}

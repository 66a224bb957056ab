// Large content in chunks that open one by one. docs/formats.md, "Stream".
import { ByteReader, concat, fields, randomBytes, u32, unhex, utf8 } from "./bytes.js";
import { FormatError } from "./errors.js";
import { committedKey, gcmOpen, gcmSeal, tagLength } from "./primitives.js";

export const streamHeaderLength = 72;
const logarithms = [16, 18, 20];

/**
 * Binds a stream to its record, or to its purpose.
 * @param {{ vault: string, collection: string, id: string } | { purpose: string }} name
 */
export const streamName = (name) =>
    "purpose" in name ? fields(name.purpose) : fields(unhex(name.vault), name.collection, unhex(name.id));

export class ContentStream {
    /** @param {Uint8Array} header @param {CryptoKey} key @param {Uint8Array} noncePrefix */
    constructor(header, key, noncePrefix) {
        this.header = header;
        /** Of every chunk's plaintext but the last one's. */
        this.chunkSize = 2 ** header[5];
        this.key = key;
        this.noncePrefix = noncePrefix;
    }

    /**
     * The key must be fresh: it seals only this content.
     * @param {Uint8Array} name of `streamName`
     * @param {Uint8Array} contentKey
     */
    static async sealing(name, contentKey, logarithm = 20) {
        const start = concat(utf8("APST"), [1, logarithm, 0, 0]);
        const salt = randomBytes(32);
        const committed = await committedKey(contentKey, salt, fields("applocker/1/stream", start, name));
        return new ContentStream(concat(start, salt, committed.commitment), committed.key, committed.noncePrefix);
    }

    /**
     * Throws FormatError: malformed, unknownVersion, parametersOutOfRange, wrongKey.
     * @param {Uint8Array} header its 72 bytes
     * @param {Uint8Array} name of `streamName`
     * @param {Uint8Array} contentKey
     */
    static async opening(header, name, contentKey) {
        const reader = new ByteReader(header, "sealed content");
        reader.magic("APST");
        if (!logarithms.includes(reader.number(1))) {
            throw new FormatError("parametersOutOfRange",
                "The sealed content has chunks of an unknown size; update AppLocker.");
        }
        reader.zeros(2);
        const salt = reader.bytes(32);
        const commitment = reader.bytes(32);
        reader.end();
        const info = fields("applocker/1/stream", header.slice(0, 8), name);
        const committed = await committedKey(contentKey, salt, info);
        if (!committed.matches(commitment)) {
            throw new FormatError("wrongKey", "The content belongs to another record, or its start is damaged.");
        }
        return new ContentStream(header, committed.key, committed.noncePrefix);
    }

    /** @param {number} index @param {boolean} isLast */
    #nonce(index, isLast) {
        return concat(this.noncePrefix, u32(index), [isLast ? 1 : 0]);
    }

    /** @param {Uint8Array} plaintext @param {number} index @param {boolean} isLast */
    seal(plaintext, index, isLast) {
        return gcmSeal(this.key, plaintext, undefined, this.#nonce(index, isLast));
    }

    /**
     * Throws FormatError `damaged`.
     * @param {Uint8Array} chunk ciphertext and tag
     * @param {number} index
     * @param {boolean} isLast
     */
    async open(chunk, index, isLast) {
        const length = chunk.length - tagLength;
        const isAllowed = isLast ? length <= this.chunkSize && (length > 0 || index === 0) : length === this.chunkSize;
        const plaintext = isAllowed ? await gcmOpen(this.key, chunk, undefined, this.#nonce(index, isLast)) : null;
        if (!plaintext) {
            throw new FormatError("damaged",
                `The content is damaged at chunk ${index}: changed, out of order or truncated.`);
        }
        return plaintext;
    }

    /**
     * The chunks' positions in sealed content of this size. Throws FormatError `malformed` for an impossible size.
     * @param {number} sealedSize with the header
     * @returns {{ count: number, range(index: number): [number, number] }} of a chunk: its first byte, and the one
     *   after its last
     */
    layout(sealedSize) {
        const sealedChunk = this.chunkSize + tagLength;
        const body = sealedSize - streamHeaderLength;
        const rest = body % sealedChunk;
        const full = (body - rest) / sealedChunk;
        if (body < tagLength || full + (rest > 0 ? 1 : 0) > 2 ** 32
            || !(rest === 0 || rest > tagLength || full === 0)) {
            throw new FormatError("malformed", "The sealed content is truncated.");
        }
        return {
            count: full + (rest > 0 ? 1 : 0),
            range: (index) => {
                const start = streamHeaderLength + index * sealedChunk;
                return [start, Math.min(start + sealedChunk, sealedSize)];
            },
        };
    }
}

/** @param {Uint8Array} content @param {Uint8Array} name @param {Uint8Array} contentKey */
export async function sealContent(content, name, contentKey, logarithm = 20) {
    return sealContentWith(await ContentStream.sealing(name, contentKey, logarithm), content);
}

/** @param {ContentStream} stream @param {Uint8Array} content */
export async function sealContentWith(stream, content) {
    const count = Math.max(1, Math.ceil(content.length / stream.chunkSize));
    const parts = [stream.header];
    for (let index = 0; index < count; index += 1) {
        const chunk = content.subarray(index * stream.chunkSize, (index + 1) * stream.chunkSize);
        parts.push(await stream.seal(chunk, index, index === count - 1));
    }
    return concat(...parts);
}

/**
 * Opens content chunk by chunk; only its header is read before. Throws FormatError and what `read` throws; `chunk`
 * throws them too.
 * @param {number} length of the sealed content, in bytes
 * @param {(start: number, end: number) => Promise<Uint8Array>} read a part of it
 * @param {Uint8Array} name of `streamName`
 * @param {Uint8Array} contentKey
 */
export async function openChunks(length, read, name, contentKey) {
    const header = await read(0, Math.min(streamHeaderLength, length));
    const stream = await ContentStream.opening(header, name, contentKey);
    const { count, range } = stream.layout(length);
    return {
        chunkSize: stream.chunkSize, count,
        /** @param {number} index */
        chunk: async (index) => stream.open(await read(...range(index)), index, index === count - 1),
    };
}

/** @param {Uint8Array} sealed @param {Uint8Array} name @param {Uint8Array} contentKey */
export async function openContent(sealed, name, contentKey) {
    const { count, chunk } = await openChunks(sealed.length, async (start, end) => sealed.slice(start, end), name,
        contentKey);
    const parts = [];
    for (let index = 0; index < count; index += 1) parts.push(await chunk(index));
    return concat(...parts);
}

// A backup larger than memory: written as a stream, and read at any position. docs/formats.md, "Backup".
import { ByteReader, concat, u64, wipe } from "../../crypto/bytes.js";
import { FormatError } from "../../crypto/errors.js";
import { ContentStream, streamHeaderLength } from "../../crypto/stream.js";
import { entryKind, headerLength, name, openHeader, sealHeader } from "./notes-backup.js";

const entryHeaderLength = 9;
/** Largest entry that is not a blob, in bytes. */
const maximumEntry = 32 << 20;

const damaged = () => new FormatError("malformed", "The backup is damaged or truncated.");

export class BackupWriter {
    #buffer;
    #used = 0;
    #index = 0;

    /** @param {ContentStream} stream @param {(bytes: Uint8Array) => unknown} write awaited */
    constructor(stream, write) {
        this.stream = stream;
        this.write = write;
        this.#buffer = new Uint8Array(stream.chunkSize);
    }

    /** @param {string} passphrase @param {(bytes: Uint8Array) => unknown} write called in order; awaited */
    static async behind(passphrase, write) {
        const { rootKey, header } = await sealHeader(passphrase);
        const stream = await ContentStream.sealing(name, rootKey);
        wipe(rootKey);
        await write(concat(header, stream.header));
        return new BackupWriter(stream, write);
    }

    /** @param {boolean} isLast */
    async #flush(isLast) {
        await this.write(await this.stream.seal(this.#buffer.slice(0, this.#used), this.#index, isLast));
        this.#index += 1;
        this.#used = 0;
    }

    /**
     * Data of the entry that was begun.
     * @param {Uint8Array} bytes
     */
    async put(bytes) {
        for (let at = 0; at < bytes.length;) {
            // Only if more follows: the last chunk is marked as the last.
            if (this.#used === this.#buffer.length) await this.#flush(false);
            const part = bytes.subarray(at, at + this.#buffer.length - this.#used);
            this.#buffer.set(part, this.#used);
            this.#used += part.length;
            at += part.length;
        }
    }

    /** @param {number} kind @param {number} length in bytes, of all that is put after this */
    begin(kind, length) {
        return this.put(concat([kind], u64(length)));
    }

    /** @param {number} kind @param {Uint8Array} bytes */
    async entry(kind, bytes) {
        await this.begin(kind, bytes.length);
        await this.put(bytes);
    }

    async end() {
        await this.begin(entryKind.end, 0);
        await this.#flush(true);
        wipe(this.#buffer);
    }
}

/** Reads a backup file at any position; every piece is authenticated before it is returned. */
export class BackupReader {
    /** @type {{ index: number, bytes: Uint8Array } | null} */
    #chunk = null;

    /** @param {Blob} file @param {ContentStream} stream */
    constructor(file, stream) {
        this.file = file;
        this.stream = stream;
        this.layout = stream.layout(file.size - headerLength);
        /** Of the content, in bytes. */
        this.size = file.size - headerLength - streamHeaderLength - 16 * this.layout.count;
    }

    /**
     * Throws FormatError.
     * @param {Blob} file
     * @param {string} passphrase
     */
    static async open(file, passphrase) {
        const header = new Uint8Array(await file.slice(0, headerLength + streamHeaderLength).arrayBuffer());
        // A file without a stream is not a backup.
        const rootKey = await openHeader(header.length < headerLength + streamHeaderLength ? new Uint8Array() : header,
            passphrase);
        const stream = await ContentStream.opening(header.slice(headerLength), name, rootKey);
        wipe(rootKey);
        return new BackupReader(file, stream);
    }

    /** @param {number} index */
    async #chunkAt(index) {
        if (this.#chunk?.index === index) return this.#chunk.bytes;
        const [from, to] = this.layout.range(index);
        const sealed = new Uint8Array(await this.file.slice(headerLength + from, headerLength + to).arrayBuffer());
        const bytes = await this.stream.open(sealed, index, index === this.layout.count - 1);
        wipe(this.#chunk?.bytes);
        this.#chunk = { index, bytes };
        return bytes;
    }

    /**
     * Throws FormatError.
     * @param {number} from
     * @param {number} to in bytes of the content
     */
    async bytes(from, to) {
        if (from < 0 || to < from || to > this.size) throw damaged();
        const all = new Uint8Array(to - from);
        for (let at = from; at < to;) {
            const index = Math.floor(at / this.stream.chunkSize);
            const chunk = await this.#chunkAt(index);
            const part = chunk.subarray(at % this.stream.chunkSize, (at % this.stream.chunkSize) + to - at);
            if (part.length === 0) throw damaged();
            all.set(part, at - from);
            at += part.length;
        }
        return all;
    }

    /**
     * The positions of all entries, without reading their content.
     * @returns {AsyncGenerator<{ kind: number, from: number, to: number }>} throws FormatError
     */
    async *entries() {
        for (let at = 0; ;) {
            const reader = new ByteReader(await this.bytes(at, at + entryHeaderLength), "backup");
            const kind = reader.number(1);
            const length = Number(reader.u64());
            const [from, to] = [at + entryHeaderLength, at + entryHeaderLength + length];
            if (to > this.size || (kind !== entryKind.blob && length > maximumEntry)) throw damaged();
            if (kind === entryKind.end) {
                if (length !== 0 || to !== this.size) throw damaged();
                return;
            }
            yield { kind, from, to };
            at = to;
        }
    }

    /** Drops everything that was opened. */
    forget() {
        wipe(this.#chunk?.bytes);
        this.#chunk = null;
    }
}

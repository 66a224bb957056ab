// All lasting keys of a device. docs/formats.md, "Key ring".
import { ByteReader, concat, equalInConstantTime, fields, hex, randomBytes, u16, u32, unhex, utf8,
    wipe } from "./bytes.js";
import { FormatError } from "./errors.js";
import { committedKey, gcmOpen, gcmSeal } from "./primitives.js";

/** @typedef {{ kind: number, vault: string, epoch: number, key: Uint8Array }} RingEntry */

export const ringKind = Object.freeze({ vault: 1, inbox: 2, device: 3, status: 4 });

const entryLength = 53;
export const maximumEntries = 4096;
/** The limit for keys from other devices. The rest of a ring is for keys that this device makes. */
export const maximumGiven = maximumEntries - 256;
const bound = fields("applocker/1/ring");

/** @param {RingEntry} entry */
const order = (entry) => hex(concat([entry.kind], unhex(entry.vault), u32(entry.epoch)));

export class KeyRing {
    /** @type {RingEntry[]} ordered by kind, vault and epoch */
    entries = [];

    /**
     * Keeps duplicates once. Throws FormatError `malformed` for two keys under one name, and `tooLarge`: written, such
     * a ring would never open again.
     * @param {RingEntry[]} entries
     */
    constructor(entries) {
        for (const entry of [...entries].sort((one, other) => (order(one) < order(other) ? -1 : 1))) {
            const last = this.entries.at(-1);
            if (!last || order(last) !== order(entry)) this.entries.push(entry);
            else if (!equalInConstantTime(last.key, entry.key)) {
                throw new FormatError("malformed", "Two keys claim one place in the key ring.");
            }
        }
        if (this.entries.length > maximumEntries) {
            throw new FormatError("tooLarge", `A key ring has at most ${maximumEntries} keys.`);
        }
    }

    /**
     * With copies of the keys, which are wiped with it. Throws as the constructor.
     * @param {RingEntry[]} entries
     */
    static copying(entries) {
        return new KeyRing(entries.map((entry) => ({ ...entry, key: entry.key.slice() })));
    }

    /** @param {number} kind @param {string} vault @param {number} epoch */
    key(kind, vault, epoch) {
        return this.entries.find((entry) => entry.kind === kind && entry.vault === vault && entry.epoch === epoch)?.key;
    }

    /** @param {number} kind @param {string} vault */
    current(kind, vault) {
        return this.entries.filter((entry) => entry.kind === kind && entry.vault === vault).at(-1);
    }

    wipe() {
        for (const entry of this.entries) wipe(entry.key);
        this.entries = [];
    }

    // Bytes

    get plaintext() {
        return concat(
            u16(this.entries.length),
            ...this.entries.flatMap((entry) => [[entry.kind], unhex(entry.vault), u32(entry.epoch), entry.key]));
    }

    /**
     * Reads the content of a sealed ring.
     * @param {Uint8Array} bytes
     */
    static read(bytes) {
        const reader = new ByteReader(bytes, "key ring");
        const count = reader.number(2);
        if (count > maximumEntries || reader.remaining !== count * entryLength) throw reader.malformed();
        /** @type {RingEntry[]} */
        const entries = [];
        for (let index = 0; index < count; index += 1) {
            const entry = {
                kind: reader.number(1), vault: reader.id(), epoch: reader.number(4), key: reader.bytes(32),
            };
            const last = entries.at(-1);
            if (entry.kind < 1 || entry.kind > 4 || entry.epoch === 0 || (last && order(last) >= order(entry))) {
                throw reader.malformed();
            }
            entries.push(entry);
        }
        return new KeyRing(entries);
    }

    /** @param {Uint8Array} rootKey */
    async sealed(rootKey) {
        const salt = randomBytes(32);
        const committed = await committedKey(rootKey, salt, bound);
        const plaintext = this.plaintext;
        const sealed = await gcmSeal(committed.key, plaintext, bound);
        wipe(plaintext);
        return concat(utf8("APKR"), [1], salt, committed.commitment, sealed);
    }

    /**
     * Throws FormatError: malformed, unknownVersion, wrongKey, damaged.
     * @param {Uint8Array} sealed
     * @param {Uint8Array} rootKey
     */
    static async open(sealed, rootKey) {
        const reader = new ByteReader(sealed, "key ring");
        reader.magic("APKR");
        const salt = reader.bytes(32);
        const commitment = reader.bytes(32);
        const committed = await committedKey(rootKey, salt, bound);
        if (!committed.matches(commitment)) {
            throw new FormatError("wrongKey", "The key ring belongs to another root key.");
        }
        const plaintext = await gcmOpen(committed.key, reader.rest(), bound);
        if (!plaintext) throw new FormatError("damaged", "The key ring was changed or truncated.");
        const ring = KeyRing.read(plaintext);
        wipe(plaintext);
        return ring;
    }
}

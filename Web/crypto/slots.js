// A block of key slots: it turns a PIN into the root key. docs/formats.md, "Passcode to key".
import { ByteReader, concat, fields, randomBytes, wipe } from "./bytes.js";
import { FormatError } from "./errors.js";
import { committedKey, gcmOpen, gcmSeal, hkdf, pbkdf2 } from "./primitives.js";

const headerLength = 44;
const slotLength = 112;
const slotCount = 8;
/** Of a block, in bytes. */
export const slotsLength = headerLength + slotCount * slotLength;
export const leastRounds = 600_000;
const mostRounds = 10_000_000;

/** @param {Uint8Array} header */
const bound = (header) => fields("applocker/1/slot", header);

/** Eight slots, always full: unused ones are random bytes, and opening tries all of them. */
export class KeySlots {
    /** @param {Uint8Array} bytes 940, as `KeySlots.read` has checked them */
    constructor(bytes) {
        this.bytes = bytes;
    }

    /** An empty block for PINs. The hub's share is its mixed secret; a backup has none. */
    static fresh(rounds = leastRounds, { usesMixedSecret = true } = {}) {
        const cost = new Uint8Array(4);
        new DataView(cost.buffer).setUint32(0, rounds);
        return new KeySlots(concat(
            new TextEncoder().encode("APKS"), [1, 2, usesMixedSecret ? 1 : 0, slotCount], cost, randomBytes(32),
            randomBytes(slotCount * slotLength)));
    }

    /**
     * Throws FormatError: malformed, unknownVersion, unknownAlgorithm, parametersOutOfRange.
     * @param {Uint8Array} bytes
     */
    static read(bytes) {
        const reader = new ByteReader(bytes, "key-slot block");
        reader.magic("APKS");
        const algorithm = reader.number(1);
        const mixed = reader.number(1);
        const count = reader.number(1);
        const cost = reader.number(4);
        if (mixed > 1 || count !== slotCount) throw reader.malformed();
        if (algorithm !== 1 && algorithm !== 2) {
            throw new FormatError("unknownAlgorithm",
                `The key-slot block uses derivation ${algorithm}; update AppLocker.`);
        }
        if (algorithm === 1 ? cost < 17 || cost > 20 : cost < leastRounds || cost > mostRounds) {
            throw new FormatError("parametersOutOfRange", "The key-slot block has a cost that AppLocker never uses.");
        }
        reader.bytes(32 + slotCount * slotLength);
        reader.end();
        return new KeySlots(bytes.slice());
    }

    get header() {
        return this.bytes.slice(0, headerLength);
    }

    get usesMixedSecret() {
        return this.bytes[6] === 1;
    }

    /** @returns {"scrypt" | "pbkdf2"} a browser has no scrypt */
    get derivation() {
        return this.bytes[5] === 2 ? "pbkdf2" : "scrypt";
    }

    /**
     * The expensive part. Throws FormatError `unknownAlgorithm` for scrypt, which browsers lack.
     * @param {Uint8Array} passcode
     * @returns {Promise<Uint8Array>} 32 bytes
     */
    async stretch(passcode) {
        if (this.bytes[5] !== 2) {
            throw new FormatError("unknownAlgorithm", "This key-slot block is a computer’s; a browser can’t open it.");
        }
        const rounds = new DataView(this.bytes.buffer, this.bytes.byteOffset).getUint32(8);
        return pbkdf2(passcode, this.bytes.slice(12, headerLength), rounds);
    }

    /**
     * The key that opens slots.
     * @param {Uint8Array} stretched
     * @param {Uint8Array | null} mixedSecret 32 bytes where the block was made with one, else null
     */
    async kek(stretched, mixedSecret) {
        if (this.usesMixedSecret !== (mixedSecret !== null) || (mixedSecret && mixedSecret.length !== 32)) {
            throw new FormatError("machineSecretMissing", "This can’t be opened without the share it was made with.");
        }
        return hkdf(stretched, mixedSecret ?? new Uint8Array(), "applocker/1/kek");
    }

    /**
     * The block with this root key of 32 bytes in a slot, replacing its content.
     * @param {number} index
     * @param {Uint8Array} rootKey
     * @param {Uint8Array} kek
     */
    async setting(index, rootKey, kek) {
        const salt = randomBytes(32);
        const committed = await committedKey(kek, salt, bound(this.header));
        return this.#replacing(
            index, concat(salt, committed.commitment, await gcmSeal(committed.key, rootKey, bound(this.header))));
    }

    /**
     * The block with random bytes in this slot.
     * @param {number} index
     */
    clearing(index) {
        return this.#replacing(index, randomBytes(slotLength));
    }

    /** @param {number} index @param {Uint8Array} slot */
    #replacing(index, slot) {
        const bytes = this.bytes.slice();
        bytes.set(slot, headerLength + index * slotLength);
        return new KeySlots(bytes);
    }

    /**
     * The root key, or null. Always tries every slot.
     * @param {Uint8Array} kek
     */
    async open(kek) {
        /** @type {{ rootKey: Uint8Array, slot: number } | null} */
        let found = null;
        for (let index = 0; index < slotCount; index += 1) {
            const slot = this.bytes.slice(headerLength + index * slotLength).slice(0, slotLength);
            const committed = await committedKey(kek, slot.slice(0, 32), bound(this.header));
            const isCommitted = committed.matches(slot.slice(32, 64));
            const rootKey = await gcmOpen(committed.key, slot.slice(64), bound(this.header));
            if (isCommitted && rootKey && !found) found = { rootKey, slot: index };
            else wipe(rootKey);
        }
        return found;
    }
}

// The keys of a companion: those that are usable while it is locked, and those that need unlocking.
import { equalInConstantTime, fields, hex, unhex, utf8, wipe } from "../crypto/bytes.js";
import { boxOwner, openBox } from "../crypto/box.js";
import { openEnvelope, readEnvelope, sealEnvelope } from "../crypto/envelope.js";
import { freshPair, importPrivate, publicKeyOf } from "../crypto/p256.js";
import { hkdfKey, sha256 } from "../crypto/primitives.js";
import { KeyRing, maximumEntries, ringKind } from "../crypto/ring.js";
import { deviceID, signRecord, sealedBytes } from "../crypto/signature.js";
import { readBody } from "../formats/record-bodies.js";
import { CompanionError } from "./errors.js";
import { RecordRefusal } from "../formats/record-check.js";

/** @typedef {import("../formats/record-check.js").CheckedRecord} CheckedRecord */
/** @typedef {import("../formats/record-bodies.js").RecordBodies} RecordBodies */
/** @typedef {import("../store/store.js").StatusKey} StatusKey */

/**
 * Where the ring has the device's own keys: kind 3, the household as its vault. `idle`: in the place of the box key,
 * one that nothing is boxed to.
 */
const ownEpoch = { box: 1, signing: 3, idle: 4 };

/** How far a status key's epoch may be above the newest that is known. docs/formats.md, "Keys of a household". */
const largestEpochStep = 2 ** 16;
const largestFirstEpoch = 2 ** 31;

/** A record is sealed under a key that this device was not given, or can't use while it is locked. */
export class KeyMissing extends Error {}

/**
 * Null for what is no envelope.
 * @param {Uint8Array} sealed
 */
function wrapEpochOf(sealed) {
    try {
        return readEnvelope(sealed).wrapEpoch;
    } catch {
        return null;
    }
}

/**
 * The body of a household's record. Throws RecordRefusal `unreadable`, KeyMissing.
 * @param {Map<number, CryptoKey>} statusKeys by epoch
 * @param {CheckedRecord} record
 * @template {keyof RecordBodies} Kind
 * @param {Kind} kind
 */
export async function openHousehold(statusKeys, record, kind) {
    if (!record.sealed || wrapEpochOf(record.sealed) !== record.epoch) throw new RecordRefusal("unreadable");
    const key = statusKeys.get(record.epoch);
    if (!key) throw new KeyMissing();
    const bytes = await openEnvelope(record.sealed, record.name, key).catch(() => null);
    const body = bytes && readBody(kind, bytes);
    if (!body) throw new RecordRefusal("unreadable");
    return body;
}

/**
 * The body of a household's record that was checked when it was ingested; null if it does not open any more.
 * @param {DeviceSession} device
 * @param {HubRecord} record as it lies in the store
 * @template {keyof RecordBodies} Kind
 * @param {Kind} kind
 */
export async function openStored({ roster, statusKeys }, record, kind) {
    const sealed = sealedBytes(record);
    const author = roster.member(record.author);
    if (!sealed || !author) return null;
    return openHousehold(statusKeys, { name: record, epoch: record.epoch, author, sealed, blobs: record.blobs }, kind)
        .catch(() => null);
}

/**
 * Status keys as they lie in the store: no script can read them.
 * @param {KeyRing} ring
 * @param {string} household
 * @returns {Promise<StatusKey[]>}
 */
export function statusKeysOf(ring, household) {
    const entries = ring.entries.filter((entry) => entry.kind === ringKind.status && entry.vault === household);
    return Promise.all(entries.map(async ({ epoch, key }) => ({ epoch, key: await hkdfKey(key) })));
}

/**
 * Whether a record of "keys" is for a device: under its own id if the computer that admitted it sent it, else under
 * an id derived from both. docs/formats.md, "Keys of a household".
 * @param {string} device
 * @param {CheckedRecord} record
 */
export async function isKeysFor(device, { name, author }) {
    const derived = fields("applocker/1/keys", unhex(author.id), unhex(device));
    return name.id === device || name.id === hex((await sha256(derived)).slice(0, 16));
}

/**
 * A vault belongs to the computer that first gave its key, for as long as that is in the household: another one could
 * else give a newer key, and read what is written from then on. Of another one's vault only what is known already is
 * accepted.
 * @param {import("../crypto/ring.js").RingEntry} entry
 * @param {string} giver
 * @param {KeyRing} ring what is known
 * @param {Record<string, string>} owners changed in place
 * @param {(id: string) => boolean} isMember
 */
export function isAccepted({ kind, vault, epoch, key }, giver, ring, owners, isMember) {
    if (kind === ringKind.device || kind === ringKind.status) return kind === ringKind.status;
    if (!owners[vault] || !isMember(owners[vault])) owners[vault] = giver;
    const known = ring.key(kind, vault, epoch);
    return owners[vault] === giver || (known !== undefined && equalInConstantTime(known, key));
}

/** The keys that unlocking opens. They end with `wipe`. */
export class UnlockedKeys {
    /** Which drawer they are from. */
    drawer = 0;

    /**
     * `receivesKeys`: whether anybody boxes to `box`.
     * @param {{ household: string, device: string, rootKey: Uint8Array, ring: KeyRing, signingKey: CryptoKey,
     *   box: import("../crypto/box.js").BoxOwner, receivesKeys: boolean }} keys
     */
    constructor({ household, device, rootKey, ring, signingKey, box, receivesKeys }) {
        this.household = household;
        this.device = device;
        this.rootKey = rootKey;
        this.ring = ring;
        this.signingKey = signingKey;
        this.box = box;
        this.receivesKeys = receivesKeys;
    }

    /**
     * Takes ownership of both secrets.
     * @param {string} household
     * @param {Uint8Array} rootKey
     * @param {KeyRing} ring with the device's own keys
     */
    static async from(household, rootKey, ring) {
        const receiving = ring.key(ringKind.device, household, ownEpoch.box);
        const boxScalar = receiving ?? ring.key(ringKind.device, household, ownEpoch.idle);
        const signingScalar = ring.key(ringKind.device, household, ownEpoch.signing);
        if (!boxScalar || !signingScalar) {
            throw new CompanionError("pairAgain", "This device lacks its own keys; pair it again.");
        }
        const point = publicKeyOf(signingScalar);
        return new UnlockedKeys({
            household, device: await deviceID(point), rootKey, ring, box: await boxOwner(boxScalar),
            receivesKeys: receiving !== undefined,
            signingKey: await importPrivate(signingScalar, point, "ECDSA"),
        });
    }

    /**
     * Entries for the device's own keys.
     * @param {string} household
     * @param {Uint8Array} signing
     * @param {Uint8Array} box
     */
    static ownEntries(household, signing, box) {
        return [
            { kind: ringKind.device, vault: household, epoch: ownEpoch.box, key: box },
            { kind: ringKind.device, vault: household, epoch: ownEpoch.signing, key: signing },
        ];
    }

    /**
     * For another vault on this device: the key that signs, so that its session works as any other, and in the place of
     * the box key, which would open what the hub keeps for this device, one that is as much work to open.
     * @param {KeyRing} ring
     * @param {string} household
     */
    static async idleEntries(ring, household) {
        const signing = ring.key(ringKind.device, household, ownEpoch.signing);
        if (!signing) throw new CompanionError("pairAgain", "This device lacks its own keys; pair it again.");
        return [
            { kind: ringKind.device, vault: household, epoch: ownEpoch.signing, key: signing.slice() },
            { kind: ringKind.device, vault: household, epoch: ownEpoch.idle, key: (await freshPair()).scalar },
        ];
    }

    wipe() {
        wipe(this.rootKey);
        this.ring.wipe();
    }

    /**
     * The vaults' keys in bytes of their own: for a change that is sealed even if AppLocker is locked meanwhile. To be
     * wiped.
     */
    cloneVaultKeys() {
        const entries = this.ring.entries.filter(({ kind }) => kind === ringKind.vault);
        return new UnlockedKeys({
            household: this.household, device: this.device, rootKey: new Uint8Array(), signingKey: this.signingKey,
            box: this.box, receivesKeys: this.receivesKeys,
            ring: new KeyRing(entries.map((entry) => ({ ...entry, key: entry.key.slice() }))),
        });
    }

    /**
     * Adds the keys of a record of "keys". Throws RecordRefusal `unreadable`, also if a known key differs.
     * @param {CheckedRecord} record
     * @param {Record<string, string>} [owners] of vaults, changed in place
     * @param {(id: string) => boolean} [isMember]
     */
    async add(record, owners = {}, isMember = () => true) {
        try {
            const body = await openBox(record.sealed ?? new Uint8Array(), record.name, this.box);
            const given = KeyRing.read(body);
            wipe(body);
            const newest = this.ring.current(ringKind.status, this.household)?.epoch ?? 0;
            const farthest = newest === 0 ? largestFirstEpoch : newest + largestEpochStep;
            if (given.entries.some(({ kind, epoch }) => kind === ringKind.status && epoch > farthest)) {
                throw new RecordRefusal("unreadable");
            }
            const after = { ...owners };
            const accepted = given.entries.filter((entry) =>
                isAccepted(entry, record.author.id, this.ring, after, isMember));
            const ring = new KeyRing([...this.ring.entries, ...accepted]);
            if (ring.entries.length > maximumEntries) throw new RecordRefusal("unreadable");
            this.ring = ring;
            Object.assign(owners, after);
        } catch {
            throw new RecordRefusal("unreadable");
        }
    }

    /**
     * The newest key of a vault.
     * @param {string} vault
     */
    vaultKey(vault) {
        const entry = this.ring.current(ringKind.vault, vault);
        if (!entry) throw new CompanionError("noKey", "This device has no key of the vault; pair it again.");
        return entry;
    }

    /**
     * A record of a vault, sealed under its newest key and signed.
     * @param {{ vault: string, collection: string, id: string, revision: number }} name
     * @param {unknown} content made to JSON
     * @param {number} replaces
     */
    sealContent(name, content, replaces) {
        return this.sealBody(name, utf8(JSON.stringify(content)), replaces);
    }

    /**
     * The same, of bytes.
     * @param {{ vault: string, collection: string, id: string, revision: number }} name
     * @param {Uint8Array} body
     * @param {number} replaces
     * @param {string[]} [blobs] that belong to it
     */
    async sealBody(name, body, replaces, blobs = []) {
        const { key, epoch } = this.vaultKey(name.vault);
        const sealed = await sealEnvelope(body, name, key, epoch);
        return signRecord(this.signingKey, name, { epoch, author: this.device, blobs, sealed, replaces });
    }

    /** @param {{ vault: string, collection: string, id: string, revision: number }} name @param {number} replaces */
    tombstone(name, replaces) {
        const { epoch } = this.vaultKey(name.vault);
        return signRecord(this.signingKey, name, { epoch, author: this.device, sealed: null, replaces });
    }

    /**
     * A record of the household under the newest status key.
     * @param {string} collection
     * @param {string} id
     * @param {unknown} body
     * @param {Map<number, CryptoKey>} statusKeys by epoch
     */
    async sealHousehold(collection, id, body, statusKeys) {
        const epoch = Math.max(0, ...statusKeys.keys());
        const key = statusKeys.get(epoch);
        if (!key) throw new CompanionError("noKey", "This device has no key of the household; pair it again.");
        const name = { vault: this.household, collection, id, revision: 1 };
        const sealed = await sealEnvelope(utf8(JSON.stringify(body)), name, key, epoch);
        return signRecord(this.signingKey, name, { epoch, author: this.device, sealed });
    }

    /**
     * The body of a record of a vault. Throws FormatError, CompanionError `noKey`.
     * @param {HubRecord} record
     * @param {Uint8Array} sealed
     */
    async openContent(record, sealed) {
        const { wrapEpoch } = readEnvelope(sealed);
        const key = this.ring.key(ringKind.vault, record.vault, wrapEpoch);
        if (!key) throw new CompanionError("noKey", "This device has no key of the vault; pair it again.");
        return openEnvelope(sealed, record, key);
    }

    /**
     * The body of a record that is boxed to a vault's inbox.
     * @param {HubRecord} record
     * @param {Uint8Array} sealed
     */
    async openInbox(record, sealed) {
        const scalar = this.ring.key(ringKind.inbox, record.vault, record.epoch);
        if (!scalar) {
            throw new CompanionError("noKey", "This device has no key of the photos; pair it again.");
        }
        return openBox(sealed, record, await boxOwner(scalar));
    }
}

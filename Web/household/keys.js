// The keys of a companion: those that are usable while locked, and those that need unlocking.
import { equalInConstantTime, fields, hex, unhex, utf8, wipe } from "../crypto/bytes.js";
import { boxOwner, openBox } from "../crypto/box.js";
import { openEnvelope, readEnvelope, sealEnvelope } from "../crypto/envelope.js";
import { freshPair, importPrivate, publicKeyOf } from "../crypto/p256.js";
import { hkdfKey, sha256 } from "../crypto/primitives.js";
import { KeyRing, maximumGiven, ringKind } from "../crypto/ring.js";
import { deviceID, signRecord, sealedBytes } from "../crypto/signature.js";
import { readBody } from "../formats/record-bodies.js";
import { CompanionError } from "./errors.js";
import { RecordRefusal } from "../formats/record-check.js";

/** @typedef {import("../formats/record-check.js").CheckedRecord} CheckedRecord */
/** @typedef {import("../formats/record-bodies.js").RecordBodies} RecordBodies */
/** @typedef {import("../store/store.js").StatusKey} StatusKey */

/**
 * Epochs of the device's own keys in the ring: kind 3, vault: the household. `idle`: an unused key in place of `box`.
 */
const ownEpoch = { box: 1, signing: 3, idle: 4 };

/** How far a status key's epoch may be above the newest known one. docs/formats.md, "Keys of a household". */
const largestEpochStep = 2 ** 16;
const largestFirstEpoch = 2 ** 31;

/** The key of a record is missing on this device, or unusable while it is locked. */
export class KeyMissing extends Error {}

/**
 * Null for an invalid envelope.
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
 * Opens a household's record. Throws RecordRefusal `unreadable`, KeyMissing.
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
 * Opens a household's record that was checked when it was ingested; null if it no longer opens.
 * @param {Pick<DeviceSession, "roster" | "statusKeys">} device
 * @param {HubRecord} record as it is stored
 * @template {keyof RecordBodies} Kind
 * @param {Kind} kind
 * @param {{ ofFormer?: boolean }} options `ofFormer`: also if its author left since
 */
export async function openStored({ roster, statusKeys }, record, kind, { ofFormer = false } = {}) {
    const sealed = sealedBytes(record);
    const author = roster.member(record.author) ?? (ofFormer ? roster.former.get(record.author) : undefined);
    if (!sealed || !author) return null;
    return openHousehold(statusKeys, { name: record, epoch: record.epoch, author, sealed, blobs: record.blobs }, kind)
        .catch(() => null);
}

/**
 * Status keys in their stored form: no script can read them.
 * @param {KeyRing} ring
 * @param {string} household
 * @returns {Promise<StatusKey[]>}
 */
export function statusKeysOf(ring, household) {
    const entries = ring.entries.filter((entry) => entry.kind === ringKind.status && entry.vault === household);
    return Promise.all(entries.map(async ({ epoch, key }) => ({ epoch, key: await hkdfKey(key) })));
}

/**
 * Whether a record of "keys" is for a device: under its own id if the computer that admitted it sent it, else under an
 * id derived from both. docs/formats.md, "Keys of a household".
 * @param {string} device
 * @param {CheckedRecord} record
 */
export async function isKeysFor(device, { name, author }) {
    const derived = fields("applocker/1/keys", unhex(author.id), unhex(device));
    return name.id === device || name.id === hex((await sha256(derived)).slice(0, 16));
}

/**
 * A vault belongs to the computer that sent its key first, while that is in the household: another one could send a
 * newer key and read what is written from then on. From another one only known keys are accepted.
 * @param {import("../crypto/ring.js").RingEntry} entry
 * @param {string} sender
 * @param {KeyRing} ring the known keys
 * @param {Record<string, string>} owners changed in place
 * @param {(id: string) => boolean} isMember
 */
export function isAccepted({ kind, vault, epoch, key }, sender, ring, owners, isMember) {
    if (kind === ringKind.device || kind === ringKind.status) return kind === ringKind.status;
    if (!owners[vault] || !isMember(owners[vault])) owners[vault] = sender;
    const known = ring.key(kind, vault, epoch);
    return owners[vault] === sender || (known !== undefined && equalInConstantTime(known, key));
}

/** The keys that unlocking opens, until `wipe`. */
export class UnlockedKeys {
    /** The drawer that they are from. */
    drawer = 0;

    /**
     * `receivesKeys`: whether keys are sealed to `box`.
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

    /** @param {string} household @param {Uint8Array} signing @param {Uint8Array} box */
    static ownEntries(household, signing, box) {
        return [
            { kind: ringKind.device, vault: household, epoch: ownEpoch.box, key: box },
            { kind: ringKind.device, vault: household, epoch: ownEpoch.signing, key: signing },
        ];
    }

    /**
     * For another vault on this device: the signing key, so that its session works, and an idle key, as costly to open,
     * in place of the box key, which opens what the hub keeps for this device.
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

    /** Copies them, so that a change can finish if AppLocker is locked meanwhile. To be wiped. */
    clone() {
        return new UnlockedKeys({
            ...this, rootKey: this.rootKey.slice(), ring: KeyRing.copying(this.ring.entries),
        });
    }

    /** As `clone`, of the vaults' keys alone. */
    cloneVaultKeys() {
        const entries = this.ring.entries.filter(({ kind }) => kind === ringKind.vault);
        return new UnlockedKeys({ ...this, rootKey: new Uint8Array(), ring: KeyRing.copying(entries) });
    }

    /**
     * Adds the keys of a record of "keys". Throws RecordRefusal `unreadable`, also if a known key differs.
     * @param {CheckedRecord} record
     * @param {Record<string, string>} [owners] of vaults, changed in place
     * @param {(id: string) => boolean} [isMember]
     * @param {string | null} [ownVault] of a household that a phone founded: computers send keys of other vaults alone
     */
    async add(record, owners = {}, isMember = () => true, ownVault = null) {
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
                (!ownVault || (entry.kind !== ringKind.status && entry.vault !== ownVault))
                && isAccepted(entry, record.author.id, this.ring, after, isMember));
            const ring = new KeyRing([...this.ring.entries, ...accepted]);
            if (ring.entries.length > maximumGiven) throw new RecordRefusal("unreadable");
            this.ring = ring;
            Object.assign(owners, after);
        } catch {
            throw new RecordRefusal("unreadable");
        }
    }

    /** @param {string} vault */
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
     * Opens a record of a vault. Throws FormatError, CompanionError `noKey`.
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
     * Opens a record that is sealed to a vault's inbox.
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

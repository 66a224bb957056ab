// The keys of a shared vault. Every epoch has one record with a box for each member, so that two members who replace the keys at
// once can't make two of them: the hub takes the first. docs/formats.md, "Shared vaults".
import { ByteReader, concat, fields, hex, randomBytes, u16, u32, unhex, utf8, wipe } from "../crypto/bytes.js";
import { openBox, sealBox } from "../crypto/box.js";
import { sha256 } from "../crypto/primitives.js";
import { KeyRing, ringKind } from "../crypto/ring.js";
import { sealedBytes, signRecord } from "../crypto/signature.js";
import { HubUnreachable } from "../protocol/errors.js";
import { keyOf } from "../store/store.js";
import { CompanionError } from "./errors.js";
import { RecordRefusal } from "./record-check.js";
import { adopt, resealWaiting } from "./vault-adopting.js";
import { farConflict, isNear } from "./versions.js";

/** @typedef {import("./device.js").Device} Device */
/** @typedef {import("./keys.js").UnlockedKeys} UnlockedKeys */
/** @typedef {import("../crypto/signature.js").HubRecord} HubRecord */

const magic = "APVK";
const attempts = 8;

/** @param {string} label @param {...Uint8Array} rest */
const derivedID = async (label, ...rest) => hex((await sha256(fields(label, ...rest))).slice(0, 16));

/**
 * The one vault of the household that a shared vault is.
 * @param {string} household
 */
export const sharedVaultID = (household) => derivedID("applocker/1/shared-vault", unhex(household));

/**
 * Where the keys of an epoch are.
 * @param {string} household
 * @param {number} epoch
 */
export const keysID = (household, epoch) => derivedID("applocker/1/vault-keys", unhex(household), u32(epoch));

/**
 * Which device of a household a member is. Who knows that device can compare; to all others it is a random number.
 * @param {string} household the shared vault's
 * @param {string} member
 * @param {string} device of the member's own household
 */
export const ownerTag = (household, member, device) => derivedID("applocker/1/vault-owner", unhex(household), unhex(member), unhex(device));

/**
 * With each device that is revoked, or leaves, the keys are others.
 * @param {import("../crypto/roster.js").Roster} roster
 */
export const epochOf = (roster) => roster.revoked.size + 1;

/**
 * The keys of a new epoch beside those that there are.
 * @param {KeyRing} ring
 * @param {string} household
 * @param {string} vault
 * @param {number} epoch
 */
export const withEpoch = (ring, household, vault, epoch) => new KeyRing([...ring.entries,
    ...[{ kind: ringKind.vault, vault }, { kind: ringKind.status, vault: household }]
        .filter((entry) => !ring.key(entry.kind, entry.vault, epoch))
        .map((entry) => ({ ...entry, epoch, key: randomBytes(32) }))]);

/**
 * The box of each member, by device. Throws FormatError.
 * @param {Uint8Array} sealed
 * @returns {Map<string, Uint8Array>}
 */
export function readBoxes(sealed) {
    const reader = new ByteReader(sealed, "record of keys");
    reader.magic(magic);
    const count = reader.number(2);
    /** @type {Map<string, Uint8Array>} */
    const boxes = new Map();
    for (let index = 0; index < count; index += 1) boxes.set(reader.id(), reader.bytes(reader.number(4)));
    reader.end();
    return boxes;
}

/**
 * The keys of an epoch are believed only of who belongs after the revocation that began it: a member could else make them ahead, and
 * know what is written after its own removal. Throws RecordRefusal, HubError, HubUnreachable.
 * @param {Device} device
 * @param {import("./record-check.js").CheckedRecord} record
 */
export async function checkKeysOfEpoch(device, record) {
    if (record.epoch > epochOf(device.roster)) await device.followRoster();
    if (record.epoch > epochOf(device.roster)) throw new RecordRefusal("unreadable");
    if (!device.roster.member(record.author.id)) throw new RecordRefusal("unknownAuthor");
}

/**
 * Takes what a record of keys has for a device; a member that is not in it yet keeps it all the same. Throws RecordRefusal.
 * @param {UnlockedKeys} keys
 * @param {import("./record-check.js").CheckedRecord} record
 */
export async function takeVaultKeys(keys, record) {
    const { household } = keys;
    const vault = await sharedVaultID(household);
    try {
        if (!record.sealed || record.name.id !== (await keysID(household, record.epoch))) throw new RecordRefusal("unreadable");
        const box = readBoxes(record.sealed).get(keys.device);
        if (!box) return;
        const body = await openBox(box, { ...record.name, id: keys.device }, keys.box);
        const given = KeyRing.read(body);
        wipe(body);
        const isOurs = given.entries.every(({ kind, vault: id, epoch }) => epoch <= record.epoch
            && ((kind === ringKind.vault && id === vault) || (kind === ringKind.status && id === household)));
        if (!isOurs || !given.key(ringKind.vault, vault, record.epoch)) throw new RecordRefusal("unreadable");
        keys.ring = new KeyRing([...keys.ring.entries, ...given.entries]);
    } catch {
        throw new RecordRefusal("unreadable");
    }
}

/**
 * The record of an epoch's keys, for all who belong.
 * @param {{ household: string, roster: import("../crypto/roster.js").Roster, keys: UnlockedKeys, ring: KeyRing, epoch: number,
 *   revision: number, replaces?: number }} given
 * @returns {Promise<HubRecord>}
 */
export async function keysRecord({ household, roster, keys, ring, epoch, revision, replaces = revision - 1 }) {
    const id = await keysID(household, epoch);
    const name = { vault: household, collection: "keys", id, revision };
    const body = new KeyRing(ring.entries.filter(({ kind }) => kind !== ringKind.device)).plaintext;
    const boxes = await Promise.all(roster.members.map(async (member) => {
        const box = await sealBox(body, { ...name, id: member.id }, member.boxKey);
        return concat(unhex(member.id), u32(box.length), box);
    }));
    wipe(body);
    const sealed = concat(utf8(magic), [1], u16(boxes.length), ...boxes);
    return signRecord(keys.signingKey, name, { epoch, author: keys.device, sealed, replaces });
}

/**
 * Sees to it that the keys fit who belongs: no revoked device knows the newest, and everybody who belongs has them; and that what
 * waits to be sent is sealed under them. Whoever finds it otherwise mends it. Throws HubError, HubUnreachable, CompanionError.
 * @param {Device} device of a shared vault, open
 * @param {(record: HubRecord) => Promise<unknown>} take
 */
export async function settleKeys(device, take) {
    const { keys } = device;
    const { household } = device.paired;
    const vault = await sharedVaultID(household);
    await device.followRoster();
    // Where the hub has another revision than is here, that one is replaced: an older one at a restored hub, or one that nobody takes,
    // as a member made it ahead for after its own removal.
    /** @type {number | undefined} */
    let atHub;
    for (let attempt = 0; attempt < attempts; attempt += 1) {
        const { roster } = device;
        if (!roster.member(keys.device)) return;
        const epoch = epochOf(roster);
        const row = await device.store.record(keyOf("keys", await keysID(household, epoch)));
        const sealed = row && sealedBytes(row.record);
        const boxes = sealed ? readBoxes(sealed) : new Map();
        const hasKeys = keys.ring.key(ringKind.vault, vault, epoch) !== undefined;
        if (row && roster.members.every(({ id }) => boxes.has(id))) {
            if (!hasKeys) throw new CompanionError("noKey", "This device can't open the vault's newest keys; another member has to remove it and invite it again.");
            await resealWaiting(device, vault, epoch);
            // One does it: who made these keys.
            if (row.record.author === keys.device) await adopt(device, vault);
            return;
        }
        // Only who has the keys can give them; before that somebody else does.
        if (row && !hasKeys) throw new CompanionError("noKey", "This device waits for the vault's newest keys from another member.");
        const ring = withEpoch(keys.ring, household, vault, epoch);
        const known = row?.record.revision ?? 0;
        const record = await keysRecord(
            { household, roster, keys, ring, epoch, revision: Math.max(known, atHub ?? 0) + 1, replaces: atHub ?? known });
        device.still(keys);
        const [outcome] = await device.hub.write([record]);
        const { replaces: _, ...written } = record;
        if (outcome.sequence !== undefined) await take({ ...written, sequence: outcome.sequence });
        else if (outcome.conflict) {
            await take({ ...outcome.conflict, blobs: outcome.conflict.blobs ?? [] });
            const taken = (await device.store.record(keyOf("keys", record.id)))?.record.revision ?? 0;
            if (!isNear(outcome.conflict.revision, taken)) {
                await device.misbehaved(farConflict, true);
                break;
            }
            atHub = outcome.conflict.revision;
        } else if (outcome.error?.code === "conflict") atHub = 0;
        else throw new HubUnreachable("notUnderstood", "The hub did not take the vault's keys; it is tried again.");
        await device.followRoster();
    }
    throw new HubUnreachable("notUnderstood", "The vault's keys could not be settled with the hub; it is tried again.");
}

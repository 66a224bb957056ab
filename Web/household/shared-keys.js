// The keys of a shared vault, and of a household that a phone founded. Every epoch has one record with a box for each
// member, so that two members who replace the keys at once can't make two of them: the hub accepts the first.
// docs/formats.md, "Shared vaults".
import { ByteReader, concat, fields, hex, randomBytes, u16, u32, unhex, utf8, wipe } from "../crypto/bytes.js";
import { openBox, sealBox } from "../crypto/box.js";
import { sha256 } from "../crypto/primitives.js";
import { KeyRing, ringKind } from "../crypto/ring.js";
import { signRecord } from "../crypto/signature.js";
import { RecordRefusal } from "../formats/record-check.js";

/** @typedef {import("../crypto/roster.js").Roster} Roster */
/** @typedef {import("../formats/record-check.js").CheckedRecord} CheckedRecord */
/** @typedef {import("./keys.js").UnlockedKeys} UnlockedKeys */

const magic = "APVK";

/** @param {string} label @param {...Uint8Array} rest */
const derivedID = async (label, ...rest) => hex((await sha256(fields(label, ...rest))).slice(0, 16));

/**
 * The one vault of a shared vault's household, or of one that a phone founded.
 * @param {string} household
 */
export const sharedVaultID = (household) => derivedID("applocker/1/shared-vault", unhex(household));

/**
 * The id of the keys of an epoch.
 * @param {string} household
 * @param {number} epoch
 */
export const keysID = (household, epoch) => derivedID("applocker/1/vault-keys", unhex(household), u32(epoch));

/**
 * Which device of a household a member is. Only those who know that device can compare; to others it is a random
 * number.
 * @param {string} household the shared vault's
 * @param {string} member
 * @param {string} device of the member's own household
 */
export const ownerTag = (household, member, device) =>
    derivedID("applocker/1/vault-owner", unhex(household), unhex(member), unhex(device));

/**
 * Each revocation or departure begins a new epoch of keys.
 * @param {Roster} roster
 */
export const epochOf = (roster) => roster.revoked.size + 1;

/** @param {KeyRing} ring @param {string} household @param {string} vault @param {number} epoch */
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
 * Accepts the keys of an epoch only from a device that is a member after the revocation that began it: a member could
 * otherwise make them ahead, and read what is written after its own removal. Throws RecordRefusal.
 * @param {Roster} roster the hub's newest
 * @param {CheckedRecord} record
 */
export function checkKeysOfEpoch(roster, record) {
    if (record.epoch > epochOf(roster)) throw new RecordRefusal("unreadable");
    if (!roster.member(record.author.id)) throw new RecordRefusal("unknownAuthor");
}

/**
 * Adds a device's keys from a record of keys; a member without a box in it stores it too. Throws RecordRefusal.
 *
 * `isHousehold`: a session of a decoy PIN signs for its device, but has no keys. So a device that has keys accepts only
 * records whose author has the first one too. `needsBox`: an earlier record had one for it.
 * @param {UnlockedKeys} keys
 * @param {CheckedRecord} record
 * @param {boolean} [isHousehold]
 * @param {boolean} [needsBox]
 */
export async function addVaultKeys(keys, record, isHousehold = false, needsBox = false) {
    const { household } = keys;
    const vault = await sharedVaultID(household);
    try {
        if (!record.sealed || record.name.id !== (await keysID(household, record.epoch))) {
            throw new RecordRefusal("unreadable");
        }
        const box = readBoxes(record.sealed).get(keys.device);
        const [first] = keys.ring.entries.filter((entry) => entry.kind === ringKind.vault && entry.vault === vault);
        if (!box && needsBox) throw new RecordRefusal("unreadable");
        if (!box) return;
        const body = await openBox(box, { ...record.name, id: keys.device }, keys.box);
        const given = KeyRing.read(body);
        wipe(body);
        const isOurs = given.entries.every(({ kind, vault: id, epoch }) => epoch <= record.epoch
            && ((kind === ringKind.vault && id === vault) || (kind === ringKind.status && id === household)));
        if (!isOurs || !given.key(ringKind.vault, vault, record.epoch)
            || !given.key(ringKind.status, household, record.epoch)) throw new RecordRefusal("unreadable");
        if (isHousehold && first && !given.key(ringKind.vault, vault, first.epoch)) {
            throw new RecordRefusal("unreadable");
        }
        keys.ring = new KeyRing([...keys.ring.entries, ...given.entries]);
    } catch {
        throw new RecordRefusal("unreadable");
    }
}

/**
 * @param {{ members: import("../crypto/roster.js").Member[], keys: UnlockedKeys, ring: KeyRing, epoch: number,
 *   revision: number, replaces: number }} given
 * @returns {Promise<HubRecord>}
 */
export async function keysRecord({ members, keys, ring, epoch, revision, replaces }) {
    const { household } = keys;
    const [id, vault] = [await keysID(household, epoch), await sharedVaultID(household)];
    const name = { vault: household, collection: "keys", id, revision };
    const body = new KeyRing(ring.entries.filter((entry) => entry.vault === (entry.kind === ringKind.vault
        ? vault : household) && entry.kind !== ringKind.device)).plaintext;
    const boxes = await Promise.all(members.map(async (member) => {
        const box = await sealBox(body, { ...name, id: member.id }, member.boxKey);
        return concat(unhex(member.id), u32(box.length), box);
    }));
    wipe(body);
    const sealed = concat(utf8(magic), [1], u16(boxes.length), ...boxes);
    return signRecord(keys.signingKey, name, { epoch, author: keys.device, sealed, replaces });
}

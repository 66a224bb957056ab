// The keys of a shared vault. Every epoch has one record with a box for each member, so that two members who replace
// the keys at once can't make two of them: the hub accepts the first. docs/formats.md, "Shared vaults".
import { recordKey } from "../formats/record-key.js";
import { ByteReader, concat, fields, hex, randomBytes, u16, u32, unhex, utf8, wipe } from "../crypto/bytes.js";
import { openBox, sealBox } from "../crypto/box.js";
import { sha256 } from "../crypto/primitives.js";
import { KeyRing, ringKind } from "../crypto/ring.js";
import { sealedBytes, signRecord } from "../crypto/signature.js";
import { HubUnreachable } from "../hub/errors.js";
import { CompanionError } from "../household/errors.js";
import { RecordRefusal } from "../formats/record-check.js";
import { adoptRecords, resealWaiting } from "./former-members.js";
import { farConflict, isNear } from "./versions.js";

/** @typedef {import("../household/keys.js").UnlockedKeys} UnlockedKeys */

const magic = "APVK";
const attempts = 8;

/** @param {string} label @param {...Uint8Array} rest */
const derivedID = async (label, ...rest) => hex((await sha256(fields(label, ...rest))).slice(0, 16));

/**
 * The one vault of a shared vault's household.
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
 * @param {import("../crypto/roster.js").Roster} roster
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
 * @param {import("../crypto/roster.js").Roster} roster the hub's newest
 * @param {import("../formats/record-check.js").CheckedRecord} record
 */
export function checkKeysOfEpoch(roster, record) {
    if (record.epoch > epochOf(roster)) throw new RecordRefusal("unreadable");
    if (!roster.member(record.author.id)) throw new RecordRefusal("unknownAuthor");
}

/**
 * Adds a device's keys from a record of keys; a member without a box in it stores it too. Throws RecordRefusal.
 * @param {UnlockedKeys} keys
 * @param {import("../formats/record-check.js").CheckedRecord} record
 */
export async function addVaultKeys(keys, record) {
    const { household } = keys;
    const vault = await sharedVaultID(household);
    try {
        if (!record.sealed || record.name.id !== (await keysID(household, record.epoch))) {
            throw new RecordRefusal("unreadable");
        }
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
 * @param {{ household: string, roster: import("../crypto/roster.js").Roster, keys: UnlockedKeys, ring: KeyRing,
 *   epoch: number, revision: number, replaces?: number }} given
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
 * Ensures that all members and no revoked device have the newest keys, and that pending changes are sealed under them.
 * The first device that finds this violated writes new keys. Throws HubError, HubUnreachable, CompanionError.
 * @param {DeviceSession} device of a shared vault, open
 * @param {(record: HubRecord) => Promise<unknown>} ingest
 */
export async function settleKeys(device, ingest) {
    const { keys } = device;
    const { household } = device.paired;
    const vault = await sharedVaultID(household);
    await device.followRoster();
    // A different revision at the hub is replaced: an older one of a restored hub, or one that no device accepts, as a
    // member may make before its own removal.
    /** @type {number | undefined} */
    let atHub;
    for (let attempt = 0; attempt < attempts; attempt += 1) {
        const { roster } = device;
        if (!roster.member(keys.device)) return;
        const epoch = epochOf(roster);
        const row = await device.store.record(recordKey("keys", await keysID(household, epoch)));
        const sealed = row && sealedBytes(row.record);
        const boxes = sealed ? readBoxes(sealed) : new Map();
        const hasKeys = keys.ring.key(ringKind.vault, vault, epoch) !== undefined;
        if (row && roster.members.every(({ id }) => boxes.has(id))) {
            if (!hasKeys) {
                throw new CompanionError("noKey",
                    "This device can’t open the vault’s newest keys; another "
                        + "member has to remove it and invite it again.");
            }
            await resealWaiting(device, vault, epoch);
            // Done by the author of these keys.
            if (row.record.author === keys.device) await adoptRecords(device, vault);
            return;
        }
        // Only a device that has the keys can send them.
        if (row && !hasKeys) {
            throw new CompanionError("noKey",
                "This device is waiting for another member to send the vault’s newest keys.");
        }
        const ring = withEpoch(keys.ring, household, vault, epoch);
        const known = row?.record.revision ?? 0;
        const record = await keysRecord(
            { household, roster, keys, ring, epoch, revision: Math.max(known, atHub ?? 0)
                + 1, replaces: atHub ?? known });
        device.requireUnlocked(keys);
        const [outcome] = await device.hub.write([record]);
        const { replaces: _, ...written } = record;
        if (outcome.sequence !== undefined) await ingest({ ...written, sequence: outcome.sequence });
        else if (outcome.conflict) {
            await ingest({ ...outcome.conflict, blobs: outcome.conflict.blobs ?? [] });
            const taken = (await device.store.record(recordKey("keys", record.id)))?.record.revision ?? 0;
            if (!isNear(outcome.conflict.revision, taken)) {
                await device.reportProtocolViolation(farConflict, true);
                break;
            }
            atHub = outcome.conflict.revision;
        } else if (outcome.error?.code === "conflict") atHub = 0;
        else throw new HubUnreachable("notUnderstood", "The hub did not accept the vault’s keys; AppLocker retries.");
        await device.followRoster();
    }
    throw new HubUnreachable("notUnderstood",
        "The vault’s keys could not be synchronised with the hub; AppLocker retries.");
}

// Ensures that the members of a shared vault, or of a household that a phone founded, have its newest keys.
// docs/formats.md, "Shared vaults" and "Households of phones".
import { recordKey } from "../formats/record-key.js";
import { ringKind } from "../crypto/ring.js";
import { sealedBytes } from "../crypto/signature.js";
import { HubUnreachable } from "../hub/errors.js";
import { admittedHere } from "../household/admitted.js";
import { CompanionError } from "../household/errors.js";
import { epochOf, keysID, keysRecord, readBoxes, sharedVaultID, withEpoch } from "../household/shared-keys.js";
import { adoptRecords, hasOldWaiting, resealWaiting } from "./former-members.js";
import { farConflict, isNear } from "./versions.js";

const attempts = 8;

/**
 * Before a household that a phone founded sends anything. While AppLocker is locked, or unlocked by a decoy PIN, the
 * keys can't be replaced: then changes under older ones wait. Throws as `settleKeys`.
 * @param {DeviceSession} device
 * @param {(record: HubRecord) => Promise<unknown>} ingest
 */
export async function settleHousehold(device, ingest) {
    if (device.unlocked?.receivesKeys) return settleKeys(device, ingest);
    await device.followRoster();
    const { roster } = device;
    if (await hasOldWaiting(device, await sharedVaultID(roster.household), epochOf(roster))) {
        throw new HubUnreachable("offline", "A device was revoked: changes are sent once AppLocker is unlocked.");
    }
}

/** @param {DeviceSession} device @param {number} epoch */
async function boxesOf(device, epoch) {
    const row = await device.store.record(recordKey("keys", await keysID(device.paired.household, epoch)));
    const sealed = row && sealedBytes(row.record);
    return { row, boxes: sealed ? readBoxes(sealed) : null };
}

/**
 * Who gets the keys: in a shared vault every member. In a household a decoy PIN's session can admit devices too, so
 * there it is this device, those that had the newest keys, and those that a session with keys admitted.
 * @param {DeviceSession} device
 * @param {number} epoch
 */
async function recipients(device, epoch) {
    const { members } = device.roster;
    if (device.member) return members;
    const chosen = new Set([device.keys.device, ...(await admittedHere(device))]);
    for (let one = epoch; one > 0; one -= 1) {
        const { boxes } = await boxesOf(device, one);
        if (!boxes) continue;
        for (const id of boxes.keys()) chosen.add(id);
        break;
    }
    return members.filter(({ id }) => chosen.has(id));
}

/**
 * Ensures that all members and no revoked device have the newest keys, and that pending changes are sealed under them.
 * The first device that finds this violated writes new keys. Throws HubError, HubUnreachable, CompanionError.
 * @param {DeviceSession} device open
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
        const { row, boxes } = await boxesOf(device, epoch);
        // Usually everybody has a box: then nothing else is read.
        const members = roster.members.every(({ id }) => boxes?.has(id))
            ? roster.members
            : await recipients(device, epoch);
        const isReceived = () => keys.ring.key(ringKind.vault, vault, epoch) !== undefined;
        // Another tab may have received them just now.
        if (row && !isReceived()) await device.loadRing();
        const hasKeys = isReceived();
        if (row && members.every(({ id }) => boxes?.has(id))) {
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
            { members, keys, ring, epoch, revision: Math.max(known, atHub ?? 0) + 1, replaces: atHub ?? known });
        device.requireUnlocked(keys);
        const [outcome] = await device.hub.write([record]);
        const { replaces: _, ...written } = record;
        if (outcome.sequence !== undefined) await ingest({ ...written, sequence: outcome.sequence });
        else if (outcome.conflict) {
            await ingest({ ...outcome.conflict, blobs: outcome.conflict.blobs ?? [] });
            const taken = (await device.store.record(recordKey(record.collection, record.id)))?.record.revision ?? 0;
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

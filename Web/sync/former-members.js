// Records of devices that left a shared vault, or a household that a phone founded. docs/formats.md, "Shared vaults".
import { unbase64, wipe } from "../crypto/bytes.js";
import { readEnvelope } from "../crypto/envelope.js";
import { checkRecord } from "../formats/record-check.js";
import { sharedVaultID } from "../household/shared-keys.js";
import { ancestorsIn } from "./versions.js";

/** @typedef {import("../crypto/roster.js").Roster} Roster */

/** Records sealed again in one step. */
const atOnce = 32;
const adoptedFact = "adopted";
/**
 * Records of "vaults" are replaced instead: a device that left has read their secrets. Remarks and entries of the log
 * stay those of their author.
 */
const adopted = ["about", "moments", "photos", "dates", "notes"];

/**
 * Accepts a former member's record of the shared vault under the keys of its time, unless it would replace a newer
 * version. Null for its other records: a computer's own vault counts its epochs apart. Throws RecordRefusal.
 * @param {Roster} roster
 * @param {HubRecord} record
 * @param {import("../store/store.js").Row | undefined} row the stored one
 * @param {number} known the revision that it has to be above
 */
export async function checkFormerMemberRecord(roster, record, row, known) {
    const author = roster.former.get(record.author);
    const isOfThen = author && record.epoch <= author.until && (row?.record.epoch ?? 0) <= record.epoch;
    if (!isOfThen || record.vault !== (await sharedVaultID(roster.household))) return null;
    return checkRecord({ household: roster.household, member: (id) => (id === author.id ? author : undefined) },
        record, known);
}

/** @param {HubRecord} record @param {string} vault @param {number} epoch */
const isOlder = ({ vault: own, sealed }, vault, epoch) => own === vault && typeof sealed === "string"
    && readEnvelope(unbase64(sealed)).wrapEpoch < epoch;

/**
 * Whether a pending change is sealed under keys that a member who left has.
 * @param {DeviceSession} device
 * @param {string} vault
 * @param {number} epoch
 */
export const hasOldWaiting = async ({ store }, vault, epoch) =>
    (await store.waiting()).some(({ record }) => isOlder(record, vault, epoch));

/**
 * Seals pending changes from before a member left again, so that none is sent under keys that the member has.
 * @param {DeviceSession} device
 * @param {string} vault
 * @param {number} epoch
 */
export async function resealWaiting(device, vault, epoch) {
    const { keys, store, tabs } = device;
    if (!(await hasOldWaiting(device, vault, epoch))) return;
    await tabs.exclusive("edit", async () => {
        for (const line of await store.waiting()) {
            const { record } = line;
            if (!isOlder(record, vault, epoch)) continue;
            const body = await keys.openContent(record, unbase64(/** @type {string} */ (record.sealed)));
            const name = { vault, collection: record.collection, id: record.id, revision: record.revision };
            const renewed = {
                ...(await keys.sealBody(name, body, record.replaces ?? 0, record.blobs)), ...ancestorsIn(record),
            };
            wipe(body);
            device.requireUnlocked(keys);
            await store.write({ lines: [{ key: line.key, signature: record.signature, change: { record: renewed } }] });
            device.changed([line.key]);
        }
    });
}

/**
 * Signs records of former members and seals them under the newest keys, so that later members accept them too.
 * @param {DeviceSession} device
 * @param {string} vault
 */
export async function adoptRecords(device, vault) {
    const { keys, roster, store, tabs } = device;
    if (roster.revoked.size === 0) return;
    const done = await store.fact(adoptedFact, { roster: 0, sequence: -1 });
    const after = done.roster === roster.number ? done.sequence : -1;
    let sequence = after;
    for (const collection of adopted) {
        const rows = await store.records(collection, { after });
        sequence = Math.max(sequence, ...rows.map((row) => row.sequence));
        const theirs = rows.filter(({ record }) => record.vault === vault
            && typeof record.sealed === "string" && !roster.member(record.author));
        for (let start = 0; start < theirs.length; start += atOnce) {
            await tabs.exclusive("edit", async () => {
                for (const { key } of theirs.slice(start, start + atOnce)) {
                    const record = (await store.record(key))?.record;
                    // Another device may have changed it meanwhile.
                    if (!record?.sealed || roster.member(record.author) || (await store.waitingFor(key))) continue;
                    const body = await keys.openContent(record, unbase64(record.sealed)).catch(() => null);
                    device.requireUnlocked(keys);
                    // A member may have signed what nobody can open.
                    if (!body) continue;
                    const name = { vault, collection, id: record.id, revision: record.revision + 1 };
                    const own = await keys.sealBody(name, body, record.revision, record.blobs);
                    wipe(body);
                    device.requireUnlocked(keys);
                    await store.write({ waiting: [{ key, record: own }] });
                    device.changed([key]);
                }
            });
        }
    }
    await store.write({ facts: { [adoptedFact]: { roster: roster.number, sequence } } });
}

// Sends a restored hub the records that it lost, signed by this device, once AppLocker is unlocked. docs/formats.md, "A
// restored hub".
import { isOpen } from "../household/private-storage.js";
import { CompanionError } from "../household/errors.js";
import { newestWith, storeFacts, storeSeen, writeToKnownStore } from "./restored-hub.js";
import { firstBatch } from "./request-batch.js";
import { ingestRecords } from "./ingest.js";
import { withoutSnapshotBelow } from "./moment-snapshot.js";
import { ancestorsAgain, farConflict, isNear, version } from "./versions.js";
import { HubUnreachable } from "../hub/errors.js";
import { sealedBytes, signRecord } from "../crypto/signature.js";
import { storedCount } from "../store/store.js";

/** @typedef {import("../store/store.js").Row} Row */
/** @typedef {{ row: Row, record: HubRecord }} Offer */

/** How often a record is sent in a row. */
const mostAttempts = 4;

/**
 * Throws HubError, HubUnreachable: then it is sent with the next connection.
 * @param {DeviceSession} device
 */
export async function resendLost(device) {
    /** @type {Map<string, number>} */
    const attempts = new Map();
    for (;;) {
        const offers = firstBatch(await lostRecords(device));
        if (offers.length === 0) return;
        const { outcomes, seen } = await writeToKnownStore(device, offers.map(({ record }) => record));
        for (const [index, offer] of offers.entries()) {
            const { key } = offer.row;
            attempts.set(key, (attempts.get(key) ?? 0) + 1);
            const isSettled = await settle(device, offer, outcomes[index], seen);
            if (!isSettled && Number(attempts.get(key)) >= mostAttempts) device.notResent.add(key);
        }
    }
}

/**
 * Some records that can be sent now.
 * @param {DeviceSession} device
 */
async function lostRecords(device) {
    const { store, unlocked } = device;
    /** @type {Offer[]} */
    const offers = [];
    // Until everything was read, the hub may still have it.
    if (!unlocked || (await store.fact(storeFacts.comparing, false))) return offers;
    for (const key of await store.lost()) {
        if (device.notResent.has(key)) continue;
        const row = await store.record(key);
        if (!row || !isOpen(device, row.record.vault) || !isOffered(device, row)) continue;
        const line = await store.waitingFor(key);
        // The pending change replaces it.
        if (line && !line.problem) continue;
        try {
            offers.push({ row, record: await offer(unlocked, row) });
        } catch (error) {
            if (error instanceof CompanionError && error.code === "locked") throw error;
            device.notResent.add(key);
        }
        device.requireUnlocked(unlocked);
        if (firstBatch(offers).length < offers.length) break;
    }
    return offers;
}

/**
 * Each device sends its own log entries, and its own remarks in a shared vault, which only it can sign. Computers send
 * the records that only they may write. The secret of a spare member from before a revocation is replaced instead.
 * @param {DeviceSession} device
 * @param {Row} row
 */
function isOffered(device, { collection, record }) {
    const isOfOneDevice = collection === "audit" || (collection === "remarks" && device.member !== null);
    const isOutdated = collection === "vaults" && record.sealed && record.epoch <= device.roster.revoked.size;
    return collection !== "intruders" && !isOutdated && (!isOfOneDevice || record.author === device.paired.device);
}

/**
 * A row's version, signed by this device: with its own revision or, if the hub has that one or a higher one, with the
 * next.
 * @param {import("../household/keys.js").UnlockedKeys} keys
 * @param {Row} row
 */
async function offer(keys, row) {
    const { record } = row;
    const atHub = storedCount(row.atHub);
    const { collection, id, vault, epoch } = record;
    const sealed = sealedBytes(record);
    const blobs = sealed ? record.blobs : [];
    const name = { vault, collection, id, revision: Math.max(record.revision, atHub + 1) };
    const isAnew = sealed && name.revision > record.revision;
    const signed = isAnew
        ? await keys.sealBody(name, await keys.openContent(record, sealed), atHub, blobs)
        : await signRecord(keys.signingKey, name, { epoch, author: keys.device, blobs, sealed, replaces: atHub });
    return { ...signed, ancestors: await ancestorsAgain(row, signed) };
}

/**
 * @param {DeviceSession} device
 * @param {Offer} offer
 * @param {HubAPI.HubWriteOutcome} outcome
 * @param {string} seen the hub's store as it was known when it was sent
 * @returns {Promise<boolean>} whether there is nothing more to do about it
 */
async function settle(device, { row, record }, outcome, seen) {
    const { key } = row;
    const conflict = outcome.conflict && { ...outcome.conflict, blobs: outcome.conflict.blobs ?? [] };
    const isSame = conflict && conflict.id === record.id && conflict.collection === record.collection
        && (await version(conflict)) === (await version(record));
    const sequence = outcome.sequence ?? (isSame ? conflict.sequence ?? row.sequence : undefined);
    if (sequence !== undefined) {
        await change(device, row, seen, () => settledRow(row, record, sequence), sequence);
        if (record.revision !== row.record.revision) device.changed([key]);
        return true;
    }
    if (conflict) {
        await ingestRecords(device, [conflict], { seen });
        if (!isNear(conflict.revision, row.record.revision)) {
            device.notResent.add(key);
            await device.reportProtocolViolation(farConflict, true);
            return true;
        }
        // No device accepts the hub's version: the one here replaces it.
        await change(device, row, seen, () => ({ ...row, atHub: conflict.revision }));
        return false;
    }
    const { code, message } = outcome.error ?? { code: "failed", message: "" };
    if (code === "conflict" && row.atHub) {
        await change(device, row, seen, () => ({ ...row, atHub: 0 }));
        return false;
    }
    if (["unavailable", "too_many", "unauthorized"].includes(code)) {
        throw new HubUnreachable("offline", message || "The hub can’t accept changes now.");
    }
    // For example, the hub lacks the content of a photo, which the computer uploads.
    device.notResent.add(key);
    return true;
}

/** @param {Row} row @param {HubRecord} record @param {number} sequence @returns {Row} */
function settledRow(row, record, sequence) {
    const { atHub: _, ...settled } = row;
    const { replaces: __, ...signed } = record;
    // The author's signature stays if the version is the same; a log entry keeps its place.
    return {
        ...settled, sequence: row.collection === "audit" ? row.sequence : sequence,
        record: record.revision === row.record.revision ? row.record : signed,
    };
}

/**
 * Writes the row unless it changed since, or the hub has another store now.
 * @param {DeviceSession} device
 * @param {Row} row as it was
 * @param {string} seen the hub's store
 * @param {() => Row} make
 * @param {number} sequence that the hub assigned
 */
function change(device, row, seen, make, sequence = 0) {
    const { store, tabs } = device;
    return tabs.exclusive("take", async () => {
        const now = await store.record(row.key);
        const isAsBefore = now && now.record.signature === row.record.signature && now.atHub === row.atHub;
        if (!isAsBefore || (await storeSeen(device)) !== seen) return;
        const after = { ...make(), ...("hidden" in now ? { hidden: now.hidden } : {}) };
        const newest = await newestWith(device, sequence);
        const cursor = await store.sequence("cursor");
        await store.write({
            records: [after], facts: { [storeFacts.newest]: newest, ...withoutSnapshotBelow([after], cursor) },
        });
    });
}

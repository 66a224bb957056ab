// Sends a restored hub what it lost, signed by this device, as soon as the gate is open. docs/formats.md, "A restored hub".
import { isOpen } from "./conflicts.js";
import { CompanionError } from "./errors.js";
import { newestWith, storeFacts, storeSeen } from "./restored.js";
import { fitting } from "./sending.js";
import { isLate, take } from "./taking.js";
import { indexFact } from "./moment-index.js";
import { ancestorsAgain, farConflict, isNear, version } from "./versions.js";
import { HubUnreachable } from "../protocol/errors.js";
import { sealedBytes, signRecord } from "../crypto/signature.js";
import { keyOf, storedCount } from "../store/store.js";

/** @typedef {import("./device.js").Device} Device */
/** @typedef {import("../store/store.js").Row} Row */
/** @typedef {import("../crypto/signature.js").HubRecord} HubRecord */
/** @typedef {{ row: Row, record: HubRecord }} Offer */

/** So often one record is sent in a row, each time in the place of what the hub turned out to have. */
const mostAttempts = 4;

/**
 * Which versions wait to become records of their own.
 * @param {Device} device
 * @returns {Promise<string>} their signatures
 */
export const apartIn = async ({ store }) =>
    (await store.fact(storeFacts.apart, /** @type {HubRecord[]} */ ([]))).map(({ signature }) => signature).join();

/**
 * Whether a record that was taken calls for sending: it has to give way, another version became one to copy, or its keys may open one.
 * @param {Device} device
 * @param {HubRecord} record
 * @param {string} before what `apartIn` returned before it was taken
 */
export async function isOwing(device, { collection, id }, before) {
    const apart = await apartIn(device);
    return (await device.store.record(keyOf(collection, id)))?.atHub !== undefined || apart !== before || (collection === "keys" && apart !== "");
}

/**
 * Throws HubError, HubUnreachable: it is sent with the next connection.
 * @param {Device} device
 */
export async function offerLost(device) {
    /** @type {Map<string, number>} */
    const attempts = new Map();
    for (;;) {
        const offers = fitting(await offersOf(device));
        if (offers.length === 0) return;
        const seen = await storeSeen(device);
        const outcomes = await device.hub.write(offers.map(({ record }) => record));
        if ((await storeSeen(device)) !== seen) continue;
        for (const [index, offer] of offers.entries()) {
            const { key } = offer.row;
            attempts.set(key, (attempts.get(key) ?? 0) + 1);
            const isSettled = await settle(device, offer, outcomes[index], seen);
            if (!isSettled && Number(attempts.get(key)) >= mostAttempts) device.notOffered.add(key);
        }
    }
}

/**
 * Some of what can be sent now.
 * @param {Device} device
 */
async function offersOf(device) {
    const { store, unlocked } = device;
    /** @type {Offer[]} */
    const offers = [];
    // Before everything was read, the hub may have it.
    if (!unlocked || (await store.fact(storeFacts.comparing, false))) return offers;
    for (const key of await store.lost()) {
        if (device.notOffered.has(key)) continue;
        const row = await store.record(key);
        if (!row || !isOpen(device, row.record.vault) || !isOffered(device, row)) continue;
        const line = await store.waitingFor(key);
        // A change goes in its place.
        if (line && !line.problem) continue;
        try {
            offers.push({ row, record: await offer(unlocked, row) });
        } catch (error) {
            if (error instanceof CompanionError && error.code === "locked") throw error;
            device.notOffered.add(key);
        }
        device.still(unlocked);
        if (fitting(offers).length < offers.length) break;
    }
    return offers;
}

/**
 * Of a log each device sends its own entries: whose they are is who signed them. What computers alone may write they send.
 * @param {Device} device
 * @param {Row} row
 */
const isOffered = (device, { collection, record }) =>
    collection !== "intruders" && (collection !== "audit" || record.author === device.paired.device);

/**
 * What a row has, signed by this device: as it is or, where the hub has its number or a higher one, as the next one.
 * @param {import("./keys.js").UnlockedKeys} keys
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
 * @param {Device} device
 * @param {Offer} offer
 * @param {import("../protocol/client.js").WriteOutcome} outcome
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
        await take(device, [conflict], { seen });
        if (!isNear(conflict.revision, row.record.revision)) {
            device.notOffered.add(key);
            await device.misbehaved(farConflict, true);
            return true;
        }
        // Nobody takes it: what is here replaces it.
        await change(device, row, seen, () => ({ ...row, atHub: conflict.revision }));
        return false;
    }
    const { code, message } = outcome.error ?? { code: "failed", message: "" };
    if (code === "conflict" && row.atHub) {
        await change(device, row, seen, () => ({ ...row, atHub: 0 }));
        return false;
    }
    if (["unavailable", "too_many", "unauthorized"].includes(code)) {
        throw new HubUnreachable("offline", message || "The hub can't take changes just now.");
    }
    // As where it has not the content of a photo, which the computer sends it.
    device.notOffered.add(key);
    return true;
}

/** @param {Row} row @param {HubRecord} record @param {number} sequence @returns {Row} */
function settledRow(row, record, sequence) {
    const { atHub: _, ...settled } = row;
    const { replaces: __, ...signed } = record;
    // Its author's signature stays where it is the same version; an entry of a log stays where it stood.
    return {
        ...settled, sequence: row.collection === "audit" ? row.sequence : sequence,
        record: record.revision === row.record.revision ? row.record : signed,
    };
}

/**
 * Unless something has come in its place, or the hub has another store now.
 * @param {Device} device
 * @param {Row} row as it was
 * @param {string} seen the hub's store
 * @param {() => Row} make
 * @param {number} sequence that the hub gave
 */
function change(device, row, seen, make, sequence = 0) {
    const { store, tabs } = device;
    return tabs.alone("take", async () => {
        const now = await store.record(row.key);
        const isAsBefore = now && now.record.signature === row.record.signature && now.atHub === row.atHub;
        if (!isAsBefore || (await storeSeen(device)) !== seen) return;
        const after = { ...make(), ...("hidden" in now ? { hidden: now.hidden } : {}) };
        const newest = await newestWith(device, sequence);
        const isIndexLate = isLate(after, await store.sequence("cursor"));
        await store.write({ records: [after], facts: { [storeFacts.newest]: newest, ...(isIndexLate ? { [indexFact]: null } : {}) } });
    });
}

// Takes records of the hub: each is checked before it is kept, and what is refused is counted.
import { keyOf } from "../store/store.js";
import { addEvent, nameEvent, newChain } from "./chain.js";
import { heard } from "./clock.js";
import { KeyRing, ringKind } from "../crypto/ring.js";
import { changeDrawer } from "./drawer.js";
import { isKeysFor, KeyMissing, openHousehold, statusKeysOf } from "./keys.js";
import { indexFact } from "./moment-index.js";
import { checkRecord, RecordRefusal } from "./record-check.js";
import { restarted, storeFacts, storeSeen } from "./restored.js";
import { checkOfFormer } from "./vault-adopting.js";
import { checkKeysOfEpoch, takeVaultKeys } from "./vault-keys.js";
import { compare, follows, versionsBefore } from "./versions.js";

/** @typedef {import("./device.js").Device} Device */
/** @typedef {import("../crypto/signature.js").HubRecord} HubRecord */
/** @typedef {import("../store/store.js").Row} Row */
/**
 * What a batch changes, before it is written. `apart`: versions that become records of their own.
 * @typedef {{ rows: Map<string, Row>, deferred: HubRecord[], clocks: import("./clock.js").Clocks,
 *   chains: Record<string, import("./chain.js").EventChain>, hasNewKeys: boolean, refusals: RecordRefusal[], news: string[],
 *   apart: HubRecord[], owners?: Record<string, string> }} Batch
 */

/**
 * Takes records, and the sequence number up to which everything was seen. One batch at a time over all tabs.
 * @param {Device} device
 * @param {HubRecord[]} records
 * @param {{ cursor?: number, undeferred?: number[], seen?: string }} rest `seen`: the hub's store that served them, as `storeSeen` returns
 *   it. Throws HubUnreachable where a tab has found another one since: they may be lost there, and its numbers mean other records.
 * @returns {Promise<string[]>} the keys of what was new
 */
export function take(device, records, { cursor, undeferred = [], seen } = {}) {
    return device.tabs.alone("take", async () => {
        if (seen !== undefined && (await storeSeen(device)) !== seen) throw restarted();
        /** @type {Batch} */
        const batch = {
            rows: new Map(), deferred: [], clocks: await device.store.fact("clocks", {}),
            chains: await device.store.fact("chains", {}), hasNewKeys: false, refusals: [], news: [], apart: [],
        };
        for (const record of records) await takeOne(device, record, batch);
        const known = await device.store.sequence("cursor");
        /** @type {import("../store/store.js").Change} */
        const change = {
            records: [...batch.rows.values()], deferred: batch.deferred, undeferred,
            facts: { clocks: batch.clocks, chains: batch.chains, ...(cursor === undefined ? {} : { cursor: Math.max(known, cursor) }) },
        };
        if (batch.apart.length > 0) {
            const before = await device.store.fact(storeFacts.apart, /** @type {HubRecord[]} */ ([]));
            change.facts = { ...change.facts, [storeFacts.apart]: [...before, ...batch.apart] };
        }
        if (batch.owners) change.facts = { ...change.facts, vaultOwners: batch.owners };
        if ([...batch.rows.values()].some((row) => isLate(row, known))) change.facts = { ...change.facts, [indexFact]: null };
        if (batch.hasNewKeys) {
            const { ring, rootKey } = device.keys;
            await device.openStatusKeys(device.keys);
            if (!device.member) change.keys = await statusKeysOf(ring, device.paired.household);
            await changeDrawer(device, rootKey, (content) => {
                const entries = [...content.ring.entries, ...ring.entries];
                content.ring = new KeyRing(entries.map((entry) => ({ ...entry, key: entry.key.slice() })));
                return change;
            });
        } else await device.store.write(change);
        for (const refusal of batch.refusals) await device.misbehaved(refusal.message, true);
        if (batch.hasNewKeys) device.tabs.tell({ kind: "state" });
        device.changed(batch.news);
        return batch.news;
    });
}

/**
 * A moment that came with a number up to which everything was thought to be here: the kept index does not have it.
 * @param {Row} row
 * @param {number} cursor
 */
export const isLate = (row, cursor) => row.collection === "moments" && row.sequence <= cursor;

/**
 * What waited for keys, once they are there.
 * @param {Device} device
 */
export async function takeDeferred(device) {
    for (let round = 0, before = Infinity; round < 3; round += 1) {
        const waiting = (await device.store.deferred()).filter(({ record }) => record.collection !== "keys" || device.unlocked?.receivesKeys);
        if (waiting.length === before) return;
        before = waiting.length;
        if (waiting.length === 0) return;
        // The keys first: they open the rest.
        const records = waiting.map(({ record }) => record);
        records.sort((one, other) => Number(other.collection === "keys") - Number(one.collection === "keys"));
        await take(device, records, { undeferred: waiting.map(({ number }) => number) });
    }
}

/**
 * Earlier versions stored rows with whatever a hub answered; those are in no list.
 * @param {unknown} sequence a number of the hub's, or one between two where the hub may have lost the record
 */
const isListed = (sequence) => typeof sequence === "number" && sequence >= 0 && sequence < Number.MAX_SAFE_INTEGER;

/** @param {Device} device @param {HubRecord} record @param {Batch} batch */
async function takeOne(device, record, batch) {
    const key = keyOf(record.collection, record.id);
    const known = batch.rows.get(key) ?? (await device.store.record(key));
    if (known?.atHub !== undefined) return takeCompared(device, record, known, batch);
    if (known && record.revision <= known.record.revision) {
        if (record.signature === known.record.signature && !isListed(known.sequence)) {
            batch.rows.set(key, { ...known, sequence: record.sequence ?? 0 });
            batch.news.push(key);
        }
        const isLater = (record.sequence ?? 0) > known.sequence;
        if (record.revision < known.record.revision && isLater) batch.refusals.push(new RecordRefusal("notNewer"));
        return;
    }
    // What a log says stays, whoever removes it.
    if (known && record.collection === "audit") return;
    try {
        const checked = await check(device, record, known);
        if (!checked || !(await look(device, checked, batch))) return;
        await put(device, record, known, batch);
    } catch (error) {
        if (error instanceof RecordRefusal) batch.refusals.push(error);
        else if (error instanceof KeyMissing) batch.deferred.push(record);
        else throw error;
    }
}

/** @param {Device} device @param {HubRecord} record @param {Row | undefined} known @param {Batch} batch */
async function put(device, record, known, batch) {
    const key = keyOf(record.collection, record.id);
    batch.rows.set(key, {
        key, collection: record.collection, sequence: record.sequence ?? 0, record, at: device.time.now(), ...(await versionsBefore(known)),
    });
    batch.news.push(key);
}

/**
 * A record that the hub may have lost: it serves an older state maybe, or what another device wrote since.
 * @param {Device} device
 * @param {HubRecord} record
 * @param {Row} known
 * @param {Batch} batch
 */
async function takeCompared(device, record, known, batch) {
    try {
        if (!(await check(device, record, known, 0))) return;
    } catch (error) {
        if (!(error instanceof RecordRefusal)) throw error;
        return void batch.refusals.push(error);
    }
    const { row, copied } = await compare(known, record);
    const line = copied === known.record ? await device.store.waitingFor(known.key) : undefined;
    // Where a change of it waits, that becomes the copy.
    if (copied && !(line && (await follows(line.record, known)))) batch.apart.push(copied);
    if (row) batch.rows.set(known.key, row);
    else await put(device, record, known, batch);
}

/**
 * Null for one of a device that was revoked since.
 * @param {Device} device
 * @param {HubRecord} record
 * @param {Row | undefined} row what is known of it
 * @param {number} known the revision that it has to be above
 */
async function check(device, record, row, known = row?.record.revision ?? 0) {
    try {
        return await checkRecord(device.roster, record, known);
    } catch (error) {
        if (!(error instanceof RecordRefusal) || error.code !== "unknownAuthor") throw error;
        await device.followRoster();
        if (device.roster.revoked.has(record.author)) return device.member ? checkOfFormer(device.roster, record, row, known) : null;
        return checkRecord(device.roster, record, known);
    }
}

/**
 * Looks inside what is of the household, and learns from it. Throws RecordRefusal, KeyMissing.
 * @param {Device} device
 * @param {import("./record-check.js").CheckedRecord} record
 * @param {Batch} batch
 * @returns {Promise<boolean>} whether it is kept
 */
async function look(device, record, batch) {
    const { collection, id, revision } = record.name;
    /** @param {string} kind */
    const open = (kind) => openHousehold(device.statusKeys, record, kind);
    /** @param {string} event */
    const isHere = async (event) => {
        const key = keyOf("events", event);
        return batch.rows.has(key) || (await device.store.record(key)) !== undefined;
    };
    /** @param {string} computer */
    const chain = (computer) => (batch.chains[computer] ??= newChain());
    switch (collection) {
        case "keys":
            if (!record.sealed || (!device.member && !(await isKeysFor(device.paired.device, record)))) return false;
            // Its box opens only behind the gate.
            if (!device.unlocked?.receivesKeys) throw new KeyMissing();
            if (device.member) {
                await checkKeysOfEpoch(device, record);
                await takeVaultKeys(device.unlocked, record);
            } else {
                batch.owners ??= await ownersOf(device);
                await device.unlocked.add(record, batch.owners, (id) => device.roster.member(id) !== undefined);
            }
            await device.openStatusKeys(device.unlocked);
            batch.hasNewKeys = true;
            return true;
        case "devices":
            if (record.sealed) await open("devices");
            return true;
        case "status": {
            const status = await open("status");
            heard(batch.clocks, id, status.clock, device.time.now());
            if (status.lastEvent) nameEvent(chain(id), status.lastEvent, await isHere(status.lastEvent));
            if (status.rosterNumber > device.roster.number) await catchUp(device, status.rosterNumber);
            if (status.rosterHead && status.rosterNumber <= device.roster.number
                && !(await device.roster.has(status.rosterNumber, status.rosterHead))) {
                await device.misbehaved("another list of devices than to the computer");
            }
            return true;
        }
        case "apps":
            await open("apps");
            return true;
        case "events": {
            const event = await open("events");
            if (event.computer !== record.author.id) throw new RecordRefusal("wrongWriter");
            addEvent(chain(event.computer), id, event.previous ?? undefined, event.previous ? await isHere(event.previous) : false);
            return true;
        }
        case "requests":
            await open("requests");
            return true;
        case "commands": {
            // The first revision is a companion's own.
            if (revision === 1) return false;
            const reply = await open("replies");
            if (reply.computer !== record.author.id) throw new RecordRefusal("wrongWriter");
            heard(batch.clocks, reply.computer, reply.clock, device.time.now());
            return true;
        }
        default:
            return true;
    }
}

/**
 * Which computer each vault belongs to: those whose keys came with the pairing, to the computer that let this device in.
 * @param {Device} device
 * @returns {Promise<Record<string, string>>}
 */
async function ownersOf({ store, keys, paired }) {
    const first = keys.ring.entries.filter(({ kind }) => kind === ringKind.vault).map(({ vault }) => [vault, paired.computer]);
    return store.fact("vaultOwners", Object.fromEntries(first));
}

/**
 * A computer knows a longer list of devices: the hub has it too, or keeps it back.
 * @param {Device} device
 * @param {number} number
 */
async function catchUp(device, number) {
    await device.followRoster();
    if (device.roster.number < number) await device.misbehaved("an older list of devices than the computer knows");
}

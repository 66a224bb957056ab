// Ingests records that the hub serves: each is checked before it is stored, and refused ones are counted.
import { recordKey } from "../formats/record-key.js";
import { addEvent, nameEvent, newChain } from "../household/event-chain.js";
import { updateClock } from "../household/computer-clocks.js";
import { equalInConstantTime } from "../crypto/bytes.js";
import { KeyRing, ringKind } from "../crypto/ring.js";
import { changeDrawer } from "../household/private-storage.js";
import { isKeysFor, KeyMissing, openHousehold, statusKeysOf } from "../household/keys.js";
import { checkRecord, RecordRefusal } from "../formats/record-check.js";
import { restarted, storeFacts, storeSeen } from "./restored-hub.js";
import { withoutSnapshotBelow } from "./moment-snapshot.js";
import { compare, follows, isNear, versionsBefore } from "./versions.js";
import { sealedBytes } from "../crypto/signature.js";

/** @typedef {import("../store/store.js").Row} Row */
/**
 * The changes of a batch before they are written. `apart`: versions that become records of their own. `keys`: a copy
 * with the batch's new keys, because a lock or another tab may replace those in memory.
 * @typedef {{ rows: Map<string, Row>, deferred: HubRecord[], clocks: import("../household/computer-clocks.js").Clocks,
 *   chains: Record<string, import("../household/event-chain.js").EventChain>,
 *   keys: import("../household/keys.js").UnlockedKeys | null, hasNewKeys: boolean, refusals: RecordRefusal[],
 *   changed: string[], apart: HubRecord[], owners?: Record<string, string>, hasFollowedRoster: boolean }} Batch
 */

/** A batch needs the hub's newest list of devices: it is read without the lock, and the batch is restarted. */
class RosterNeeded extends Error {}

/**
 * Ingests records, and the sequence number up to which everything was seen. One batch at a time over all tabs. New keys
 * open what was deferred without them.
 * @param {DeviceSession} device
 * @param {HubRecord[]} records
 * @param {{ cursor?: number, undeferred?: number[], seen?: string }} [rest] `seen`: the hub's store that served them,
 *   as `storeSeen` returns it. Throws HubUnreachable where a tab has found another one since: they may be lost there,
 *   and its numbers mean other records.
 * @returns {Promise<string[]>} the keys of the records that changed
 */
export async function ingestRecords(device, records, rest = {}) {
    const { hasNewKeys, changed } = await ingestBatch(device, records, false, rest).catch(async (error) => {
        if (!(error instanceof RosterNeeded)) throw error;
        await device.followRoster();
        return ingestBatch(device, records, true, rest);
    });
    if (hasNewKeys && !rest.undeferred) await ingestDeferred(device).catch((error) => console.warn(error));
    return changed;
}

/**
 * @param {DeviceSession} device
 * @param {HubRecord[]} records
 * @param {boolean} hasFollowedRoster since the hub served them
 * @param {{ cursor?: number, undeferred?: number[], seen?: string }} rest
 * @returns {Promise<Batch>} throws RosterNeeded before anything is written
 */
function ingestBatch(device, records, hasFollowedRoster, { cursor, undeferred = [], seen }) {
    return device.tabs.exclusive("take", async () => {
        if (seen !== undefined && (await storeSeen(device)) !== seen) throw restarted();
        /** @type {Batch} */
        const batch = {
            rows: new Map(), deferred: [], clocks: await device.store.fact("clocks", {}),
            chains: await device.store.fact("chains", {}), keys: null, hasNewKeys: false, refusals: [], changed: [],
            apart: [], hasFollowedRoster,
        };
        try {
            for (const record of records) await ingestOne(device, record, batch);
            await storeBatch(device, batch, cursor, undeferred);
        } finally {
            batch.keys?.wipe();
            // The stored keys: without the new ones after a failure, with them in a session that was unlocked since.
            if (batch.hasNewKeys) await device.loadRing();
        }
        for (const refusal of batch.refusals) await device.reportProtocolViolation(refusal.message, true);
        if (batch.hasNewKeys) device.tabs.post({ kind: "state" });
        device.changed(batch.changed);
        return batch;
    });
}

/**
 * Writes a batch in one step, also if AppLocker was locked since it began.
 * @param {DeviceSession} device
 * @param {Batch} batch
 * @param {number | undefined} cursor
 * @param {number[]} undeferred
 */
async function storeBatch(device, batch, cursor, undeferred) {
    const known = await device.store.sequence("cursor");
    /** @type {import("../store/store.js").Change} */
    const change = {
        records: [...batch.rows.values()], deferred: batch.deferred, undeferred,
        facts: {
            clocks: batch.clocks, chains: batch.chains,
            ...(cursor === undefined ? {} : { cursor: Math.max(known, cursor) }),
            ...withoutSnapshotBelow([...batch.rows.values()], known),
        },
    };
    if (batch.apart.length > 0) {
        const before = await device.store.fact(storeFacts.apart, /** @type {HubRecord[]} */ ([]));
        change.facts = { ...change.facts, [storeFacts.apart]: [...before, ...batch.apart] };
    }
    if (batch.owners) change.facts = { ...change.facts, vaultOwners: batch.owners };
    const { keys } = batch;
    if (!keys || !batch.hasNewKeys) return device.store.write(change);
    if (!device.member) change.keys = await statusKeysOf(keys.ring, device.paired.household);
    await changeDrawer(device, keys.rootKey, (content) => {
        content.ring = KeyRing.copying([...content.ring.entries, ...keys.ring.entries]);
        // In memory before the record is stored: the sender expects the keys of a stored one.
        const { unlocked } = device;
        if (unlocked && equalInConstantTime(unlocked.rootKey, keys.rootKey)) {
            unlocked.ring = KeyRing.copying(content.ring.entries);
        }
        return change;
    });
}

/**
 * Ingests records that were deferred without a key.
 * @param {DeviceSession} device
 */
export async function ingestDeferred(device) {
    for (let round = 0, before = Infinity; round < 3; round += 1) {
        const waiting = (await device.store.deferred())
            .filter(({ record }) => record.collection !== "keys" || device.unlocked?.receivesKeys);
        if (waiting.length === before) return;
        before = waiting.length;
        if (waiting.length === 0) return;
        // Keys first: they open the others.
        const records = waiting.map(({ record }) => record);
        records.sort((one, other) => Number(other.collection === "keys") - Number(one.collection === "keys"));
        await ingestRecords(device, records, { undeferred: waiting.map(({ number }) => number) });
    }
}

/**
 * Earlier versions stored rows with unchecked numbers; such rows are in no list.
 * @param {unknown} sequence a number of the hub's, or one between two where the hub may have lost the record
 */
const isListed = (sequence) => typeof sequence === "number" && sequence >= 0 && sequence < Number.MAX_SAFE_INTEGER;

/** @param {DeviceSession} device @param {HubRecord} record @param {Batch} batch */
async function ingestOne(device, record, batch) {
    const key = recordKey(record.collection, record.id);
    const known = batch.rows.get(key) ?? (await device.store.record(key));
    if (known?.atHub !== undefined) return ingestCompared(device, record, known, batch);
    if (known && record.revision <= known.record.revision) {
        if (record.signature === known.record.signature && !isListed(known.sequence)) {
            batch.rows.set(key, { ...known, sequence: record.sequence ?? 0 });
            batch.changed.push(key);
        }
        const isLater = (record.sequence ?? 0) > known.sequence;
        if (record.revision < known.record.revision && isLater) batch.refusals.push(new RecordRefusal("notNewer"));
        return;
    }
    // Log entries never change and can't be removed.
    if (known && record.collection === "audit") return;
    try {
        const checked = await check(device, record, known, batch);
        if (!checked || !(await look(device, checked, batch))) return;
        await put(device, record, known, batch);
    } catch (error) {
        if (error instanceof RecordRefusal) {
            batch.refusals.push(error);
            if (known && isOwnOverwritten(device, record, known, error)) {
                batch.rows.set(key, { ...known, atHub: record.revision });
            }
        } else if (error instanceof KeyMissing) batch.deferred.push(record);
        else throw error;
    }
}

/**
 * Another member replaced or removed this device's remark at the hub. Those who had it keep it; the device sends it
 * again for later members.
 * @param {DeviceSession} device
 * @param {HubRecord} record
 * @param {Row} known
 * @param {RecordRefusal} refusal
 */
const isOwnOverwritten = ({ paired }, record, known, refusal) => refusal.code === "wrongWriter"
    && record.collection === "remarks" && known.record.author === paired.device
    && isNear(record.revision, known.record.revision);

/** @param {DeviceSession} device @param {HubRecord} record @param {Row | undefined} known @param {Batch} batch */
async function put(device, record, known, batch) {
    const key = recordKey(record.collection, record.id);
    batch.rows.set(key, {
        key, collection: record.collection, sequence: record.sequence ?? 0, record, at: device.time.now(),
        ...(await versionsBefore(known)),
    });
    batch.changed.push(key);
}

/**
 * A record that the hub may have lost: it may serve an older version, or another device's.
 * @param {DeviceSession} device
 * @param {HubRecord} record
 * @param {Row} known
 * @param {Batch} batch
 */
async function ingestCompared(device, record, known, batch) {
    try {
        if (!(await check(device, record, known, batch, 0))) return;
    } catch (error) {
        if (!(error instanceof RecordRefusal)) throw error;
        return void batch.refusals.push(error);
    }
    const { row, copied } = await compare(known, record);
    const line = copied === known.record ? await device.store.waitingFor(known.key) : undefined;
    // A pending change of it becomes the copy.
    if (copied && !(line && (await follows(line.record, known)))) batch.apart.push(copied);
    if (row) batch.rows.set(known.key, row);
    else await put(device, record, known, batch);
}

/**
 * Null for a device that was revoked since.
 * @param {DeviceSession} device
 * @param {HubRecord} record
 * @param {Row | undefined} row the stored one
 * @param {Batch} batch
 * @param {number} known the revision that it has to be above
 */
async function check(device, record, row, batch, known = row?.record.revision ?? 0) {
    try {
        return await checkRecord(device.roster, record, known);
    } catch (error) {
        if (!(error instanceof RecordRefusal) || error.code !== "unknownAuthor") throw error;
        if (device.roster.revoked.has(record.author)) {
            if (!device.sharesKeys) return null;
            const { checkFormerMemberRecord } = await import("./former-members.js");
            return checkFormerMemberRecord(device.roster, record, row, known);
        }
        throw batch.hasFollowedRoster ? error : new RosterNeeded();
    }
}

/**
 * Opens records of the household, and updates clocks, chains and keys. Throws RecordRefusal, KeyMissing.
 * @param {DeviceSession} device
 * @param {import("../formats/record-check.js").CheckedRecord} record
 * @param {Batch} batch
 * @returns {Promise<boolean>} whether it is kept
 */
async function look(device, record, batch) {
    const { collection, id, revision } = record.name;
    /** @template {keyof import("../formats/record-bodies.js").RecordBodies} Kind @param {Kind} kind */
    const open = (kind) => openHousehold(device.statusKeys, record, kind);
    /** @param {string} event */
    const isHere = async (event) => {
        const key = recordKey("events", event);
        return batch.rows.has(key) || (await device.store.record(key)) !== undefined;
    };
    /** @param {string} computer */
    const chain = (computer) => (batch.chains[computer] ??= newChain());
    switch (collection) {
        case "keys": {
            const isShared = device.member !== null || (device.sharesKeys && (await isKeysOfEpoch(record)));
            if (!record.sealed || (!isShared && !(await isKeysFor(device.paired.device, record)))) return false;
            // Its box opens only while AppLocker is unlocked.
            if (!device.unlocked?.receivesKeys) throw new KeyMissing();
            const keys = (batch.keys ??= device.unlocked.clone());
            if (isShared) {
                const { addVaultKeys, checkKeysOfEpoch, epochOf } = await import("../household/shared-keys.js");
                if (record.epoch > epochOf(device.roster) && !batch.hasFollowedRoster) throw new RosterNeeded();
                checkKeysOfEpoch(device.roster, record);
                const isHousehold = device.member === null;
                await addVaultKeys(keys, record, isHousehold, isHousehold && (await hasBox(device, batch)));
            } else {
                // A session of a decoy PIN could make the key of a vault that has no owner yet.
                if (record.author.role !== "computer") throw new RecordRefusal("wrongWriter");
                batch.owners ??= await ownersOf(device, keys);
                await keys.add(record, batch.owners, (id) => device.roster.member(id) !== undefined,
                    device.sharesKeys ? await ownVault(device) : null);
            }
            await device.openStatusKeys(keys);
            batch.hasNewKeys = true;
            return true;
        }
        case "devices":
            if (record.sealed) await open("devices");
            return true;
        case "status": {
            const status = await open("status");
            updateClock(batch.clocks, id, status.clock, device.time.now());
            if (status.lastEvent) nameEvent(chain(id), status.lastEvent, await isHere(status.lastEvent));
            if (status.rosterNumber > device.roster.number) {
                if (!batch.hasFollowedRoster) throw new RosterNeeded();
                await device.reportProtocolViolation("an older list of devices than the computer has");
            }
            if (status.rosterHead && status.rosterNumber <= device.roster.number
                && !(await device.roster.has(status.rosterNumber, status.rosterHead))) {
                await device.reportProtocolViolation("another list of devices than the computer has");
            }
            return true;
        }
        case "apps":
        case "icons":
            await open(collection);
            return true;
        case "events": {
            const event = await open("events");
            if (event.computer !== record.author.id) throw new RecordRefusal("wrongWriter");
            addEvent(chain(event.computer), id, event.previous ?? undefined,
                event.previous ? await isHere(event.previous) : false);
            return true;
        }
        case "requests": {
            const launch = await open("requests");
            if (launch.computer !== record.author.id) throw new RecordRefusal("wrongWriter");
            return true;
        }
        case "commands": {
            // The first revision is the companion's.
            if (revision === 1) return false;
            const reply = await open("replies");
            if (reply.computer !== record.author.id) throw new RecordRefusal("wrongWriter");
            updateClock(batch.clocks, reply.computer, reply.clock, device.time.now());
            return true;
        }
        default:
            return true;
    }
}

/** @param {import("../formats/record-check.js").CheckedRecord} record of a household that a phone founded */
async function isKeysOfEpoch({ name, epoch }) {
    const { keysID } = await import("../household/shared-keys.js");
    return name.id === (await keysID(name.vault, epoch));
}

/**
 * Whether a known record of keys has a box for this device: a phone that recovered has keys before.
 * @param {DeviceSession} device
 * @param {Batch} batch
 */
async function hasBox({ store, paired }, batch) {
    const { readBoxes } = await import("../household/shared-keys.js");
    const rows = [...batch.rows.values(), ...(await store.records("keys"))];
    return rows.some(({ collection, record }) => {
        const sealed = collection === "keys" && sealedBytes(record);
        try {
            return sealed && readBoxes(sealed).has(paired.device);
        } catch {
            // Of a computer, to this device alone.
            return false;
        }
    });
}

/** @param {DeviceSession} device of a household that a phone founded */
async function ownVault({ paired }) {
    const { sharedVaultID } = await import("../household/shared-keys.js");
    return sharedVaultID(paired.household);
}

/**
 * The computer that each vault belongs to; vaults of the pairing, to the computer that paired this device.
 * @param {DeviceSession} device
 * @param {import("../household/keys.js").UnlockedKeys} keys
 * @returns {Promise<Record<string, string>>}
 */
async function ownersOf({ store, paired }, { ring }) {
    const first = ring.entries.filter(({ kind }) => kind === ringKind.vault)
        .map(({ vault }) => [vault, paired.computer]);
    return store.fact("vaultOwners", Object.fromEntries(first));
}

// Sends pending changes of vaults' records in any tab, once each.
import { base64, unhex } from "../crypto/bytes.js";
import { firstBatch } from "./request-batch.js";
import { HubUnreachable } from "../hub/errors.js";
import { isOpen } from "../household/private-storage.js";
import { divergedIn, newestWith, storeFacts, storeSeen, writeToKnownStore } from "./restored-hub.js";
import { withoutSnapshotBelow } from "./moment-snapshot.js";
import { follows, version, versionsBefore } from "./versions.js";
import { storedCount } from "../store/store.js";

/** @typedef {import("../store/store.js").Row} Row */
/** @typedef {import("../store/store.js").Waiting} Waiting */

/** Loaded at the first conflict. */
const conflicts = () => import("./conflicts.js");

const maximumRetries = 3;

/**
 * Sends everything that can be sent. Throws HubError, HubUnreachable: then it is retried later.
 * @param {DeviceSession} device
 */
export function sendWaiting(device) {
    return device.tabs.exclusive("send", async () => {
        await device.beforeSending();
        // Why a change can't be sent now, by key; the others are sent.
        /** @type {Map<string, string>} */
        const parked = new Map();
        do {
            await sendLines(device, parked);
            if ((await device.store.lost()).length > 0) await (await import("./resend-lost.js")).resendLost(device);
        } while ((await divergedIn(device)) !== "" && (await (await conflicts()).copyDiverged(device)) > 0);
        for (const why of parked.values()) throw new HubUnreachable("offline", why);
    });
}

/** @param {DeviceSession} device @param {Map<string, string>} parked filled in place */
async function sendLines(device, parked) {
    for (let round = 0; round < 1000; round += 1) {
        const waiting = await device.store.waiting();
        const keys = new Set(waiting.map(({ key }) => key));
        const lines = waiting.filter((line) => !line.problem && !parked.has(line.key)
            && (!line.conflict || isOpen(device, line.record.vault)) && (!line.uploads || line.isUploaded)
            && (!line.after || !keys.has(line.after)));
        if (lines.length === 0) return;
        const batch = firstBatch(lines);
        const records = await basedRecords(device, batch);
        if (!records) continue;
        const { outcomes, seen } = await writeToKnownStore(device, records);
        for (const [index, line] of batch.entries()) {
            const why = await settle(device, line, outcomes[index], seen);
            if (why) parked.set(line.key, why);
        }
        device.emit("outbox");
    }
}

/**
 * These changes as they are sent; null if some were settled instead. Another device may have replaced the version that
 * a change is based on: a restored hub may have it as the revision that the change replaces, and would lose it.
 * @param {DeviceSession} device
 * @param {Waiting[]} batch
 * @returns {Promise<HubRecord[] | null>}
 */
async function basedRecords(device, batch) {
    const records = [];
    for (const line of batch) {
        const row = await device.store.record(line.key);
        const base = row && line.record.replaces === row.record.revision ? row : null;
        const isApart = base && !(await follows(line.record, base))
            && (await version(line.record)) !== (await version(base.record));
        if (isApart) await (await conflicts()).settleDiverged(device, line, base.record);
        else records.push(await basedRecord(line.record, base));
    }
    return records.length === batch.length ? records : null;
}

/**
 * A change with the version that it replaces, where this device read that one: a restored hub may have another one of
 * the same revision. And with a valid revision, without which a hub rejects the whole request.
 * @param {HubRecord} record
 * @param {Row | null} base the row of the revision that it replaces
 * @returns {Promise<HubRecord & { replacedVersion?: string }>}
 */
async function basedRecord(record, base) {
    if (record.replaces === undefined) return record;
    // A row with the number of a revision at the hub is not the hub's; of an erased one the bytes are not here.
    const isRead = base?.record.sealed && !base.atHub;
    return {
        ...record, replaces: storedCount(record.replaces),
        ...(isRead ? { replacedVersion: base64(unhex(await version(base.record))) } : {}),
    };
}

/**
 * A sentence if this line can't be sent now.
 * @param {DeviceSession} device
 * @param {Waiting} line
 * @param {HubAPI.HubWriteOutcome} outcome
 * @param {string} seen the hub's store as it was known when it was sent
 * @returns {Promise<string | void>}
 */
async function settle(device, line, outcome, seen) {
    const { record } = line;
    /** @param {Partial<Waiting>} change */
    const become = (change) => device.store.write({ lines: [{ key: line.key, signature: record.signature, change }] });
    if (outcome.sequence !== undefined) return acknowledge(device, line, outcome.sequence, seen);
    if (outcome.conflict) {
        const conflict = { ...outcome.conflict, blobs: outcome.conflict.blobs ?? [] };
        // Another device sent the same version, as to a restored hub.
        const isSame = conflict.id === record.id && conflict.collection === record.collection
            && (await version(conflict)) === (await version(record));
        return isSame
            ? acknowledge(device, line, conflict.sequence ?? 0, seen)
            : (await conflicts()).resolveConflict(device, line, conflict, seen);
    }
    if (outcome.error?.code === "conflict" && record.replaces !== 0) {
        // The hub has lost the record: it is sent as new.
        return become({ record: { ...record, replaces: 0 } });
    }
    const { code, message } = outcome.error ?? { code: "failed", message: "" };
    const sentence = message || "The hub can’t accept changes now.";
    if (["unavailable", "too_many", "unauthorized"].includes(code)) throw new HubUnreachable("offline", sentence);
    if (["quota_exceeded", "failed"].includes(code)) return sentence;
    if (code === "bad_request" && line.uploads && (line.retries ?? 0) < maximumRetries) {
        // The hub deletes unnamed blobs after a day: they are sent again.
        return become({ isUploaded: false, retries: (line.retries ?? 0) + 1 });
    }
    await become({ problem: code });
}

/**
 * Stores a change as a row, once the hub has it.
 * @param {DeviceSession} device
 * @param {Waiting} line
 * @param {number} sequence
 * @param {string} seen the hub's store as it was known when it was sent
 */
async function acknowledge(device, line, sequence, seen) {
    const { key, record } = line;
    const row = {
        key, collection: record.collection, sequence, record: withoutReplaces(record), at: device.time.now(),
    };
    // An edit that has just read the line writes first; its `replaces` is then updated.
    await device.tabs.exclusive("edit", () => device.tabs.exclusive("take", async () => {
        // Checked again while the lock is held.
        if ((await storeSeen(device)) !== seen) return;
        const known = await device.store.record(key);
        const cursor = await device.store.sequence("cursor");
        const isNewest = !known || known.record.revision <= record.revision;
        const newest = await newestWith(device, sequence);
        // It replaces nothing if it is acknowledged again, as after an answer that was lost.
        const isAgain = known?.record.signature === record.signature;
        const versions = isAgain ? known.versions && { versions: known.versions } : await versionsBefore(known);
        await device.store.write({
            ...(isNewest ? { records: [{ ...row, ...versions }] } : {}),
            facts: {
                [storeFacts.newest]: newest,
                ...(known?.sequence !== sequence ? withoutSnapshotBelow([row], cursor) : {}),
            },
            withoutPieces: (line.uploads ?? []).map(({ blob }) => blob),
            sent: [{ key, signature: record.signature, followedBy: record.revision }],
        });
    }));
    device.changed([key]);
    if (!line.isPushed) return;
    await import("./push-record.js").then(({ pushRecord }) => pushRecord(device, row.record))
        .catch((error) => console.warn(error));
}

/** @param {HubRecord} record */
function withoutReplaces({ replaces: _, ...record }) {
    return record;
}

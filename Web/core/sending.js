// Sends what waits: changes of vaults' records, written offline or not, in any tab, once.
import { keyOf } from "../store/store.js";
import { HubUnreachable } from "../protocol/errors.js";
import { readBody } from "./bodies.js";
import { knowsVault } from "./drawer.js";
import { momentBody, readMoment } from "./moment-format.js";
import { indexFact } from "./moment-index.js";
import { randomID } from "../crypto/bytes.js";
import { sealedBytes } from "../crypto/signature.js";
import { checkRecord } from "./record-check.js";
import { isLate, take } from "./taking.js";

/** @typedef {import("./device.js").Device} Device */
/** @typedef {import("../store/store.js").Waiting} Waiting */

const batchRecords = 64;
const batchCharacters = 5_000_000;
const maximumRetries = 3;
const secondsOfPush = 86_400;

/**
 * Whether what is of this vault can be opened and sealed now.
 * @param {Device} device
 * @param {string} vault
 */
const isOpen = ({ unlocked }, vault) => unlocked !== null && knowsVault(unlocked.ring, vault);

/** @param {Waiting[]} lines */
function fitting(lines) {
    let characters = 0;
    const count = lines.slice(0, batchRecords).filter(({ record }) => {
        characters += (record.sealed?.length ?? 0) + 1024;
        return characters <= batchCharacters;
    }).length;
    return lines.slice(0, Math.max(1, count));
}

/**
 * Sends everything that can be sent. Throws HubError, HubUnreachable: it is tried again later.
 * @param {Device} device
 */
export function sendWaiting(device) {
    return device.tabs.alone("send", async () => {
        await device.settle();
        // What can't be sent just now waits beside the others, which go on; why, by key.
        /** @type {Map<string, string>} */
        const parked = new Map();
        for (let round = 0; round < 1000; round += 1) {
            const lines = (await device.store.waiting()).filter((line) => !line.problem && !parked.has(line.key)
                && (!line.conflict || isOpen(device, line.record.vault)) && (!line.uploads || line.isUploaded));
            if (lines.length === 0) break;
            const batch = fitting(lines);
            const outcomes = await device.hub.write(batch.map((line) => line.record));
            for (const [index, line] of batch.entries()) {
                const why = await settle(device, line, outcomes[index]);
                if (why) parked.set(line.key, why);
            }
            device.tell("outbox");
        }
        for (const why of parked.values()) throw new HubUnreachable("offline", why);
    });
}

/**
 * Gives back a sentence where this line can't be sent just now.
 * @param {Device} device
 * @param {Waiting} line
 * @param {import("../protocol/client.js").WriteOutcome} outcome
 * @returns {Promise<string | void>}
 */
async function settle(device, line, outcome) {
    const { record } = line;
    /** @param {Partial<Waiting>} change */
    const become = (change) => device.store.write({ lines: [{ key: line.key, signature: record.signature, change }] });
    if (outcome.sequence !== undefined) {
        const row = {
            key: line.key, collection: record.collection, sequence: outcome.sequence, record: withoutReplaces(record),
            at: device.time.now(),
        };
        // An edit that has just looked at the line writes first, and is then told what it follows.
        await device.tabs.alone("edit", () => device.tabs.alone("take", async () => {
            const known = await device.store.record(line.key);
            const cursor = await device.store.fact("cursor", 0);
            const isNewest = !known || known.record.revision <= record.revision;
            await device.store.write({
                ...(isNewest ? { records: [row] } : {}),
                ...(known?.sequence !== row.sequence && isLate(row, cursor) ? { facts: { [indexFact]: null } } : {}),
                withoutPieces: (line.uploads ?? []).map(({ blob }) => blob),
                sent: [{ key: line.key, signature: record.signature, followedBy: record.revision }],
            });
        }));
        device.changed([line.key]);
        if (line.isPushed) await pushToOthers(device, row.record);
        return;
    }
    if (outcome.conflict) return resolveConflict(device, line, outcome.conflict);
    if (outcome.error?.code === "conflict" && record.replaces !== 0) {
        // The hub has nothing of it any more: it is sent as new.
        return become({ record: { ...record, replaces: 0 } });
    }
    const { code, message } = outcome.error ?? { code: "failed", message: "" };
    const sentence = message || "The hub can't take changes just now.";
    if (["unavailable", "too_many", "unauthorized"].includes(code)) throw new HubUnreachable("offline", sentence);
    if (["quota_exceeded", "failed"].includes(code)) return sentence;
    if (code === "bad_request" && line.uploads && (line.retries ?? 0) < maximumRetries) {
        // The hub forgets blobs that no record names for a day: they are sent again.
        return become({ isUploaded: false, retries: (line.retries ?? 0) + 1 });
    }
    await become({ problem: code });
}

/**
 * Once: devices that are not reached see it when they are opened.
 * @param {Device} device
 * @param {import("../crypto/signature.js").HubRecord} record
 */
async function pushToOthers(device, record) {
    await device.hub.push({ content: record, urgency: "high", ttl: secondsOfPush }).catch((error) => console.warn(error));
}

/** @param {import("../crypto/signature.js").HubRecord} record */
function withoutReplaces({ replaces: _, ...record }) {
    return record;
}

/**
 * The hub has another revision than this device thought. Of notes and moments both are kept, unless it was a removal, which gives way.
 * @param {Device} device
 * @param {Waiting} line
 * @param {import("../crypto/signature.js").HubRecord} served
 * @returns {Promise<string | void>}
 */
async function resolveConflict(device, line, served) {
    const { record } = line;
    const conflict = { ...served, blobs: served.blobs ?? [] };
    const isOther = conflict.id !== record.id || conflict.collection !== record.collection;
    if (isOther || conflict.revision === record.replaces) {
        await device.misbehaved("a conflict with another record", true);
        return "The hub refuses a change without a reason that holds.";
    }
    await take(device, [conflict]);
    const isTaken = await checkRecord(device.roster, conflict, 0).then(() => true, () => false)
        || (await device.store.record(line.key))?.record.signature === conflict.signature;
    if (!isTaken) return overwrite(device, line, conflict.revision);
    const sealed = sealedBytes(record);
    const isKept = record.collection === "notes" || record.collection === "moments";
    if (isKept && sealed && !isOpen(device, record.vault)) {
        // Both are kept once the gate is open: the copy has to be sealed.
        return device.store.write({ lines: [{ key: line.key, signature: record.signature, change: { conflict: true } }] });
    }
    const copy = isKept && sealed ? await copyOf(device, record, sealed, conflict) : null;
    const key = copy && keyOf(copy.collection, copy.id);
    await device.store.write({
        ...(copy && key ? { waiting: [{ key, record: copy }] } : {}), sent: [{ key: line.key, signature: record.signature }],
        withoutPieces: (line.uploads ?? []).map(({ blob }) => blob),
    });
    device.changed(key ? [line.key, key] : [line.key]);
}

/**
 * The hub has a record that nobody takes, of a device that was revoked or of none at all: what waits here replaces it.
 * @param {Device} device
 * @param {Waiting} line
 * @param {number} replaces the revision that the hub has
 * @returns {Promise<string | void>}
 */
async function overwrite(device, { key, record }, replaces) {
    /** @param {Partial<Waiting>} change */
    const become = (change) => device.store.write({ lines: [{ key, signature: record.signature, change }] });
    if (!isOpen(device, record.vault)) return become({ conflict: true });
    const revision = Math.max(record.revision, replaces + 1);
    if (!Number.isSafeInteger(revision)) return become({ problem: "conflict" });
    const { keys } = device;
    const name = { vault: record.vault, collection: record.collection, id: record.id, revision };
    const sealed = sealedBytes(record);
    const renewed = sealed
        ? await keys.sealBody(name, await keys.openContent(record, sealed), replaces, record.blobs)
        : await keys.tombstone(name, replaces);
    device.still(keys);
    await become({ record: renewed, conflict: false });
}

/**
 * The version that the hub did not take, as a record of its own; null where nothing of it would be lost.
 * @param {Device} device
 * @param {import("../crypto/signature.js").HubRecord} record
 * @param {Uint8Array} sealed of the record
 * @param {import("../crypto/signature.js").HubRecord} served
 */
async function copyOf(device, record, sealed, served) {
    const { keys } = device;
    const body = await keys.openContent(record, sealed);
    const name = { vault: record.vault, collection: record.collection, id: randomID(), revision: 1 };
    /** @param {{ title: string }} content */
    const title = ({ title: own }) => `${own} (conflict, ${device.paired.name})`;
    if (record.collection === "notes") {
        const note = readBody("notes", body);
        return keys.sealContent(name, { ...note, title: title(note) }, 0);
    }
    const moment = readMoment(body);
    const other = sealedBytes(served);
    const theirs = other && readMoment(await keys.openContent(served, other).catch(() => new Uint8Array()));
    // Going to the trash gives way, as a removal does; and two may have written the same.
    const isSame = theirs && JSON.stringify({ ...moment, modified: 0 }) === JSON.stringify({ ...theirs, modified: 0 });
    if (!moment || moment.removed !== undefined || isSame) return null;
    return keys.sealBody(name, momentBody({ ...moment, title: title(moment) }), 0);
}

// Sends what waits: changes of vaults' records, written offline or not, in any tab, once.
import { HubUnreachable } from "../protocol/errors.js";
import { copyApart, isOpen, resolveConflict, settleApart } from "./conflicts.js";
import { indexFact } from "./moment-index.js";
import { offerLost } from "./offering.js";
import { newestWith, storeFacts, storeSeen } from "./restored.js";
import { isLate } from "./taking.js";
import { follows, version, versionsBefore } from "./versions.js";
import { storedCount } from "../store/store.js";

/** @typedef {import("./device.js").Device} Device */
/** @typedef {import("../store/store.js").Waiting} Waiting */

const batchRecords = 64;
const batchCharacters = 5_000_000;
const maximumRetries = 3;
const secondsOfPush = 86_400;

/**
 * What goes in one request: of these, as many from the first on.
 * @template {{ record: import("../crypto/signature.js").HubRecord }} Line
 * @param {Line[]} lines
 */
export function fitting(lines) {
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
        do {
            await sendLines(device, parked);
            await offerLost(device);
        } while ((await copyApart(device)) > 0);
        for (const why of parked.values()) throw new HubUnreachable("offline", why);
    });
}

/** @param {Device} device @param {Map<string, string>} parked filled in place */
async function sendLines(device, parked) {
    for (let round = 0; round < 1000; round += 1) {
        const lines = (await device.store.waiting()).filter((line) => !line.problem && !parked.has(line.key)
            && (!line.conflict || isOpen(device, line.record.vault)) && (!line.uploads || line.isUploaded));
        if (lines.length === 0) return;
        const batch = fitting(lines);
        if (await settleThoseApart(device, batch)) continue;
        const seen = await storeSeen(device);
        const outcomes = await device.hub.write(batch.map(({ record }) => withValidBase(record)));
        // Another store answers meanwhile: what the one before said counts no more.
        if ((await storeSeen(device)) !== seen) continue;
        for (const [index, line] of batch.entries()) {
            const why = await settle(device, line, outcomes[index], seen);
            if (why) parked.set(line.key, why);
        }
        device.tell("outbox");
    }
}

/**
 * What another device wrote has taken the place of what some of these were made from: at a restored hub it may have the number that they
 * replace, and nothing would be left of it there.
 * @param {Device} device
 * @param {Waiting[]} batch
 * @returns {Promise<boolean>} whether there were any
 */
async function settleThoseApart(device, batch) {
    let found = false;
    for (const line of batch) {
        const row = await device.store.record(line.key);
        const isApart = row && line.record.replaces === row.record.revision && !(await follows(line.record, row))
            && (await version(line.record)) !== (await version(row.record));
        if (!isApart) continue;
        await settleApart(device, line, row.record);
        found = true;
    }
    return found;
}

/**
 * Gives back a sentence where this line can't be sent just now.
 * @param {Device} device
 * @param {Waiting} line
 * @param {import("../protocol/client.js").WriteOutcome} outcome
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
        // Another device sent the very same, as to a restored hub.
        const isSame = conflict.id === record.id && conflict.collection === record.collection
            && (await version(conflict)) === (await version(record));
        return isSame ? acknowledge(device, line, conflict.sequence ?? 0, seen) : resolveConflict(device, line, conflict, seen);
    }
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
 * The hub has it.
 * @param {Device} device
 * @param {Waiting} line
 * @param {number} sequence
 * @param {string} seen the hub's store as it was known when it was sent
 */
async function acknowledge(device, line, sequence, seen) {
    const { key, record } = line;
    const row = { key, collection: record.collection, sequence, record: withoutReplaces(record), at: device.time.now() };
    // An edit that has just looked at the line writes first, and is then told what it follows.
    await device.tabs.alone("edit", () => device.tabs.alone("take", async () => {
        // As late as this.
        if ((await storeSeen(device)) !== seen) return;
        const known = await device.store.record(key);
        const cursor = await device.store.sequence("cursor");
        const isNewest = !known || known.record.revision <= record.revision;
        const newest = await newestWith(device, sequence);
        await device.store.write({
            ...(isNewest ? { records: [{ ...row, ...(await versionsBefore(known)) }] } : {}),
            facts: { [storeFacts.newest]: newest, ...(known?.sequence !== sequence && isLate(row, cursor) ? { [indexFact]: null } : {}) },
            withoutPieces: (line.uploads ?? []).map(({ blob }) => blob),
            sent: [{ key, signature: record.signature, followedBy: record.revision }],
        });
    }));
    device.changed([key]);
    if (line.isPushed) await pushToOthers(device, row.record);
}

/**
 * Once: devices that are not reached see it when they are opened.
 * @param {Device} device
 * @param {import("../crypto/signature.js").HubRecord} record
 */
async function pushToOthers(device, record) {
    await device.hub.push({ content: record, urgency: "high", ttl: secondsOfPush }).catch((error) => console.warn(error));
}

/**
 * A hub answers nothing of a request where one record replaces what is no revision.
 * @param {import("../crypto/signature.js").HubRecord} record
 */
function withValidBase(record) {
    return record.replaces === undefined ? record : { ...record, replaces: storedCount(record.replaces) };
}

/** @param {import("../crypto/signature.js").HubRecord} record */
function withoutReplaces({ replaces: _, ...record }) {
    return record;
}

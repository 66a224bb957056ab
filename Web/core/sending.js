// Sends what waits: changes of vaults' records, written offline or not, in any tab, once.
import { keyOf } from "../store/store.js";
import { HubUnreachable } from "../protocol/errors.js";
import { readBody } from "./bodies.js";
import { randomID } from "../crypto/bytes.js";
import { sealedBytes } from "../crypto/signature.js";
import { checkRecord } from "./record-check.js";
import { take } from "./taking.js";

/** @typedef {import("./device.js").Device} Device */
/** @typedef {import("../store/store.js").Waiting} Waiting */

const batchRecords = 64;
const batchCharacters = 5_000_000;

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
        for (let round = 0; round < 1000; round += 1) {
            const lines = (await device.store.waiting()).filter(
                (line) => !line.problem && (!line.conflict || device.unlocked !== null));
            if (lines.length === 0) return;
            const batch = fitting(lines);
            const outcomes = await device.hub.write(batch.map((line) => line.record));
            for (const [index, line] of batch.entries()) await settle(device, line, outcomes[index]);
            device.tell("outbox");
            if (batch.every((line) => line.conflict)) return;
        }
    });
}

/** @param {Device} device @param {Waiting} line @param {import("../protocol/client.js").WriteOutcome} outcome */
async function settle(device, line, outcome) {
    const { record } = line;
    if (outcome.sequence !== undefined) {
        const row = {
            key: line.key, collection: record.collection, sequence: outcome.sequence, record: withoutReplaces(record),
            at: device.time.now(),
        };
        await device.tabs.alone("take", async () => {
            const known = await device.store.record(line.key);
            const isNewest = !known || known.record.revision <= record.revision;
            await device.store.write({
                ...(isNewest ? { records: [row] } : {}),
                sent: [{ key: line.key, signature: record.signature, followedBy: record.revision }],
            });
        });
        return device.changed([line.key]);
    }
    if (outcome.conflict) return resolveConflict(device, line, outcome.conflict);
    if (outcome.error?.code === "conflict" && record.replaces !== 0) {
        // The hub has nothing of it any more: it is sent as new.
        return device.store.write({ waiting: [{ ...line, record: { ...record, replaces: 0 } }] });
    }
    const { code, message } = outcome.error ?? { code: "failed", message: "" };
    if (["unavailable", "too_many", "quota_exceeded", "failed", "unauthorized"].includes(code)) {
        throw new HubUnreachable("offline", message || "The hub can't take changes just now.");
    }
    await device.store.write({ waiting: [{ ...line, problem: code }] });
}

/** @param {import("../crypto/signature.js").HubRecord} record */
function withoutReplaces({ replaces: _, ...record }) {
    return record;
}

/**
 * The hub has another revision than this device thought. Of a note both are kept, unless it was a removal, which gives way.
 * @param {Device} device
 * @param {Waiting} line
 * @param {import("../crypto/signature.js").HubRecord} served
 */
async function resolveConflict(device, line, served) {
    const { record } = line;
    const conflict = { ...served, blobs: served.blobs ?? [] };
    const isOther = conflict.id !== record.id || conflict.collection !== record.collection;
    const checked = isOther ? null : await checkRecord(device.roster, conflict, 0).catch(() => null);
    if (!checked || conflict.revision === record.replaces) {
        await device.misbehaved("a conflict with another record", true);
        throw new HubUnreachable("notUnderstood", "The hub refuses a change without a reason that holds.");
    }
    await take(device, [conflict]);
    const sealed = sealedBytes(record);
    if (record.collection !== "notes" || !sealed) {
        await device.store.write({ sent: [{ key: line.key, signature: record.signature }] });
        return device.changed([line.key]);
    }
    if (!device.unlocked) {
        // Both are kept once the gate is open: the copy has to be sealed.
        return device.store.write({ waiting: [{ ...line, conflict: true }] });
    }
    const keys = device.unlocked;
    const note = readBody("notes", await keys.openContent(record, sealed));
    const copy = { ...note, title: `${note.title} (conflict, ${device.paired.name})` };
    const name = { vault: record.vault, collection: "notes", id: randomID(), revision: 1 };
    const signed = await keys.sealContent(name, copy, 0);
    const key = keyOf("notes", name.id);
    await device.store.write({ waiting: [{ key, record: signed }], sent: [{ key: line.key, signature: record.signature }] });
    device.changed([line.key, key]);
}

// Resolves a change that the hub refused because it has another version than the one that was changed.
import { recordKey } from "../formats/record-key.js";
import { readBody } from "../formats/record-bodies.js";
import { hasVaultKey, isOpen } from "../household/private-storage.js";
import { editExclusively } from "./record-editor.js";
import { momentBody, momentPhoto, readMoment } from "../formats/moment-format.js";
import { checkRecord } from "../formats/record-check.js";
import { storeFacts } from "./restored-hub.js";
import { ingestRecords } from "./ingest.js";
import { ancestorsIn, comparedCollections, copyID, farConflict, follows, isNear, keepsBoth, version,
    versionsOf } from "./versions.js";
import { sealedBytes } from "../crypto/signature.js";

/** @typedef {import("../store/store.js").Row} Row */
/** @typedef {import("../store/store.js").Waiting} Waiting */
/** @typedef {import("../household/keys.js").UnlockedKeys} UnlockedKeys */

/**
 * The hub has an unexpected revision: an older one that this change follows, or another device's.
 * @param {DeviceSession} device
 * @param {Waiting} line
 * @param {HubRecord} conflict
 * @param {string} seen the hub's store as it was known when the change was sent
 * @returns {Promise<string | void>} why it can't be sent just now. Throws HubUnreachable where the hub has another
 *   store since
 */
export async function resolveConflict(device, line, conflict, seen) {
    const { record } = line;
    const isOther = conflict.id !== record.id || conflict.collection !== record.collection;
    // A restored hub may have another version of that revision.
    const isRestored = async () => (await device.store.record(line.key))?.atHub !== undefined;
    if (isOther || (conflict.revision === record.replaces && !(await isRestored()))) {
        return refuseConflict(device, "a conflict with another record");
    }
    await ingestRecords(device, [conflict], { seen });
    const row = await device.store.record(line.key);
    const isAccepted = await checkRecord(device.roster, conflict, 0).then(() => true, () => false)
        || row?.record.signature === conflict.signature;
    if (!isAccepted || (row && (await isOlder(record, row, conflict)))) {
        return overwrite(device, line, conflict.revision);
    }
    if (row && conflict.revision < row.record.revision && row.atHub === undefined) {
        return "The hub returned an older state than before.";
    }
    return settleDiverged(device, line, row?.record ?? conflict);
}

/** @param {DeviceSession} device @param {string} what @returns {Promise<string>} why the change waits */
async function refuseConflict(device, what) {
    await device.reportProtocolViolation(what, true);
    return "The hub refuses a change without a valid reason.";
}

/**
 * Whether the hub's version precedes this change: its answer was lost, or the hub lost what followed.
 * @param {HubRecord} change
 * @param {Row} row
 * @param {HubRecord} conflict
 */
async function isOlder(change, row, conflict) {
    if (!(await follows(change, row)) && (await version(change)) !== (await version(row.record))) return false;
    // Keys and names of a shared vault have no versions, and only this device changes them.
    if (!comparedCollections.includes(row.collection)) return conflict.revision < row.record.revision;
    return row.atHub === conflict.revision || (await versionsOf(row)).includes(await version(conflict));
}

/**
 * Resolves two concurrent versions. Of notes and moments both stay, but a removal here is dropped. Of other records a
 * removal here stays, and any other change here is dropped.
 * @param {DeviceSession} device
 * @param {Waiting} line
 * @param {HubRecord} other
 * @returns {Promise<string | void>}
 */
export async function settleDiverged(device, line, other) {
    const { record } = line;
    const sealed = sealedBytes(record);
    const both = keepsBoth(record.collection);
    if (!both && !sealed && other.sealed) {
        return overwrite(device, { ...line, record: { ...record, ancestors: undefined } }, other.revision);
    }
    // Another device made the same copy.
    const isCopied = both && sealed !== null && record.revision > 1;
    if (isCopied && !isOpen(device, record.vault)) {
        // Both are kept once AppLocker is unlocked: the copy has to be sealed.
        return device.store.write({
            lines: [{ key: line.key, signature: record.signature, change: { conflict: true } }],
        });
    }
    /** @param {UnlockedKeys | null} keys */
    const settle = async (keys) => {
        // A newer edit becomes the copy, and includes this version.
        if ((await device.store.waitingFor(line.key))?.record.signature !== record.signature) return;
        const copy = keys ? await copyOf(device, keys, record, other) : null;
        if (copy === unreadable) {
            return device.store.write({
                lines: [{ key: line.key, signature: record.signature, change: { problem: "conflict" } }],
            });
        }
        const key = copy && recordKey(copy.collection, copy.id);
        // The other version may name the photos that this one removed.
        const dropped = [line, ...(await device.store.waiting()).filter(({ after }) => after === line.key)];
        await device.store.write({
            ...(copy && key ? { waiting: [{ key, record: copy }] } : {}),
            sent: dropped.map((one) => ({ key: one.key, signature: one.record.signature })),
            withoutPieces: (line.uploads ?? []).map(({ blob }) => blob),
        });
        device.changed([...dropped.map((one) => one.key), ...(key ? [key] : [])]);
    };
    await (isCopied ? editExclusively(device, settle) : device.tabs.exclusive("edit", () => settle(null)));
}

/**
 * The pending change replaces the hub's version: an older one, or one of a revoked or unknown device.
 * @param {DeviceSession} device
 * @param {Waiting} line
 * @param {number} replaces the revision that the hub has
 * @returns {Promise<string | void>}
 */
async function overwrite(device, { key, record }, replaces) {
    if (!isNear(replaces, record.revision)) return refuseConflict(device, farConflict);
    /** @param {Partial<Waiting>} change */
    const become = (change) => device.store.write({ lines: [{ key, signature: record.signature, change }] });
    if (record.revision > replaces) return become({ record: { ...record, replaces } });
    if (!isOpen(device, record.vault)) return become({ conflict: true });
    const revision = replaces + 1;
    if (!Number.isSafeInteger(revision)) return become({ problem: "conflict" });
    const { keys } = device;
    const name = { vault: record.vault, collection: record.collection, id: record.id, revision };
    const sealed = sealedBytes(record);
    const renewed = sealed
        ? await keys.sealBody(name, await keys.openContent(record, sealed), replaces, record.blobs)
        : await keys.tombstone(name, replaces);
    device.requireUnlocked(keys);
    await become({ record: { ...renewed, ...ancestorsIn(record) }, conflict: false });
}

/**
 * Versions that the hub's does not follow become records of their own, once their vault is open.
 * @param {DeviceSession} device
 * @returns {Promise<number>} how many
 */
export async function copyDiverged(device) {
    const { store, tabs } = device;
    /** @returns {Promise<HubRecord[]>} */
    const apart = () => store.fact(storeFacts.apart, []);
    if (!(await apart()).some(({ vault }) => isOpen(device, vault))) return 0;
    return editExclusively(device, (keys) => tabs.exclusive("take", async () => {
        /** @type {HubRecord[]} */
        const kept = [];
        /** @type {Waiting[]} */
        const waiting = [];
        const all = await apart();
        for (const record of all) {
            const row = await store.record(recordKey(record.collection, record.id));
            const copy = hasVaultKey(keys.ring, record.vault) ? row
                && (await copyOf(device, keys, record, row.record)) : unreadable;
            if (copy === unreadable) kept.push(record);
            else if (copy) waiting.push({ key: recordKey(copy.collection, copy.id), record: copy });
        }
        if (kept.length === all.length) return 0;
        await store.write({ waiting, facts: { [storeFacts.apart]: kept } });
        device.changed(waiting.map(({ key }) => key));
        return waiting.length;
    }));
}

/**
 * What two versions of a moment are compared by: devices write the fields in different orders.
 * @param {import("../formats/moment-format.js").MomentContent} moment
 */
const comparedText = ({ title, words, date, offset, mood, place, photos, favourite, created, removed }) =>
    JSON.stringify([title, words, date, offset, mood, place?.name, place?.latitude, place?.longitude,
        photos.map(momentPhoto), favourite, created, removed]);

/** A version that does not open, or is of a newer AppLocker: it is kept until it can be read. */
const unreadable = Symbol("unreadable");

/**
 * A version as a record of its own; null if nothing would be lost.
 * @param {DeviceSession} device
 * @param {UnlockedKeys} keys
 * @param {HubRecord} record
 * @param {HubRecord} other the one that keeps its name
 */
async function copyOf(device, keys, record, other) {
    const [sealed, otherSealed] = [sealedBytes(record), sealedBytes(other)];
    if (!sealed) return null;
    const body = await keys.openContent(record, sealed).catch(() => null);
    if (!body) return unreadable;
    const otherBody = otherSealed && (await keys.openContent(other, otherSealed).catch(() => new Uint8Array()));
    const name = {
        vault: record.vault, collection: record.collection, id: await copyID(record.id, sealed), revision: 1,
    };
    const key = recordKey(name.collection, name.id);
    if ((await device.store.record(key)) || (await device.store.waitingFor(key))) return null;
    /** @param {{ title: string }} content */
    const title = ({ title: own }) => `${own} (conflict, ${device.paired.name})`;
    if (record.collection === "notes") {
        const note = readBody("notes", body);
        if (!note) return unreadable;
        const theirs = otherBody && readBody("notes", otherBody);
        if (theirs && theirs.title === note.title && theirs.body === note.body) return null;
        return keys.sealContent(name, { ...note, title: title(note) }, 0);
    }
    const moment = readMoment(body);
    if (!moment) return unreadable;
    const theirs = otherBody && readMoment(otherBody);
    // A move to the trash yields, like a removal; and both may have the same content.
    const isSame = theirs && comparedText(moment) === comparedText(theirs);
    if (moment.removed !== undefined || isSame) return null;
    return keys.sealBody(name, momentBody({ ...moment, title: title(moment) }), 0);
}

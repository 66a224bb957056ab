// A hub whose store was restored from a backup, or replaced, serves older states. What it has is compared with what is here: the newest
// stays, of two versions that don't know of each other both, and what the hub lost is sent again. docs/formats.md, "A restored hub".
import { base64, fields, hex, u64, unbase64, unhex } from "../crypto/bytes.js";
import { sha256 } from "../crypto/primitives.js";
import { sealedBytes, signRecord } from "../crypto/signature.js";
import { indexFact } from "./moment-index.js";

/** @typedef {import("./device.js").Device} Device */
/** @typedef {import("../crypto/signature.js").HubRecord} HubRecord */
/** @typedef {import("../store/store.js").Row} Row */
/** @typedef {{ id: string, after: number }} Generation */

const versionLength = 8;
const mostVersions = 64;
const mostAncestors = 16;
/** Of vaults: those of the household are sent again by the computers that wrote them. */
const collections = ["about", "notes", "moments", "photos", "files", "intruders", "audit"];

export const keepsBoth = (/** @type {string} */ collection) => collection === "notes" || collection === "moments";

/**
 * The last sequence number up to which what a device read and what the hub has now are the same.
 * @param {Generation[]} known as the hub served them when the device read last
 * @param {number} newest the highest sequence number that the device has seen
 * @param {Generation[]} served
 * @param {number} sequence the hub's newest
 */
export function commonSequence(known, newest, served, sequence) {
    for (let index = known.length - 1; index >= 0; index -= 1) {
        const place = served.findIndex(({ id, after }) => id === known[index].id && after === known[index].after);
        if (place >= 0) return Math.min(known[index + 1]?.after ?? newest, served[place + 1]?.after ?? sequence);
    }
    return 0;
}

/**
 * Names one version of a record: two devices that wrote the same revision wrote two versions.
 * @param {{ revision: number | bigint, sealed: Uint8Array | null }} record
 */
export const versionOf = async ({ revision, sealed }) =>
    hex((await sha256(fields("applocker/1/version", u64(revision), sealed ?? new Uint8Array()))).slice(0, versionLength));

/** @param {HubRecord} record */
const version = (record) => versionOf({ revision: record.revision, sealed: sealedBytes(record) });

/** @param {HubRecord} record @returns {string[]} */
function ancestorsOf({ ancestors }) {
    const text = hex(unbase64(typeof ancestors === "string" ? ancestors : ""));
    return text.match(/.{16}/g) ?? [];
}

/**
 * What the hub had of a record before what a row has of it, as far as is known: for the row that takes its place.
 * @param {Row | undefined} row
 */
export async function versionsBefore(row) {
    if (!row || !collections.includes(row.collection)) return {};
    const all = [...(row.versions ?? []), ...ancestorsOf(row.record), await version(row.record)];
    return { versions: [...new Set(all)].slice(-mostVersions) };
}

/**
 * What a record follows that stands on this row, for the hub, which may have lost it.
 * @param {Row} row
 * @param {HubRecord} record
 */
export async function ancestorsFor(row, record) {
    const own = await version(record);
    const { versions = [] } = await versionsBefore(row);
    return { ancestors: base64(unhex(versions.filter((one) => one !== own).slice(-mostAncestors).join(""))) };
}

/**
 * The copy that a version becomes, the same on every device.
 * @param {string} id
 * @param {Uint8Array} sealed
 */
export const copyID = async (id, sealed) => hex((await sha256(fields("applocker/1/conflict", unhex(id), sealed))).slice(0, 16));

/**
 * Asks the hub about its store before anything is read. Throws HubError, HubUnreachable, StoreError.
 * @param {Device} device
 */
export async function compareStores(device) {
    const { store, tabs } = device;
    const { generations: served, sequence } = await device.hub.household();
    await tabs.alone("take", async () => {
        const known = await store.fact("generations", /** @type {Generation[] | null} */ (null));
        const newest = Math.max(await store.fact("cursor", 0), await store.fact("newest", 0));
        const common = known ? commonSequence(known, newest, served, sequence) : newest;
        if (common >= newest) {
            if (JSON.stringify(known) !== JSON.stringify(served)) await store.write({ facts: { generations: served } });
            return;
        }
        const rows = (await Promise.all(collections.map((collection) => store.records(collection, { hidden: true })))).flat();
        const cleared = await store.fact("alertsCleared", 0);
        await store.write({
            records: rows.map((row) => ({ ...row, isUnsure: true, atHub: 0 })),
            facts: {
                generations: served, cursor: 0, newest: 0, comparing: true, alertsCleared: Math.min(cleared, common), [indexFact]: null,
                adopted: null,
            },
        });
    });
}

/**
 * Everything that the hub has was compared.
 * @param {Device} device
 */
export async function endComparing(device) {
    const { store } = device;
    if (!(await store.fact("comparing", false))) return;
    const count = (await unsure(device)).length;
    await store.write({ facts: { comparing: false, offering: true } });
    await device.report(`The hub’s store is another one than before, as after a restored backup. What this device has was compared with it; ${
        count === 1 ? "1 record is" : `${count} records are`} sent again.`);
}

/** @param {Device} device */
const unsure = async ({ store }) =>
    (await Promise.all(collections.map((collection) => store.records(collection, { hidden: true })))).flat().filter(({ isUnsure }) => isUnsure);

/**
 * Compares what the hub serves with a row that it may have lost.
 * @param {Row} row
 * @param {HubRecord} record checked
 * @param {boolean} hasChange whether a change of it waits to be sent
 * @returns {Promise<{ row: Row, copied?: HubRecord } | { fork: HubRecord | null, isChangeApart?: boolean }>} the row that stays, or that the
 *   record takes its place. `copied`, `fork`: what becomes a copy. `isChangeApart`: the change does, too.
 */
export async function compare(row, record, hasChange) {
    const own = [...(row.versions ?? []), ...ancestorsOf(row.record), await version(row.record)];
    const [newest, theirs] = [own.at(-1), await version(record)];
    /** @param {HubRecord} [kept] */
    const staying = (kept = row.record) => ({
        row: {
            ...row, record: kept, atHub: record.revision, isUnsure: theirs !== newest || kept !== row.record,
            versions: [...new Set([...ancestorsOf(record), theirs, ...(row.versions ?? [])])].slice(-mostVersions),
            ...(theirs === newest ? { sequence: record.sequence ?? row.sequence } : {}),
        },
    });
    if (own.includes(theirs)) return staying();
    if (row.collection === "audit") return { row: { ...row, isUnsure: false } };
    if (ancestorsOf(record).includes(newest ?? "")) return { fork: null };
    if (hasChange) return { fork: null, isChangeApart: true };
    const isNewerHere = row.record.revision > record.revision;
    const [isRemovedHere, isRemovedThere] = [!sealedBytes(row.record), !sealedBytes(record)];
    const both = keepsBoth(row.collection);
    if (isRemovedHere && isRemovedThere) return isNewerHere ? staying() : { fork: null };
    // Of a note a removal gives way, elsewhere it stays.
    if (isRemovedHere) {
        if (both) return { fork: null };
        return staying(isNewerHere ? row.record : { ...row.record, revision: record.revision + 1 });
    }
    if (isRemovedThere) return both && isNewerHere ? staying() : { fork: both ? row.record : null };
    if (isNewerHere) return { ...staying(), ...(both ? { copied: record } : {}) };
    return { fork: both ? row.record : null };
}

/**
 * Has what the hub lost wait to be sent, signed by this device. Nothing while the gate is closed.
 * @param {Device} device
 */
export async function offerAgain(device) {
    const { store, tabs, unlocked } = device;
    if (!unlocked || !(await store.fact("offering", false))) return;
    await tabs.alone("edit", async () => {
        for (const { key } of await unsure(device)) {
            const row = await store.record(key);
            if (!row?.isUnsure || (await store.waitingFor(key))) continue;
            const record = await offer(unlocked, row).catch(() => null);
            device.still(unlocked);
            if (!record) continue;
            await store.write({ waiting: [{ key, record: { ...record, ...await ancestorsFor(row, record) }, isOffer: true }] });
        }
        await store.write({ facts: { offering: false } });
    });
}

/**
 * What a row has, signed by this device, as it is or, where the hub has another one of its revision, as the next one.
 * @param {import("./keys.js").UnlockedKeys} keys
 * @param {Row} row
 */
async function offer(keys, { record, atHub = 0 }) {
    const { collection, id, vault, epoch, blobs } = record;
    const sealed = sealedBytes(record);
    const name = { vault, collection, id, revision: Math.max(record.revision, atHub + 1) };
    if (sealed && name.revision > record.revision) return keys.sealBody(name, await keys.openContent(record, sealed), atHub, blobs);
    return signRecord(keys.signingKey, name, { epoch, author: keys.device, blobs, sealed, replaces: atHub });
}

/**
 * What the hub has after a record that was offered: where it is older still, it is offered once more.
 * @param {Device} device
 * @param {import("../store/store.js").Waiting} line
 */
export async function settleOffer(device, { key, record }) {
    await device.store.write({ sent: [{ key, signature: record.signature }], facts: { offering: true } });
}

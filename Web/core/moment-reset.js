// Erases every moment and photo of a vault: first what opens them here, then everywhere.
import { ringKind } from "../crypto/ring.js";
import { keyOf } from "../store/store.js";
import { CompanionError } from "./errors.js";
import { indexFact } from "./moment-index.js";
import { versionsBefore } from "./versions.js";

/** @typedef {import("./companion.js").Companion} Companion */
/** @typedef {import("../store/store.js").Row} Row */
/** @typedef {import("../crypto/signature.js").HubRecord} HubRecord */
/** @typedef {{ moments: number, photos: number }} Erased */

/** So many records are erased in one step. */
const step = 64;
/** What the screens keep sealed beside the keys of Everline: what is half-written, and the day that is counted from. */
const kept = ["momentDrafts", "together"];

/**
 * What a reset would erase, the trash too. Throws CompanionError `locked`.
 * @param {Companion} companion
 * @returns {Promise<Erased>}
 */
export async function countToErase({ moments }) {
    const [{ moments: shown }, { moments: thrown }] = [await moments.list(), await moments.list({ trash: true })];
    const photos = new Set([...shown, ...thrown].flatMap((moment) => moment.photos.map(({ id }) => id)));
    return { moments: shown.length + thrown.length, photos: photos.size };
}

/**
 * The log says it first. Then the photos, whose records hold their keys, then the moments: in one step each record's sealed bytes leave
 * this device and a tombstone waits for the hub, which frees their bytes. What was done stays done where it ends early: ask again.
 * Throws CompanionError `locked`, `cancelled`, StoreError.
 * @param {Companion} companion
 * @param {{ signal: AbortSignal, progress?: (done: number, all: number) => void }} options
 * @returns {Promise<Erased>}
 */
export async function resetMoments(companion, { signal, progress = () => {} }) {
    const { device, audit } = companion;
    const toErase = await countToErase(companion);
    await audit.record("reset", toErase);
    const known = vaultsOf(device.keys);
    const staged = (await device.store.staged()).filter(({ record }) => known.has(record.vault));
    await device.store.write({
        facts: { [indexFact]: null }, unstaged: staged.map(({ id }) => id),
        withoutPieces: staged.flatMap(({ uploads }) => uploads.map(({ blob }) => blob)),
    });
    for (const name of kept) await companion.private.set(name, null);
    const all = toErase.moments + toErase.photos;
    let done = 0;
    const told = (/** @type {number} */ count) => progress(Math.min((done += count), all), all);
    const photos = await eraseAll(companion, "photos", signal, told);
    const moments = await eraseAll(companion, "moments", signal, told);
    companion.moments.forget();
    return { moments, photos };
}

/** @param {import("./keys.js").UnlockedKeys} keys */
const vaultsOf = (keys) => new Set(keys.ring.entries.flatMap(({ kind, vault }) => (kind === ringKind.vault ? [vault] : [])));

/**
 * @param {Companion} companion
 * @param {"photos" | "moments"} collection
 * @param {AbortSignal} signal
 * @param {(count: number) => void} told
 */
async function eraseAll({ device, editing }, collection, signal, told) {
    let erased = 0;
    /** @param {{ key: string, row: Row | null }[]} batch */
    const erase = async (batch) => {
        if (signal.aborted) throw new CompanionError("cancelled", "The reset was stopped; what was erased by then stays erased.");
        const count = await editing.alone((keys) => eraseBatch(device, keys, batch));
        erased += count;
        told(count);
    };
    for (let before = Number.MAX_SAFE_INTEGER; ;) {
        const rows = await device.store.records(collection, { before, limit: step });
        if (rows.length === 0) break;
        await erase(rows.map((row) => ({ key: row.key, row })));
        before = rows[rows.length - 1].sequence;
    }
    // What never left.
    const rest = (await device.store.waiting()).filter(({ record }) => record.collection === collection && record.sealed).map(({ key }) => ({ key, row: null }));
    for (let start = 0; start < rest.length; start += step) await erase(rest.slice(start, start + step));
    return erased;
}

/**
 * @param {import("./device.js").Device} device
 * @param {import("./keys.js").UnlockedKeys} keys
 * @param {{ key: string, row: Row | null }[]} batch
 */
async function eraseBatch(device, keys, batch) {
    const known = vaultsOf(keys);
    /** @type {Required<Pick<import("../store/store.js").Change, "records" | "waiting" | "withoutPieces">>} */
    const change = { records: [], waiting: [], withoutPieces: [] };
    await device.tabs.alone("take", async () => {
        for (const { key } of batch) {
            // As they are now: something may have come meanwhile.
            const [line, row] = [await device.store.waitingFor(key), await device.store.record(key)];
            const newest = line?.record ?? row?.record;
            if (!newest || !known.has(newest.vault)) continue;
            if (row?.record.sealed) change.records.push({ ...row, ...(await versionsBefore(row)), record: { ...row.record, sealed: null } });
            if (!newest.sealed) continue;
            const { vault, collection, id } = newest;
            const revision = Math.max(line?.record.revision ?? 0, row?.record.revision ?? 0) + 1;
            const replaces = line?.record.replaces ?? row?.record.revision ?? 0;
            change.waiting.push({ key: keyOf(collection, id), record: await keys.tombstone({ vault, collection, id, revision }, replaces) });
            change.withoutPieces.push(...(line?.uploads ?? []).map(({ blob }) => blob));
        }
        await device.store.write(change);
    });
    // Other tabs, too, hold what was erased.
    device.changed(change.waiting.map(({ key }) => key));
    return change.waiting.length;
}

// Erases all records of a collection: the step that deletes their sealed bytes here writes tombstones, which free their
// blobs at the hub.
import { hasVaultKey } from "../household/private-storage.js";
import { withoutSnapshot } from "./moment-snapshot.js";
import { editExclusively } from "./record-editor.js";
import { versionsBefore } from "./versions.js";

/** Records erased in one step. */
const step = 64;

/**
 * Those of the open vaults. If it ends early, what was erased stays erased. Throws CompanionError `locked`, StoreError,
 * and the errors of `next`.
 * @param {DeviceSession} device
 * @param {"photos" | "moments" | "remarks" | "dates"} collection
 * @param {{ next: () => void, progress: (count: number) => void, isErased?: (record: HubRecord) => boolean }} options
 *   `next`: called before each step; `progress`: after it, with the records erased by it
 * @returns {Promise<number>}
 */
export async function eraseRecords(device, collection, { next, progress, isErased = () => true }) {
    let erased = 0;
    /** @param {string[]} ids */
    const erase = async (ids) => {
        next();
        const count = await editExclusively(device, (keys) => eraseStep(device, keys, collection, ids, isErased));
        erased += count;
        progress(count);
    };
    for (let before = Number.MAX_SAFE_INTEGER; ;) {
        const rows = await device.store.records(collection, { before, limit: step });
        if (rows.length === 0) break;
        await erase(rows.map(({ record }) => record.id));
        before = rows[rows.length - 1].sequence;
    }
    // Records that the hub never had.
    const unsent = (await device.store.waiting())
        .filter(({ record }) => record.collection === collection && record.sealed).map(({ record }) => record.id);
    for (let start = 0; start < unsent.length; start += step) await erase(unsent.slice(start, start + step));
    return erased;
}

/**
 * @param {DeviceSession} device
 * @param {import("../household/keys.js").UnlockedKeys} keys
 * @param {string} collection
 * @param {string[]} ids
 * @param {(record: HubRecord) => boolean} isErased
 */
async function eraseStep(device, keys, collection, ids, isErased) {
    /** @type {Required<Pick<import("../store/store.js").Change, "records" | "waiting" | "withoutPieces">>} */
    const change = { records: [], waiting: [], withoutPieces: [] };
    await device.tabs.exclusive("take", async () => {
        for (const id of ids) {
            // Read again: another version may have arrived.
            const { key, line, row, base, record: newest } = await device.stored(collection, id);
            if (!newest || !hasVaultKey(keys.ring, newest.vault) || !isErased(newest)) continue;
            if (row?.record.sealed) {
                const erased = { ...row.record, sealed: null };
                change.records.push({ ...row, ...(await versionsBefore(row)), record: erased });
            }
            if (!newest.sealed) continue;
            const revision = Math.max(line?.record.revision ?? 0, row?.record.revision ?? 0) + 1;
            const name = { vault: newest.vault, collection, id, revision };
            change.waiting.push({ key, record: await keys.tombstone(name, base) });
            change.withoutPieces.push(...(line?.uploads ?? []).map(({ blob }) => blob));
        }
        await device.store.write({ ...change, facts: withoutSnapshot });
    });
    // Other tabs show what was erased too.
    device.changed(change.waiting.map(({ key }) => key));
    return change.waiting.length;
}

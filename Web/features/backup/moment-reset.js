// Erases every moment, photo, remark and special date of a vault: first what opens them here, then everywhere.
import { CompanionError } from "../../household/errors.js";
import { hasVaultKey } from "../../household/private-storage.js";
import { eraseRecords } from "../../sync/erase-records.js";
import { removeStaged } from "../../sync/photo-staging.js";

/** @typedef {{ moments: number, photos: number }} Erased */

/** Everline's values in private storage: drafts, and the day that earlier versions counted from. */
const kept = ["momentDrafts", "together"];

/**
 * What a reset would erase, including the trash. Throws CompanionError `locked`.
 * @param {Companion} companion
 * @returns {Promise<Erased>}
 */
export async function countToErase({ moments }) {
    const [{ moments: shown }, { moments: thrown }] = [await moments.list(), await moments.list({ trash: true })];
    const photos = new Set([...shown, ...thrown].flatMap((moment) => moment.photos.map(({ id }) => id)));
    return { moments: shown.length + thrown.length, photos: photos.size };
}

/**
 * The reset is logged first. Then the photos are erased, whose records hold their keys, then the moments, then the
 * remarks: of a shared vault those of this device; the others' devices remove theirs. If it ends early, another call
 * resumes. Throws CompanionError `locked`, `cancelled`, StoreError.
 * @param {Companion} companion
 * @param {{ signal: AbortSignal, progress?: (done: number, all: number) => void }} options
 * @returns {Promise<Erased>}
 */
export async function resetMoments(companion, { signal, progress = () => {} }) {
    const { device, audit } = companion;
    const toErase = await countToErase(companion);
    await audit.record("reset", toErase);
    const { ring } = device.keys;
    await removeStaged(device, ({ record }) => hasVaultKey(ring, record.vault));
    for (const name of kept) await companion.privateStorage.set(name, null);
    const all = toErase.moments + toErase.photos;
    let done = 0;
    const options = {
        next: () => {
            if (!signal.aborted) return;
            throw new CompanionError("cancelled",
                "The reset was stopped. Items that were already erased can’t be restored.");
        },
        progress: (/** @type {number} */ count) => progress(Math.min((done += count), all), all),
    };
    try {
        const photos = await eraseRecords(device, "photos", options);
        const moments = await eraseRecords(device, "moments", options);
        await eraseRecords(device, "dates", { ...options, progress: () => {} });
        await eraseRecords(device, "remarks", {
            ...options, progress: () => {},
            isErased: ({ author }) => !device.isShared || author === device.paired.device,
        });
        return { moments, photos };
    } finally {
        companion.moments.forget();
        // What was erased before it ended early, too.
        companion.sendSoon();
    }
}

// Everline in a sealed file: the records of moments, remarks, photos and special dates with their blobs, in the backup
// format of computers.
import { unhex } from "../../crypto/bytes.js";
import { checkPassphrase, entryKind, manifestOf, recordEntry } from "./notes-backup.js";
import { BackupWriter } from "./backup-file.js";
import { CompanionError, isUnreadable } from "../../household/errors.js";
import { hasVaultKey } from "../../household/private-storage.js";
import { sealedLength } from "../../formats/moment-format.js";
import { readSealed } from "../../sync/photo-staging.js";

/** @typedef {{ id: string, size: number, photo: string }} SealedBlob */
/** @typedef {{ id: string } & import("../../ui/recording-words.js").Kind} Photo */

/** Bytes read at once. */
const step = 1 << 20;

/** @param {AbortSignal} signal */
function check(signal) {
    if (signal.aborted) throw new CompanionError("cancelled", "The export was stopped; no file was saved.");
}

/** @param {Companion} companion @param {string} collection @param {string} id @returns {Promise<HubRecord | null>} */
async function newest({ device }, collection, id) {
    const { record } = await device.stored(collection, id);
    return record?.sealed ? record : null;
}

/**
 * Blobs and records of a backup, from records alone. `missing`: photos that do not open here.
 * @param {Companion} companion
 * @param {AbortSignal} signal
 */
async function planned(companion, signal) {
    const { moments } = await companion.moments.list();
    const all = new Map(moments.flatMap(({ photos }) => photos.map((photo) => [photo.id, photo])));
    /** @type {Photo[]} */
    const photos = [];
    /** @type {Photo[]} */
    const missing = [];
    /** @type {SealedBlob[]} */
    const blobs = [];
    for (const [id, photo] of all) {
        check(signal);
        const record = await newest(companion, "photos", id);
        const facts = record && (await companion.momentPhotos.facts(id).catch((error) => {
            if (!isUnreadable(error)) throw error;
            return null;
        }));
        if (!record || !facts) {
            missing.push(photo);
            continue;
        }
        photos.push(photo);
        const sizes = [facts.original.size, ...(facts.medium ? [facts.medium.size] : [])];
        blobs.push(...record.blobs.map((blob, index) => ({ id: blob, size: sealedLength(sizes[index]), photo: id })));
    }
    const remarksHere = await companion.moments.remarks();
    const [index, nameOf] = [await remarksHere.index(), await remarksHere.authorNames()];
    const remarks = new Map(moments.flatMap((moment) => index.all(moment))
        .map(({ id, author, isOwn }) => [id, isOwn ? undefined : nameOf(author)]));
    const { together, dates } = await (await companion.dates()).list();
    return {
        moments: moments.map(({ id }) => id), remarks, photos, blobs, missing,
        dates: [...(together ? [together] : []), ...dates].map(({ id }) => id),
    };
}

/**
 * Sealed bytes of a blob, piece by piece: unsent ones from this device, the others from the hub. Throws as
 * `readSealed`, and CompanionError `notFound` for another size.
 * @param {Companion} companion
 * @param {SealedBlob} blob
 * @param {AbortSignal} signal
 */
async function* piecesOf({ device }, { id, size }, signal) {
    for (let start = 0; start < size; start += step) {
        check(signal);
        const end = Math.min(start + step, size);
        const bytes = await readSealed(device, id, start, end, signal);
        if (bytes.length !== end - start) {
            throw new CompanionError("notFound",
                "The size of a photo at the hub changed, so the export was stopped. Try again.");
        }
        yield bytes;
    }
}

/**
 * Writes everything but the trash, piece by piece, and leaves out photos that the hub has lost. Throws CompanionError
 * `locked`, `weakPIN`, `cancelled`, `notFound`, HubError, HubUnreachable, StoreError.
 * @param {Companion} companion
 * @param {string} passphrase
 * @param {(bytes: Uint8Array) => unknown} write called in order; awaited
 * @param {{ signal: AbortSignal, progress?: (done: number, all: number) => void }} options `progress` in bytes
 * @returns {Promise<{ moments: number, photos: Photo[], missing: Photo[] }>} `missing`: those that were left out
 */
export async function writeMomentBackup(companion, passphrase, write, { signal, progress = () => {} }) {
    checkPassphrase(passphrase);
    const { device } = companion;
    const keys = device.keys.cloneVaultKeys();
    try {
        const { moments, remarks, photos, blobs, missing, dates } = await planned(companion, signal);
        const all = blobs.reduce((sum, { size }) => sum + size, 0);
        const names = Object.entries({
            moments, remarks: [...remarks.keys()], photos: photos.map(({ id }) => id), dates })
            .flatMap(([collection, found]) => found.map((id) => [collection, id]));
        const writer = await BackupWriter.behind(passphrase, write);
        await writer.entry(entryKind.manifest, manifestOf(device.time.now(), names.length, blobs.length));
        const ring = keys.ring.plaintext;
        await writer.entry(entryKind.ring, ring);
        ring.fill(0);
        for (const [place, own] of names) {
            check(signal);
            const record = await newest(companion, place, own);
            if (!record || !hasVaultKey(keys.ring, record.vault)) {
                throw new CompanionError("notFound", "Everline changed during the export. Export the backup again.");
            }
            await writer.entry(entryKind.record, recordEntry(record, { blobs: record.blobs, by: remarks.get(own) }));
        }
        let done = 0;
        /** @type {Set<string>} */
        const lost = new Set();
        for (const blob of blobs) {
            const pieces = piecesOf(companion, blob, signal);
            // Before anything of it is written.
            const first = await pieces.next().catch((error) => {
                if (!isUnreadable(error)) throw error;
                lost.add(blob.photo);
                return null;
            });
            if (!first?.value) {
                progress((done += blob.size), all);
                continue;
            }
            await writer.begin(entryKind.blob, 16 + blob.size);
            await writer.put(unhex(blob.id));
            const put = async (/** @type {Uint8Array} */ piece) => {
                await writer.put(piece);
                progress((done += piece.length), all);
            };
            await put(first.value);
            for await (const piece of pieces) await put(piece);
        }
        await writer.end();
        return {
            moments: moments.length, photos: photos.filter(({ id }) => !lost.has(id)),
            missing: [...missing, ...photos.filter(({ id }) => lost.has(id))],
        };
    } finally {
        keys.wipe();
    }
}

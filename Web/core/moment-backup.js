// Everline in a sealed file: the records of moments and photos with their blobs, as they are, in the backup that computers write, too.
import { unhex, utf8 } from "../crypto/bytes.js";
import { ringKind } from "../crypto/ring.js";
import { HubError } from "../protocol/errors.js";
import { keyOf, pieceSize } from "../store/store.js";
import { checkPassphrase, entryKind } from "./backup.js";
import { BackupWriter } from "./backup-file.js";
import { CompanionError } from "./errors.js";
import { sealedLength } from "./moment-format.js";

/** @typedef {import("./companion.js").Companion} Companion */
/** @typedef {import("../crypto/signature.js").HubRecord} HubRecord */
/** @typedef {{ id: string, size: number }} SealedBlob */

/** @param {unknown} value */
const json = (value) => utf8(JSON.stringify(value));

/** @param {AbortSignal} signal */
function check(signal) {
    if (signal.aborted) throw new CompanionError("cancelled", "The copy was stopped; nothing of it is kept.");
}

/** @param {Companion} companion @param {string} key @returns {Promise<HubRecord | null>} */
async function newest({ device: { store } }, key) {
    const record = (await store.waitingFor(key))?.record ?? (await store.record(key))?.record;
    return record?.sealed ? record : null;
}

/**
 * Blobs and records that a copy has, from records alone. `missing`: photos that are not here.
 * @param {Companion} companion
 * @param {AbortSignal} signal
 */
async function planned(companion, signal) {
    const { moments } = await companion.moments.list();
    const ids = [...new Set(moments.flatMap(({ photos }) => photos.map(({ id }) => id)))];
    /** @type {string[]} */
    const photos = [];
    /** @type {SealedBlob[]} */
    const blobs = [];
    for (const id of ids) {
        check(signal);
        const record = await newest(companion, keyOf("photos", id));
        const facts = record && (await companion.pictures.facts(id).catch((error) => {
            if (error instanceof CompanionError && error.code === "notFound") return null;
            throw error;
        }));
        if (!record || !facts) continue;
        photos.push(id);
        const sizes = [facts.original.size, ...(facts.medium ? [facts.medium.size] : [])];
        blobs.push(...record.blobs.map((blob, index) => ({ id: blob, size: sealedLength(sizes[index]) })));
    }
    return { moments: moments.map(({ id }) => id), photos, blobs, missing: ids.length - photos.length };
}

/**
 * Sealed bytes of a blob, a piece at a time: those that have not left yet from here, the others from the hub.
 * @param {Companion} companion
 * @param {SealedBlob} blob
 * @param {AbortSignal} signal
 */
async function* piecesOf({ device }, { id, size }, signal) {
    for (let start = 0; start < size; start += pieceSize) {
        check(signal);
        const length = Math.min(pieceSize, size - start);
        const piece = await device.store.piece(id, start / pieceSize);
        const bytes = piece?.length === length ? piece : await device.hub.readBlob(id, start, start + length, signal);
        if (bytes.length !== length) throw new CompanionError("notFound", "A photo at the hub is not as long as it was; the copy was stopped.");
        yield bytes;
    }
}

/**
 * Everything but what is in the trash, piece by piece. Throws CompanionError `locked`, `weakPIN`, `cancelled`, `notFound`, HubError,
 * HubUnreachable, StoreError.
 * @param {Companion} companion
 * @param {string} passphrase
 * @param {(bytes: Uint8Array) => unknown} write what comes next; awaited
 * @param {{ signal: AbortSignal, progress?: (done: number, all: number) => void }} options `progress` in bytes
 * @returns {Promise<{ moments: number, photos: number, missing: number }>}
 */
export async function writeMomentBackup(companion, passphrase, write, { signal, progress = () => {} }) {
    checkPassphrase(passphrase);
    const { device } = companion;
    const keys = device.keys.held();
    try {
        const { moments, photos, blobs, missing } = await planned(companion, signal);
        const all = blobs.reduce((sum, { size }) => sum + size, 0);
        const names = [...moments.map((id) => keyOf("moments", id)), ...photos.map((id) => keyOf("photos", id))];
        const writer = await BackupWriter.behind(passphrase, write);
        await writer.entry(entryKind.manifest, json({
            version: 2, created: new Date(device.time.now()).toISOString().replace(/\.\d+Z$/, "Z"), contents: "everything", records: names.length, blobs: blobs.length,
        }));
        const ring = keys.ring.plaintext;
        await writer.entry(entryKind.ring, ring);
        ring.fill(0);
        for (const name of names) {
            check(signal);
            const record = await newest(companion, name);
            if (!record || !keys.ring.entries.some(({ kind, vault }) => kind === ringKind.vault && vault === record.vault)) {
                throw new CompanionError("notFound", "Everline was changed while the copy was made; make it again.");
            }
            const { collection, id, vault, revision, epoch, author, sealed } = record;
            await writer.entry(entryKind.record, json({ collection, id, vault, revision, epoch, author, deleted: false, sealed, blobs: record.blobs }));
        }
        let done = 0;
        for (const blob of blobs) {
            await writer.begin(entryKind.blob, 16 + blob.size);
            await writer.put(unhex(blob.id));
            for await (const piece of piecesOf(companion, blob, signal)) {
                await writer.put(piece);
                progress((done += piece.length), all);
            }
        }
        await writer.end();
        return { moments: moments.length, photos: photos.length, missing };
    } catch (error) {
        if (error instanceof HubError && error.code === "not_found") {
            throw new CompanionError("notFound", "A photo is not at the hub yet, or not any more. Sync, then make the copy again.", null, error);
        }
        throw error;
    } finally {
        keys.wipe();
    }
}


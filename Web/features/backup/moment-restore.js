// Imports moments from a sealed file: the changes are shown first, and each moment is imported in one step, without
// those of its photos that are missing or damaged in the file.
import { hex, isID, randomBytes, randomID, textOf, unbase64, wipe } from "../../crypto/bytes.js";
import { openEnvelope, readEnvelope } from "../../crypto/envelope.js";
import { FormatError } from "../../crypto/errors.js";
import { sha256 } from "../../crypto/primitives.js";
import { KeyRing, ringKind } from "../../crypto/ring.js";
import { sealInPieces } from "../../crypto/sealed-pieces.js";
import { openChunks, openContent, sealContent, streamName } from "../../crypto/stream.js";
import { StoreError } from "../../store/errors.js";
import { entryKind } from "./notes-backup.js";
import { BackupReader } from "./backup-file.js";
import { CompanionError } from "../../household/errors.js";
import { chunkLogarithm, isRecording, momentPhoto, photoBody, photoHash, readMoment, readPhoto, sealedLength,
} from "../../formats/moment-format.js";
import { readDate } from "../../formats/special-date.js";
import { readRemark, shownName } from "../../formats/remark-format.js";
import { PhotoStaging, pieceSize } from "../../sync/photo-staging.js";

/** @typedef {import("../../formats/moment-format.js").MomentContent} MomentContent */
/** @typedef {import("../../formats/moment-format.js").MomentPhoto} MomentPhoto */
/** @typedef {import("./notes-backup.js").BackupRecord} BackupRecord */
/** @typedef {import("../../formats/special-date.js").DateContent} DateContent */
/** @typedef {{ from: number, to: number }} Place in the file */
/** @typedef {{ id: string, content: MomentContent }} KeptMoment */
/**
 * A remark of the file. `by`: the name of another member; null for the person's own.
 * @typedef {{ by: string | null, content: import("../../formats/remark-format.js").Comment |
 *   import("../../formats/remark-format.js").Reaction }} KeptRemark
 * @typedef {{ created: string, reader: BackupReader, ring: KeyRing, moments: KeptMoment[], photos: Map<string, Place>,
 *   blobs: Map<string, Place>, remarks: Map<string, KeptRemark[]>, dates: DateContent[], together: string | null,
 *   others: number }} MomentBackup
 */
/**
 * `added`: not here. `changed`: older here than in the file. `kept`: newer here. `same`: as in the file.
 * `dates`: not here; `together`: the day that is counted from, if none is set here.
 * @typedef {{ added: KeptMoment[], changed: { kept: KeptMoment, moment: Moment }[], kept: number, same: number,
 *   dates: DateContent[], together: string | null }} Changes
 */
/** @typedef {import("../../ui/recording-words.js").Kind} Kind */
/**
 * @typedef {{ moments: number, photos: Kind[], lost: Kind[], failed: number, isStopped: boolean,
 *   problem: string | null }} Restored
 */

const most = { records: 200_000, dates: 1_000 };

/**
 * Reads the backup without its photos. Throws FormatError.
 * @param {Blob} file
 * @param {string} passphrase
 * @returns {Promise<MomentBackup>} to be ended with `forget`
 */
export async function openMomentBackup(file, passphrase) {
    const reader = await BackupReader.open(file, passphrase);
    const damaged = new FormatError("malformed", "The backup is damaged or truncated.");
    /** @type {import("./notes-backup.js").BackupManifest | null} */
    let manifest = null;
    let ring = new KeyRing([]);
    /** @type {{ record: BackupRecord, place: Place }[]} */
    const records = [];
    /** @type {[BackupRecord[], BackupRecord[]]} */
    const [dateRecords, remarkRecords] = [[], []];
    /** @type {Map<string, Place>} */
    const photos = new Map();
    /** @type {Map<string, Place>} */
    const blobs = new Map();
    let count = 0;
    for await (const { kind, from, to } of reader.entries()) {
        if ((manifest === null) !== (kind === entryKind.manifest)) throw damaged;
        if (kind === entryKind.manifest) manifest = JSON.parse(textOf(await reader.bytes(from, to)));
        else if (kind === entryKind.ring) ring = KeyRing.read(await reader.bytes(from, to));
        else if (kind === entryKind.blob)
            blobs.set(hex(await reader.bytes(from, Math.min(to, from + 16))), { from: from + 16, to });
        else if (kind === entryKind.record) {
            count += 1;
            if (count > most.records) throw damaged;
            /** @type {BackupRecord | null} */
            const record = JSON.parse(textOf(await reader.bytes(from, to)));
            // Thousands of thumbnails would not fit in memory.
            if (record?.collection === "photos") photos.set(String(record.id), { from, to });
            else if (record?.collection === "moments") records.push({ record, place: { from, to } });
            else if (record?.collection === "dates" && dateRecords.length < most.dates) dateRecords.push(record);
            else if (record?.collection === "remarks") remarkRecords.push(record);
        } else if (kind !== entryKind.settings) throw damaged;
    }
    if (manifest?.version !== 2 || manifest.records !== count) throw damaged;
    const moments = (await Promise.all(records.map(async ({ record }) => {
        const content = readMoment(await bodyOf(record, ring).catch(() => new Uint8Array()));
        return content && content.removed === undefined ? { id: String(record.id), content } : null;
    }))).flatMap((one) => one ?? []);
    const dates = (await Promise.all(dateRecords.map(async (record) => {
        const content = readDate(await bodyOf(record, ring).catch(() => new Uint8Array()));
        return content ? [{ content, isTogether: record.id === record.vault }] : [];
    }))).flat();
    /** @type {Map<string, KeptRemark[]>} by moment */
    const remarks = new Map();
    for (const remark of await Promise.all(remarkRecords.map((record) => remarkOf(record, ring)))) {
        if (!remark) continue;
        const { moment } = remark.content;
        const own = remarks.get(moment);
        if (own) own.push(remark);
        else remarks.set(moment, [remark]);
    }
    return {
        remarks,
        dates: dates.flatMap(({ content, isTogether }) => (isTogether ? [] : content)),
        together: dates.find(({ isTogether }) => isTogether)?.content.day ?? null,
        created: String(manifest.created), reader, ring, moments, photos, blobs,
        others: count - photos.size - moments.length - dates.length - remarkRecords.length,
    };
}

/** @param {BackupRecord} record @param {KeyRing} ring @returns {Promise<KeptRemark | null>} */
async function remarkOf(record, ring) {
    const content = readRemark(await bodyOf(record, ring).catch(() => new Uint8Array()));
    if (!content) return null;
    return { by: record.by === undefined ? null : shownName(String(record.by)) || "another member", content };
}

/** @param {MomentBackup} backup */
export function forget({ reader, ring }) {
    reader.forget();
    ring.wipe();
}

/** @param {BackupRecord | null} record @param {KeyRing} ring */
async function bodyOf(record, ring) {
    if (!record || !isID(record.id) || !isID(record.vault) || typeof record.sealed !== "string") {
        throw new FormatError("malformed", "The backup contains an invalid record.");
    }
    const sealed = unbase64(record.sealed);
    const key = ring.key(ringKind.vault, record.vault, readEnvelope(sealed).wrapEpoch);
    if (!key) throw new FormatError("wrongKey", "The backup lacks the key of its records.");
    return openEnvelope(sealed, record, key);
}

/**
 * The content by which duplicates are found, whatever their ids.
 * @param {MomentContent} content
 */
const sightOf = ({ title, words, date, offset, mood, place, photos }) =>
    JSON.stringify([title, words, date, offset, mood, place?.name
        ?? null, photos.map(({ width, height }) => [width, height])]);

/** @param {MomentContent} one @param {MomentContent} other */
const isSame = (one, other) => sightOf(one) === sightOf(other) && one.favourite === other.favourite
    && JSON.stringify(one.photos.map(({ id }) => id)) === JSON.stringify(other.photos.map(({ id }) => id));

/**
 * Compares a backup with this device and changes nothing. Of two versions the one modified last stays.
 * @param {Companion} companion
 * @param {MomentBackup} backup
 * @returns {Promise<Changes>}
 */
export async function changesOf(companion, backup) {
    const { moments } = companion;
    const here = [...(await moments.list()).moments, ...(await moments.list({ trash: true })).moments];
    const byID = new Map(here.map((moment) => [moment.id, moment]));
    const seen = new Set(here.map(sightOf));
    /** @type {Changes} */
    const changes = { added: [], changed: [], kept: 0, same: 0, ...(await missingDates(companion, backup)) };
    for (const kept of backup.moments) {
        const moment = byID.get(kept.id);
        if (!moment) {
            if (seen.has(sightOf(kept.content))) changes.same += 1;
            else changes.added.push(kept);
        } else if (isSame(moment, kept.content)) changes.same += 1;
        else if (moment.modified >= kept.content.modified) changes.kept += 1;
        else changes.changed.push({ kept, moment });
    }
    return changes;
}

/**
 * @param {Companion} companion
 * @param {MomentBackup} backup
 */
async function missingDates(companion, { dates, together }) {
    const here = await (await companion.dates()).list();
    const same = (/** @type {DateContent} */ { name, day, yearly }) => JSON.stringify([name, day, yearly]);
    const known = new Set(here.dates.map(same));
    return { dates: dates.filter((date) => !known.has(same(date))), together: here.together ? null : together };
}

/**
 * As many as a vault may have.
 * @param {Companion} companion
 * @param {Changes} changes
 * @returns {Promise<number>} how many were restored
 */
export async function restoreDates(companion, { dates, together }) {
    const own = await companion.dates();
    if (together) await own.setTogether(together);
    for (const [index, date] of dates.entries()) {
        try {
            await own.save(null, date);
        } catch (error) {
            if (error instanceof CompanionError && error.code === "full") return index + (together ? 1 : 0);
            throw error;
        }
    }
    return dates.length + (together ? 1 : 0);
}

/**
 * Restores each moment with its photos, except those that are missing or damaged in the backup: `lost`. A moment that
 * had nothing else is left out: `failed`. The result has why it ended early; restored moments stay. Throws
 * CompanionError `locked`.
 * @param {Companion} companion
 * @param {MomentBackup} backup
 * @param {Changes} changes
 * @param {{ signal: AbortSignal, progress?: (done: number, all: number) => void }} options `progress` in moments
 * @returns {Promise<Restored>}
 */
export async function restoreMoments(companion, backup, changes, { signal, progress = () => {} }) {
    /** @type {Restored} */
    const result = { moments: 0, photos: [], lost: [], failed: 0, isStopped: false, problem: null };
    const all = [...changes.added.map((kept) => ({ kept, moment: null })), ...changes.changed];
    const vault = await companion.moments.editor.vault(companion.device.keys);
    const remarks = await companion.moments.remarks();
    for (const [index, { kept, moment }] of all.entries()) {
        /** @type {MomentPhoto[]} */
        const staged = [];
        try {
            if (signal.aborted) throw new CompanionError("cancelled", "Stopped.");
            const photos = [];
            for (const photo of kept.content.photos) {
                if (signal.aborted) throw new CompanionError("cancelled", "Stopped.");
                const isHere = moment?.photos.some(({ id }) => id === photo.id) ?? false;
                // No sweep of another tab finds half of it.
                const own = isHere ? photo : await companion.device.tabs.exclusive("seal",
                    () => sealedAgain(companion, backup, photo, vault)).catch((error) => {
                    if (!(error instanceof FormatError)) throw error;
                    result.lost.push(photo);
                    return null;
                });
                if (!own) continue;
                if (!isHere) staged.push(own);
                photos.push(own);
            }
            if (photos.length === 0 && kept.content.photos.length > 0 && !kept.content.title && !kept.content.words) {
                throw new FormatError("damaged", "All that this moment had is missing or damaged in the backup.");
            }
            const { title, words, date, offset, mood, place = null, favourite } = kept.content;
            // In one step with its remarks: the next import takes a moment that is here as whole. One that is still
            // here keeps the remarks that it has.
            const own = moment ? [] : remarksOf(backup, kept.id);
            await companion.moments.save(moment, { title, words, date, offset, mood, place, favourite, photos },
                async (saved, keys) => remarks.records(saved, own, keys));
            result.moments += 1;
            result.photos.push(...staged);
        } catch (error) {
            for (const { id } of staged) await companion.momentPhotos.discard(id).catch(() => {});
            if (error instanceof FormatError || (error instanceof CompanionError && error.code === "notFound"))
                result.failed += 1;
            else if (error instanceof CompanionError && error.code === "cancelled") result.isStopped = true;
            else if (error instanceof StoreError) result.problem = error.message;
            else throw error;
        }
        if (result.isStopped || result.problem) break;
        progress(index + 1, all.length);
    }
    return result;
}

/**
 * The remarks of a restored moment, as this device's: nobody else can sign them. Other members' comments name them;
 * their reactions are left out.
 * @param {MomentBackup} backup
 * @param {string} id of the moment in the file
 */
function remarksOf(backup, id) {
    return (backup.remarks.get(id) ?? []).flatMap(({ by, content }) => (
        by === null ? [content] : content.kind === "comment" ? [{ ...content, from: content.from ?? by }] : []));
}

/**
 * An erased photo can't return under its id, so the photo is sealed again under this vault's keys, with a new id.
 * @param {Companion} companion
 * @param {MomentBackup} backup
 * @param {MomentPhoto} photo
 * @param {string} vault
 * @returns {Promise<MomentPhoto>} waits for its moment
 */
async function sealedAgain({ device }, backup, photo, vault) {
    const place = backup.photos.get(photo.id);
    if (!place) throw new FormatError("malformed", "A photo is not in the backup.");
    /** @type {BackupRecord} */
    const record = JSON.parse(textOf(await backup.reader.bytes(place.from, place.to)));
    const content = readPhoto(await bodyOf(record, backup.ring), Array.isArray(record.blobs) ? record.blobs : []);
    if (!content) throw new FormatError("malformed", "A photo of the backup is damaged.");
    const keys = device.keys.cloneVaultKeys();
    const name = { vault, collection: "photos", id: randomID(), revision: 1 };
    const staging = new PhotoStaging(device, name.id);
    const sizes = [];
    let digest = null;
    try {
        for (const size of [content.original, ...(content.medium ? [content.medium] : [])]) {
            const blob = backup.blobs.get(size.blob);
            if (!blob) throw new FormatError("malformed", "A photo’s content is not in the backup.");
            const old = streamName({ vault: record.vault, collection: "photos", id: record.id });
            if (isRecording(size.type)) {
                const recording = await recordingAgain(backup, blob, old, size, streamName(name), staging);
                digest = recording.digest;
                sizes.push({ type: size.type, size: size.size, key: recording.key, blob: recording.blob });
                continue;
            }
            const plain = await openContent(await backup.reader.bytes(blob.from, blob.to), old, size.key);
            if (plain.length !== size.size) throw new FormatError("damaged", "A photo of the backup is damaged.");
            digest ??= await sha256(plain);
            const key = randomBytes(32);
            const sealed = await sealContent(plain, streamName(name), key, chunkLogarithm);
            wipe(plain);
            const id = randomID();
            sizes.push({ type: size.type, size: size.size, key, blob: id });
            await staging.add({ blob: id, sealed, hash: await sha256(sealed) });
        }
        const [original, medium] = sizes;
        const { width, height, taken, thumbnail } = content;
        const body = photoBody({
            width, height, ...(taken === undefined ? {} : { taken }), original,
            ...(medium ? { medium } : {}), thumbnail,
        });
        const sealed = await keys.sealBody(name, body, 0, sizes.map(({ blob }) => blob));
        wipe(body);
        await staging.finish(sealed);
        // The original file's hash, if the key that it was made with is still here.
        const isOwn = record.vault === vault
            && keys.ring.key(ringKind.vault, vault, parseInt(photo.hash.slice(0, 8), 16)) !== undefined;
        const hash = isOwn ? photo.hash : await photoHash(keys.vaultKey(vault), digest ?? new Uint8Array());
        return momentPhoto({ ...photo, id: name.id, width, height, hash });
    } catch (error) {
        await staging.cancel();
        throw error;
    } finally {
        for (const { key } of sizes) wipe(key);
        keys.wipe();
    }
}

/**
 * A video or a voice note, piece by piece. Throws FormatError.
 * @param {MomentBackup} backup
 * @param {Place} blob
 * @param {Uint8Array} old name of its stream
 * @param {import("../../formats/moment-format.js").PhotoSize} original
 * @param {Uint8Array} name of the new one
 * @param {PhotoStaging} staging
 */
async function recordingAgain({ reader }, { from, to }, old, { size, key }, name, staging) {
    const part = (/** @type {number} */ start, /** @type {number} */ end) => reader.bytes(from + start, from + end);
    const damaged = () => new FormatError("damaged", "A video of the backup is damaged.");
    if (to - from !== sealedLength(size)) throw damaged();
    const { chunkSize, chunk } = await openChunks(to - from, part, old, key);
    if (chunkSize !== 2 ** chunkLogarithm) throw damaged();
    const read = (/** @type {number} */ start) => chunk(start / chunkSize);
    const sealed = await sealInPieces(size, read, name, chunkLogarithm, {
        length: pieceSize, put: (id, index, piece) => staging.putPiece(id, index, piece),
    });
    staging.addPieces(sealed);
    return sealed;
}

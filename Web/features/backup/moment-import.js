// Imports old photos: grouped into moments by day, two photos in memory at a time. Photos that are already here are
// skipped, so a second run resumes an interrupted one.
import { hex } from "../../crypto/bytes.js";
import { sha256 } from "../../crypto/primitives.js";
import { StoreError } from "../../store/errors.js";
import { CompanionError } from "../../household/errors.js";
import { groupBy } from "../../household/group-by.js";
import { ExifError, exifPrefix, readExif, takenAt } from "../../formats/exif.js";
import { dayOf, maximumOriginal, maximumPhotos } from "../../formats/moment-format.js";
import { typeOf } from "../../formats/image-type.js";
import { ahead } from "./ahead.js";

/** @typedef {import("./import-sources.js").Source} Source */
/** @typedef {(done: number, all: number, isWaiting?: boolean) => void} Progress */
/**
 * `date`: seconds since 1970. `offset`: minutes ahead of UTC. `isDated`: by the picture, not by the file.
 * @typedef {{ source: Source, date: number, offset: number, isDated: boolean }} FoundPhoto
 */
/**
 * @typedef {{ days: { day: string, photos: FoundPhoto[] }[], photos: number, undated: number, others: number,
 *   tooLarge: number, unread: number }} Preview
 */
/**
 * A file and its photo here. `digest`: SHA-256 of the file.
 * @typedef {{ source: Source, photo: { id: string, width: number, height: number }, digest: Uint8Array }} Kept
 */
/**
 * `stills`: added photos whose animation is not kept. `here`: already here; `trashed`: those of them in the trash.
 * `refused`: one sentence by name. `problem`: why it ended early.
 * @typedef {{ added: number, stills: number, moments: number, here: number, trashed: number, refused: { name: string,
 *   sentence: string }[], kept: Kept[], isStopped: boolean, problem: string | null }} ImportResult
 */

/** Photos added to a moment at once; after a crash these are read again. */
const savedTogether = 10;
/** Photos that are decoded and sealed at once, as `MomentPhotos.seal` does it. */
const sealedTogether = 2;
/** With so many unsent bytes of photos on this device, the import waits. */
const mostWaiting = 256 << 20;
const pause = 500;

const cancelled = () => new CompanionError("cancelled", "The import was stopped.");

/** @param {Blob} file @param {number} [end] */
const bytesOf = async (file, end = file.size) => new Uint8Array(await file.slice(0, end).arrayBuffer());

/** @param {File} file @param {Uint8Array} start */
function dateOf(file, start) {
    let fromExif = null;
    try {
        const exif = readExif(start);
        fromExif = exif && takenAt(exif);
    } catch (error) {
        if (!(error instanceof ExifError)) throw error;
    }
    if (fromExif) return { ...fromExif, isDated: true };
    return { date: Math.floor(file.lastModified / 1000), offset: -new Date(file.lastModified)
        .getTimezoneOffset(), isDated: false };
}

/**
 * The found photos by day. Throws CompanionError `cancelled`.
 * @param {Source[]} sources
 * @param {{ signal: AbortSignal, progress?: Progress }} options
 * @returns {Promise<Preview>}
 */
export async function preview(sources, { signal, progress = () => {} }) {
    /** @type {Preview} */
    const found = { days: [], photos: 0, undated: 0, others: 0, tooLarge: 0, unread: 0 };
    /** @type {FoundPhoto[]} */
    const dated = [];
    for (const [index, source] of sources.entries()) {
        if (signal.aborted) throw cancelled();
        try {
            const file = await source.file();
            const start = await bytesOf(file, Math.min(file.size, exifPrefix));
            if (!typeOf(start)) found.others += 1;
            else if (file.size > maximumOriginal) found.tooLarge += 1;
            else {
                const photo = { source, ...dateOf(file, start) };
                dated.push(photo);
                found.photos += 1;
                if (!photo.isDated) found.undated += 1;
            }
        } catch (error) {
            if (!(error instanceof DOMException)) throw error;
            found.unread += 1;
        }
        progress(index + 1, sources.length);
    }
    found.days = [...groupBy(dated, dayOf)].map(([day, photos]) => ({
        day,
        photos: photos.sort((one, other) => one.date - other.date || (one.source.name < other.source.name ? -1 : 1)),
    })).sort((one, other) => (one.day < other.day ? -1 : 1));
    return found;
}

/** One run of an import. */
class Import {
    /** @type {ImportResult} */
    result = {
        added: 0, stills: 0, moments: 0, here: 0, trashed: 0, refused: [], kept: [], isStopped: false, problem: null,
    };
    #done = 0;

    /**
     * @param {Companion} companion
     * @param {Preview} found
     * @param {string} vault
     * @param {{ keepsOriginal: boolean, keepsPlaces: boolean, signal: AbortSignal, progress: Progress }} options
     */
    constructor(companion, found, vault, options) {
        this.companion = companion;
        this.found = found;
        this.vault = vault;
        this.options = options;
    }

    #step() {
        this.options.progress((this.#done += 1), this.found.photos);
    }

    /** @param {{ day: string, photos: FoundPhoto[] }} day */
    async day({ day, photos }) {
        const { moments } = this.companion;
        const { signal } = this.options;
        /** @type {{ photo: FoundPhoto, digest: Uint8Array }[]} */
        const missing = [];
        /** @type {Moment | null} */
        let moment = null;
        // The whole day first: an earlier run may have begun it.
        for (const photo of photos) {
            if (signal.aborted) throw cancelled();
            const digest = await this.#digest(photo);
            if (!digest) continue;
            const held = await moments.holding(this.vault, digest);
            if (!held) {
                missing.push({ photo, digest });
                continue;
            }
            this.result.here += 1;
            this.result.kept.push({ source: photo.source, photo: held.photo, digest });
            const other = await moments.read(held.moment);
            if (other.removed !== undefined) this.result.trashed += 1;
            else if (!other.title && !other.words && dayOf(other) === day) moment = other;
            this.#step();
        }
        /** @type {StagedPhoto[]} */
        let batch = [];
        const flush = async () => {
            if (batch.length === 0) return;
            moment = await this.#save(moment, batch);
            batch = [];
        };
        /** @type {Map<string, Promise<StagedPhoto | null>>} */
        const begun = new Map();
        const results = ahead(missing, sealedTogether, async ({ photo, digest }) => {
            // Asked and remembered in one step: the next one begins before this one ends.
            const first = begun.get(hex(digest));
            const twin = first && (await first);
            if (twin) return { photo, digest, twin, sealed: null };
            const sealing = this.#seal(photo, digest);
            begun.set(hex(digest), sealing);
            return { photo, digest, twin: null, sealed: await sealing };
        });
        try {
            for await (const { photo, digest, twin, sealed } of results) {
                if ((moment?.photos.length ?? 0) + batch.length >= maximumPhotos) {
                    await flush();
                    moment = null;
                }
                if (twin) this.#twin(photo, twin, digest);
                else if (sealed) {
                    batch.push({ ...sealed, taken: sealed.taken ?? { date: photo.date, offset: photo.offset } });
                }
                this.#step();
                if (batch.length >= savedTogether) await flush();
            }
        } finally {
            // Sealed photos are reused, unless AppLocker was locked.
            await flush().catch((error) => {
                if (!signal.aborted && !this.result.problem) throw error;
            });
        }
    }

    /** @param {FoundPhoto} photo @param {StagedPhoto} twin @param {Uint8Array} digest */
    #twin(photo, twin, digest) {
        this.result.here += 1;
        this.result.kept.push({ source: photo.source, photo: twin, digest });
    }

    /** @param {FoundPhoto} photo */
    async #digest({ source }) {
        try {
            return await sha256(await bytesOf(await source.file()));
        } catch (error) {
            this.#refuse(source.name, error);
            this.#step();
            return null;
        }
    }

    /** @param {FoundPhoto} photo @param {Uint8Array} digest @returns {Promise<StagedPhoto | null>} */
    async #seal({ source }, digest) {
        const { keepsOriginal, signal } = this.options;
        try {
            const sealed = await this.companion.momentPhotos.seal(await source.file(),
                { keepsOriginal, vault: this.vault, signal });
            this.result.kept.push({ source, photo: sealed, digest });
            return sealed;
        } catch (error) {
            this.#refuse(source.name, error);
            return null;
        }
    }

    /**
     * Lists a file that can't be imported and continues; any other error ends the import.
     * @param {string} name
     * @param {unknown} error
     */
    #refuse(name, error) {
        const isUnread = error instanceof DOMException;
        if (!isUnread && !(error instanceof CompanionError && error.code === "notPicture")) throw error;
        const sentence = isUnread ? "The browser can’t read this file any more." : error.message;
        this.result.refused.push({ name, sentence });
    }

    /** @param {Moment | null} moment @param {StagedPhoto[]} batch */
    async #save(moment, batch) {
        const { moments } = this.companion;
        const [first] = batch;
        const position = this.options.keepsPlaces ? batch.find((photo) => photo.position)?.position : null;
        const place = position ? { latitude: position.latitude, longitude: position.longitude } : undefined;
        const when = /** @type {{ date: number, offset: number }} */ (first.taken);
        const saved = await moments.save(moment, moment
            ? { title: moment.title, words: moment.words, date: moment.date, place: moment.place
                ?? place, photos: [...moment.photos, ...batch] }
            : { title: "", words: "", date: when.date, offset: when.offset, place, photos: batch });
        this.result.added += batch.length;
        if (!this.options.keepsOriginal) this.result.stills += batch.filter((photo) => photo.isAnimated).length;
        if (!moment) this.result.moments += 1;
        return saved;
    }

    /** Waits for uploads while online. */
    async roomForMore() {
        const { syncLoop } = this.companion;
        const { signal, progress } = this.options;
        while (!signal.aborted && (syncLoop.connection === "live" || syncLoop.connection === "other")) {
            if ((await syncLoop.uploader.waitingBytes()) < mostWaiting) return;
            progress(this.#done, this.found.photos, true);
            await this.companion.wait(pause, signal);
        }
    }
}

/**
 * Seals and stores the photos. The result has why it ended early: what was added stays. Throws CompanionError `locked`.
 * @param {Companion} companion
 * @param {Preview} found
 * @param {{ keepsOriginal: boolean, keepsPlaces: boolean, signal: AbortSignal, progress?: Progress }} options
 *   `progress` in photos
 * @returns {Promise<ImportResult>}
 */
export async function importPhotos(companion, found, { progress = () => {}, ...options }) {
    const vault = await companion.moments.editor.vault(companion.device.keys);
    const run = new Import(companion, found, vault, { ...options, progress });
    try {
        for (const day of found.days) {
            if (options.signal.aborted) throw cancelled();
            await run.day(day);
            await run.roomForMore();
        }
    } catch (error) {
        if (error instanceof CompanionError && error.code === "cancelled") run.result.isStopped = true;
        else if (error instanceof StoreError) run.result.problem = error.message;
        else throw error;
    }
    const added = new Set();
    // A sealed photo that reached no moment does not count.
    const { moments } = await companion.moments.list();
    for (const { photos } of moments) for (const { id } of photos) added.add(id);
    run.result.kept = run.result.kept.filter(({ photo }) => added.has(photo.id));
    return run.result;
}

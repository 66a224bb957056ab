// The photos, videos and voice notes of moments: sealed in a worker before anything is stored, and opened for display.
import { randomID, wipe } from "../../crypto/bytes.js";
import { sealedBytes } from "../../crypto/signature.js";
import { openChunks, streamName } from "../../crypto/stream.js";
import { hasVaultKey } from "../../household/private-storage.js";
import { CompanionError } from "../../household/errors.js";
import { maximumWhole, photoBody, photoHash, readPhoto, sealedLength } from "../../formats/moment-format.js";
import { typeOf } from "../../formats/image-type.js";
import { recordingStart, recordingType } from "../../formats/recording-type.js";
import { PhotoStaging, readSealed, removeStaged, stagedPhoto } from "../../sync/photo-staging.js";
import { scriptURL } from "../../workers/script-url.js";

/** @typedef {import("../../formats/moment-format.js").MomentPhoto} MomentPhoto */
/** @typedef {import("../../formats/moment-format.js").PhotoContent} PhotoContent */
/** @typedef {import("../../formats/moment-format.js").PhotoSize} PhotoSize */
/** @typedef {import("../../workers/sealing.js").SealedPicture} SealedPicture */
/** @typedef {import("../../workers/sealing.js").SealingMessage} SealingMessage */
/**
 * A sealed photo that waits for its moment. `taken` (seconds since 1970, minutes ahead of UTC) and `position` (degrees)
 * are from the file, for the moment; only the time is stored with the photo. `thumbnail`: a JPEG. `isAnimated`: only
 * the original moves, if it is kept. `duplicate`: where the same file is already.
 * @typedef {MomentPhoto & { vault: string, thumbnail: Uint8Array, isAnimated: boolean,
 *   taken: { date: number, offset: number } | null, position: { latitude: number, longitude: number } | null,
 *   duplicate: { moment: string | null, photo: string } | null }} StagedPhoto
 */
/** @typedef {"reading" | "drawing" | "sealing" | "keeping"} SealingStep */
/**
 * `share`: from 0 to 1, of a video or a voice note.
 * @typedef {(step: SealingStep, share?: number) => void} SealingProgress
 */
/**
 * What a record is made of. `digest`: SHA-256 of the chosen file.
 * @typedef {Pick<SealedPicture, "width" | "height" | "thumbnail" | "isAnimated" | "taken" | "position" | "digest"> &
 *   { original: PhotoSize, medium: PhotoSize | null, kind?: string, duration?: number }} Staging
 */

const sentences = {
    tooLarge: "A photo has at most 50 MB; this one is larger.",
    tooDetailed: "Without its metadata this photo has more than 256 MB. Keep the original, or save it as JPEG.",
    notPicture: "This file is not a supported photo (JPEG, PNG, WebP, HEIC, AVIF or GIF), video (MP4, QuickTime or "
        + "WebM) or sound (M4A, MP3, Ogg, WAV or WebM).",
    truncated: "The file ends in the middle of the photo: it was not copied completely. Copy it again.",
    heic: "This browser can’t open HEIC photos. An iPhone converts them if you choose them from the photo library, not "
        + "from Files; or save the photo as JPEG.",
    notDecoded: "This photo is damaged, or this browser can’t open photos of its kind. Save it as JPEG and try again.",
    failed: "The photo could not be sealed; try again, or close other apps to free memory.",
};

export class MomentPhotos {
    /** @type {Map<string, string>} hashes of photos that were staged since unlocking */
    #staged = new Map();
    /** Of the two workers, the next one. */
    #worker = 0;
    #ended = new AbortController();

    /**
     * @param {DeviceSession} device
     * @param {import("../../sync/record-editor.js").RecordEditor} editor
     * @param {import("./moments.js").Moments} moments
     */
    constructor(device, editor, moments) {
        this.device = device;
        this.editor = editor;
        this.moments = moments;
    }

    /** Stops sealing and drops what is unsealed. */
    forget() {
        this.#ended.abort();
        this.#ended = new AbortController();
        this.#staged.clear();
    }

    // Coming in

    /**
     * Seals a chosen file; two at a time, over all tabs. It waits on this device for `Moments.save`, for a day at most.
     * Throws CompanionError `locked`, `cancelled`, `notPicture`, StoreError.
     * @param {Blob} file a photo of at most 50 MB, or a video or a voice note
     * @param {{ keepsOriginal?: boolean, vault?: string, signal?: AbortSignal, progress?: SealingProgress }} options
     *   `keepsOriginal`: a photo with the file's data about camera and place; otherwise its pixels alone
     * @returns {Promise<StagedPhoto>}
     */
    async seal(file, { keepsOriginal = false, vault, signal, progress = () => {} } = {}) {
        const open = this.device.keys;
        const ended = this.#ended.signal;
        const stop = new AbortController();
        const abort = () => stop.abort();
        for (const outer of [signal, ended]) {
            outer?.addEventListener("abort", abort);
            if (outer?.aborted) abort();
        }
        const keys = open.cloneVaultKeys();
        try {
            return await this.#seal(file, { keepsOriginal, vault, keys, signal: stop.signal, progress });
        } catch (error) {
            if (ended.aborted) throw new CompanionError("locked", "AppLocker was locked meanwhile.");
            if (stop.signal.aborted) throw new CompanionError("cancelled", "The photo was not added.");
            throw error;
        } finally {
            keys.wipe();
            for (const outer of [signal, ended]) outer?.removeEventListener("abort", abort);
        }
    }

    /**
     * @param {Blob} file
     * @param {{ keepsOriginal: boolean, vault?: string, keys: import("../../household/keys.js").UnlockedKeys,
     *   signal: AbortSignal, progress: SealingProgress }} options
     * @returns {Promise<StagedPhoto>}
     */
    async #seal(file, { keepsOriginal, vault: chosen, keys, signal, progress }) {
        const vault = chosen ?? (await this.editor.vault(keys));
        const name = { vault, collection: "photos", id: randomID(), revision: 1 };
        const start = await file.slice(0, recordingStart).arrayBuffer().then((bytes) => new Uint8Array(bytes), () =>
            new Uint8Array());
        const container = typeOf(start) ? null : recordingType(start);
        /** @param {Blob} picture @param {boolean} isWhole */
        const drawn = (picture, isWhole) => {
            this.#worker = 1 - this.#worker;
            const job = { file: picture, keepsOriginal: isWhole, name: streamName(name) };
            // A decoded picture needs 50 MB and more.
            return this.device.tabs.exclusive(`sealing ${this.#worker}`, () => inWorker(job, signal, progress), signal);
        };
        // One after another, so that two of the same are detected, and no sweep finds half of one.
        const stage = (/** @type {(staging: PhotoStaging) => Promise<Staging>} */ fill) =>
            this.device.tabs.exclusive("seal", () => this.#stage(name, keys, signal, fill), signal);
        if (container) {
            const { sealRecording } = await import("./recordings.js");
            return sealRecording(this.device, file, container, { name, drawn, stage, signal, progress });
        }
        const picture = await drawn(file, keepsOriginal);
        try {
            return await stage(async (staging) => {
                progress("keeping");
                for (const size of [picture.original, ...(picture.medium ? [picture.medium] : [])]) {
                    await staging.add(size);
                    signal.throwIfAborted();
                }
                return picture;
            });
        } finally {
            wipe(picture.original.key, picture.medium?.key);
        }
    }

    /**
     * @param {{ vault: string, collection: string, id: string, revision: number }} name
     * @param {import("../../household/keys.js").UnlockedKeys} keys
     * @param {AbortSignal} signal
     * @param {(staging: PhotoStaging) => Promise<Staging>} fill adds its sizes
     * @returns {Promise<StagedPhoto>}
     */
    async #stage(name, keys, signal, fill) {
        const staging = new PhotoStaging(this.device, name.id);
        try {
            const content = await fill(staging);
            const { photo, record } = await this.#recordOf(name, content, keys);
            await staging.finish(record);
            signal.throwIfAborted();
            this.#staged.set(photo.hash, name.id);
            return photo;
        } catch (error) {
            await staging.cancel();
            throw error;
        }
    }

    /**
     * @param {{ vault: string, collection: string, id: string, revision: number }} name
     * @param {Staging} content
     * @param {import("../../household/keys.js").UnlockedKeys} keys
     * @returns {Promise<{ photo: StagedPhoto, record: HubRecord }>}
     */
    async #recordOf(name, content, keys) {
        const { vault, id } = name;
        const { width, height, thumbnail, isAnimated, taken, position, digest, original, medium } = content;
        const sizes = [original, ...(medium ? [medium] : [])];
        const entry = keys.vaultKey(vault);
        const hash = await photoHash(entry, digest);
        const held = await this.moments.holding(vault, digest);
        const other = this.#staged.get(hash);
        const duplicate = held ? { moment: held.moment, photo: held.photo.id } : other ? {
            moment: null, photo: other,
        } : null;
        const body = photoBody({
            width, height, ...(taken ? { taken: taken.date } : {}), original, ...(medium ? { medium } : {}), thumbnail,
        });
        const record = await keys.sealBody(name, body, 0, sizes.map(({ blob }) => blob));
        wipe(body);
        const { kind, duration } = content;
        const photo = { id, vault, width, height, hash, thumbnail, isAnimated, taken, position, duplicate,
            ...(kind ? { kind } : {}), ...(duration ? { duration } : {}) };
        return { photo, record };
    }

    /**
     * Deletes a sealed photo that no moment has.
     * @param {string} id
     */
    async discard(id) {
        for (const [hash, other] of this.#staged) if (other === id) this.#staged.delete(hash);
        await removeStaged(this.device, (photo) => photo.id === id);
    }

    /**
     * Whether it is at the hub; `problem`: the code of its refusal.
     * @param {string} id
     * @returns {Promise<{ isWaiting: boolean, problem: string | null }>}
     */
    async status(id) {
        const { line } = await this.device.stored("photos", id);
        return { isWaiting: line !== undefined, problem: line?.problem ?? null };
    }

    // Looking at

    /** @param {string} id */
    async #content(id) {
        const { keys } = this.device;
        const record = (await this.device.stored("photos", id)).record ?? (await stagedPhoto(this.device, id))?.record;
        const sealed = record && sealedBytes(record);
        if (!sealed || !hasVaultKey(keys.ring, record.vault)) {
            throw new CompanionError("notFound", "This photo is not stored here.");
        }
        const content = readPhoto(await keys.openContent(record, sealed), record.blobs);
        if (!content) {
            throw new CompanionError("noKey",
                "This photo is damaged, or was added by a newer version of AppLocker. Update this app.");
        }
        this.device.requireUnlocked(keys);
        return { content, record };
    }

    /**
     * A JPEG of at most 320 pixels, without a network; it is not cached. Throws CompanionError `locked`, `notFound`,
     * `noKey`, FormatError.
     * @param {string} id
     * @returns {Promise<Uint8Array>}
     */
    async thumbnail(id) {
        return (await this.#content(id)).content.thumbnail;
    }

    /**
     * The facts about a photo, without its bytes; sizes in bytes. Throws as `thumbnail`.
     * @param {string} id
     */
    async facts(id) {
        const { width, height, taken = null, original, medium = null } = (await this.#content(id)).content;
        wipe(original.key, medium?.key);
        return {
            width, height, taken, original: { type: original.type, size: original.size },
            medium: medium && { type: medium.type, size: medium.size },
        };
    }

    /**
     * As `original`, a JPEG of at most 2,048 pixels.
     * @param {string} id
     * @param {{ signal?: AbortSignal, progress?: (share: number) => void }} [options]
     */
    medium(id, options = {}) {
        return this.#size(id, ({ medium, original }) => medium ?? original, options);
    }

    /**
     * The stored picture as a whole, which is not cached. Throws CompanionError `locked`, `notFound`, FormatError,
     * HubError, HubUnreachable.
     * @param {string} id
     * @param {{ signal?: AbortSignal, progress?: (share: number) => void }} [options] `progress`: from 0 to 1
     * @returns {Promise<{ type: string, bytes: Uint8Array }>}
     */
    original(id, options = {}) {
        return this.#size(id, ({ original }) => original, options);
    }

    /**
     * What is stored, chunk by chunk: a recording is never in memory as a whole. Throws as `original`.
     * @param {string} id
     * @param {{ signal?: AbortSignal, progress?: (share: number) => void }} [options] `progress`: from 0 to 1
     */
    async *pieces(id, options = {}) {
        const { count, chunk } = await this.opened(id, ({ original }) => original, options.signal);
        for (let index = 0; index < count; index += 1) {
            yield await chunk(index);
            options.progress?.((index + 1) / count);
        }
    }

    /**
     * @param {string} id
     * @param {(content: PhotoContent) => PhotoSize} choose
     * @param {{ signal?: AbortSignal, progress?: (share: number) => void }} options
     */
    async #size(id, choose, { signal, progress = () => {} }) {
        const { type, size, whole } = await this.opened(id, choose, signal);
        if (size > maximumWhole) {
            throw new CompanionError("tooLarge", "This video is too large to be opened as a whole on this device.");
        }
        return { type, bytes: await whole(progress) };
    }

    /**
     * One size of a photo, whose chunks are fetched and opened one by one. Throws as `original`.
     * @param {string} id
     * @param {(content: PhotoContent) => PhotoSize} choose
     * @param {AbortSignal | undefined} signal
     */
    async opened(id, choose, signal) {
        const { keys } = this.device;
        const { content, record } = await this.#content(id);
        const { type, size, key, blob } = choose(content);
        const length = sealedLength(size);
        /** @param {number} start @param {number} end */
        const read = (start, end) => readSealed(this.device, blob, start, end, signal);
        const name = streamName({ vault: record.vault, collection: "photos", id });
        const { count, chunkSize, chunk: open } = await openChunks(length, read, name, key);
        wipe(...[content.original, content.medium].map((one) => one?.key));
        /** @param {number} index */
        const chunk = async (index) => {
            const opened = await open(index);
            if (index * chunkSize + opened.length > size) {
                throw new CompanionError("notFound", "The photo is damaged.");
            }
            this.device.requireUnlocked(keys);
            return opened;
        };
        /** @param {(share: number) => void} progress @param {Uint8Array} [first] its first chunk, if it was read */
        const whole = async (progress, first) => {
            const bytes = new Uint8Array(size);
            for (let index = 0; index < count; index += 1) {
                bytes.set(index === 0 && first ? first : await chunk(index), index * chunkSize);
                progress((index + 1) / count);
            }
            return bytes;
        };
        return { type, size, chunkSize, count, chunk, whole };
    }
}

/**
 * One worker for one picture: its memory ends with it.
 * @param {import("../../workers/sealing.js").SealingJob} job
 * @param {AbortSignal} signal
 * @param {SealingProgress} progress
 * @returns {Promise<SealedPicture>}
 */
function inWorker(job, signal, progress) {
    const worker = new Worker(scriptURL("/workers/sealing.js"), { type: "module" });
    /** @type {Promise<SealedPicture>} */
    const made = new Promise((resolve, reject) => {
        signal.addEventListener("abort", () => reject(new CompanionError("cancelled", "The photo was not added.")));
        worker.onerror = () => reject(new CompanionError("notPicture", sentences.failed));
        worker.onmessage = (/** @type {MessageEvent<SealingMessage>} */ { data }) => {
            if ("step" in data) progress(data.step);
            else if ("picture" in data) resolve(data.picture);
            else reject(new CompanionError("notPicture", sentences[data.refused]));
        };
        worker.postMessage(job);
    });
    return made.finally(() => worker.terminate());
}

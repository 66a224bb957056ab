// Sealed content of photos that the hub doesn't have yet. A photo is staged until its moment is saved: for a day at
// most.
import { HubError } from "../hub/errors.js";
import { CompanionError } from "../household/errors.js";

export { pieceSize } from "../store/store.js";

/** @typedef {import("../store/store.js").Upload} Upload */

/** How long a photo waits for its moment, in milliseconds. */
const stagedTime = 86_400_000;

/** @param {Upload[]} uploads */
const blobsOf = (uploads) => uploads.map(({ blob }) => blob);

/** Stages one photo completely, or not at all. Throws StoreError. */
export class PhotoStaging {
    /** @type {Upload[]} */
    #uploads = [];
    /** @type {string | null} a blob of which there may be pieces only */
    #begun = null;

    /** @param {DeviceSession} device @param {string} id */
    constructor(device, id) {
        this.device = device;
        this.id = id;
    }

    /** @param {{ blob: string, sealed: Uint8Array, hash: Uint8Array }} content `hash`: SHA-256 of `sealed` */
    async add({ blob, sealed, hash }) {
        this.#uploads.push({ blob, size: sealed.length, hash });
        await this.device.store.putPieces(blob, sealed);
    }

    /**
     * A part of content that is not sealed completely yet: `addPieces` follows.
     * @param {string} blob
     * @param {number} index
     * @param {Uint8Array} piece `pieceSize` sealed bytes, fewer of the last one
     */
    async putPiece(blob, index, piece) {
        this.#begun = blob;
        await this.device.store.putPiece(blob, index, piece);
    }

    /** @param {import("../crypto/sealed-pieces.js").SealedBlob} content whose pieces were all put */
    addPieces({ blob, sealedSize, hash }) {
        this.#uploads.push({ blob, size: sealedSize, hash });
    }

    /** @param {HubRecord} record that names the content */
    finish(record) {
        const { store, time } = this.device;
        return store.write({ staged: [{ id: this.id, record, uploads: this.#uploads, at: time.now() }] });
    }

    /** After a failure. Never throws. */
    cancel() {
        const withoutPieces = [...blobsOf(this.#uploads), ...(this.#begun ? [this.#begun] : [])];
        return this.device.store.write({ unstaged: [this.id], withoutPieces }).catch(() => {});
    }
}

/** @param {DeviceSession} device @param {string} id */
export const stagedPhoto = (device, id) => device.store.stagedPhoto(id);

/**
 * Removes matching staged photos, with their content.
 * @param {DeviceSession} device
 * @param {(photo: import("../store/store.js").Staged) => boolean} isRemoved
 */
export async function removeStaged({ store }, isRemoved) {
    const photos = (await store.staged()).filter(isRemoved);
    if (photos.length === 0) return;
    await store.write({
        unstaged: photos.map(({ id }) => id), withoutPieces: photos.flatMap(({ uploads }) => blobsOf(uploads)),
    });
}

/**
 * Removes what a closed app left: photos without a moment after a day, content without a photo.
 * @param {DeviceSession} device
 */
export const sweepStaged = ({ store, tabs, time }) =>
    tabs.exclusive("seal", () => store.sweepPieces(time.now() - stagedTime));

/**
 * A range of a blob's sealed bytes: from this device while it has them, else from the hub. Throws CompanionError
 * `notFound` if neither has them, HubError, HubUnreachable, StoreError.
 * @param {DeviceSession} device
 * @param {string} blob
 * @param {number} start
 * @param {number} end
 * @param {AbortSignal} [signal]
 */
export async function readSealed(device, blob, start, end, signal) {
    const bytes = await device.store.bytes(blob, start, end);
    if (bytes) return bytes;
    if (device.isLocal) throw new CompanionError("notFound", "This file’s content is no longer on this device.");
    return device.hub.readBlob(blob, start, end, signal).catch((error) => {
        if (!(error instanceof HubError) || error.code !== "not_found") throw error;
        throw new CompanionError("notFound", "The hub does not have this file’s content.", null, error);
    });
}

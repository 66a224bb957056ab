// Videos and voice notes: sealed piece by piece into this device's store, with a poster that is shown in their place.
import { wipe } from "../../crypto/bytes.js";
import { streamName } from "../../crypto/stream.js";
import { maximumRecording, maximumRecordingSize } from "../../formats/moment-format.js";
import { CompanionError } from "../../household/errors.js";
import { pieceSize } from "../../sync/photo-staging.js";
import { hubRecordingLimit, storageRoom } from "../../sync/recording-limit.js";
import { scriptURL } from "../../workers/script-url.js";
import { posterOf } from "./recording-poster.js";

/** @typedef {import("../../sync/photo-staging.js").PhotoStaging} PhotoStaging */
/** @typedef {import("../../workers/sealing.js").SealedPicture} SealedPicture */
/** @typedef {import("../../workers/sealing-recording.js").RecordingMessage} RecordingMessage */
/** @typedef {import("./moment-photos.js").StagedPhoto} StagedPhoto */

/**
 * In bytes, as the hub reported it last.
 * @param {DeviceSession} device
 */
export const recordingLimit = async (device) =>
    Math.min((await hubRecordingLimit(device)) ?? maximumRecording, maximumRecordingSize);

/**
 * What a file has is rounded up, so that it is never what is permitted.
 * @param {number} bytes "500 MB"
 */
const megabytes = (bytes, round = Math.ceil) => `${round(bytes / (1 << 20))} MB`;

/**
 * Throws CompanionError `notPicture`, before anything is sealed.
 * @param {DeviceSession} device
 * @param {Blob} file
 */
async function refuseTooLarge(device, file) {
    const most = await recordingLimit(device);
    if (file.size > most) {
        throw new CompanionError("notPicture",
            `A video or voice note has at most ${megabytes(most, Math.floor)}${device.isLocal ? "" : " at your hub"}; `
                + `this one has ${megabytes(file.size)}.`);
    }
    const { usage, quota } = await storageRoom();
    if (quota > 0 && quota - usage < file.size) {
        throw new CompanionError("notPicture", `This device has no room for ${megabytes(file.size)}${
            device.isLocal ? "" : " until they are at the hub"}: free some space, then add it again.`);
    }
}

/**
 * Throws CompanionError `notPicture`, `cancelled`, StoreError.
 * @param {DeviceSession} device
 * @param {Blob} file
 * @param {string} container of `recordingType`
 * @param {{ name: { vault: string, collection: string, id: string, revision: number },
 *   drawn: (picture: Blob, isWhole: boolean) => Promise<SealedPicture>,
 *   stage: (fill: (staging: PhotoStaging) => Promise<import("./moment-photos.js").Staging>) => Promise<StagedPhoto>,
 *   signal: AbortSignal, progress: import("./moment-photos.js").SealingProgress }} options
 * @returns {Promise<StagedPhoto>}
 */
export async function sealRecording(device, file, container, { name, drawn, stage, signal, progress }) {
    await refuseTooLarge(device, file);
    progress("drawing");
    const { kind, type, duration, picture } = await posterOf(file, container, signal);
    const poster = await drawn(picture, true);
    try {
        return await stage(async (staging) => {
            progress("sealing", 0);
            const sealed = await inPieces(file, streamName(name), signal, async (blob, index, piece) => {
                await staging.putPiece(blob, index, piece);
                progress("sealing", Math.min(1, (index + 1) * pieceSize / file.size));
            });
            staging.addPieces(sealed);
            await staging.add(poster.original);
            signal.throwIfAborted();
            const { size, key, blob, digest } = sealed;
            return { ...poster, original: { type, size, key, blob }, medium: poster.original, taken: null,
                position: null, isAnimated: false, digest, kind, ...(duration ? { duration } : {}) };
        });
    } finally {
        wipe(poster.original.key);
    }
}

/**
 * One worker for one file.
 * @param {Blob} file
 * @param {Uint8Array} name
 * @param {AbortSignal} signal
 * @param {(blob: string, index: number, piece: Uint8Array) => Promise<void>} put
 * @returns {Promise<import("../../crypto/sealed-pieces.js").SealedBlob>}
 */
function inPieces(file, name, signal, put) {
    const worker = new Worker(scriptURL("/workers/sealing-recording.js"), { type: "module" });
    const failed = () => new CompanionError("notPicture",
        "The file could not be read to its end; choose it again, or copy it to this device first.");
    return new Promise((/** @type {(sealed: any) => void} */ resolve, reject) => {
        const stop = () => reject(new CompanionError("cancelled", "The recording was not added."));
        signal.addEventListener("abort", stop, { once: true });
        if (signal.aborted) stop();
        worker.onerror = () => reject(failed());
        worker.onmessage = (/** @type {MessageEvent<RecordingMessage>} */ { data }) => {
            if ("piece" in data) {
                put(data.blob, data.index, data.piece).then(() => worker.postMessage("stored"), reject);
            } else if ("sealed" in data) resolve(data.sealed);
            else reject(failed());
        };
        worker.postMessage({ file, name, pieceLength: pieceSize });
    }).finally(() => worker.terminate());
}

// Seals a video or a voice note in a worker, piece by piece: never more than a few of them are in memory. The worker
// stores nothing and ends after one file.
import { chunkLogarithm } from "../formats/moment-format.js";
import { sealInPieces } from "../crypto/sealed-pieces.js";

/** @typedef {{ file: Blob, name: Uint8Array, pieceLength: number }} RecordingJob */
/**
 * After each piece the worker waits for "stored".
 * @typedef {{ blob: string, index: number, piece: Uint8Array } |
 *   { sealed: import("../crypto/sealed-pieces.js").SealedBlob } | { failed: true }} RecordingMessage
 */

const scope = /** @type {{ postMessage(message: unknown, transferred: Transferable[]): void, onmessage: unknown }} */ (
    /** @type {unknown} */ (self));
/** @param {RecordingMessage} message @param {Transferable[]} [transferred] */
const post = (message, transferred = []) => scope.postMessage(message, transferred);

let stored = () => {};

/** @param {RecordingJob} job */
async function seal({ file, name, pieceLength }) {
    const sealed = await sealInPieces(file.size,
        async (start, end) => new Uint8Array(await file.slice(start, end).arrayBuffer()), name, chunkLogarithm, {
            length: pieceLength,
            put: (blob, index, piece) => new Promise((resolve) => {
                stored = () => resolve(undefined);
                post({ blob, index, piece }, [piece.buffer]);
            }),
        });
    post({ sealed });
}

scope.onmessage = (/** @type {MessageEvent<RecordingJob | "stored">} */ { data }) => {
    if (data === "stored") stored();
    else seal(data).catch(() => post({ failed: true }));
};

// Plays a video or a voice note from its sealed chunks: the service worker asks this page for the part that the player
// wants, and the page opens it. The address works in this page alone, until the playback ends.
import { hex, randomBytes } from "../../crypto/bytes.js";
import { CompanionError } from "../../household/errors.js";
import { isRecording } from "../../formats/moment-format.js";
import { sentenceOf } from "../../ui/words.js";

/** @typedef {import("./moment-photos.js").MomentPhotos} MomentPhotos */
/** @typedef {{ type: string, size: number, read: (offset: number) => Promise<Uint8Array> }} Played */

/** Without a service worker a file of at most so many bytes is opened as a whole. */
const mostWhole = 50 << 20;

/** @type {Map<string, Played & { failed: (error: unknown) => void }>} by token */
const playing = new Map();
let isListening = false;

function listen() {
    if (isListening || !navigator.serviceWorker) return;
    isListening = true;
    navigator.serviceWorker.addEventListener("message", async ({ data, ports: [port] }) => {
        if (data?.kind !== "playback" || !port) return;
        const one = playing.get(data.token);
        if (!one) return port.postMessage(null);
        try {
            const { type, size } = one;
            const bytes = data.offset < size ? await one.read(data.offset) : new Uint8Array();
            if (!playing.has(data.token)) return port.postMessage(null);
            port.postMessage({ type, size, bytes }, [bytes.buffer]);
        } catch (error) {
            one.failed(error);
            port.postMessage({ failed: true });
        }
    });
}

/**
 * Opens the content of a recording, of which nothing is read yet but its header. Throws as `MomentPhotos.original`.
 * @param {MomentPhotos} photos
 * @param {string} id
 * @param {AbortSignal} signal
 * @returns {Promise<Played>}
 */
async function opened(photos, id, signal) {
    const { type, size, chunkSize, chunk } = await photos.opened(id, ({ original }) => original, signal);
    if (!isRecording(type)) throw new CompanionError("notFound", "This is no video or voice note.");
    return {
        type, size,
        read: async (offset) => (await chunk(Math.floor(offset / chunkSize))).slice(offset % chunkSize),
    };
}

/**
 * Gives a player its source, until the signal ends; then nothing of it is readable any more. Never throws.
 * @param {MomentPhotos} photos
 * @param {string} id
 * @param {HTMLMediaElement} media
 * @param {{ signal: AbortSignal, failed: (sentence: string) => void }} options
 */
export async function playRecording(photos, id, media, { signal, failed }) {
    let problem = /** @type {unknown} */ (null);
    const token = hex(randomBytes(16));
    /** @type {string | null} */
    let url = null;
    const end = () => {
        playing.delete(token);
        media.removeAttribute("src");
        media.load();
        if (url) URL.revokeObjectURL(url);
    };
    signal.addEventListener("abort", end, { once: true });
    media.addEventListener("error", () => {
        if (media.getAttribute("src")) failed(problem ? sentenceOf(problem)
            : "This browser can’t play this file. “Share or save” gives it to another app.");
    }, { signal });
    try {
        const played = await opened(photos, id, signal);
        if (signal.aborted) return;
        if (navigator.serviceWorker?.controller) {
            listen();
            playing.set(token, { ...played, failed: (error) => (problem = error) });
            media.src = `/media/${token}`;
            return;
        }
        if (played.size > mostWhole) {
            throw new CompanionError("tooLarge", "This window does not store AppLocker, so a file of more than 50 MB "
                + "can’t be played in it. Install the app, or use a window that is not private.");
        }
        const { type, bytes } = await photos.original(id, { signal });
        url = URL.createObjectURL(new Blob([bytes], { type }));
        bytes.fill(0);
        if (signal.aborted) return URL.revokeObjectURL(url);
        media.src = url;
    } catch (error) {
        if (!signal.aborted) failed(sentenceOf(error));
    }
}

// The picture that is shown in the place of a video or a voice note: a frame of it, or its waveform. The browser
// decodes the file; it is not loaded as a whole.
import { CompanionError } from "../../household/errors.js";
import { isDuration, mediumSide } from "../../formats/moment-format.js";
import { withoutPicture } from "../../formats/recording-type.js";
import { jpegOf, waveform } from "./recording-waveform.js";

/**
 * `type`: of the file. `duration`: in seconds; null if it has none.
 * @typedef {{ kind: "video" | "voice", type: string, duration: number | null, picture: Blob }} Poster
 */

/** How long the browser may take to open a file, in milliseconds. */
const patience = 30_000;
/** Where the frame is from, in seconds: the first one is often black. */
const frameAt = 1;

/**
 * Throws CompanionError `notPicture` for what this browser can't play, `cancelled`.
 * @param {Blob} file
 * @param {string} container of `recordingType`
 * @param {AbortSignal} signal
 * @returns {Promise<Poster>}
 */
export async function posterOf(file, container, signal) {
    const media = document.createElement("video");
    const url = URL.createObjectURL(file.slice(0, file.size, container));
    media.muted = media.playsInline = true;
    media.preload = "auto";
    try {
        const opened = happened(media, ["loadedmetadata"], signal);
        media.src = url;
        await opened;
        const duration = await durationOf(media, signal);
        if (media.videoWidth === 0 || !container.startsWith("video/")) {
            return { kind: "voice", type: withoutPicture(container), duration, picture: await waveform(file) };
        }
        const moved = happened(media, ["seeked"], signal);
        media.currentTime = Math.min(frameAt, (duration ?? 0) / 3);
        await moved;
        if (media.readyState < HTMLMediaElement.HAVE_CURRENT_DATA) await happened(media, ["loadeddata"], signal);
        return { kind: "video", type: container, duration, picture: await frameOf(media) };
    } finally {
        media.removeAttribute("src");
        media.load();
        URL.revokeObjectURL(url);
    }
}

/**
 * What a browser records has no duration before its end is read.
 * @param {HTMLVideoElement} media
 * @param {AbortSignal} signal
 */
async function durationOf(media, signal) {
    if (media.duration === Infinity) {
        const moved = happened(media, ["seeked"], signal);
        media.currentTime = Number.MAX_SAFE_INTEGER;
        await moved;
    }
    return isDuration(media.duration) ? media.duration : null;
}

/**
 * @param {HTMLVideoElement} media
 * @param {string[]} events
 * @param {AbortSignal} signal
 * @returns {Promise<void>}
 */
function happened(media, events, signal) {
    const over = new AbortController();
    return new Promise((/** @type {(value?: any) => void} */ resolve, reject) => {
        const refuse = () => reject(new CompanionError("notPicture",
            "This browser can’t play this video or recording, so it can’t be added here. Save it as MP4 (H.264) and "
                + "try again."));
        const options = { signal: over.signal, once: true };
        for (const name of events) media.addEventListener(name, resolve, options);
        media.addEventListener("error", refuse, options);
        const late = setTimeout(refuse, patience);
        over.signal.addEventListener("abort", () => clearTimeout(late));
        const stop = () => reject(new CompanionError("cancelled", "The recording was not added."));
        signal.addEventListener("abort", stop, options);
        if (signal.aborted) stop();
    }).finally(() => over.abort());
}

/** @param {HTMLVideoElement} media */
async function frameOf(media) {
    const scale = Math.min(1, mediumSide / Math.max(media.videoWidth, media.videoHeight));
    const canvas = document.createElement("canvas");
    canvas.width = Math.max(1, Math.round(media.videoWidth * scale));
    canvas.height = Math.max(1, Math.round(media.videoHeight * scale));
    canvas.getContext("2d")?.drawImage(media, 0, 0, canvas.width, canvas.height);
    return jpegOf(canvas);
}

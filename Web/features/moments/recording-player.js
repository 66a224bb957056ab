// The player of a video or a voice note, in the viewer: the browser's own controls over the picture.
import { element } from "../../ui/element.js";
import { playRecording } from "./recording-playback.js";

/**
 * @param {import("./moment-photos.js").MomentPhotos} photos
 * @param {{ id: string, isSound: boolean, label: string, isBegun: boolean }} recording `isBegun`: the person chose it,
 *   so it begins to play
 * @param {{ signal: AbortSignal, failed: (sentence: string) => void }} options its signal ends it
 * @returns {HTMLElement}
 */
export function recordingPlayer(photos, { id, isSound, label, isBegun }, { signal, failed }) {
    const media = /** @type {HTMLMediaElement} */ (element(isSound ? "audio" : "video", {
        class: `moment-player moment-player-${isSound ? "sound" : "video"}`, controls: true, playsinline: true,
        preload: "metadata", "aria-label": label, controlslist: "nodownload noremoteplayback",
        disableremoteplayback: true,
    }));
    // The poster stays behind it until there is a picture.
    media.addEventListener("loadeddata", () => media.setAttribute("data-shown", ""), { signal });
    signal.addEventListener("abort", () => {
        media.pause();
        media.remove();
    }, { once: true });
    void playRecording(photos, id, media, {
        signal,
        failed: (sentence) => {
            media.hidden = true;
            failed(sentence);
        },
    }).then(() => {
        // A browser that permits no sound without another tap shows its button.
        if (isBegun && !signal.aborted) media.play().catch(() => {});
    });
    return media;
}

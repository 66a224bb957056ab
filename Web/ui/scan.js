// Reads a QR code with the camera, where the browser can.
import { element } from "./element.js";
import { button } from "./parts.js";
import { sheet } from "./sheet.js";

/** Milliseconds between two looks at the camera's picture. */
const pace = 200;

/**
 * Shows the camera until it sees a code that is accepted; null if the person closes it. The camera ends with the sheet.
 * @param {AbortSignal} signal
 * @param {(text: string) => boolean} accepts
 */
export const scan = (signal, accepts) =>
    sheet("Scan the code", signal, (/** @type {(text: string | null) => void} */ end, closed) => {
        const video = element("video",
            { class: "scan-picture", muted: true, playsinline: true, "aria-hidden": "true" });
        const status = element("p", { class: "soft note", role: "status" }, "Hold the code in front of the camera.");
        read(video, closed, accepts).then((text) => text !== null && end(text), () => {
            status.textContent = "The camera can’t be used. Allow it for this site in the browser’s settings.";
        });
        return [video, status, button("Cancel", () => end(null), { wide: true })];
    });

/**
 * @param {HTMLVideoElement} video @param {AbortSignal} closed @param {(text: string) => boolean} accepts
 * @returns {Promise<string | null>}
 */
async function read(video, closed, accepts) {
    const stream = await navigator.mediaDevices.getUserMedia({ video: { facingMode: "environment" } });
    const stop = () => stream.getTracks().forEach((track) => track.stop());
    if (closed.aborted) stop();
    closed.addEventListener("abort", stop);
    video.srcObject = stream;
    await video.play();
    const detector = new BarcodeDetector({ formats: ["qr_code"] });
    while (!closed.aborted) {
        // A frame that can't be read is followed by others.
        const found = await detector.detect(video).catch(() => []);
        const code = found.find(({ rawValue }) => accepts(rawValue));
        if (code) return code.rawValue;
        await new Promise((resolve) => setTimeout(resolve, pace));
    }
    return null;
}

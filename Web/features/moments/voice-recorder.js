// Records a voice note. What is recorded stays in this page's memory until it is sealed; a lock ends it.
import { element } from "../../ui/element.js";
import { button } from "../../ui/parts.js";
import { sheet } from "../../ui/sheet.js";
import { clock } from "../../ui/recording-words.js";

/** In the order of preference: MP4 plays in every browser. */
const types = ["audio/mp4", "audio/webm;codecs=opus", "audio/ogg;codecs=opus"];
/** Bits a second: clear speech. */
const rate = 64_000;
/** Of one note, in seconds. */
const longest = 3_600;

/** @param {unknown} error */
const refusal = (error) => {
    const { name } = /** @type {DOMException} */ (error);
    return name === "NotAllowedError" || name === "SecurityError"
        ? "This browser does not allow AppLocker to use the microphone. Allow it in the browser’s settings, then "
            + "try again."
        : name === "NotFoundError" ? "This device has no microphone."
        : "The microphone can’t be used now; another app may use it.";
};

/**
 * Null if the person discards it, or the signal ends it. Throws an Error whose message is one sentence.
 * @param {AbortSignal} signal
 * @returns {Promise<File | null>}
 */
export async function recordVoice(signal) {
    const stream = await navigator.mediaDevices.getUserMedia({ audio: true }).catch((error) => {
        throw new Error(refusal(error));
    });
    /** The microphone's light goes off. */
    const release = () => stream.getTracks().forEach((track) => track.stop());
    if (signal.aborted) return void release() ?? null;
    const type = types.find((one) => MediaRecorder.isTypeSupported(one));
    /** @type {MediaRecorder} */
    let recorder;
    try {
        recorder = new MediaRecorder(stream, { ...(type ? { mimeType: type } : {}), audioBitsPerSecond: rate });
    } catch (error) {
        release();
        throw new Error(refusal(error));
    }
    /** @type {Blob[]} */
    let parts = [];
    recorder.addEventListener("dataavailable", ({ data }) => data.size > 0 && parts.push(data));
    const stopped = new Promise((resolve) => recorder.addEventListener("stop", resolve, { once: true }));
    const begun = performance.now();
    const seconds = () => (performance.now() - begun) / 1000;
    recorder.start(1_000);
    const time = element("p", { class: "voice-time", role: "timer" }, clock(0));
    let length = 0;
    const answer = await sheet("Voice note", signal,
        (/** @type {(answer: "keep" | "discard") => void} */ end, closed) => {
            const timer = setInterval(() => {
                time.textContent = clock(seconds());
                if (seconds() >= longest) end("keep");
            }, 250);
            // The microphone was unplugged, or the system took it away.
            stream.getTracks().forEach((track) => track.addEventListener("ended", () => end("keep"),
                { signal: closed }));
            closed.addEventListener("abort", () => {
                clearInterval(timer);
                length = seconds();
                if (recorder.state !== "inactive") recorder.stop();
                release();
            }, { once: true });
            return [
                element("p", { class: "voice-live" }, element("span", { class: "voice-dot", "aria-hidden": "true" }),
                    "Recording"),
                time,
                button("Stop and keep", () => end("keep"), { kind: "primary", wide: true }),
                button("Discard", () => end("discard"), { kind: "plain", wide: true }),
            ];
        });
    await stopped;
    const recorded = parts;
    parts = [];
    if (signal.aborted || answer === "discard" || recorded.length === 0) return null;
    const sound = new Blob(recorded, { type: recorder.mimeType });
    const { withDuration } = await import("../../formats/webm-duration.js");
    return new File([await withDuration(sound, length)], "Voice note", { type: recorder.mimeType });
}

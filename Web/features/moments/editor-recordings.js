// What the editor offers for videos and voice notes: to record them, and what stays in them.
import { element } from "../../ui/element.js";
import { icon } from "../../ui/icon.js";
import { banner, fileInput } from "../../ui/parts.js";

/** Whether this browser can record sound. @returns {boolean} */
const canRecord = () => Boolean(navigator.mediaDevices?.getUserMedia) && "MediaRecorder" in window;

/**
 * @param {AbortSignal} signal ends a recording
 * @param {(files: File[]) => void} add
 * @param {HTMLElement} notice where it is shown why nothing can be recorded
 * @returns {Node[]}
 */
export function recordingButtons(signal, add, notice) {
    const camera = fileInput({ accept: "video/*", capture: "environment" }, add);
    let isRecording = false;
    const record = async () => {
        if (isRecording) return;
        isRecording = true;
        notice.replaceChildren();
        try {
            const { recordVoice } = await import("./voice-recorder.js");
            const note = await recordVoice(signal);
            if (note && !signal.aborted) add([note]);
        } catch (error) {
            if (signal.aborted) return;
            notice.replaceChildren(banner("warning", "warning",
                element("p", {}, /** @type {Error} */ (error).message)));
        } finally {
            isRecording = false;
        }
    };
    const video = element("button",
        { type: "button", class: "editor-add editor-camera", onclick: () => camera.click() },
        icon("video"), element("span", {}, "Record a video"));
    const voice = element("button", { type: "button", class: "editor-add", onclick: record }, icon("microphone"),
        element("span", {}, "Record a voice note"));
    return [video, ...(canRecord() ? [voice] : []), camera];
}

/** Shown before they are saved. */
export const recordingNotice = () => banner("video", "", element("p", {},
    "Videos and voice notes are stored as they are, with the place, time and camera data in them."));

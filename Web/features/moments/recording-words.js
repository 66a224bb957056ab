// What photos, videos and voice notes are called, and the badge that a recording has on its picture.
import { element } from "../../ui/element.js";
import { icon } from "../../ui/icon.js";
import { counted } from "../../ui/words.js";

/** @typedef {{ kind?: string, duration?: number }} Kind */

/** @param {Kind} photo @returns {"photo" | "video" | "voice note"} */
export const kindOf = ({ kind }) => (kind === "video" ? "video" : kind === "voice" ? "voice note" : "photo");

/** @param {Kind} photo "Voice note" */
export const kindName = (photo) => kindOf(photo).replace(/^./, (letter) => letter.toUpperCase());

/** @param {Kind[]} photos "2 photos, 1 video" */
export const countedKinds = (photos) => /** @type {const} */ (["photo", "video", "voice note"]).flatMap((kind) => {
    const count = photos.filter((photo) => kindOf(photo) === kind).length;
    return count > 0 ? counted(count, kind) : [];
}).join(", ");

/** @param {number} seconds "1:02:03" */
export function clock(seconds) {
    const whole = Math.round(seconds);
    const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
    const two = (/** @type {number} */ value) => String(value).padStart(2, "0");
    return `${hours > 0 ? `${hours}:${two(minutes)}` : minutes}:${two(whole % 60)}`;
}

/** @param {Kind} photo @returns {HTMLElement | null} hidden from screen readers, which read its name */
export const kindBadge = (photo) => (kindOf(photo) === "photo" ? null
    : element("span", { class: "moment-kind", "aria-hidden": "true" },
        icon(kindOf(photo) === "video" ? "play" : "microphone"), photo.duration ? clock(photo.duration) : null));

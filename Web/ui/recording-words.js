// What photos, videos and voice notes are called, and the badge that a recording has on its picture.
import { element } from "./element.js";
import { icon } from "./icon.js";
import { countdown, counted } from "./words.js";

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

/** @param {number} moments @param {Kind[]} photos "3 moments with 2 photos, 1 video" */
export const countedMoments = (moments, photos) =>
    [counted(moments, "moment"), countedKinds(photos)].filter(Boolean).join(" with ");

/** @param {number} seconds "1:02:03", to the nearest second */
export const clock = (seconds) => countdown(Math.round(seconds));

/** @param {Kind} photo @returns {HTMLElement | null} hidden from screen readers, which read its name */
export const kindBadge = (photo) => (kindOf(photo) === "photo" ? null
    : element("span", { class: "moment-kind", "aria-hidden": "true" },
        icon(kindOf(photo) === "video" ? "play" : "microphone"), photo.duration ? clock(photo.duration) : null));

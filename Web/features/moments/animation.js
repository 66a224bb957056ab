// The original of a photo, if it is animated: every other size is a still JPEG.
import { maximumOriginal } from "../../formats/moment-format.js";
import { isAnimated } from "../../formats/picture-bytes.js";

/** The types that `isAnimated` recognizes. */
const movingTypes = ["image/gif", "image/webp", "image/png", "image/avif"];

/**
 * Whether the system and the browser permit what moves, and the larger files that it needs.
 * @returns {boolean}
 */
export const mayMove = () => !matchMedia("(prefers-reduced-motion: reduce)").matches
    && /** @type {any} */ (navigator).connection?.saveData !== true;

/**
 * Null if it doesn't move. Of a still one only the first chunk is fetched, except of a GIF, whose second picture may
 * begin after it. Throws as `MomentPhotos.original`.
 * @param {import("./moment-photos.js").MomentPhotos} photos
 * @param {string} id
 * @param {AbortSignal} signal
 * @returns {Promise<{ type: string, bytes: Uint8Array } | null>}
 */
export async function animation(photos, id, signal) {
    const { original } = await photos.facts(id);
    // It is fetched without a request: of a malicious member it may be larger than any chosen file.
    if (!movingTypes.includes(original.type) || original.size > maximumOriginal) return null;
    const { type, chunk, whole } = await photos.opened(id, (content) => content.original, signal);
    const first = await chunk(0);
    if (type !== "image/gif" && !isAnimated(first, type)) return null;
    const bytes = await whole(() => {}, first);
    return isAnimated(bytes, type) ? { type, bytes } : null;
}

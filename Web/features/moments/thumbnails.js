// The thumbnails of moments, opened near the screen and dropped far from it.
import { PictureLoader } from "../../ui/picture-loader.js";

/** How often a pixel of a small picture may be enlarged. */
const enlarged = 4;

/**
 * Whether it has too few pixels for a ground of its own blurred colours.
 * @param {{ width: number, height: number }} photo
 */
export const isTiny = ({ width, height }) => Math.max(width, height) < 64;

/**
 * Limits the pictures in an element: a picture of a few pixels is not blown up to a coloured surface.
 * @param {HTMLElement} place
 * @param {{ width: number, height: number }} photo
 */
export function limitSize(place, { width, height }) {
    place.style.setProperty("--largest-width", `${width * enlarged}px`);
    place.style.setProperty("--largest-height", `${height * enlarged}px`);
}

/** @param {Context} context */
export function thumbnails({ companion, signal }) {
    return new PictureLoader(companion, signal, (place) => place.setAttribute("data-failed", ""), {
        atOnce: 6, near: 400, far: 1200,
        open: async (id) => {
            const bytes = await companion.momentPhotos.thumbnail(id);
            const blob = new Blob([bytes], { type: "image/jpeg" });
            bytes.fill(0);
            return blob;
        },
    });
}

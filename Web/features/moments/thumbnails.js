// The thumbnails of moments, opened near the screen and dropped far from it.
import { PictureLoader } from "../../ui/picture-loader.js";

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

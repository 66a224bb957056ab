// The pictures of a moment as one tile: one large, two side by side, or a mosaic. Its height follows from the stored
// sizes, before any picture is opened.
import { element } from "../../ui/element.js";
import { kindBadge } from "../../ui/recording-words.js";
import { limitSize } from "./thumbnails.js";

/** @typedef {import("../../formats/moment-format.js").MomentPhoto} MomentPhoto */

/** Photos that are shown; the last one shows how many more there are. */
const most = 4;
/** Between pictures, in pixels. */
const gap = 3;
/** Limits of width by height. */
const [tallest, flattest] = [4 / 5, 16 / 9];

/** @param {MomentPhoto} photo */
const ratioOf = ({ width, height }) => width / height;

/** @param {number} ratio @param {number} least @param {number} largest */
const within = (ratio, least, largest) => Math.max(least, Math.min(largest, ratio));

/** @param {MomentPhoto[]} photos @param {number} width */
export function mosaicHeight(photos, width) {
    if (photos.length === 0) return 0;
    if (photos.length === 1) return Math.round(width / within(ratioOf(photos[0]), tallest, flattest));
    if (photos.length === 2) {
        const ratio = within((ratioOf(photos[0]) + ratioOf(photos[1])) / 2, 3 / 4, 4 / 3);
        return Math.round((width - gap) / 2 / ratio);
    }
    // A large one above a row, or beside a column.
    return Math.round(width * (isBeside(photos) ? 0.8 : 0.96));
}

/** @param {MomentPhoto[]} photos */
const isBeside = (photos) => ratioOf(photos[0]) < 1;

/**
 * @param {MomentPhoto[]} photos at least one
 * @param {(place: HTMLElement, id: string, image: HTMLImageElement) => void} watch
 */
export function mosaic(photos, watch) {
    const shown = photos.slice(0, most);
    const kind = ["one", "two", isBeside(photos) ? "beside" : "above"][Math.min(photos.length, 3) - 1];
    const more = photos.length - shown.length;
    return element("div", { class: `moment-mosaic moment-mosaic-${kind}`, "data-count": shown.length },
        ...shown.map((photo, index) => {
            const image = element("img", { class: "moment-image", alt: "", decoding: "async" });
            const place = element("div", { class: "moment-photo" }, image, kindBadge(photo),
                more > 0 && index === shown.length - 1 && element("span", { class: "moment-more" }, `+${more}`));
            limitSize(place, photo);
            watch(place, photo.id, image);
            return place;
        }));
}

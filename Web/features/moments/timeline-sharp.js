// A small picture that fills the screen's width is soft. Where the person rests, the few that are large are opened
// larger, over the small ones; what is left goes.
import { element } from "../../ui/element.js";
import { MediumPictures } from "./medium-photos.js";

/** Of a small picture, in its pixels; and how many more of the screen's it may be drawn with. */
const [smallSide, enough] = [320, 1.6];
/** Before it counts as rest, in milliseconds. */
const pause = 500;
const most = 4;

export class SharpPictures {
    #context;
    #root;
    #medium;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    #timer;
    /** @type {WeakMap<Element, string>} */
    #ids = new WeakMap();
    /** @type {WeakSet<Element>} what the hub did not give is not asked for again */
    #without = new WeakSet();

    /** @param {Context} context @param {HTMLElement} root where they are */
    constructor(context, root) {
        this.#context = context;
        this.#root = root;
        this.#medium = new MediumPictures(context, {
            triesAgain: false, failed: (image) => image.parentElement && this.#without.add(image.parentElement),
        });
        context.signal.addEventListener("abort", () => clearTimeout(this.#timer), { once: true });
    }

    /** @param {Element} place @param {string} id */
    add(place, id) {
        this.#ids.set(place, id);
        this.moved();
    }

    /** The person scrolls on. */
    moved() {
        clearTimeout(this.#timer);
        this.#timer = setTimeout(() => this.#rest(), pause);
    }

    #rest() {
        const { companion, signal } = this.#context;
        const isAway = !["live", "other"].includes(companion.syncLoop.connection);
        const isSaving = /** @type {any} */ (navigator).connection?.saveData === true;
        if (signal.aborted || isAway || isSaving) return;
        const wanted = [];
        for (const place of this.#root.querySelectorAll(".moment-photo[data-shown]")) {
            const { top, bottom, width } = place.getBoundingClientRect();
            const [id, small] = [this.#ids.get(place), place.querySelector("img")];
            if (!id || !small || this.#without.has(place) || bottom < 0 || top > window.innerHeight) continue;
            const side = width * Math.max(1, small.naturalHeight / Math.max(1, small.naturalWidth));
            if (side * window.devicePixelRatio < smallSide * enough) continue;
            wanted.push({ id, image: imageOf(place) });
        }
        this.#medium.show(wanted.slice(0, most));
    }
}

/** @param {Element} place @returns {HTMLImageElement} */
function imageOf(place) {
    const known = place.querySelector(".moment-sharp");
    if (known) return /** @type {HTMLImageElement} */ (known);
    const image = element("img", { class: "moment-sharp", alt: "", decoding: "async" });
    place.querySelector("img")?.after(image);
    return image;
}

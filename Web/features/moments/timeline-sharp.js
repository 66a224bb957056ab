// A thumbnail as wide as the screen is soft. When scrolling rests, large ones are covered by larger photos; those out
// of view are dropped.
import { HubUnreachable } from "../../hub/errors.js";
import { element } from "../../ui/element.js";
import { MediumPictures } from "./medium-photos.js";

/** Pixels of a thumbnail, and the factor by which it may be enlarged. */
const [smallSide, enough] = [320, 1.6];
/** Pause that counts as rest, in milliseconds. */
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
    /** @type {WeakSet<Element>} what the hub did not return is not requested again */
    #without = new WeakSet();

    /** @param {Context} context @param {HTMLElement} root where they are */
    constructor(context, root) {
        this.#context = context;
        this.#root = root;
        this.#medium = new MediumPictures(context, {
            triesAgain: false, failed: (image, problem) => {
                // Without the hub it is wanted again.
                if (image.parentElement && !(problem instanceof HubUnreachable)) {
                    this.#without.add(image.parentElement);
                }
            },
        });
        context.signal.addEventListener("abort", () => clearTimeout(this.#timer), { once: true });
        // They come from the hub.
        context.companion.addEventListener("connection", () => this.moved(), { signal: context.signal });
    }

    /** @param {Element} place @param {string} id */
    add(place, id) {
        this.#ids.set(place, id);
        this.moved();
    }

    /** Called while the person scrolls. */
    moved() {
        clearTimeout(this.#timer);
        this.#timer = setTimeout(() => this.#rest(), pause);
    }

    #rest() {
        const { companion, signal } = this.#context;
        const isOffline = !["live", "other"].includes(companion.syncLoop.connection);
        const isSaving = /** @type {any} */ (navigator).connection?.saveData === true;
        if (signal.aborted || isOffline || isSaving) return;
        const wanted = [];
        for (const place of this.#root.querySelectorAll(".moment-photo[data-shown]")) {
            const { top, bottom, width, height } = place.getBoundingClientRect();
            const [id, small] = [this.#ids.get(place), place.querySelector("img")];
            if (!id || !small || this.#without.has(place) || bottom < 0 || top > window.innerHeight) continue;
            // It covers its place: a panorama, which is low, is enlarged most.
            const [across, down] = [Math.max(1, small.naturalWidth), Math.max(1, small.naturalHeight)];
            const side = Math.max(width / across, height / down) * Math.max(across, down);
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

// The picture of who gave a wrong passcode, opened when somebody asks for it, and gone with the screen.
import { element } from "../views/element.js";
import { button } from "../views/parts.js";
import { named, sentenceOf, timeOfDay } from "../views/words.js";

/** @typedef {import("./alert-merging.js").MergedAlert} MergedAlert */

/** Said only where it takes longer, in milliseconds. */
const patience = 300;

export class AlertPhotos {
    /** @type {Map<string, string>} */
    #addresses = new Map();
    #companion;
    #signal;

    /**
     * @param {import("../core/companion.js").Companion} companion
     * @param {AbortSignal} signal
     */
    constructor(companion, signal) {
        this.#companion = companion;
        this.#signal = signal;
        signal.addEventListener("abort", () => {
            for (const address of this.#addresses.values()) URL.revokeObjectURL(address);
            this.#addresses.clear();
        }, { once: true });
    }

    /**
     * A button, or the picture where it is open already; null where the alert has none.
     * @param {MergedAlert} alert
     */
    of(alert) {
        const { photo } = alert;
        if (!photo) return null;
        const place = element("div", { class: "alert-photo" });
        const state = element("span", { class: "note soft", role: "status" });
        const show = (/** @type {string} */ address) => place.replaceChildren(element("img", {
            src: address, alt: `Photo taken on ${named(alert.computerName)} at ${timeOfDay(alert.time / 1000)}`,
        }));
        const open = button("Show photo", async () => {
            open.disabled = true;
            const slow = setTimeout(() => state.textContent = "Opening…", patience);
            try {
                show(await this.#open(photo));
            } catch (error) {
                state.textContent = sentenceOf(error);
            } finally {
                clearTimeout(slow);
                open.disabled = false;
            }
        }, { icon: "photo" });
        const known = this.#addresses.get(photo);
        if (known) show(known);
        else place.append(open, state);
        return place;
    }

    /** @param {string} photo */
    async #open(photo) {
        const bytes = await this.#companion.photos.picture(photo);
        this.#signal.throwIfAborted();
        const known = this.#addresses.get(photo);
        if (known) return known;
        const address = URL.createObjectURL(new Blob([bytes], { type: "image/jpeg" }));
        this.#addresses.set(photo, address);
        return address;
    }
}

// The intruder photo of an alert, opened on request and dropped with the screen.
import { CompanionError } from "../../household/errors.js";
import { element } from "../../ui/element.js";
import { button } from "../../ui/parts.js";
import { named, sentenceOf, timeOfDay } from "../../ui/words.js";

/** @typedef {import("../../household/merge-alerts.js").MergedAlert} MergedAlert */

/** The button shows that it works only after so long, in milliseconds. */
const patience = 300;
/** How long after an alert its photo may still be uploading, in milliseconds. */
const arrival = 120_000;
const pause = 1_000;

export class AlertPhotos {
    /** @type {Map<string, string>} */
    #addresses = new Map();
    /** @type {Map<string, Promise<string>>} photos being opened: the list may be drawn again meanwhile */
    #opening = new Map();
    #companion;
    #signal;

    /** @param {Companion} companion @param {AbortSignal} signal */
    constructor(companion, signal) {
        this.#companion = companion;
        this.#signal = signal;
        signal.addEventListener("abort", () => {
            for (const address of this.#addresses.values()) URL.revokeObjectURL(address);
            this.#addresses.clear();
        }, { once: true });
    }

    /**
     * A button, or the open picture; null for an alert without a photo.
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
        const begin = async () => {
            open.disabled = true;
            const slow = setTimeout(() => state.textContent = "Opening…", patience);
            try {
                show(await this.#opened(alert, photo));
            } catch (error) {
                state.textContent = sentenceOf(error);
            } finally {
                clearTimeout(slow);
                open.disabled = false;
            }
        };
        const open = button("Show photo", begin, { icon: "photo" });
        const known = this.#addresses.get(photo);
        if (known) show(known);
        else place.append(open, state);
        if (this.#opening.has(photo)) void begin();
        return place;
    }

    /** @param {MergedAlert} alert @param {string} photo */
    #opened(alert, photo) {
        const opening = this.#opening.get(photo)
            ?? this.#arrived(alert, photo).finally(() => this.#opening.delete(photo));
        this.#opening.set(photo, opening);
        return opening;
    }

    /**
     * Waits for a photo that the computer may still be uploading.
     * @param {MergedAlert} alert
     * @param {string} photo
     * @returns {Promise<string>}
     */
    async #arrived(alert, photo) {
        for (;;) {
            try {
                return await this.#open(photo);
            } catch (error) {
                const isMissing = error instanceof CompanionError && error.code === "notFound";
                if (!isMissing || Date.now() - alert.time > arrival) throw error;
            }
            await new Promise((resume) => setTimeout(resume, pause));
            this.#signal.throwIfAborted();
        }
    }

    /** @param {string} photo */
    async #open(photo) {
        const bytes = await this.#companion.intruderPhotos.picture(photo);
        this.#signal.throwIfAborted();
        const known = this.#addresses.get(photo);
        if (known) return known;
        const address = URL.createObjectURL(new Blob([bytes], { type: "image/jpeg" }));
        bytes.fill(0);
        this.#addresses.set(photo, address);
        return address;
    }
}

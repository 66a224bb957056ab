// A photo in the editor: a small picture on a canvas, so that nothing of it outlives the page.
import { element } from "../../ui/element.js";
import { icon } from "../../ui/icon.js";
import { maximumOriginal } from "../../formats/moment-format.js";
import { kindBadge, kindName, kindOf } from "../../ui/recording-words.js";
import { askText, choose } from "../../ui/sheet.js";

/** @typedef {import("./editor-photos.js").ChosenPhoto} ChosenPhoto */
/** @typedef {import("./moment-photos.js").SealingStep} SealingStep */

/** Of the picture, in pixels. */
const side = 256;
/** In UTF-16 code units. */
const longestDescription = 500;
/** @type {SealingStep[]} */
const steps = ["reading", "drawing", "sealing", "keeping"];

export class PhotoTile {
    #stop = new AbortController();
    #isBegun = false;
    #isDrawn = false;
    #canvas = element("canvas", { class: "editor-picture", width: 1, height: 1 });
    #badge = element("span", {});
    #progress = element("progress",
        { class: "progress editor-progress", max: steps.length, "aria-label": "Sealing…" });

    /**
     * @param {ChosenPhoto | null} photo
     * @param {File | null} file that it is made of
     * @param {{ remove: (tile: PhotoTile) => void, open: (tile: PhotoTile) => void, shift: (tile: PhotoTile,
     *   by: number) => void }} actions
     */
    constructor(photo, file, actions) {
        this.photo = photo;
        this.file = file;
        this.isAnimated = false;
        this.button = element("button", {
            type: "button", class: "editor-photo", onclick: () => actions.open(this),
            onkeydown: (/** @type {KeyboardEvent} */ event) => {
                const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
                if (!by || event.altKey || event.ctrlKey || event.metaKey) return;
                event.preventDefault();
                actions.shift(this, getComputedStyle(this.button).direction === "rtl" ? -by : by);
            },
        }, element("span", { class: "editor-none" }, icon("photo")), this.#canvas, this.#badge);
        this.cross = element("button", { type: "button", class: "editor-cross", onclick: () => actions.remove(this) },
            icon("cross"));
        this.element = element("li", { class: "editor-tile" }, this.button, this.#progress, this.cross);
        this.#drawState();
    }

    /** Whether it is queued to be sealed. */
    get isWaiting() {
        return this.file !== null && !this.photo && !this.#isBegun;
    }

    begin() {
        this.#isBegun = true;
        return this.#stop.signal;
    }

    /** @param {SealingStep} step @param {number} [share] of a recording */
    step(step, share = undefined) {
        this.#progress.value = share === undefined ? steps.indexOf(step) + 0.5 : 2 + 2 * share;
    }

    /** Whether it is a video or a voice note: by its record, or by what the browser says of its file. */
    get isRecording() {
        return this.photo ? kindOf(this.photo) !== "photo" : /^(video|audio)\//.test(this.file?.type ?? "");
    }

    /** @param {ChosenPhoto} photo @param {boolean} isAnimated its file */
    sealed(photo, isAnimated) {
        this.photo = photo;
        this.isAnimated = isAnimated;
        this.#drawState();
    }

    stop() {
        this.#stop.abort();
    }

    /** Seals it again from its file. */
    again() {
        this.#stop.abort();
        this.#stop = new AbortController();
        this.#isBegun = false;
        this.photo = null;
        this.#progress.removeAttribute("value");
        this.#drawState();
    }

    #drawState() {
        this.#progress.hidden = this.photo !== null;
        this.element.classList.toggle("editor-tile-ready", this.photo !== null);
        this.#badge.replaceChildren(this.photo ? kindBadge(this.photo) ?? "" : "");
    }

    /** @param {number} index @param {number} count */
    name(index, count) {
        const kind = this.photo ?? { kind: this.isRecording ? "video" : "photo" };
        const name = [`${kindName(kind)} ${index + 1} of ${count}`, this.photo?.description].filter(Boolean).join(", ");
        this.button.setAttribute("aria-label", this.photo ? name : `${name}, being sealed`);
        const remove = `${this.photo ? "Remove" : "Cancel"} ${kindOf(kind)} ${index + 1}`;
        this.cross.setAttribute("aria-label", remove);
        this.cross.title = remove;
    }

    /**
     * Asks for its description. Screen readers read it, everybody sees it in the viewer, and searches find it.
     * @param {AbortSignal} signal
     * @returns {Promise<boolean>} whether it changed
     */
    async describe(signal) {
        const photo = this.photo;
        if (!photo) return false;
        const typed = await askText(signal, `Describe this ${kindOf(photo)}`,
            "Who or what is on it? It is sealed with the moment.", {
                label: "Description", value: photo.description ?? "", maxlength: longestDescription, action: "Save",
                problem: () => null,
            });
        if (typed === null || typed === (photo.description ?? "") || this.photo !== photo) return false;
        const { description: _, ...rest } = photo;
        this.photo = typed ? { ...rest, description: typed } : rest;
        return true;
    }

    focus() {
        this.button.focus();
    }

    /**
     * From its file or, without one, from the stored photo. If it can't be drawn, an icon stays.
     * @param {Companion} companion
     * @returns {Promise<boolean>} false where it is not there any more
     */
    async draw(companion) {
        if (this.#isDrawn) return true;
        const file = this.isRecording ? null : this.file;
        // A large file is no picture. A recording has one when it is sealed.
        if (!this.photo && (!file || file.size > maximumOriginal)) return true;
        try {
            const source = file
                ?? new Blob([await companion.momentPhotos.thumbnail(/** @type {ChosenPhoto} */ (this.photo).id)],
                    { type: "image/jpeg" });
            const bitmap = await createImageBitmap(source,
                file ? { resizeWidth: side * 2, resizeQuality: "medium" } : {});
            const edge = Math.min(bitmap.width, bitmap.height);
            this.#canvas.width = this.#canvas.height = Math.min(side, edge);
            this.#canvas.getContext("2d")?.drawImage(bitmap, (bitmap.width - edge) / 2,
                (bitmap.height - edge) / 2, edge, edge,
                0, 0, this.#canvas.width, this.#canvas.height);
            bitmap.close();
            this.#isDrawn = true;
            this.element.classList.add("editor-tile-drawn");
            return true;
        } catch (error) {
            return /** @type {{ code?: string }} */ (error)?.code !== "notFound";
        }
    }

    /**
     * @param {number} index @param {number} count @param {AbortSignal} signal
     * @returns {Promise<"describe" | "first" | "earlier" | "later" | "remove" | null>}
     */
    ask(index, count, signal) {
        const kind = this.photo ?? { kind: this.isRecording ? "video" : "photo" };
        return choose(`${kindName(kind)} ${index + 1} of ${count}`, [
            ...(this.photo ? [{
                value: /** @type {const} */ ("describe"),
                label: this.photo.description ? "Change the description" : `Describe this ${kindOf(kind)}`,
            }] : []),
            ...(index > 0 ? [{ value: /** @type {const} */ ("first"), label: "Move to the front" }] : []),
            ...(index > 1 ? [{ value: /** @type {const} */ ("earlier"), label: "Move earlier" }] : []),
            ...(index < count - 1 ? [{ value: /** @type {const} */ ("later"), label: "Move later" }] : []),
            { value: /** @type {const} */ ("remove"), label: this.photo
                ? `Remove this ${kindOf(kind)}`
                : `Cancel this ${kindOf(kind)}`, isDanger: true },
        ], signal);
    }

    /** Releases the picture. */
    end() {
        this.#stop.abort();
        this.#canvas.width = this.#canvas.height = 0;
        this.file = null;
    }
}

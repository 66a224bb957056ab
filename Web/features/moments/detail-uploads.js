// Shows which parts of a moment are not at the hub yet, and why.
import { recordKey } from "../../formats/record-key.js";
import { element } from "../../ui/element.js";
import { icon } from "../../ui/icon.js";
import { redrawing } from "../../ui/live.js";
import { countedKinds, kindOf } from "../../ui/recording-words.js";

/** @typedef {import("./moments.js").Moment} Moment */

export class UploadState {
    /** @type {Moment | null} */
    #moment = null;
    /** @type {Map<string, number>} how much of a photo is sent, from 0 to 1 */
    #shares = new Map();
    /** @type {string | null} a sentence: why it does not go on */
    #problem = null;
    #context;
    #look;

    /** @param {Context} context */
    constructor(context) {
        this.#context = context;
        this.element = element("div", { class: "moment-upload", role: "status", hidden: true });
        const { companion, signal } = context;
        this.#look = redrawing(() => this.#read(), signal);
        companion.addEventListener("upload", (event) => {
            const { photo, sent, size, problem } = /** @type {CustomEvent} */ (event).detail;
            if (!this.#moment?.photos.some(({ id }) => id === photo)) return;
            this.#shares.set(photo, size > 0 ? sent / size : 0);
            this.#problem = problem;
            this.#look();
        }, { signal });
        companion.addEventListener("connection", this.#look, { signal });
        // A photo is sent after its moment, and perhaps by another tab.
        companion.addEventListener("changed", (event) => {
            const keys = /** @type {CustomEvent<string[]>} */ (event).detail;
            if (this.#moment?.photos.some(({ id }) => keys.includes(recordKey("photos", id)))) this.#look();
        }, { signal });
        signal.addEventListener("abort", () => {
            this.#moment = null;
        }, { once: true });
    }

    /** @param {Moment} moment */
    show(moment) {
        this.#moment = moment;
        this.#look();
    }

    async #read() {
        const moment = this.#moment;
        if (!moment) return null;
        const { companion } = this.#context;
        const states = await Promise.all(moment.photos.map(async ({ id }) =>
            ({ id, ...(await companion.momentPhotos.status(id)) }))).catch(() => []);
        return () => {
            // Another one was opened meanwhile; it is read next.
            if (moment !== this.#moment) return;
            const waiting = states.filter(({ isWaiting }) => isWaiting);
            const isRefused = moment.problem !== null || waiting.some((one) => one.problem);
            this.element.hidden = companion.isLocal || (waiting.length === 0 && !moment.isWaiting && !isRefused);
            if (this.element.hidden) return;
            this.element.classList.toggle("moment-upload-refused", isRefused);
            const isOffline = !["live", "other"].includes(companion.syncLoop.connection);
            const share = waiting.reduce((sum, { id }) => sum + (this.#shares.get(id) ?? 0), 0)
                / Math.max(1, waiting.length);
            const photos = moment.photos.filter(({ id }) => waiting.some((one) => one.id === id));
            const what = waiting.length > 0 ? countedKinds(photos) : "this moment";
            const begins = waiting.length > 0 ? what : "This moment";
            const waits = waiting.length > 1 ? "wait" : "waits";
            const done = waiting.length > 0 && share > 0 ? `: ${Math.floor(share * 100)} %` : "";
            const first = photos.find(({ id }) => waiting.some((one) => one.id === id && one.problem));
            const refused = first ? `a ${kindOf(first)} of this moment` : "this moment";
            const sentence = isRefused
                ? `The hub did not accept ${refused}. It stays on this device.`
                : isOffline
                    ? `${begins} ${waits} on this device, sealed, until the hub is reachable.`
                    : this.#problem
                        ? `${begins} ${waits} on this device, sealed. ${this.#problem}`
                        : `Uploading ${what}${done}.`;
            this.element.replaceChildren(icon(isRefused ? "warning" : isOffline ? "offline" : "cloud"),
                element("span", {}, sentence));
        };
    }
}

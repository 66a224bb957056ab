// A long operation: its progress, and a way to stop it.
import { element } from "../../ui/element.js";
import { button } from "../../ui/parts.js";

/**
 * Runs `work` under a signal that ends with the screen or by the button, and keeps the display on where the browser
 * can. `element` is shown meanwhile.
 */
export class Transfer {
    #stop = new AbortController();

    /** @param {string} title @param {AbortSignal} signal of the screen */
    constructor(title, signal) {
        this.bar = element("progress", { class: "progress transfer-bar", "aria-label": title });
        this.status = element("p", { class: "soft caption numbers" });
        this.element = element("div", { class: "card" }, element("div", { class: "card-body" },
            element("p", { class: "transfer-title" }, title), this.bar, this.status,
            element("div", { class: "buttons" }, button("Stop", () => this.#stop.abort()))));
        signal.addEventListener("abort", () => this.#stop.abort(), { signal: this.#stop.signal });
    }

    get signal() {
        return this.#stop.signal;
    }

    /** @param {number} done @param {number} all 0 if unknown @param {string} words */
    show(done, all, words) {
        if (all > 0) {
            this.bar.max = all;
            this.bar.value = Math.min(done, all);
        } else this.bar.removeAttribute("value");
        this.status.textContent = words;
    }

    /** @template Value @param {(signal: AbortSignal) => Promise<Value>} work @returns {Promise<Value>} */
    async run(work) {
        const awake = await keptAwake();
        try {
            return await work(this.#stop.signal);
        } finally {
            this.#stop.abort();
            this.element.remove();
            awake?.release().catch(() => {});
        }
    }
}

/** @param {HTMLElement} place @param {HTMLElement} content */
export function shown(place, content) {
    place.replaceChildren(content);
    content.scrollIntoView({ block: "center" });
}

/** @returns {Promise<{ release(): Promise<void> } | null>} */
async function keptAwake() {
    return (await navigator.wakeLock?.request("screen").catch(() => null)) ?? null;
}

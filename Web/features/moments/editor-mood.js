// The mood of a moment: a known one or the person's own word; a second tap removes it.
import { element } from "../../ui/element.js";
import { icon } from "../../ui/icon.js";
import { button } from "../../ui/parts.js";
import { sheet } from "../../ui/sheet.js";
import { moods } from "../../formats/moment-format.js";
import { moodIcon, moodName } from "./moods.js";

export class MoodChips {
    #changed;
    #signal;

    /** @param {string} mood @param {AbortSignal} signal @param {() => void} changed */
    constructor(mood, signal, changed) {
        this.value = mood;
        this.#signal = signal;
        this.#changed = changed;
        this.element = element("div", { class: "editor-moods", role: "group", "aria-label": "Mood" });
        this.#draw();
    }

    #draw() {
        const isOwn = this.value !== "" && !moods.includes(this.value);
        const chip = (/** @type {string} */ name, /** @type {string} */ text, /** @type {() => void} */ onclick) =>
            element("button", {
                type: "button", class: "editor-mood",
                "aria-pressed": String(this.value === name && name !== ""), onclick,
            }, icon(name ? moodIcon(name) : "plus"), element("span", { dir: "auto" }, text));
        const known = moods.map((mood) =>
            chip(mood, moodName(mood), () => this.#choose(this.value === mood ? "" : mood)));
        const own = isOwn ? chip(this.value, this.value, () => this.#own()) : chip("", "Other", () => this.#own());
        const index = [...this.element.children].findIndex((node) => node === document.activeElement);
        this.element.replaceChildren(...known, own);
        /** @type {HTMLElement | undefined} */ (this.element.children[index])?.focus();
    }

    /** @param {string} mood */
    #choose(mood) {
        this.value = mood;
        this.#draw();
        this.#changed();
    }

    async #own() {
        const isOwn = !moods.includes(this.value);
        const word = await sheet("How was it?", this.#signal, (/** @type {(word: string) => void} */ end) => {
            const input = element("input", {
                class: "input", "aria-label": "Your own mood", placeholder: "Your own mood", dir: "auto",
                autocomplete: "off",
                enterkeyhint: "done", autofocus: true, value: isOwn ? this.value : "",
            });
            return [element("form", {
                class: "editor-form", onsubmit: (/** @type {Event} */ event) => {
                    event.preventDefault();
                    end(input.value.trim());
                },
            }, input, element("div", { class: "buttons buttons-even" },
                isOwn && this.value ? button("Clear", () => end("")) : button("Cancel", () => end(this.value)),
                element("button", { class: "button button-primary" }, "Done")))];
        });
        if (word !== null && word !== this.value) this.#choose(word);
    }
}

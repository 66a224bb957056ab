// The filters of the timeline: words, a mood, favourites, days.
import { element } from "../../ui/element.js";
import { icon } from "../../ui/icon.js";
import { button, field, iconButton, searchField } from "../../ui/parts.js";
import { moods } from "../../formats/moment-format.js";
import { moodIcon, moodName } from "./moods.js";

/** @typedef {{ search: string, mood: string, favourite: boolean, from: string, to: string }} Filter */

/** Pause after a letter before a search begins, in milliseconds. */
const pause = 120;

/** @returns {Filter} */
const nothing = () => ({ search: "", mood: "", favourite: false, from: "", to: "" });

export class MomentSearch {
    filter = nothing();
    #chosen;
    #panel = element("div", { class: "moment-filters", id: "moment-filters", hidden: true });
    #toggle;
    #signal;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    #timer;
    /** @type {string[]} of the person's own */
    #moods = [];

    /** @param {() => void} chosen @param {AbortSignal} signal */
    constructor(chosen, signal) {
        this.#chosen = chosen;
        this.#signal = signal;
        this.#toggle = iconButton("filter", "Filters", () => this.#open(),
            { "aria-expanded": "false", "aria-controls": "moment-filters" });
        this.words = searchField("Search moments", (words) => {
            clearTimeout(this.#timer);
            this.#timer = setTimeout(() => !signal.aborted && this.#set({ search: words }), pause);
        });
        this.element = element("div", { class: "moment-search" },
            element("div", { class: "moment-search-line" }, this.words, this.#toggle), this.#panel);
        signal.addEventListener("abort", () => clearTimeout(this.#timer), { once: true });
    }

    get isActive() {
        const { search, mood, favourite, from, to } = this.filter;
        return Boolean(search.trim() || mood || favourite || from || to);
    }

    /** @param {string[]} used moods of the moments */
    offer(used) {
        const own = used.filter((mood) => mood && !moods.includes(mood)).slice(0, 12);
        if (own.join("\n") === this.#moods.join("\n")) return;
        this.#moods = own;
        this.#draw();
    }

    clear() {
        clearTimeout(this.#timer);
        /** @type {HTMLInputElement} */ (this.words.querySelector("input")).value = "";
        this.#set(nothing());
    }

    #open() {
        this.#panel.hidden = !this.#panel.hidden;
        this.#draw();
    }

    /** @param {Partial<Filter>} change */
    #set(change) {
        if (this.#signal.aborted) return;
        this.filter = { ...this.filter, ...change };
        this.#draw();
        this.#chosen();
    }

    #draw() {
        const { mood, favourite, from, to } = this.filter;
        this.#toggle.setAttribute("aria-expanded", String(!this.#panel.hidden));
        this.#toggle.classList.toggle("moment-filtered", Boolean(mood || favourite || from || to));
        if (this.#panel.hidden) return;
        const focused = /** @type {HTMLElement | null} */ (this.#panel.contains(document.activeElement)
            ? document.activeElement
            : null)?.dataset.name;
        this.#panel.replaceChildren(
            element("div", { class: "moment-chips", role: "group", "aria-label": "Show only" },
                chip("Favourites", "heart", favourite, () => this.#set({ favourite: !favourite })),
                ...[...moods, ...this.#moods]
                .map((one) => chip(moodName(one), moodIcon(one), mood === one,
                    () => this.#set({ mood: mood === one ? "" : one })))),
            element("div", { class: "moment-days" },
                field("From", {
                    type: "date", value: from, "data-name": "from",
                    onchange: (/** @type {Event} */ event) => this.#set({ from: valueOf(event) }),
                }),
                field("To", { type: "date", value: to, "data-name": "to", onchange: (/** @type {Event} */ event) =>
                    this.#set({ to: valueOf(event) }) }),
                this.isActive && button("Clear", () => this.clear(), { kind: "plain" })));
        if (focused) {
            /** @type {HTMLElement | null} */ (this.#panel.querySelector(
                `[data-name="${CSS.escape(focused)}"]`))?.focus();
        }
    }
}

/** @param {Event} event */
const valueOf = (event) => /** @type {HTMLInputElement} */ (event.target).value;

/**
 * @param {string} text
 * @param {import("../../ui/icon.js").IconName} name
 * @param {boolean} isOn
 * @param {() => void} onclick
 */
const chip = (text, name, isOn, onclick) =>
    element("button",
        { type: "button", class: "moment-chip", "aria-pressed": String(isOn), "data-name": text, onclick },
        icon(name), element("span", { class: "moment-cut", dir: "auto" }, text));

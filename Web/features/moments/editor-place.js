// A moment's place: typed, or a position on request, from a photo or from this device.
import { element } from "../../ui/element.js";
import { icon } from "../../ui/icon.js";
import { button } from "../../ui/parts.js";
import { sheet } from "../../ui/sheet.js";
import { named } from "../../ui/words.js";

/** @typedef {import("../../formats/moment-format.js").Place} Place */
/** @typedef {{ latitude: number, longitude: number }} Position */

/** Number of earlier places that are offered. */
const offered = 6;
/** Time limit for finding the position, in milliseconds. */
const patience = 15_000;

/**
 * "47.3769° N, 8.5417° E".
 * @param {Position} position
 */
export function positionText({ latitude, longitude }) {
    const part = (/** @type {number} */ value, /** @type {string} */ ahead, /** @type {string} */ behind) =>
        `${Math.abs(value).toFixed(4)}° ${value < 0 ? behind : ahead}`;
    return `${part(latitude, "N", "S")}, ${part(longitude, "E", "W")}`;
}

/** @param {Place | null | undefined} place @returns {Position | null} */
export const positionOf = (place) =>
    (place?.latitude === undefined || place.longitude === undefined ? null : {
        latitude: place.latitude, longitude: place.longitude,
    });

/** @param {GeolocationPositionError} error */
const refusals = ({ code }) => ({
    1: "This browser does not share your location. Allow it in the browser’s settings, or type the place’s name.",
    2: "This device can’t determine its location. Enter the place’s name, or try again outside.",
}[code] ?? "Your location could not be determined in time. Enter the place’s name, or try again.");

export class PlaceRow {
    #context;
    #photos;
    #changed;
    #title = element("span", { class: "row-title", dir: "auto" });
    #note = element("span", { class: "row-note numbers" });

    /**
     * @param {Context} context
     * @param {Place | null} place
     * @param {() => Position | null} photos the first position that a chosen photo names
     * @param {() => void} changed
     */
    constructor(context, place, photos, changed) {
        this.#context = context;
        this.#photos = photos;
        this.#changed = changed;
        this.value = place;
        this.element = element("button", { type: "button", class: "row", onclick: () => this.#ask() }, icon("pin"),
            element("span", { class: "row-text" }, this.#title, this.#note), icon("forward"));
        this.draw();
    }

    draw() {
        const position = positionOf(this.value);
        this.#title.textContent = this.value?.name || (position ? "A place without a name" : "Add a place");
        const waits = !this.value && this.#photos() ? "A photo has a place" : "";
        this.#note.textContent = position ? positionText(position) : waits;
        this.#note.hidden = !this.#note.textContent;
    }

    async #ask() {
        const { moments } = await this.#context.companion.moments.list().catch(() => ({ moments: [] }));
        if (this.#context.signal.aborted) return;
        const place = await sheet("Where was it?", this.#context.signal,
            (/** @type {(place: Place | "none") => void} */ end) => this.#form(earlier(moments), end));
        if (place === null || this.#context.signal.aborted) return;
        this.value = place === "none" ? null : place;
        this.draw();
        this.#changed();
    }

    /** @param {Place[]} others @param {(place: Place | "none") => void} end */
    #form(others, end) {
        let position = positionOf(this.value);
        const status = element("p", { class: "note", role: "status" });
        const line = element("div", { class: "editor-position" });
        const name = element("input", {
            class: "input", "aria-label": "Name of the place", placeholder: "Name of the place", dir: "auto",
            autocomplete: "off",
            enterkeyhint: "done", value: this.value?.name ?? "",
        });
        const show = () => {
            status.textContent = "";
            line.hidden = position === null;
            line.replaceChildren(...(position
                ? [icon("pin"), element("span", { class: "row-text numbers" }, positionText(position)),
                    button("Without it", () => {
                        position = null;
                        show();
                    }, { kind: "plain" })] : []));
        };
        show();
        const fromPhoto = this.#photos();
        const here = button("Current location", async () => {
            here.disabled = true;
            status.textContent = "Determining your location…";
            try {
                position = await whereIAm();
                show();
                if (!name.value) name.focus();
            } catch (error) {
                status.textContent = /** @type {Error} */ (error).message;
            }
            here.disabled = false;
        }, { icon: "pin" });
        const photo = fromPhoto && button("From the photo", () => {
            position = fromPhoto;
            show();
            if (!name.value) name.focus();
        }, { icon: "photo" });
        const chips = others.map((place) => element("button", {
            type: "button", class: "editor-mood", onclick: () => end(place),
        }, element("span", { dir: "auto" }, named(place.name ?? ""))));
        return [element("form", {
            class: "editor-form", onsubmit: (/** @type {Event} */ event) => {
                event.preventDefault();
                const text = name.value.trim();
                end(text || position ? { ...(text ? { name: text } : {}), ...position } : "none");
            },
        }, name, line, element("div", { class: "buttons buttons-even" }, photo, here),
        element("p", { class: "soft note" },
            "The position is stored only in this moment, sealed. "
                + "AppLocker uses no map service and no address book."),
        status,
        chips.length > 0 && element("div",
            { class: "editor-moods", role: "group", "aria-label": "Earlier places" }, ...chips),
        element("div", { class: "buttons buttons-even" },
            this.value ? button("Remove the place", () => end("none"), { kind: "danger" }) : null,
            element("button", { class: "button button-primary" }, "Done")))];
    }
}

/**
 * The latest named places, each once.
 * @param {{ place?: Place }[]} moments newest first
 */
function earlier(moments) {
    /** @type {Map<string, Place>} */
    const places = new Map();
    for (const { place } of moments) {
        if (places.size === offered) break;
        const key = place?.name?.toLocaleLowerCase();
        if (place && key && !places.has(key)) places.set(key, place);
    }
    return [...places.values()];
}

/**
 * On request only: the browser asks the person.
 * @returns {Promise<Position>}
 */
function whereIAm() {
    return new Promise((resolve, reject) => {
        if (!navigator.geolocation) {
            return reject(new Error("This browser has no location. Type the place’s name."));
        }
        navigator.geolocation.getCurrentPosition(
            ({ coords }) => resolve({
                latitude: Number(coords.latitude.toFixed(5)), longitude: Number(coords.longitude.toFixed(5)),
            }),
            (error) => reject(new Error(refusals(error))),
            { timeout: patience, maximumAge: 60_000, enableHighAccuracy: true });
    });
}

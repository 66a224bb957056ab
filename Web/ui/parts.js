// Components that all screens use.
import { element } from "./element.js";
import { icon } from "./icon.js";

/** @typedef {import("./element.js").Child} Child */
/** @typedef {import("./element.js").Properties} Properties */
/** @typedef {import("./icon.js").IconName} IconName */
/** @typedef {"" | "good" | "warning" | "danger"} Mood */

/**
 * @param {string} label
 * @param {(event: MouseEvent) => unknown} onclick
 * @param {{ kind?: "primary" | "danger" | "danger-strong" | "plain" | "", wide?: boolean, icon?: IconName } &
 *   Properties} options
 */
export function button(label, onclick, { kind = "", wide = false, icon: name, ...rest } = {}) {
    const classes = ["button", kind && `button-${kind}`, wide && "button-wide"].filter(Boolean).join(" ");
    return element("button", { type: "button", class: classes, onclick, ...rest }, name && icon(name),
        element("span", {}, label));
}

/**
 * @param {IconName} name
 * @param {string} label
 * @param {(event: MouseEvent) => unknown} onclick
 * @param {Properties} [rest]
 */
export function iconButton(name, label, onclick, rest = {}) {
    return element("button", {
        type: "button", class: "button button-icon", "aria-label": label, title: label, onclick, ...rest,
    }, icon(name));
}

/** @param {string[]} sentences */
export const points = (...sentences) =>
    element("ul", { class: "settings-points" }, ...sentences.map((sentence) => element("li", {}, sentence)));

/** @param {string | null} title @param {Child[]} children @param {{ end?: Child, foot?: string }} options */
export function section(title, children, { end, foot } = {}) {
    return element("section", { class: "section" },
        (title || end) && element("div", { class: "section-head" },
            title && element("h2", { class: "section-title" }, title), end),
        ...children,
        foot && element("p", { class: "section-foot" }, foot));
}

/**
 * What few people look for, folded.
 * @param {...Child} children
 */
export const advanced = (...children) => element("details", { class: "advanced" },
    element("summary", { class: "section-title" }, "Advanced"), ...children);

/** @param {...Child} children */
export const card = (...children) =>
    element("div", { class: "card" }, element("div", { class: "card-body" }, ...children));

/**
 * Numbered steps, each with its picture.
 * @param {[IconName, string][]} steps
 */
export const stepRows = (steps) =>
    element("ol", { class: "card rows entry-page-steps" }, ...steps.map(([name, text]) =>
        element("li", { class: "row" }, tile(name), element("span", { class: "row-text" }, text))));

/**
 * The words that two devices show, to be compared.
 * @param {string[]} words
 */
export const wordList = (words) =>
    element("ol", { class: "card pairing-words" }, ...words.map((word) => element("li", {}, word)));

/** @param {...Child} children */
export const rows = (...children) => element("div", { class: "card rows" }, ...children);

/**
 * With `onclick` a button, with `href` a link, both with an arrow.
 * @param {{ start?: Child, title: string, note?: Child, end?: Child, onclick?: (event: MouseEvent) => unknown,
 *   href?: string, label?: string }} content
 */
export function row({ start, title, note, end, onclick, href, label }) {
    const inside = [start,
        element("span", { class: "row-text" },
            element("span", { class: "row-title", dir: "auto" }, title),
            note && element("span", { class: "row-note", dir: "auto" }, note)),
        end && element("span", { class: "row-end" }, end)];
    if (href) return element("a", { class: "row", href, "aria-label": label }, ...inside, icon("forward"));
    if (onclick) {
        return element("button", { class: "row", type: "button", onclick, "aria-label": label }, ...inside,
            icon("forward"));
    }
    return element("div", { class: "row" }, ...inside);
}

/** @param {string} text @param {Mood} [mood] @param {IconName} [name] */
export const badge = (text, mood = "", name) =>
    element("span", { class: `badge${mood && ` badge-${mood}`}` }, text && name ? icon(name) : null, text);

/** @param {IconName} name @param {Mood} [mood] */
export const tile = (name, mood = "") =>
    element("span", { class: `tile${mood && ` tile-${mood}`}`, "aria-hidden": "true" }, icon(name));

/** @param {string} name */
export const letter = (name) =>
    element("span", { class: "tile", "aria-hidden": "true" }, [...name.trim()][0]?.toLocaleUpperCase() ?? "?");

/**
 * An app's own icon, or its first letter.
 * @param {string} name
 * @param {string | undefined} picture an address of data
 */
export const appTile = (name, picture) => (picture
    ? element("span", { class: "tile tile-picture", "aria-hidden": "true" },
        element("img", { src: picture, alt: "", decoding: "async", draggable: "false" }))
    : letter(name));

/** @param {IconName} name @param {Mood} mood @param {...Child} children */
export const banner = (name, mood, ...children) =>
    element("div", { class: `banner${mood && ` banner-${mood}`}` }, icon(name), element("div", {}, ...children));

/** @param {IconName} name @param {string} title @param {string} text @param {Child} [action] */
export const empty = (name, title, text, action) =>
    element("div", { class: "card empty" }, icon(name), element("p", { class: "empty-title" }, title),
        element("p", {}, text), action);

/** @param {string} label @param {Properties} properties of the input */
export function field(label, properties) {
    return element("label", { class: "field" }, element("span", { class: "field-label" }, label),
        element("input", { class: "input", ...properties }));
}

/**
 * For a code of letters and digits.
 * @param {string} label
 * @param {Properties} properties of the input
 */
export const codeField = (label, properties) => field(label, {
    autocomplete: "off", autocapitalize: "characters", spellcheck: "false", class: "input code-input", ...properties,
});

/**
 * A hidden input to choose files with: a button calls its `click`.
 * @param {Properties} properties
 * @param {(files: File[]) => void} chosen at least one
 */
export function fileInput(properties, chosen) {
    const input = element("input", {
        type: "file", class: "visually-hidden", tabindex: "-1", "aria-hidden": "true", ...properties,
        onchange: () => {
            const files = [...(input.files ?? [])];
            input.value = "";
            if (files.length > 0) chosen(files);
        },
    });
    return input;
}

/** @param {string} label @param {(words: string) => void} search */
export function searchField(label, search) {
    return element("div", { class: "search", role: "search" }, icon("search"),
        element("input", {
            class: "input", type: "search", "aria-label": label, placeholder: label, autocomplete: "off",
            enterkeyhint: "search",
            spellcheck: "false", oninput: (/** @type {Event} */ event) =>
                search(/** @type {HTMLInputElement} */ (event.target).value),
        }));
}

/**
 * A choice of a few; `choose` is called at a change.
 * @template {string} Value
 * @param {string} label
 * @param {[Value, string][]} options
 * @param {Value} chosen
 * @param {(value: Value) => void} choose
 */
export function segments(label, options, chosen, choose) {
    const buttons = options.map(([value, text]) => element("button", {
        type: "button", class: "segment", "aria-pressed": String(value === chosen),
        onclick: () => {
            for (const [index, node] of buttons.entries()) {
                node.setAttribute("aria-pressed", String(options[index][0] === value));
            }
            choose(value);
        },
    }, text));
    return element("div", { class: "segments", role: "group", "aria-label": label }, ...buttons);
}

/** @param {{ title: string, note?: string, name: string, checked: boolean, choose: () => unknown }} content */
export function radioRow({ title, note, name, checked, choose }) {
    return element("label", { class: "row settings-choice" },
        element("span", { class: "row-text" }, element("span", { class: "row-title" }, title),
            note && element("span", { class: "row-note" }, note)),
        element("input", { type: "radio", name, class: "settings-radio", checked, onchange: choose }));
}

/**
 * @param {{ title: string, note?: string, checked: boolean, change: (checked: boolean, input: HTMLInputElement) => void
 *   }} content
 */
export function switchRow({ title, note, checked, change }) {
    return element("label", { class: "row" },
        element("span", { class: "row-text" }, element("span", { class: "row-title" }, title),
            note && element("span", { class: "row-note" }, note)),
        element("input", {
            type: "checkbox", role: "switch", class: "switch", checked,
            onchange: (/** @type {Event} */ event) => {
                const input = /** @type {HTMLInputElement} */ (event.target);
                change(input.checked, input);
            },
        }));
}

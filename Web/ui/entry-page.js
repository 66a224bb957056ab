// The layout of a page before the app: an emblem, a title, a text and controls.
import { element } from "./element.js";
import { icon } from "./icon.js";
import { button } from "./parts.js";

export const emblem = () => element("img", { src: "/icons/favicon.svg", alt: "", width: 72, height: 72 });

/** Everline's, in its colour. */
const heart = () => element("span", { class: "entry-page-heart", "aria-hidden": "true" }, icon("heart"));

/** @typedef {import("./element.js").Child} Child */

/** @param {string} title @param {string} text @param {...Child} rest */
export const entryPage = (title, text, ...rest) => pageWith(emblem(), title, text, rest);

/** @param {string} title @param {string} text @param {...Child} rest */
export const everlinePage = (title, text, ...rest) => pageWith(heart(), title, text, rest);

/** @param {HTMLElement} picture @param {string} title @param {string} text @param {Child[]} rest */
function pageWith(picture, title, text, rest) {
    return element("main", { class: "entry-page" }, picture,
        element("div", { class: "entry-page-text" },
            element("h1", { class: "entry-page-title", tabindex: "-1" }, title),
            text && element("p", { class: "soft" }, text)),
        ...rest);
}

/**
 * Which device the person turns to next.
 * @param {"phone" | "computer"} device @param {string} text
 */
export const nextStep = (device, text) =>
    element("p", { class: "entry-page-next" }, icon(device), element("span", {}, text));

/** @param {() => void} go */
export const backButton = (go) => button("Back", go, { kind: "plain", wide: true });

/**
 * Shows `next` in the place of `page`; a screen reader begins at its title.
 * @param {HTMLElement} page @param {HTMLElement} next
 */
export function replacePage(page, next) {
    page.replaceWith(next);
    next.querySelector("h1")?.focus({ preventScroll: true });
}

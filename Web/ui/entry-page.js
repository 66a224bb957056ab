// The layout of a page before the app: an emblem, a title, a text and controls.
import { element } from "./element.js";
import { icon } from "./icon.js";

export const emblem = () => element("img", { src: "/icons/favicon.svg", alt: "", width: 72, height: 72 });

/** @param {string} title @param {string} text @param {...import("./element.js").Child} rest */
export function entryPage(title, text, ...rest) {
    return element("main", { class: "entry-page" }, emblem(),
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

/**
 * Shows `next` in the place of `page`; a screen reader begins at its title.
 * @param {HTMLElement} page @param {HTMLElement} next
 */
export function replacePage(page, next) {
    page.replaceWith(next);
    next.querySelector("h1")?.focus({ preventScroll: true });
}

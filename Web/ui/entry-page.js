// The layout of a page before the app: an emblem, a title, a text and controls.
import { element } from "./element.js";

export const emblem = () => element("img", { src: "/icons/favicon.svg", alt: "", width: 72, height: 72 });

/** @param {string} title @param {string} text @param {...import("./element.js").Child} rest */
export function entryPage(title, text, ...rest) {
    return element("main", { class: "entry-page" }, emblem(),
        element("div", { class: "entry-page-text" },
            element("h1", { class: "entry-page-title", tabindex: "-1" }, title),
            text && element("p", { class: "soft" }, text)),
        ...rest);
}

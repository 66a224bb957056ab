// One sentence about what was just done, with an undo where there is one.
import { element } from "./element.js";
import { button } from "./parts.js";

const shownFor = 6000;

/**
 * Replaces an older one, whose undo ends.
 * @param {string} sentence
 * @param {{ undo?: () => unknown, milliseconds?: number }} options `undo` is offered for so long
 */
export function toast(sentence, { undo, milliseconds = shownFor } = {}) {
    const toast = element("div", { class: "toast" }, element("span", { dir: "auto" }, sentence),
        undo && button("Undo", () => {
            toast.remove();
            undo();
        }));
    /** @type {HTMLElement} */ (document.getElementById("toasts")).replaceChildren(toast);
    setTimeout(() => toast.remove(), milliseconds);
}

/** It may show a secret's name, or restore it: removed when AppLocker, or notes and moments, are locked. */
export function clearToasts() {
    document.getElementById("toasts")?.replaceChildren();
}

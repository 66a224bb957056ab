// One sentence about what was just done, with a way back where there is one.
import { element } from "./element.js";
import { button } from "./parts.js";

const shownFor = 6000;

/**
 * A newer one replaces it, and the older one's undo ends.
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

/** It may show a secret's name: it is removed when AppLocker is locked. */
export function clearToasts() {
    document.getElementById("toasts")?.replaceChildren();
}

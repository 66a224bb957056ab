// One sentence about what was just done, with an undo where there is one.
import { element } from "./element.js";
import { button } from "./parts.js";

const shownFor = 6000;

/**
 * Replaces an older one, whose undo ends. It stays while the pointer is on it or the keyboard in it.
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
    const end = () => {
        if (toast.matches(":hover, :focus-within")) setTimeout(end, 1_000);
        else toast.remove();
    };
    setTimeout(end, milliseconds);
}

/** It may show a secret's name, or restore it: removed when AppLocker, or notes and moments, are locked. */
export function clearToasts() {
    document.getElementById("toasts")?.replaceChildren();
}

// One sentence about what was just done, with a way back where there is one.
import { element } from "./element.js";
import { button } from "./parts.js";

const shownFor = 6000;

/**
 * A newer one takes its place; whatever could be undone by an older one is done then.
 * @param {string} sentence
 * @param {{ undo?: () => unknown, milliseconds?: number }} options `undo` is offered for so long
 */
export function tell(sentence, { undo, milliseconds = shownFor } = {}) {
    const toast = element("div", { class: "toast" }, element("span", { dir: "auto" }, sentence),
        undo && button("Undo", () => {
            toast.remove();
            undo();
        }));
    /** @type {HTMLElement} */ (document.getElementById("toasts")).replaceChildren(toast);
    setTimeout(() => toast.remove(), milliseconds);
}

/** What is shown may be a secret's name: nothing of it stays when the gate closes. */
export function clearToasts() {
    document.getElementById("toasts")?.replaceChildren();
}

// Questions over the screen. A sheet is a modal <dialog>: the browser keeps the focus in it, and Escape ends it.
import { element } from "./element.js";
import { button } from "./parts.js";

/** @typedef {import("./element.js").Child} Child */

/**
 * Shows `build`'s content until it calls `end`, or the person leaves (null), or `signal` is given (null).
 * @template Answer
 * @param {string} title
 * @param {AbortSignal} signal
 * @param {(end: (answer: Answer) => void) => Child[]} build
 * @returns {Promise<Answer | null>}
 */
export function sheet(title, signal, build) {
    return new Promise((resolve) => {
        if (signal.aborted) return resolve(null);
        /** @type {Answer | null} */
        let answer = null;
        const dialog = element("dialog", { class: "sheet", "aria-labelledby": "sheet-title" });
        const end = (/** @type {Answer | null} */ given) => {
            answer = given;
            dialog.close();
        };
        const gone = () => end(null);
        dialog.append(
            element("h2", { class: "sheet-title", id: "sheet-title" }, title),
            ...build(end).flatMap((child) => (child === null || child === undefined || child === false ? [] : [child instanceof Node ? child : String(child)])));
        dialog.addEventListener("click", (event) => {
            if (event.target === dialog && isOutside(dialog, event)) end(null);
        });
        dialog.addEventListener("close", () => {
            signal.removeEventListener("abort", gone);
            dialog.remove();
            resolve(answer);
        });
        signal.addEventListener("abort", gone);
        document.body.append(dialog);
        dialog.showModal();
    });
}

/**
 * @param {HTMLElement} dialog
 * @param {MouseEvent} event
 */
function isOutside(dialog, event) {
    const { left, right, top, bottom } = dialog.getBoundingClientRect();
    return event.clientX < left || event.clientX > right || event.clientY < top || event.clientY > bottom;
}

/**
 * @typedef {{ title: string, text?: string, action: string, isDanger?: boolean }} Question
 */

/**
 * @param {Question} question
 * @param {AbortSignal} signal
 * @returns {Promise<boolean>}
 */
export async function ask({ title, text, action, isDanger = false }, signal) {
    const answer = await sheet(title, signal, (/** @type {(answer: boolean) => void} */ end) => [
        text && element("p", { class: "soft", dir: "auto" }, text),
        element("div", { class: "buttons buttons-even" },
            button("Cancel", () => end(false)),
            button(action, () => end(true), { kind: isDanger ? "danger-strong" : "primary", autofocus: !isDanger })),
    ]);
    return answer === true;
}

/**
 * One of several, with a word under each.
 * @template Value
 * @param {string} title
 * @param {{ value: Value, label: string, isDanger?: boolean }[]} options
 * @param {AbortSignal} signal
 * @returns {Promise<Value | null>}
 */
export function choose(title, options, signal) {
    return sheet(title, signal, (/** @type {(answer: Value | null) => void} */ end) => [
        ...options.map(({ value, label, isDanger }) =>
            button(label, () => end(value), { wide: true, kind: isDanger ? "danger" : "" })),
        button("Cancel", () => end(null), { wide: true, kind: "plain" }),
    ]);
}

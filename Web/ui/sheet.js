// Modal questions. A sheet is a <dialog>: the browser keeps the focus in it, and Escape closes it, as do Back and, on a
// phone, a swipe down.
import { element } from "./element.js";
import { closeModal, showModal } from "./modal.js";
import { button, field, rows } from "./parts.js";
import { closeBySwipe } from "./sheet-swipe.js";

/** @typedef {import("./element.js").Child} Child */

/**
 * Shows `build`'s content until it calls `end`, the person closes the sheet (null), or `signal` aborts (null).
 * @template Answer
 * @param {string} title
 * @param {AbortSignal} signal
 * @param {(end: (answer: Answer) => void, closed: AbortSignal) => Child[]} build `closed` aborts with the sheet
 * @returns {Promise<Answer | null>}
 */
export function sheet(title, signal, build) {
    return new Promise((resolve) => {
        if (signal.aborted) return resolve(null);
        /** @type {Answer | null} */
        let answer = null;
        const closed = new AbortController();
        const dialog = element("dialog", { class: "sheet", "aria-labelledby": "sheet-title" });
        const end = (/** @type {Answer | null} */ given) => {
            if (!dialog.open) return;
            answer = given;
            closeModal(dialog);
        };
        dialog.append(
            element("div", { class: "sheet-head" }, element("h2", { class: "sheet-title", id: "sheet-title" }, title)),
            ...build(end, closed.signal).flatMap((child) => (child === null
                || child === undefined || child === false ? [] : [child instanceof Node ? child : String(child)])));
        dialog.addEventListener("click", (event) => {
            if (event.target === dialog && isOutside(dialog, event)) end(null);
        });
        dialog.addEventListener("close", () => closed.abort(), { once: true });
        signal.addEventListener("abort", () => {
            closed.abort();
            end(null);
        }, { signal: closed.signal });
        closeBySwipe(dialog, () => end(null), closed.signal);
        showModal(dialog).then(() => resolve(answer));
    });
}

/** @param {HTMLElement} dialog @param {MouseEvent} event */
function isOutside(dialog, event) {
    const { left, right, top, bottom } = dialog.getBoundingClientRect();
    return event.clientX < left || event.clientX > right || event.clientY < top || event.clientY > bottom;
}

/** @typedef {{ title: string, text?: string, action: string, isDanger?: boolean }} Question */

/** @param {Question} question @param {AbortSignal} signal @returns {Promise<boolean>} */
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
 * One row for each option.
 * @template Value
 * @param {string} title
 * @param {{ value: Value, label: string, isDanger?: boolean }[]} options
 * @param {AbortSignal} signal
 * @returns {Promise<Value | null>}
 */
export function choose(title, options, signal) {
    return sheet(title, signal, (/** @type {(answer: Value | null) => void} */ end) => [
        rows(...options.map(({ value, label, isDanger }) =>
            element("button", { type: "button", class: "row sheet-option", onclick: () => end(value) },
                element("span", { class: `row-title${isDanger ? " problem" : ""}` }, label)))),
        button("Cancel", () => end(null), { wide: true, kind: "plain" }),
    ]);
}

/**
 * Asks for one line of text; null if cancelled.
 * @param {AbortSignal} signal
 * @param {string} title
 * @param {string} text
 * @param {{ label: string, value?: string, type?: string, maxlength?: number, action: string, problem: (typed: string)
 *   => string | null }} content `problem`: why this can't be accepted
 */
export const askText = (signal, title, text, { label, value = "", type = "text", maxlength, problem, action }) =>
    sheet(title, signal, (/** @type {(answer: string | null) => void} */ end) => {
        const refusal = element("p", { class: "problem note", role: "alert" });
        const input = field(label,
            { name: "typed", type, value, maxlength, autocomplete: "off", dir: "auto", autofocus: true });
        const submit = (/** @type {Event} */ event) => {
            event.preventDefault();
            const typed = /** @type {HTMLInputElement} */ (input.lastElementChild).value.trim();
            const why = problem(typed);
            if (why) refusal.textContent = why;
            else end(typed);
        };
        return [text && element("p", { class: "soft" }, text),
            element("form", { class: "settings-form", onsubmit: submit }, input, refusal,
                element("div", { class: "buttons buttons-even" },
                    button("Cancel", () => end(null)),
                    element("button", { class: "button button-primary", type: "submit" }, action)))];
    });

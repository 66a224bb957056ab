// The name of a new device, and the button that begins.
import { element } from "../../ui/element.js";
import { field } from "../../ui/parts.js";
import { sentenceOf } from "../../ui/words.js";

/** A suggested name of this device. */
function deviceKind() {
    const agent = navigator.userAgent;
    if (/iPhone/.test(agent)) return "iPhone";
    if (/iPad/.test(agent)) return "iPad";
    if (/Android/.test(agent)) return "Android phone";
    return "Browser";
}

/**
 * @param {string} action the button's label
 * @param {(name: string) => Promise<void>} begin whose error is shown
 * @param {...HTMLElement} before fields above the name
 */
export function nameForm(action, begin, ...before) {
    const problem = element("p", { class: "problem note", role: "alert" });
    const submit = element("button", { class: "button button-primary button-wide", type: "submit" }, action);
    const name = field("Name of this device",
        { name: "name", value: deviceKind(), maxlength: 40, required: true, autocomplete: "off", dir: "auto" });
    return element("form", {
        class: "entry-page-form",
        onsubmit: async (/** @type {Event} */ event) => {
            event.preventDefault();
            problem.textContent = "";
            submit.disabled = true;
            try {
                await begin(/** @type {HTMLInputElement} */ (name.lastElementChild).value.trim());
            } catch (error) {
                problem.textContent = sentenceOf(error);
            }
            submit.disabled = false;
        },
    }, ...before, name, submit, problem);
}

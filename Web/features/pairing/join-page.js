// A device with a pairing link: its name, then three words to compare until the owner confirms at the computer.
import { element } from "../../ui/element.js";
import { entryPage, nextStep, replacePage } from "../../ui/entry-page.js";
import { field } from "../../ui/parts.js";
import { sentenceOf } from "../../ui/words.js";
import { markUsed } from "./pairing-link.js";

/** Codes of errors after which the link can't be used again. */
const usedUp = ["gone", "not_found", "refused", "tooLate", "untrusted"];

/** A suggested name of this device. */
function deviceKind() {
    const agent = navigator.userAgent;
    if (/iPhone/.test(agent)) return "iPhone";
    if (/iPad/.test(agent)) return "iPad";
    if (/Android/.test(agent)) return "Android phone";
    return "Browser";
}

/**
 * @param {Companion} companion
 * @param {string} link
 * @param {AbortSignal} signal
 * @param {(reason: string) => HTMLElement} needsNewLink the page for a link that is used up
 */
export function joinPage(companion, link, signal, needsNewLink) {
    const problem = element("p", { class: "problem note", role: "alert" });
    const submit = element("button", { class: "button button-primary button-wide", type: "submit" },
        "Pair this device");
    const name = field("Name of this device",
        { name: "name", value: deviceKind(), maxlength: 40, required: true, autocomplete: "off", dir: "auto" });
    const form = element("form", {
        class: "entry-page-form",
        onsubmit: async (/** @type {Event} */ event) => {
            event.preventDefault();
            problem.textContent = "";
            submit.disabled = true;
            let shown = page;
            const show = (/** @type {HTMLElement} */ next) => {
                if (signal.aborted) return;
                replacePage(shown, next);
                shown = next;
            };
            try {
                const typed = /** @type {HTMLInputElement} */ (name.lastElementChild).value.trim();
                await companion.pair(link, typed, {
                    signal, waiting: (words) => {
                        markUsed(link);
                        show(comparison(words));
                    },
                });
            } catch (error) {
                const sentence = sentenceOf(error);
                if (usedUp.includes(/** @type {{ code: string }} */ (error).code)) {
                    markUsed(link);
                    return show(needsNewLink(sentence));
                }
                if (shown !== page) show(page);
                problem.textContent = sentence;
            }
            submit.disabled = false;
        },
    }, name, submit, problem);
    const page = entryPage("Pair with your computer",
        "This device will show alerts and approve launches. The link works once, for five minutes.", form,
        nextStep("phone", "Now on this device: choose its name."));
    return page;
}

/** @param {string[]} words */
const comparison = (words) =>
    entryPage("Compare three words", "The computer shows the same three words. If they differ, don’t confirm there.",
        element("ol", { class: "card pairing-words" }, ...words.map((word) => element("li", {}, word))),
        nextStep("computer", "Now at the computer: compare the words and confirm."));

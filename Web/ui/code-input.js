// Asks for the code beside an invitation's link, for a device that can neither scan nor paste.
import { checkedCode, groupedCode, linkOfCode } from "../household/typed-code.js";
import { element } from "./element.js";
import { button, codeField } from "./parts.js";
import { sheet } from "./sheet.js";
import { sentenceOf } from "./words.js";

/**
 * Each group is checked as soon as it is complete.
 * @param {AbortSignal} signal
 * @returns {Promise<string | null>} the link; null if the person closes the sheet
 */
export const askCode = (signal) =>
    sheet("Type the code", signal, (/** @type {(link: string | null) => void} */ end) => {
        const problem = element("p", { class: "problem note", role: "alert" });
        const label = codeField("Code", {
            name: "code", autofocus: true, placeholder: "AAAAA-BBBBB-CCCCC-DDDDD", "aria-describedby": "code-note",
        });
        const input = /** @type {HTMLInputElement} */ (label.lastElementChild);
        const go = element("button", { class: "button button-primary", type: "submit", disabled: true }, "Continue");
        let latest = 0;
        input.addEventListener("input", async () => {
            const typed = input.value;
            // What is typed in the middle stays where it is.
            if (input.selectionStart === typed.length) input.value = groupedCode(typed);
            const turn = (latest += 1);
            const { wrong, isReady } = await checkedCode(typed);
            if (turn !== latest) return;
            const words = wrong ? `Group ${wrong} of the code has a typing mistake.` : "";
            if (problem.textContent !== words) problem.textContent = words;
            go.disabled = !isReady;
        });
        const submit = async (/** @type {Event} */ event) => {
            event.preventDefault();
            if (go.disabled) return;
            go.disabled = true;
            try {
                end(await linkOfCode(input.value));
            } catch (error) {
                problem.textContent = sentenceOf(error);
            }
            go.disabled = false;
        };
        return [
            element("p", { class: "soft", id: "code-note" },
                "The device that invites shows it below the link: four groups of five letters and digits."),
            element("form", { class: "settings-form", onsubmit: submit }, label, problem,
                element("div", { class: "buttons buttons-even" }, button("Cancel", () => end(null)), go)),
        ];
    });

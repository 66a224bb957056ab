// Asks for the code that a computer shows beside its link, for a device that can neither scan nor paste.
import { pairingLink, proofOf } from "../../crypto/invitation.js";
import { plainCode } from "../../crypto/base32.js";
import { groupCount, groupLength, isRightGroup, openDetails, readCode } from "../../crypto/pairing-code.js";
import { HubClient } from "../../hub/client.js";
import { HubError } from "../../hub/errors.js";
import { element } from "../../ui/element.js";
import { button, codeField } from "../../ui/parts.js";
import { sheet } from "../../ui/sheet.js";
import { sentenceOf } from "../../ui/words.js";

const length = groupCount * groupLength;

/** @param {string} plain */
const grouped = (plain) => (plain.match(new RegExp(`.{1,${groupLength}}`, "g")) ?? []).join("-");

/**
 * The first group that is complete and wrong, from 1; 0 if every complete group is right.
 * @param {string} plain
 */
async function wrongGroup(plain) {
    for (let index = 0; index < Math.floor(plain.length / groupLength); index += 1) {
        const group = plain.slice(index * groupLength, (index + 1) * groupLength);
        if (!(await isRightGroup(group, index))) return index + 1;
    }
    return 0;
}

/**
 * The link of the typed code. Throws FormatError, HubError, HubUnreachable.
 * @param {string} typed
 */
async function linkOf(typed) {
    const code = await readCode(typed);
    const hub = new HubClient(location.origin, new Uint8Array());
    const sealed = await hub.invitationDetails(code.id, await proofOf(code));
    return pairingLink({ ...code, ...(await openDetails(code, sealed)), hub: location.origin });
}

/** @param {unknown} error */
const explanation = (error) => (error instanceof HubError && ["not_found", "gone"].includes(error.code)
    ? "This hub has no invitation with this code, or it is over: a code works once, for five minutes."
    : sentenceOf(error));

/**
 * Each group is checked as soon as it is complete.
 * @param {AbortSignal} signal
 * @returns {Promise<string | null>} the pairing link; null if the person closes the sheet
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
            const plain = plainCode(input.value).slice(0, length);
            // What is typed in the middle stays where it is.
            if (input.selectionStart === input.value.length) input.value = grouped(plain);
            const turn = (latest += 1);
            const wrong = await wrongGroup(plain);
            if (turn !== latest) return;
            const words = wrong ? `Group ${wrong} of the code has a typing mistake.` : "";
            if (problem.textContent !== words) problem.textContent = words;
            go.disabled = wrong > 0 || plain.length < length;
        });
        const submit = async (/** @type {Event} */ event) => {
            event.preventDefault();
            if (go.disabled) return;
            go.disabled = true;
            try {
                end(await linkOf(input.value));
            } catch (error) {
                problem.textContent = explanation(error);
            }
            go.disabled = false;
        };
        return [
            element("p", { class: "soft", id: "code-note" },
                "“applocker pair” shows it below the link: four groups of five letters and digits."),
            element("form", { class: "settings-form", onsubmit: submit }, label, problem,
                element("div", { class: "buttons buttons-even" }, button("Cancel", () => end(null)), go)),
        ];
    });

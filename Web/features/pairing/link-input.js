// Reads a link: scanned, pasted, or typed into a field.
import { element } from "../../ui/element.js";
import { button, field } from "../../ui/parts.js";
import { canScan } from "../../ui/can-scan.js";
import { entryLinkIn } from "./entry-link.js";

const names = { pair: "a pairing link", vault: "an invitation", start: "a start link", recover: "a sheet’s link" };

/**
 * Any kind of link is accepted, and leads to its page.
 * @param {AbortSignal} signal
 * @param {import("./entry-link.js").LinkKind} wanted
 */
export function linkInput(signal, wanted = "pair") {
    const problem = element("p", { class: "problem note", role: "alert" });
    const input = field("Or paste the link here",
        { type: "url", name: "link", placeholder: `https://…/#${wanted}=…`, autocomplete: "off" });
    const use = (/** @type {string} */ text) => {
        const found = entryLinkIn(text.trim());
        if (!found) {
            problem.textContent = `This is not ${names[wanted]}: that contains “#${wanted}=”.`;
        } else if (!found.link.startsWith(location.origin)) {
            problem.textContent = "This link is for another hub. Open it in the browser.";
        } else location.hash = found.link.slice(found.link.indexOf("#"));
    };
    const paste = async () => {
        try {
            use(await navigator.clipboard.readText());
        } catch {
            problem.textContent = "The browser does not allow reading the clipboard. Paste the link into the field.";
        }
    };
    const scanLink = async () => {
        const { scan } = await import("../../ui/scan.js");
        const text = await scan(signal, (found) => entryLinkIn(found) !== null);
        if (text) use(text);
    };
    const typeCode = async () => {
        const { askCode } = await import("../../ui/code-input.js");
        const link = await askCode(signal);
        if (link) use(link);
    };
    const submit = (/** @type {Event} */ event) => {
        event.preventDefault();
        use(/** @type {HTMLInputElement} */ (input.lastElementChild).value);
    };
    return element("form", { class: "entry-page-form", onsubmit: submit },
        canScan() && button("Scan the code", scanLink, { kind: "primary", wide: true, icon: "camera" }),
        (wanted === "pair" || wanted === "vault") && button("Type the code", typeCode, { wide: true, icon: "edit" }),
        navigator.clipboard?.readText !== undefined && button("Paste the link", paste, { wide: true }),
        input, element("button", { class: "button button-wide", type: "submit" }, "Continue"), problem);
}

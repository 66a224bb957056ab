// Brings a pairing link in: scanned, pasted, or typed into a field.
import { element } from "../../ui/element.js";
import { button, field } from "../../ui/parts.js";

const mark = "#pair=";

const canScan = () => "BarcodeDetector" in window && navigator.mediaDevices !== undefined;

/** @param {AbortSignal} signal */
export function linkInput(signal) {
    const problem = element("p", { class: "problem note", role: "alert" });
    const input = field("Or paste the link here",
        { type: "url", name: "link", placeholder: `https://…/${mark}…`, autocomplete: "off" });
    const use = (/** @type {string} */ text) => {
        const typed = text.trim();
        if (!typed.includes(mark)) {
            problem.textContent = `This is not a pairing link. A pairing link contains “${mark}”.`;
        } else if (!typed.startsWith(location.origin)) {
            problem.textContent = "This link is for another hub. Open it in the browser.";
        } else location.hash = typed.slice(typed.indexOf(mark));
    };
    const paste = async () => {
        try {
            use(await navigator.clipboard.readText());
        } catch {
            problem.textContent = "The browser does not allow reading the clipboard. Paste the link into the field.";
        }
    };
    const scanLink = async () => {
        const { scan } = await import("./scan.js");
        const text = await scan(signal, (found) => found.includes(mark));
        if (text) use(text);
    };
    const typeCode = async () => {
        const { askCode } = await import("./code-input.js");
        const link = await askCode(signal);
        if (link) use(link);
    };
    const submit = (/** @type {Event} */ event) => {
        event.preventDefault();
        use(/** @type {HTMLInputElement} */ (input.lastElementChild).value);
    };
    return element("form", { class: "entry-page-form", onsubmit: submit },
        canScan() && button("Scan the code", scanLink, { kind: "primary", wide: true, icon: "camera" }),
        button("Type the code", typeCode, { wide: true, icon: "edit" }),
        navigator.clipboard?.readText !== undefined && button("Paste the link", paste, { wide: true }),
        input, element("button", { class: "button button-wide", type: "submit" }, "Continue"), problem);
}

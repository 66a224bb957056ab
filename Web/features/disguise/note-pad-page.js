// The screen of the disguise as notes: a working note pad. Nothing in it reveals how AppLocker is opened, and nothing
// that is typed there is stored.
import { element } from "../../ui/element.js";
import { button } from "../../ui/parts.js";
import { onLongPress } from "./long-press.js";
import { PINLine } from "./pin-line.js";

/** @param {import("./disguised-lock-screen.js").DisguiseWays} ways */
export function notePadPage({ offer, other, signal }) {
    const line = new PINLine();
    const text = element("textarea", {
        class: "note-pad-text", "aria-label": "Note", placeholder: "Write here", dir: "auto",
        // Otherwise browsers store the text, to restore it after a restart, or send it to a service that checks it.
        // No automatic capitals: with them an iPhone's Enter has Shift.
        autocomplete: "off", spellcheck: "false", autocorrect: "off", autocapitalize: "none",
        writingsuggestions: "false",
    });
    const aroundCaret = () => /** @type {const} */ ([
        text.value.slice(0, text.selectionStart), text.value.slice(text.selectionEnd),
    ]);
    const done = button("Done", () => text.blur(), { kind: "plain" });
    onLongPress(done, signal, () => {
        const digits = line.held(...aroundCaret());
        if (digits) offer(digits);
    });
    // Of a real key: Enter of a phone's keyboard may have Shift without it.
    let isShiftDown = false;
    document.addEventListener("keyup", ({ key }) => {
        if (key === "Shift") isShiftDown = false;
    }, { signal });
    const title = element("h1", { class: "note-pad-title", tabindex: "-1" }, "Notes");
    onLongPress(title, signal, other);
    // Not at "keydown": the keyboards of phones report some keys without a name.
    text.addEventListener("input", (event) => {
        const { inputType } = /** @type {InputEvent} */ (event);
        if (inputType !== "insertLineBreak" && inputType !== "insertParagraph") return line.forget();
        const digits = line.entered(...aroundCaret(), performance.now());
        if (digits) offer(digits);
    }, { signal });
    document.addEventListener("keydown", (event) => {
        if (event.code === "ShiftLeft" || event.code === "ShiftRight") isShiftDown = true;
        if (event.key !== "Enter" || event.ctrlKey || event.metaKey || event.altKey) return;
        // Of a key that is held down only the first press counts.
        if (event.repeat) line.forget();
        // In the text it is a usual line break.
        if (!event.shiftKey || !isShiftDown || event.target === text) return;
        event.preventDefault();
        if (!event.repeat) other();
    }, { signal });
    signal.addEventListener("abort", () => {
        line.forget();
        text.value = "";
    }, { once: true });
    return element("main", { class: "note-pad" }, element("header", { class: "note-pad-head" }, title, done), text);
}

// Notes taken to a sealed file, and back from one.
import { addNotes, checkPassphrase, readBackup, writeBackup } from "../core/backup.js";
import { element } from "../views/element.js";
import { button, card, field, section } from "../views/parts.js";
import { sheet } from "../views/sheet.js";
import { counted, sentenceOf, size } from "../views/words.js";
import { give } from "./giving.js";

/** @typedef {import("../views/shell.js").Context} Context */

/** @type {import("./settings.js").SettingsPage} */
export function backup(context) {
    const exported = element("p", { class: "section-foot", role: "status" });
    const imported = element("p", { class: "section-foot", role: "status" });
    const file = element("input", {
        type: "file", accept: ".aplockerbackup,application/octet-stream", class: "visually-hidden", tabindex: "-1", "aria-hidden": "true",
        onchange: () => {
            const [chosen] = file.files ?? [];
            file.value = "";
            if (chosen) bringBack(context, chosen, imported);
        },
    });
    return {
        title: "Backup of notes",
        body: [
            section("Take the notes along", [card(
                element("p", {}, "A file with every note that this device can read, sealed with a passphrase of its own. It opens on any computer with AppLocker:"),
                element("p", {}, element("code", { class: "settings-code" }, "applocker backup import --passphrase FILE")),
                element("p", { class: "soft" }, "Apps, files and photos are not in it: your computer’s own backup has them.")),
            button("Make a backup", () => take(context, exported), { kind: "primary", wide: true, icon: "share" }), exported]),
            section("Bring notes back", [card(
                element("p", {}, "From a backup that was made here or on another phone. What is missing is added; nothing that is here is changed."),
                element("p", { class: "soft" }, "A backup made on a computer is imported on a computer.")),
            button("Choose a backup", () => file.click(), { wide: true, icon: "note" }), imported, file]),
        ],
    };
}

/**
 * @param {Context} context
 * @param {{ title: string, action: string, isNew: boolean }} question
 * @returns {Promise<string | null>}
 */
export function askPassphrase(context, { title, action, isNew }) {
    return sheet(title, context.signal, (/** @type {(answer: string | null) => void} */ end) => {
        const problem = element("p", { class: "problem note", role: "alert" });
        const entry = (/** @type {string} */ label) => field(label, {
            type: "password", autocomplete: isNew ? "new-password" : "off", autocapitalize: "none", spellcheck: "false", required: true,
        });
        const [first, again] = [entry("Passphrase"), isNew ? entry("The same again") : null];
        const typed = (/** @type {HTMLElement | null} */ label) => /** @type {HTMLInputElement | null} */ (label?.lastElementChild)?.value ?? "";
        const submit = (/** @type {Event} */ event) => {
            event.preventDefault();
            try {
                if (isNew) checkPassphrase(typed(first));
            } catch (error) {
                problem.textContent = sentenceOf(error);
                return;
            }
            if (again && typed(first) !== typed(again)) problem.textContent = "The two differ; type them again.";
            else end(typed(first));
        };
        return [
            isNew && element("p", { class: "soft" }, "Nobody can open the file without it, and nobody can reset it. Four words that you remember are good."),
            element("form", { class: "settings-form", onsubmit: submit }, first, again, problem, element("div", { class: "buttons buttons-even" },
                button("Cancel", () => end(null)), element("button", { class: "button button-primary", type: "submit" }, action))),
        ];
    });
}

/** @param {Context} context @param {HTMLElement} told */
async function take(context, told) {
    told.textContent = "";
    const isSure = await context.confirmWithGate({ title: "Make a backup?", text: "It has every note that this device can read.", action: "Continue" });
    const passphrase = isSure && await askPassphrase(context, { title: "A passphrase for the backup", action: "Make the backup", isNew: true });
    if (!passphrase) return;
    told.textContent = "Sealing…";
    try {
        const { bytes, notes } = await writeBackup(context.companion, passphrase);
        if (context.signal.aborted) return;
        const name = `notes-${new Date().toISOString().slice(0, 10)}.aplockerbackup`;
        const isShared = await give(new File([bytes], name, { type: "application/octet-stream" }));
        told.textContent = isShared ? `${counted(notes, "note")}, ${size(bytes.length)}. Try it once: choose it below.` : "The backup was not saved anywhere.";
    } catch (error) {
        told.textContent = sentenceOf(error);
    }
}

/** @param {Context} context @param {File} file @param {HTMLElement} told */
async function bringBack(context, file, told) {
    told.textContent = "";
    const passphrase = await askPassphrase(context, { title: "The backup’s passphrase", action: "Open", isNew: false });
    if (!passphrase) return;
    told.textContent = "Opening…";
    try {
        const { notes, created, others } = await readBackup(new Uint8Array(await file.arrayBuffer()), passphrase);
        if (context.signal.aborted) return;
        told.textContent = "";
        const isSure = await context.ask({
            title: `Add ${counted(notes.length, "note")}?`,
            text: `The backup is of ${new Date(created).toLocaleDateString()}. Notes that are here already are left out.`
                + (others > 0 ? ` ${counted(others, "entry", "entries")} in it can’t be read on a phone.` : ""),
            action: "Add",
        });
        if (!isSure || context.signal.aborted) return;
        const added = await addNotes(context.companion, notes);
        told.textContent = added === 0 ? "Everything in it is here already." : `${counted(added, "note")} added.`;
    } catch (error) {
        told.textContent = sentenceOf(error);
    }
}

// Exports notes to a sealed file, and imports them from one.
import { addNotes, checkPassphrase, readBackup, writeBackup } from "./notes-backup.js";
import { element } from "../../ui/element.js";
import { button, card, field, section } from "../../ui/parts.js";
import { shareFile } from "../../ui/share-file.js";
import { sheet } from "../../ui/sheet.js";
import { counted, sentenceOf, size } from "../../ui/words.js";
import { backupInput } from "./backup-input.js";

/** @type {SettingsPage} */
export function backup(context) {
    const exported = element("p", { class: "section-foot", role: "status" });
    const imported = element("p", { class: "section-foot", role: "status" });
    const file = backupInput((chosen) => importBackup(context, chosen, imported));
    return {
        title: "Backup of notes",
        body: [
            section("Export the notes", [card(
                element("p", {},
                    "A file with every note that this device can read, sealed with a passphrase. It can be opened on "
                        + "any device of yours, or at a computer with AppLocker:"),
                element("p", {}, element("code", { class: "settings-code" },
                    "applocker backup import --passphrase FILE")),
                element("p", { class: "soft" }, context.companion.hasComputer
                    ? "Apps, files and photos are not in it: your computer’s own backup has them."
                    : "Moments are not in it: they have a backup of their own.")),
            button("Export a backup", () => exportBackup(context, exported),
                { kind: "primary", wide: true, icon: "share" }),
            exported]),
            section("Restore notes", [card(
                element("p", {},
                    "From a backup that was made here or on another phone. Missing "
                        + "notes are added; existing ones are not changed."),
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
            type: "password", autocomplete: isNew ? "new-password" : "off", autocapitalize: "none", spellcheck: "false",
            required: true,
        });
        const [first, again] = [entry("Passphrase"), isNew ? entry("Repeat the passphrase") : null];
        const typed = (/** @type {HTMLElement | null} */ label) =>
            /** @type {HTMLInputElement | null} */ (label?.lastElementChild)?.value ?? "";
        const submit = (/** @type {Event} */ event) => {
            event.preventDefault();
            try {
                if (isNew) checkPassphrase(typed(first));
            } catch (error) {
                problem.textContent = sentenceOf(error);
                return;
            }
            if (again && typed(first) !== typed(again)) {
                problem.textContent = "The passphrases differ. Enter them again.";
            } else end(typed(first));
        };
        return [
            isNew && element("p", { class: "soft" },
                "The file can’t be opened without it, and it can’t be reset. Use four words, for example."),
            element("form", { class: "settings-form", onsubmit: submit }, first, again, problem,
                element("div", { class: "buttons buttons-even" },
                    button("Cancel", () => end(null)),
                    element("button", { class: "button button-primary", type: "submit" }, action))),
        ];
    });
}

/** @param {Context} context @param {HTMLElement} status */
async function exportBackup(context, status) {
    status.textContent = "";
    const isSure = await context.confirmUnlock({
        title: "Export a backup?", text: "It has every note that this device can read.", action: "Export",
    });
    const passphrase = isSure && await askPassphrase(context,
        { title: "Passphrase for the backup", action: "Export", isNew: true });
    if (!passphrase) return;
    status.textContent = "Sealing…";
    try {
        const { bytes, notes } = await writeBackup(context.companion, passphrase);
        if (context.signal.aborted) return;
        const name = `notes-${new Date().toISOString().slice(0, 10)}.aplockerbackup`;
        const isShared = await shareFile(new File([bytes], name, { type: "application/octet-stream" }));
        status.textContent = isShared
            ? `${counted(notes, "note")}, ${size(bytes.length)}. Test it: choose it below.`
            : "The backup was not saved.";
    } catch (error) {
        status.textContent = sentenceOf(error);
    }
}

/** @param {Context} context @param {File} file @param {HTMLElement} status */
async function importBackup(context, file, status) {
    status.textContent = "";
    const passphrase = await askPassphrase(context, { title: "The backup’s passphrase", action: "Open", isNew: false });
    if (!passphrase) return;
    status.textContent = "Opening…";
    try {
        const { notes, created, others } = await readBackup(new Uint8Array(await file.arrayBuffer()), passphrase);
        if (context.signal.aborted) return;
        status.textContent = "";
        const isSure = await context.ask({
            title: `Add ${counted(notes.length, "note")}?`,
            text: `The backup is of ${new Date(created).toLocaleDateString()}. Existing notes are skipped.`
                + (others > 0 ? ` ${counted(others, "entry", "entries")} in it can’t be read on a phone.` : ""),
            action: "Add",
        });
        if (!isSure || context.signal.aborted) return;
        const added = await addNotes(context.companion, notes);
        status.textContent = added === 0 ? "It contains no new notes." : `${counted(added, "note")} added.`;
    } catch (error) {
        status.textContent = sentenceOf(error);
    }
}

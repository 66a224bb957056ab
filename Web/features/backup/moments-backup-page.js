// Exports Everline to a sealed file, and imports it from one.
import { writeMomentBackup } from "./moment-backup.js";
import { changesOf, forget, openMomentBackup, restoreDates, restoreMoments } from "./moment-restore.js";
import { element } from "../../ui/element.js";
import { button, card, section } from "../../ui/parts.js";
import { countedKinds, countedMoments } from "../../ui/recording-words.js";
import { shareFile } from "../../ui/share-file.js";
import { shown, Transfer } from "./transfer.js";
import { counted, sentenceOf, size } from "../../ui/words.js";
import { backupInput } from "./backup-input.js";
import { askPassphrase } from "./notes-backup-page.js";

/** @typedef {{ start: HTMLElement, going: HTMLElement, status: HTMLElement }} Parts */

const partsOf = (/** @type {HTMLElement} */ start) => ({
    start, going: element("div", { class: "settings-parts" }),
    status: element("p", { class: "section-foot", role: "status" }),
});

/** @type {SettingsPage} */
export function momentsBackupPage(context) {
    const exporting = partsOf(button("Export a backup", () => exportBackup(context, exporting),
        { kind: "primary", wide: true, icon: "share" }));
    const importing = partsOf(button("Choose a backup", () => file.click(), { wide: true }));
    const file = backupInput((chosen) => importBackup(context, chosen, importing));
    return {
        title: "Backup of Everline",
        body: [
            section("Export", [card(
                element("p", {},
                    "One file with every moment and photo, sealed with a passphrase of its own. Without the "
                        + "passphrase nobody can open it, not even AppLocker."),
                element("p", { class: "soft" },
                    "The trash is not included. The file contains the key of your "
                        + "vault: store file and passphrase separately.")),
            exporting.start, exporting.going, exporting.status]),
            section("Import", [card(
                element("p", {},
                    "A preview shows the changes first. Of two versions of a moment the newer one is kept. Photos "
                        + "that are missing or damaged in the file are left out."),
                context.companion.hasComputer
                    && element("p", { class: "soft" }, "Import a backup that was made on a computer at a computer.")),
            importing.start, file, importing.going, importing.status]),
        ],
    };
}

/** @param {Context} context @param {Parts} parts */
async function exportBackup(context, { start, going, status }) {
    const { companion, signal } = context;
    status.textContent = "";
    const isSure = await context.confirmUnlock({
        title: "Export a backup?", text: "It has every moment and photo of Everline, sealed with a passphrase.",
        action: "Export",
    });
    const passphrase = isSure
        && await askPassphrase(context, { title: "Passphrase for the backup", action: "Export", isNew: true });
    if (!passphrase || signal.aborted) return;
    start.hidden = true;
    try {
        const writing = new Transfer("Exporting the backup", signal);
        shown(going, writing.element);
        await companion.audit.record("backedUp");
        /** @type {Blob[]} */
        const pieces = [];
        const { moments, photos, missing } = await writing.run((stop) => writeMomentBackup(companion, passphrase,
            (bytes) => void pieces.push(new Blob([bytes])),
            { signal: stop, progress: (done, all) => writing.show(done, all, `${size(done)} of ${size(all)}`) }));
        if (signal.aborted) return;
        const made = new File(pieces, `Everline ${new Date().toISOString().slice(0, 10)}.aplockerbackup`,
            { type: "application/octet-stream" });
        const save = button(`Save the backup (${size(made.size)})`, async () => {
            status.textContent = (await shareFile(made))
                ? "Saved. Test it: choose it below."
                : "The backup was not saved.";
        }, { kind: "primary", wide: true, icon: "share" });
        shown(going, save);
        save.focus();
        status.textContent = [
            `${countedMoments(moments, photos)} sealed.`,
            missing.length > 0
                && `${countedKinds(missing)} can’t be read and ${missing.length === 1 ? "is" : "are"} skipped.`,
        ].filter(Boolean).join(" ");
    } catch (error) {
        if (!signal.aborted) status.textContent = sentenceOf(error);
    }
    start.hidden = going.hasChildNodes();
}

/** @param {Context} context @param {File} file @param {Parts} parts */
async function importBackup(context, file, { start, going, status }) {
    const { companion, signal } = context;
    status.textContent = "";
    const passphrase = await askPassphrase(context,
        { title: "Passphrase of the backup", action: "Open", isNew: false });
    if (!passphrase || signal.aborted) return;
    start.hidden = true;
    /** @type {import("./moment-restore.js").MomentBackup | null} */
    let backup = null;
    try {
        const opening = new Transfer("Opening the backup", signal);
        shown(going, opening.element);
        backup = await opening.run(() => openMomentBackup(file, passphrase));
        const changes = await changesOf(companion, backup);
        if (signal.aborted) return;
        const [added, changed] = [changes.added.length, changes.changed.length];
        const dates = changes.dates.length + (changes.together ? 1 : 0);
        const rest = [changes.same > 0
            && `${counted(changes.same, "moment")} ${changes.same === 1 ? "is" : "are"} here already.`,
            changes.kept > 0
                && `${counted(changes.kept, "moment")} ${changes.kept === 1 ? "is" : "are"} newer here and `
                    + `${changes.kept === 1 ? "stays" : "stay"}.`];
        if (added + changed + dates === 0) {
            status.textContent = ["It contains no new moments.", ...rest].filter(Boolean).join(" ");
            return;
        }
        const isSure = await context.ask({
            title: `Restore ${added + changed > 0
                ? counted(added + changed, "moment") : counted(dates, "special date")}?`,
            action: "Restore",
            text: [`The backup is of ${new Date(backup.created).toLocaleDateString()}.`,
                added > 0 && `${counted(added, "moment")} ${added === 1 ? "is" : "are"} missing here.`,
                changed > 0
                    && `${counted(changed, "moment")} ${changed === 1 ? "is" : "are"} older here and `
                        + `${changed === 1 ? "becomes" : "become"} as in the backup.`,
                dates > 0 && `${counted(dates, "special date")} ${dates === 1 ? "is" : "are"} missing here.`,
                ...rest].filter(Boolean).join(" "),
        });
        if (!isSure || signal.aborted) return;
        const restoring = new Transfer("Restoring", signal);
        shown(going, restoring.element);
        const opened = backup;
        const result = await restoring.run((stop) => restoreMoments(companion, opened, changes, {
            signal: stop, progress: (done, all) => restoring.show(done, all, `${done} of ${counted(all, "moment")}`),
        }));
        const restored = result.isStopped || result.problem ? 0 : await restoreDates(companion, changes);
        if (result.moments > 0) {
            await companion.audit.record("restored", { moments: result.moments, photos: result.photos.length })
                .catch(() => {});
        }
        if (signal.aborted) return;
        status.textContent = [
            `${countedMoments(result.moments, result.photos)} restored.`,
            restored > 0 && `${counted(restored, "special date")} restored.`,
            result.lost.length > 0
                && `${countedKinds(result.lost)} could not be restored: missing or damaged in the backup.`,
            result.failed > 0 && `${counted(result.failed, "moment")} with nothing else ${result.failed === 1
                ? "was"
                : "were"} left out.`,
            result.isStopped && "Stopped. Choose the same backup again to continue.", result.problem,
        ].filter(Boolean).join(" ");
    } catch (error) {
        if (!signal.aborted) status.textContent = sentenceOf(error);
    } finally {
        if (backup) forget(backup);
        start.hidden = false;
    }
}

// Everline in a sealed file, and back from one.
import { writeMomentBackup } from "../core/moment-backup.js";
import { changesOf, forget, openMomentBackup, restoreMoments } from "../core/moment-restore.js";
import { element } from "../views/element.js";
import { button, card, section } from "../views/parts.js";
import { shown, Transfer } from "../views/transfer.js";
import { counted, sentenceOf, size } from "../views/words.js";
import { give } from "./giving.js";
import { askPassphrase } from "./settings-backup.js";

/** @typedef {import("../views/shell.js").Context} Context */
/** @typedef {{ start: HTMLElement, going: HTMLElement, told: HTMLElement }} Parts */

const partsOf = (/** @type {HTMLElement} */ start) => ({
    start, going: element("div", { class: "settings-parts" }), told: element("p", { class: "section-foot", role: "status" }),
});

/** @type {import("./settings.js").SettingsPage} */
export function copyPage(context) {
    const making = partsOf(button("Make a sealed copy", () => make(context, making), { kind: "primary", wide: true, icon: "share" }));
    const bringing = partsOf(button("Choose a sealed copy", () => file.click(), { wide: true }));
    const file = element("input", {
        type: "file", accept: ".aplockerbackup,application/octet-stream", class: "visually-hidden", tabindex: "-1", "aria-hidden": "true",
        onchange: () => {
            const [chosen] = file.files ?? [];
            file.value = "";
            if (chosen) bringBack(context, chosen, bringing);
        },
    });
    return {
        title: "Sealed copy",
        body: [
            section("Make one", [card(
                element("p", {}, "One file with every moment and photo, sealed with a passphrase of its own. Without the passphrase nobody opens it, not even AppLocker."),
                element("p", { class: "soft" }, "What is in the trash is left out. It holds the key of your vault: keep file and passphrase apart.")),
            making.start, making.going, making.told]),
            section("Bring one back", [card(
                element("p", {}, "You see what it would change before anything is changed. Each moment comes with all its photos or not at all; of two versions the later one stays."),
                element("p", { class: "soft" }, "A copy that a computer made is imported at a computer.")),
            bringing.start, file, bringing.going, bringing.told]),
        ],
    };
}

/** @param {Context} context @param {Parts} parts */
async function make(context, { start, going, told }) {
    const { companion, signal } = context;
    told.textContent = "";
    const isSure = await context.confirmWithGate({ title: "Make a sealed copy?", text: "It has every moment and photo of Everline, sealed with a passphrase.", action: "Continue" });
    const passphrase = isSure && await askPassphrase(context, { title: "A passphrase for the copy", action: "Make the copy", isNew: true });
    if (!passphrase || signal.aborted) return;
    start.hidden = true;
    try {
        const writing = new Transfer("Making the copy", signal);
        shown(going, writing.element);
        await companion.audit.record("backedUp");
        /** @type {Blob[]} */
        const pieces = [];
        const { moments, photos, missing } = await writing.run((stop) => writeMomentBackup(companion, passphrase,
            (bytes) => void pieces.push(new Blob([bytes])),
            { signal: stop, progress: (done, all) => writing.show(done, all, `${size(done)} of ${size(all)}`) }));
        if (signal.aborted) return;
        const made = new File(pieces, `Everline ${new Date().toISOString().slice(0, 10)}.aplockerbackup`, { type: "application/octet-stream" });
        const save = button(`Save the copy (${size(made.size)})`, async () => {
            told.textContent = (await give(made)) ? "Saved. Try it once: choose it below." : "The copy was not saved anywhere.";
        }, { kind: "primary", wide: true, icon: "share" });
        shown(going, save);
        save.focus();
        told.textContent = `${counted(moments, "moment")} and ${counted(photos, "photo")} sealed.`
            + (missing > 0 ? ` ${counted(missing, "photo")} ${missing === 1 ? "is" : "are"} not on this device and left out.` : "");
    } catch (error) {
        if (!signal.aborted) told.textContent = sentenceOf(error);
    }
    start.hidden = going.hasChildNodes();
}

/** @param {Context} context @param {File} file @param {Parts} parts */
async function bringBack(context, file, { start, going, told }) {
    const { companion, signal } = context;
    told.textContent = "";
    const passphrase = await askPassphrase(context, { title: "The copy’s passphrase", action: "Open", isNew: false });
    if (!passphrase || signal.aborted) return;
    start.hidden = true;
    /** @type {import("../core/moment-restore.js").MomentBackup | null} */
    let backup = null;
    try {
        const opening = new Transfer("Opening the copy", signal);
        shown(going, opening.element);
        backup = await opening.run(() => openMomentBackup(file, passphrase));
        const changes = await changesOf(companion, backup);
        if (signal.aborted) return;
        const [added, changed] = [changes.added.length, changes.changed.length];
        const rest = [changes.same > 0 && `${counted(changes.same, "moment")} ${changes.same === 1 ? "is" : "are"} here already.`,
            changes.kept > 0 && `${counted(changes.kept, "moment")} ${changes.kept === 1 ? "is" : "are"} newer here and ${changes.kept === 1 ? "stays" : "stay"}.`];
        if (added + changed === 0) {
            told.textContent = ["Nothing in it is missing here.", ...rest].filter(Boolean).join(" ");
            return;
        }
        const isSure = await context.ask({
            title: `Bring back ${counted(added + changed, "moment")}?`, action: "Bring back",
            text: [`The copy is of ${new Date(backup.created).toLocaleDateString()}.`, added > 0 && `${counted(added, "moment")} ${added === 1 ? "is" : "are"} missing here.`,
                changed > 0 && `${counted(changed, "moment")} ${changed === 1 ? "is" : "are"} older here and ${changed === 1 ? "becomes" : "become"} as in the copy.`, ...rest].filter(Boolean).join(" "),
        });
        if (!isSure || signal.aborted) return;
        const restoring = new Transfer("Bringing back", signal);
        shown(going, restoring.element);
        const opened = backup;
        const result = await restoring.run((stop) => restoreMoments(companion, opened, changes, {
            signal: stop, progress: (done, all) => restoring.show(done, all, `${done} of ${counted(all, "moment")}`),
        }));
        if (result.moments > 0) await companion.audit.record("restored", { moments: result.moments, photos: result.photos }).catch(() => {});
        if (signal.aborted) return;
        told.textContent = [
            `${counted(result.moments, "moment")} with ${counted(result.photos, "photo")} brought back.`,
            result.failed > 0 && `${counted(result.failed, "moment")} could not be: a photo in the copy is missing or damaged.`,
            result.isStopped && "Stopped: choose the same copy again to go on.", result.problem,
        ].filter(Boolean).join(" ");
    } catch (error) {
        if (!signal.aborted) told.textContent = sentenceOf(error);
    } finally {
        if (backup) forget(backup);
        start.hidden = false;
    }
}

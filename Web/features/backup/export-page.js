// Exports moments unsealed: a folder or a ZIP with photos, a page to read, and data.
import { FolderTarget, ZipTarget } from "./export-target.js";
import { checkFitsZIP, exportPlain, planExport } from "./moment-export.js";
import { element } from "../../ui/element.js";
import { banner, button, card, field, section } from "../../ui/parts.js";
import { countedKinds, countedMoments } from "../../ui/recording-words.js";
import { shareFile } from "../../ui/share-file.js";
import { shown, Transfer } from "./transfer.js";
import { counted, sentenceOf, size } from "../../ui/words.js";

/** @typedef {import("./moment-export.js").ExportPlan} ExportPlan */

const writesFolders = () => typeof window.showDirectoryPicker === "function";

/** @type {SettingsPage} */
export function exportPage(context) {
    const status = element("p", { class: "section-foot", role: "status" });
    const going = element("div", { class: "settings-parts" });
    const from = field("From", { type: "date", max: "9999-12-31" });
    const to = field("To", { type: "date", max: "9999-12-31" });
    const day = (/** @type {HTMLElement} */ label) =>
        /** @type {HTMLInputElement} */ (label.lastElementChild).value || undefined;
    const start = button("Export…", () => begin(context, { from: day(from), to: day(to) }, { going, status, start }),
        { kind: "primary", wide: true, icon: "share" });
    return {
        title: "Export Everline",
        body: [
            section("What you get", [card(
                element("p", {},
                    "A folder “Everline” with your photos and recordings, named by their dates, a page "
                        + "“timeline.html” that any browser shows, and “moments.json” for other programs."),
                element("p", { class: "soft" }, "The trash is not included."))]),
            section("Which moments", [card(element("div", { class: "transfer-days" }, from, to))],
                { foot: "Leave both empty for all of them." }),
            banner("warning", "warning",
                "The export is not sealed. Anybody with access to the folder or ZIP can read it, including cloud "
                    + "storage that copies it."),
            element("div", { class: "settings-parts" }, start, going, status),
        ],
    };
}

/**
 * @param {Context} context
 * @param {{ from?: string, to?: string }} days
 * @param {{ going: HTMLElement, status: HTMLElement, start: HTMLButtonElement }} parts
 */
async function begin(context, days, { going, status, start }) {
    status.textContent = "";
    if (days.from && days.to && days.from > days.to) {
        status.textContent = "The first day is after the last one.";
        return;
    }
    start.hidden = true;
    try {
        const reading = new Transfer("Reading your moments", context.signal);
        shown(going, reading.element);
        const plan = await reading.run((signal) => planExport(context.companion, days, {
            signal, progress: (done, all) => reading.show(done, all, `${done} of ${counted(all, "file")}`),
        }));
        if (context.signal.aborted) return;
        if (plan.moments.length === 0) {
            status.textContent = days.from || days.to
                ? "There are no moments in this period."
                : "There are no moments yet.";
            return;
        }
        const isSure = await context.confirmUnlock({
            title: `Export ${counted(plan.moments.length, "moment")} unsealed?`,
            text: [plan.photos.length > 0 && `${countedKinds(plan.photos)}, ${size(plan.size)}.`,
                "The export is not sealed: AppLocker can’t protect it."].filter(Boolean).join(" "),
            action: "Export",
        });
        if (isSure && !context.signal.aborted) shown(going, chooser(context, plan, { going, status, start }));
    } catch (error) {
        if (!context.signal.aborted) status.textContent = sentenceOf(error);
    } finally {
        start.hidden = going.hasChildNodes();
    }
}

/**
 * Chooses the destination: browsers require a tap of its own.
 * @param {Context} context
 * @param {ExportPlan} plan
 * @param {{ going: HTMLElement, status: HTMLElement, start: HTMLElement }} parts
 */
function chooser(context, plan, parts) {
    const over = () => {
        parts.start.hidden = parts.going.hasChildNodes();
    };
    const toFolder = async () => {
        try {
            const parent = await window.showDirectoryPicker?.({ mode: "readwrite", id: "everline-export" });
            if (!parent || context.signal.aborted) return;
            const target = await FolderTarget.in(parent);
            await write(context, plan, target, parts, () => {
                parts.going.replaceChildren();
                return `It is in the folder “${target.name}”. Open “timeline.html” there.`;
            });
        } catch (error) {
            if (!context.signal.aborted) parts.status.textContent = folderSentence(error);
        }
        over();
    };
    const toZIP = async () => {
        try {
            checkFitsZIP(plan);
            const target = new ZipTarget();
            await write(context, plan, target, parts, () => {
                const file = target.file(`Everline ${new Date().toISOString().slice(0, 10)}.zip`);
                const save = button(`Save the ZIP (${size(file.size)})`, async () => {
                    parts.status.textContent = (await shareFile(file))
                        ? "Saved. Unpack it, and open “timeline.html”."
                        : "The ZIP was not saved.";
                }, { kind: "primary", wide: true, icon: "share" });
                shown(parts.going, save);
                save.focus();
                return "The ZIP is ready. Save it before you leave this page.";
            });
        } catch (error) {
            if (!context.signal.aborted) parts.status.textContent = sentenceOf(error);
        }
        over();
    };
    const buttons = element("div", { class: "settings-parts" },
        plan.missing.length + plan.unreadable > 0
            && banner("warning", "warning", leftOut(plan.missing, plan.unreadable)),
        writesFolders() && button("Choose a folder", toFolder, { kind: "primary", wide: true }),
        button("Create a ZIP", toZIP, { kind: writesFolders() ? "" : "primary", wide: true }));
    queueMicrotask(() => buttons.querySelector("button")?.focus());
    return buttons;
}

/** @param {import("../../ui/recording-words.js").Kind[]} photos @param {number} moments */
function leftOut(photos, moments) {
    const parts = [countedKinds(photos), moments > 0 && counted(moments, "moment")].filter(Boolean);
    return `${parts.join(" and ")} can’t be opened on this device and ` +
        `${photos.length + moments === 1 ? "is" : "are"} skipped.`;
}

/**
 * @param {Context} context
 * @param {ExportPlan} plan
 * @param {import("./export-target.js").ExportTarget} target
 * @param {{ going: HTMLElement, status: HTMLElement }} parts
 * @param {() => string} finished the sentence at the end
 */
async function write({ companion, signal: outer }, plan, target, { going, status }, finished) {
    status.textContent = "";
    const writing = new Transfer("Exporting", outer);
    shown(going, writing.element);
    // Recorded before the first byte is exported.
    await companion.audit.record("exported", { moments: plan.moments.length, photos: plan.photos.length });
    const { photos, missing } = await writing.run((signal) => exportPlain(companion, plan, target, {
        signal, progress: (done, all) => writing.show(done, all, `${size(done)} of ${size(all)}`),
    }));
    if (outer.aborted) return void target.abandon().catch(() => {});
    const sentence = finished();
    status.textContent = [
        `${countedMoments(plan.moments.length, photos)} exported.`,
        missing.length > 0
            && `${countedKinds(missing)} could not be opened; “moments.json” names `
                + `${missing.length === 1 ? "it" : "them"}.`, sentence,
    ].filter(Boolean).join(" ");
}

/** @param {unknown} error */
function folderSentence(error) {
    if (!(error instanceof DOMException)) return sentenceOf(error);
    switch (error.name) {
        case "AbortError":
            return "No folder was chosen.";
        case "QuotaExceededError":
            return "There is not enough space in that folder; the written files were removed.";
        case "NotAllowedError":
        case "SecurityError":
            return "The browser has no permission to write there; choose another folder.";
        default:
            return "The folder could not be written; the written files were removed where possible. Choose another " +
                "one.";
    }
}

// Everline taken out of AppLocker in the open: a folder or a ZIP with photos, a page to read, and data.
import { FolderTarget, ZipTarget } from "../core/export-target.js";
import { checkFitsZIP, exportPlain, planExport } from "../core/moment-export.js";
import { element } from "../views/element.js";
import { banner, button, card, field, section } from "../views/parts.js";
import { shown, Transfer } from "../views/transfer.js";
import { counted, sentenceOf, size } from "../views/words.js";
import { give } from "./giving.js";

/** @typedef {import("../views/shell.js").Context} Context */
/** @typedef {import("../core/moment-export.js").ExportPlan} ExportPlan */

const writesFolders = () => typeof window.showDirectoryPicker === "function";

/** @type {import("./settings.js").SettingsPage} */
export function exportPage(context) {
    const told = element("p", { class: "section-foot", role: "status" });
    const going = element("div", { class: "settings-parts" });
    const from = field("From", { type: "date", max: "9999-12-31" });
    const to = field("To", { type: "date", max: "9999-12-31" });
    const day = (/** @type {HTMLElement} */ label) => /** @type {HTMLInputElement} */ (label.lastElementChild).value || undefined;
    const start = button("Export…", () => begin(context, { from: day(from), to: day(to) }, { going, told, start }), { kind: "primary", wide: true, icon: "share" });
    return {
        title: "Export Everline",
        body: [
            section("What you get", [card(
                element("p", {}, "A folder “Everline” with your photos, named by their dates, a page “timeline.html” that any browser shows, and “moments.json” for other programs."),
                element("p", { class: "soft" }, "What is in the trash is left out."))]),
            section("Which moments", [card(element("div", { class: "transfer-days" }, from, to))], { foot: "Leave both empty for all of them." }),
            banner("warning", "warning", "The copy is not sealed. Whoever gets at the folder or the ZIP sees every photo and every word, and so does any cloud that copies it."),
            element("div", { class: "settings-parts" }, start, going, told),
        ],
    };
}

/**
 * @param {Context} context
 * @param {{ from?: string, to?: string }} days
 * @param {{ going: HTMLElement, told: HTMLElement, start: HTMLButtonElement }} parts
 */
async function begin(context, days, { going, told, start }) {
    told.textContent = "";
    if (days.from && days.to && days.from > days.to) {
        told.textContent = "The first day comes after the last one.";
        return;
    }
    start.hidden = true;
    try {
        const reading = new Transfer("Looking through your moments", context.signal);
        shown(going, reading.element);
        const plan = await reading.run((signal) => planExport(context.companion, days, {
            signal, progress: (done, all) => reading.show(done, all, `${done} of ${counted(all, "photo")}`),
        }));
        if (context.signal.aborted) return;
        if (plan.moments.length === 0) {
            told.textContent = days.from || days.to ? "There is no moment in these days." : "There is no moment yet.";
            return;
        }
        const isSure = await context.confirmWithGate({
            title: `Export ${counted(plan.moments.length, "moment")} in the open?`,
            text: `${counted(plan.photos.length, "photo")}, ${size(plan.size)}. The copy is not sealed: AppLocker can’t protect it, and can’t take it back.`,
            action: "Continue",
        });
        if (isSure && !context.signal.aborted) shown(going, chooser(context, plan, { going, told, start }));
    } catch (error) {
        if (!context.signal.aborted) told.textContent = sentenceOf(error);
    } finally {
        start.hidden = going.hasChildNodes();
    }
}

/**
 * Where to: a tap of its own, as browsers ask for one.
 * @param {Context} context
 * @param {ExportPlan} plan
 * @param {{ going: HTMLElement, told: HTMLElement, start: HTMLElement }} parts
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
            if (!context.signal.aborted) parts.told.textContent = folderSentence(error);
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
                    parts.told.textContent = (await give(file)) ? "Saved. Unpack it, and open “timeline.html”." : "The ZIP was not saved anywhere.";
                }, { kind: "primary", wide: true, icon: "share" });
                shown(parts.going, save);
                save.focus();
                return "The ZIP is ready. It is gone when you leave this page without saving it.";
            });
        } catch (error) {
            if (!context.signal.aborted) parts.told.textContent = sentenceOf(error);
        }
        over();
    };
    const buttons = element("div", { class: "settings-parts" },
        plan.missing + plan.unreadable > 0 && banner("warning", "warning", leftOut(plan.missing, plan.unreadable)),
        writesFolders() && button("Choose a folder", toFolder, { kind: "primary", wide: true }),
        button("Make a ZIP", toZIP, { kind: writesFolders() ? "" : "primary", wide: true }));
    queueMicrotask(() => buttons.querySelector("button")?.focus());
    return buttons;
}

/** @param {number} photos @param {number} moments */
function leftOut(photos, moments) {
    const parts = [photos > 0 && counted(photos, "photo"), moments > 0 && counted(moments, "moment")].filter(Boolean);
    return `${parts.join(" and ")} can’t be opened on this device and ${photos + moments === 1 ? "is" : "are"} left out.`;
}

/**
 * @param {Context} context
 * @param {ExportPlan} plan
 * @param {import("../core/export-target.js").ExportTarget} target
 * @param {{ going: HTMLElement, told: HTMLElement }} parts
 * @param {() => string} finished what is said then
 */
async function write({ companion, signal: outer }, plan, target, { going, told }, finished) {
    told.textContent = "";
    const writing = new Transfer("Exporting", outer);
    shown(going, writing.element);
    // Before the first byte: nothing leaves without it.
    await companion.audit.record("exported", { moments: plan.moments.length, photos: plan.photos.length });
    const { photos, missing } = await writing.run((signal) => exportPlain(companion, plan, target, {
        signal, progress: (done, all) => writing.show(done, all, `${size(done)} of ${size(all)}`),
    }));
    if (outer.aborted) return void target.abandon().catch(() => {});
    const sentence = finished();
    told.textContent = [
        `${counted(plan.moments.length, "moment")} and ${counted(photos, "photo")} exported.`,
        missing > 0 && `${counted(missing, "photo")} could not be opened; “moments.json” names ${missing === 1 ? "it" : "them"}.`, sentence,
    ].filter(Boolean).join(" ");
}

/** @param {unknown} error */
function folderSentence(error) {
    if (!(error instanceof DOMException)) return sentenceOf(error);
    switch (error.name) {
        case "AbortError":
            return "No folder was chosen.";
        case "QuotaExceededError":
            return "There is not enough room in that folder; what was written is removed again.";
        case "NotAllowedError":
        case "SecurityError":
            return "The browser may not write there; choose another folder.";
        default:
            return "The folder could not be written; what was begun is removed where that is possible. Choose another one.";
    }
}

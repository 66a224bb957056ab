// Imports old photos into Everline: chosen, previewed, and grouped into moments by day.
import { removeOriginals } from "./import-originals.js";
import { sourcesIn, sourcesOf } from "./import-sources.js";
import { importPhotos, preview } from "./moment-import.js";
import { element } from "../../ui/element.js";
import { button, card, fileInput, rows, section, switchRow } from "../../ui/parts.js";
import { shown, Transfer } from "./transfer.js";
import { counted, sentenceOf } from "../../ui/words.js";

/** @typedef {import("./moment-import.js").Preview} Preview */
/** @typedef {import("./import-sources.js").Source} Source */
/** @typedef {{ going: HTMLElement, status: HTMLElement, choosers: HTMLElement }} Parts */

/** How many skipped files are named. */
const namedAtMost = 50;
const dayWords = new Intl.DateTimeFormat(undefined,
    { day: "numeric", month: "long", year: "numeric", timeZone: "UTC" });
/** @param {string} day */
const dayText = (day) => dayWords.format(new Date(`${day}T00:00:00Z`));

/** @type {SettingsPage} */
export function importPage(context) {
    const status = element("div", { class: "section-foot", role: "status" });
    const going = element("div", { class: "settings-parts" });
    const choosers = element("div", { class: "settings-parts" });
    const parts = { going, status, choosers };
    const files = fileInput({ accept: "image/*,.heic,.heif,.avif", multiple: true },
        (chosen) => look(context, async () => sourcesOf(chosen), null, parts));
    const folder = fileInput({ webkitdirectory: true, multiple: true },
        (chosen) => look(context, async () => sourcesOf(chosen), null, parts));
    choosers.append(
        button("Choose a folder", () => (window.showDirectoryPicker ? picked(context, parts) : folder.click()),
            { kind: "primary", wide: true, icon: "photo" }),
        button("Choose photos", () => files.click(), { wide: true }));
    return {
        title: "Import photos",
        body: [
            section("How it works", [card(
                element("p", {},
                    "Photos of one day become one moment, by the camera’s date, or else the file’s. You see a preview "
                        + "before anything is added."),
                element("p", { class: "soft" },
                    "Photos already in Everline are skipped. To continue a "
                        + "stopped import, choose the same folder again."))]),
            element("div", { class: "settings-parts" }, choosers, files, folder, going, status),
        ],
    };
}

/** @param {Context} context @param {Parts} parts */
async function picked(context, parts) {
    try {
        const handle = await window.showDirectoryPicker?.({ mode: "read", id: "everline-import" });
        if (handle && !context.signal.aborted) {
            await look(context, (options) => sourcesIn(handle, options), handle, parts);
        }
    } catch (error) {
        const isNone = error instanceof DOMException && error.name === "AbortError";
        if (!context.signal.aborted) {
            parts.status.replaceChildren(isNone
                ? "No folder was chosen."
                : "The browser has no permission to read this folder; choose another one.");
        }
    }
}

/**
 * @param {Context} context
 * @param {(options: { signal: AbortSignal, found: (count: number) => void }) => Promise<Source[]>} gather
 * @param {FileSystemDirectoryHandle | null} handle of the folder, where its files can be removed
 * @param {Parts} parts
 */
async function look(context, gather, handle, parts) {
    parts.status.replaceChildren();
    parts.choosers.hidden = true;
    const looking = new Transfer("Reading the files", context.signal);
    shown(parts.going, looking.element);
    try {
        const found = await looking.run(async (signal) => {
            const sources = await gather({ signal, found: (count) => looking.show(0, 0, counted(count, "file")) });
            return preview(sources, {
                signal, progress: (done, all) => looking.show(done, all, `${done} of ${counted(all, "file")}`),
            });
        });
        if (context.signal.aborted) return;
        if (found.photos > 0) return shown(parts.going, offer(context, found, handle, parts));
        parts.status.replaceChildren(["No photo was found there.", leftOut(found)].filter(Boolean).join(" "));
    } catch (error) {
        if (!context.signal.aborted) parts.status.replaceChildren(sentenceOf(error));
    }
    parts.choosers.hidden = parts.going.hasChildNodes();
}

/** @param {Preview} found */
function leftOut({ others, tooLarge, unread }) {
    return [
        others > 0
            && `${counted(others, "file")} ${others === 1 ? "is not a supported photo" : "are not supported photos"}.`,
        tooLarge > 0
            && `${counted(tooLarge, "photo")} ${tooLarge === 1 ? "has" : "have"} more than 50 MB and ` +
                `${tooLarge === 1 ? "is" : "are"} skipped.`,
        unread > 0 && `${counted(unread, "file")} can’t be read.`,
    ].filter(Boolean).join(" ");
}

/**
 * @param {Context} context
 * @param {Preview} found
 * @param {FileSystemDirectoryHandle | null} handle
 * @param {Parts} parts
 */
function offer(context, found, handle, parts) {
    const options = { keepsOriginal: false, keepsPlaces: false, removes: false };
    const [first, last] = [found.days[0].day, found.days[found.days.length - 1].day];
    const rest = [
        found.undated > 0 && `${counted(found.undated, "photo")} without a date: the file’s date is used.`,
        leftOut(found),
    ].filter(Boolean).join(" ");
    const again = () => {
        parts.going.replaceChildren();
        parts.choosers.hidden = false;
        parts.choosers.querySelector("button")?.focus();
    };
    const heading = element("h2", { class: "section-title", tabindex: "-1" },
        `${counted(found.photos, "photo")}, ${counted(found.days.length, "day")}`);
    queueMicrotask(() => heading.focus({ preventScroll: true }));
    return element("div", { class: "settings-parts" },
        element("section", { class: "section" }, heading, card(
            element("p", {}, first === last ? dayText(first) : `From ${dayText(first)} to ${dayText(last)}`),
            rest && element("p", { class: "soft" }, rest))),
        rows(
            switchRow({
                title: "Keep the files as they are", checked: false, change: (isOn) => (options.keepsOriginal = isOn),
                note: "With the camera’s metadata, including places. Otherwise only the image is kept, as a new JPEG.",
            }),
            switchRow({
                title: "Import places", checked: false, change: (isOn) => (options.keepsPlaces = isOn),
                note: "Each moment has the place of its first photo that has one.",
            }),
            // Of a vault that is only here they would be the last copies beside the browser's.
            handle && !context.companion.isLocal && switchRow({
                title: "Remove the originals afterwards", checked: false, change: (isOn) => (options.removes = isOn),
                note: "Each file is deleted only after its photo was uploaded to the hub, read back and compared: "
                    + "byte by byte where files are kept as they are, otherwise by opening the new photo.",
            })),
        button(`Add ${counted(found.photos, "photo")}`, () => add(context, found, handle, options, parts),
            { kind: "primary", wide: true, icon: "plus" }),
        button("Choose others", again, { wide: true, kind: "plain" }));
}

/**
 * @param {Context} context
 * @param {Preview} found
 * @param {FileSystemDirectoryHandle | null} handle
 * @param {{ keepsOriginal: boolean, keepsPlaces: boolean, removes: boolean }} options
 * @param {Parts} parts
 */
async function add(context, found, handle, options, parts) {
    if (options.removes && !(await mayRemove(context, handle, options, parts))) return;
    try {
        const adding = new Transfer("Adding photos", context.signal);
        shown(parts.going, adding.element);
        const result = await adding.run((signal) => importPhotos(context.companion, found, {
            keepsOriginal: options.keepsOriginal, keepsPlaces: options.keepsPlaces, signal,
            progress: (done, all, isWaiting) => adding.show(done, all,
                isWaiting
                    ? `${done} of ${counted(all, "photo")} · waiting for the upload`
                    : `${done} of ${counted(all, "photo")}`),
        }));
        if (result.added > 0) {
            await context.companion.audit.record("imported", { moments: result.moments, photos: result.added })
                .catch(() => {});
        }
        if (context.signal.aborted) return;
        /** @type {import("./import-originals.js").Removal | null} */
        let removal = null;
        if (options.removes && !result.isStopped && !result.problem) {
            const removing = new Transfer("Comparing, then removing the originals", context.signal);
            shown(parts.going, removing.element);
            removal = await removing.run((signal) => removeOriginals(context.companion, result.kept, {
                keepsOriginal: options.keepsOriginal, signal,
                progress: (done, all) => removing.show(done, all, `${done} of ${all}`),
            }));
        }
        if (context.signal.aborted) return;
        parts.status.replaceChildren(...report(result, removal, options));
    } catch (error) {
        if (!context.signal.aborted) parts.status.replaceChildren(sentenceOf(error));
    }
    parts.choosers.hidden = false;
}

/**
 * @param {Context} context
 * @param {FileSystemDirectoryHandle | null} handle
 * @param {{ keepsOriginal: boolean }} options
 * @param {Parts} parts
 */
async function mayRemove(context, handle, { keepsOriginal }, parts) {
    const isSure = await context.ask({
        title: "Remove the originals?", isDanger: true, action: "Add and remove",
        text: keepsOriginal
            ? "The files are deleted from the folder once Everline has the same "
                + "bytes. They don’t go to the trash of your computer."
            : "Everline keeps the photos as new JPEGs, without the cameras’ metadata. The files are permanently "
                + "deleted, not moved to the trash of your computer. Animated GIF, WebP, PNG and AVIF files "
                + "stay. The video of a motion photo is lost.",
    });
    if (!isSure || context.signal.aborted) return false;
    const permission = await handle?.requestPermission?.({ mode: "readwrite" }).catch(() => "denied");
    if (permission === undefined || permission === "granted") return true;
    parts.status.replaceChildren(
        "The browser has no permission to change this folder. Allow it, or "
            + "add the photos without removing the originals.");
    return false;
}

/**
 * @param {import("./moment-import.js").ImportResult} result
 * @param {import("./import-originals.js").Removal | null} removal
 * @param {{ removes: boolean }} options
 */
function report({ added, stills, moments, here, trashed, refused, isStopped, problem }, removal, { removes }) {
    const sentences = [
        added === 0 ? "Nothing was added." : moments === 0 ? `${counted(added, "photo")} added.`
            : `${counted(added, "photo")} in ${counted(moments, "new moment")} added.`,
        stills > 0 && `${counted(stills, "animation")} added as a still picture.`,
        here > 0 && `${here} already in Everline${trashed > 0 ? `, ${trashed} of them in the trash` : ""}.`,
        isStopped && "Stopped. Choose the same files or folder again to continue.", problem,
        removes && !removal && "No original was removed.",
        removal && `${counted(removal.removed, "original")} removed.`,
    ];
    return [
        element("p", {}, sentences.filter(Boolean).join(" ")),
        ...names(`${counted(refused.length, "file")} could not be added:`, refused),
        ...names(`${counted(removal?.left.length ?? 0, "original")} stayed:`, removal?.left ?? []),
    ];
}

/** @param {string} title @param {{ name: string, sentence: string }[]} list */
function names(title, list) {
    if (list.length === 0) return [];
    const more = list.length - namedAtMost;
    return [element("p", {}, title), element("ul", { class: "settings-points" },
        ...list.slice(0, namedAtMost)
        .map(({ name, sentence }) => element("li", { dir: "auto" }, `${name}: ${sentence}`)),
        more > 0 && element("li", {}, `and ${more} more`))];
}

// Exports moments unsealed: photos as files, a page to read, data for other programs.
import { utf8 } from "../../crypto/bytes.js";
import { fileExtensions } from "../../formats/file-extensions.js";
import { isRecording } from "../../formats/moment-format.js";
import { CompanionError, isUnreadable } from "../../household/errors.js";
import { localISO, momentsData, timelinePage } from "./moment-pages.js";
import { zipLength, zipLimits } from "./zip.js";

/** @typedef {import("./moment-pages.js").PageFile} PageFile */
/** @typedef {(done: number, all: number) => void} Progress */
/** @typedef {import("../../ui/recording-words.js").Kind} Kind */
/**
 * A photo's file, or a recording's. `copy`: a JPEG beside an original that not every browser displays.
 * @typedef {{ id: string, kind?: string, path: string, size: number, local: string,
 *   copy: { path: string, size: number } | null }} PlannedPhoto
 */
/**
 * `size`: of the photos, in bytes. `missing`: photos that do not open on this device. `unreadable`: moments, as many.
 * @typedef {{ moments: import("./moment-pages.js").PageMoment[], photos: PlannedPhoto[], size: number, missing: Kind[],
 *   unreadable: number }} ExportPlan
 */

const drawnEverywhere = new Set(["image/jpeg", "image/png", "image/webp", "image/gif"]);
/** Estimated bytes of page and data in a ZIP, besides a moment's text. */
const roomForText = { moment: 4_096, photo: 1_024, remark: 512 };

/** @param {AbortSignal} signal */
function check(signal) {
    if (signal.aborted) throw new CompanionError("cancelled", "The export was stopped.");
}

/**
 * File names by date; several within a second are numbered.
 * @param {Set<string>} used
 * @param {string} local
 * @param {string} type
 */
function pathOf(used, local, type) {
    const stamp = local.replace("T", "_").replaceAll(":", "-");
    for (let number = 1; ; number += 1) {
        const path = `photos/${stamp.slice(0, 4)}/${stamp}${number === 1 ? "" : `-${number}`}.${fileExtensions[type]}`;
        if (used.has(path)) continue;
        used.add(path);
        return path;
    }
}

/**
 * What would be written, from records alone, without the trash. Throws CompanionError `locked`, `cancelled`.
 * @param {Companion} companion
 * @param {{ from?: string, to?: string }} days local ones, "2024-05-17", both counted
 * @param {{ signal: AbortSignal, progress?: Progress }} options `progress` in photos
 * @returns {Promise<ExportPlan>}
 */
export async function planExport({ moments, momentPhotos }, days, { signal, progress = () => {} }) {
    const listed = await moments.list(days);
    const remarks = await moments.remarks();
    const [index, nameOf] = [await remarks.index(), await remarks.authorNames()];
    const all = listed.moments.reduce((sum, moment) => sum + moment.photos.length, 0);
    /** @type {ExportPlan} */
    const plan = { moments: [], photos: [], size: 0, missing: [], unreadable: listed.unreadable };
    /** @type {Map<string, PageFile>} */
    const files = new Map();
    const used = new Set();
    let done = 0;
    for (const moment of listed.moments) {
        const photos = [];
        for (const { id, kind, width, height, duration } of moment.photos) {
            check(signal);
            // Two versions of a moment share photos.
            const size = { width, height, ...(duration ? { duration } : {}) };
            const file = files.get(id) ?? (await planned(id, kind, size));
            files.set(id, file);
            photos.push(file);
            progress((done += 1), all);
        }
        const { comments, reactions } = index.shown(moment);
        plan.moments.push({
            moment, photos,
            comments: comments.map(({ author, at, text, from }) =>
                ({ author: nameOf(author), at, text, ...(from ? { from } : {}) })),
            reactions: [...reactions].flatMap(([kind, by]) =>
                [...by.keys()].map((author) => ({ author: nameOf(author), kind }))),
        });

        /**
         * @param {string} id
         * @param {string | undefined} kind
         * @param {{ width: number, height: number, duration?: number }} size
         * @returns {Promise<PageFile>}
         */
        async function planned(id, kind, size) {
            const facts = await momentPhotos.facts(id).catch((error) => {
                if (!isUnreadable(error)) throw error;
                return null;
            });
            if (!facts) {
                plan.missing.push({ kind });
                return { id, ...size, type: "", taken: null, file: null, shown: null };
            }
            const local = localISO(facts.taken ?? moment.date, moment.offset);
            const path = pathOf(used, local, facts.original.type);
            const needsCopy = facts.medium !== null && !drawnEverywhere.has(facts.original.type)
                && !isRecording(facts.original.type);
            const copy = needsCopy && facts.medium ? {
                path: pathOf(used, local, facts.medium.type), size: facts.medium.size,
            } : null;
            plan.photos.push({ id, kind, path, size: facts.original.size, local, copy });
            plan.size += facts.original.size + (copy?.size ?? 0);
            return {
                id, ...size, type: facts.original.type, taken: facts.taken === null
                    ? null
                    : new Date(facts.taken * 1000).toISOString(),
                file: path, shown: copy?.path ?? path,
            };
        }
    }
    return plan;
}

/**
 * Throws CompanionError `tooLarge` if it does not fit into one ZIP.
 * @param {ExportPlan} plan
 */
export function checkFitsZIP({ photos, moments }) {
    const files = photos.flatMap(({ path, size, copy }) =>
        [{ name: path, size }, ...(copy ? [{ name: copy.path, size: copy.size }] : [])]);
    // An escaped character has at most 6 bytes of UTF-8 in either of the two.
    const text = moments.reduce((sum, { moment: { words, title }, photos: own, comments, reactions }) =>
        sum + roomForText.moment + 12 * (words.length + title.length) + own.length * roomForText.photo
        + (comments.length + reactions.length) * roomForText.remark
        + comments.reduce((length, one) => length + 12 * one.text.length, 0), 0);
    if (files.length + 2 <= zipLimits.files && zipLength(files) + text < zipLimits.bytes) return;
    throw new CompanionError("tooLarge",
        "These files exceed 4 GB, the limit of a ZIP. Export some years at a time, or use Chrome or Edge on a "
            + "computer, which can write a folder.");
}

/**
 * Writes one photo at a time, then the page and the data. Removes what was written if it ends early. Throws
 * CompanionError `locked`, `cancelled`, HubError, HubUnreachable, and the target's errors.
 * @param {Companion} companion
 * @param {ExportPlan} plan
 * @param {import("./export-target.js").ExportTarget} target
 * @param {{ signal: AbortSignal, progress?: Progress }} options `progress` in bytes
 * @returns {Promise<{ photos: Kind[], missing: Kind[] }>}
 */
export async function exportPlain({ momentPhotos, device }, plan, target, { signal, progress = () => {} }) {
    let done = 0;
    /** @type {Set<string>} */
    const missing = new Set();
    try {
        for (const { id, path, size, local, copy } of plan.photos) {
            check(signal);
            try {
                const before = done;
                await target.write(path, momentPhotos.pieces(id,
                    { signal, progress: (share) => progress(before + share * size, plan.size) }), local);
                if (copy) await target.write(copy.path, [(await momentPhotos.medium(id, { signal })).bytes], local);
            } catch (error) {
                check(signal);
                if (!isUnreadable(error)) throw error;
                missing.add(id);
            }
            done += size + (copy?.size ?? 0);
            progress(done, plan.size);
        }
        const now = device.time.now() / 1000;
        const moments = plan.moments.map(({ photos, ...one }) => ({
            ...one,
            photos: photos.map((photo) => (missing.has(photo.id) ? { ...photo, file: null, shown: null } : photo)),
        }));
        const local = localISO(now, -new Date(now * 1000).getTimezoneOffset());
        await target.write("timeline.html", [utf8(timelinePage(moments))], local);
        await target.write("moments.json", [utf8(momentsData(moments, now))], local);
        check(signal);
        await target.end();
    } catch (error) {
        await target.abandon().catch(() => {});
        throw error;
    }
    return {
        photos: plan.photos.filter(({ id }) => !missing.has(id)),
        missing: [...plan.missing, ...plan.photos.filter(({ id }) => missing.has(id))],
    };
}

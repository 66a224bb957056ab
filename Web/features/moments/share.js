// Shares a moment or one of its photos with other apps, once the person agreed: it leaves AppLocker.
import { fileExtensions } from "../../formats/file-extensions.js";
import { dayOf } from "../../formats/moment-format.js";
import { element } from "../../ui/element.js";
import { button } from "../../ui/parts.js";
import { download, isShareable, share } from "../../ui/share-file.js";
import { sheet } from "../../ui/sheet.js";
import { counted, sentenceOf } from "../../ui/words.js";
import { countedKinds, kindOf } from "../../ui/recording-words.js";

/** @typedef {import("./moments.js").Moment} Moment */
/** @typedef {import("../../formats/moment-format.js").MomentPhoto} MomentPhoto */

/**
 * @param {Context} context its signal ends the sheet
 * @param {Moment} moment
 * @param {MomentPhoto[]} [photos] all of them, or the one that is shared without the moment's words
 */
export async function shareMoment(context, moment, photos = moment.photos) {
    const isWhole = photos === moment.photos;
    const text = isWhole ? [moment.title, moment.words].filter(Boolean).join("\n\n") : "";
    const what = isWhole ? "moment" : kindOf(photos[0]);
    await sheet(`Share this ${what}?`, context.signal, (/** @type {(answer: true) => void} */ end, closed) => {
        /** @type {File[]} */
        let files = [];
        const status = element("p", { class: "soft", role: "status" },
            photos.length > 0 ? `Opening ${countedKinds(photos)}…` : "");
        const data = () => ({ ...(files.length > 0 ? { files } : {}), ...(text ? { text } : {}) });
        const sharing = button("Share", () => void share(data()).then((isDone) => isDone && end(true)),
            { kind: "primary", wide: true, disabled: true, hidden: true });
        const saving = button("Save a copy", () => {
            for (const file of files) download(file);
            if (text) download(new File([text], `moment-${dayOf(moment)}.txt`, { type: "text/plain" }));
            end(true);
        }, { wide: true, disabled: true });
        const open = async () => {
            /** @type {unknown[]} */
            const problems = [];
            for (const [index, { id }] of photos.entries()) {
                await fileOf(index, id).then((file) => files.push(file), (error) => problems.push(error));
            }
            if (closed.aborted) return;
            status.textContent = problems.length === 0 ? "" : leftOut(problems, photos);
            if (files.length === 0 && !text) return;
            sharing.hidden = !isShareable(data());
            sharing.disabled = saving.disabled = false;
        };
        /** @param {number} index @param {string} id */
        const fileOf = async (index, id) => {
            const { momentPhotos } = context.companion;
            const { type } = (await momentPhotos.facts(id)).original;
            /** @type {Blob[]} */
            const parts = [];
            // The browser can keep blobs outside this page's memory.
            for await (const piece of momentPhotos.pieces(id, { signal: closed })) {
                parts.push(new Blob([piece]));
                piece.fill(0);
            }
            const number = photos.length > 1 ? `-${index + 1}` : "";
            const name = `moment-${dayOf(moment)}${number}.${fileExtensions[type]}`;
            return new File(parts, name, { type });
        };
        void open();
        closed.addEventListener("abort", () => (files = []), { once: true });
        return [
            element("p", { class: "soft" }, "It leaves AppLocker: the copy is not sealed. The app that you choose, and "
                + "everybody who gets it there, can read it."
                + (photos.length > 0
                    ? " A kept original file, a video or a voice note includes its camera data and place." : "")),
            status, sharing, saving, button("Cancel", () => end(true), { kind: "plain", wide: true }),
        ];
    });
}

/**
 * @param {unknown[]} problems why photos can't be opened; at least one
 * @param {MomentPhoto[]} all of which these are some
 */
const leftOut = ([first, ...others], all) => all.length === 1
    ? sentenceOf(first)
    : `${others.length + 1} of ${counted(all.length, all.some((one) => kindOf(one) !== "photo") ? "file" : "photo")} `
        + `can’t be opened and will be left out. ${sentenceOf(first)}`;

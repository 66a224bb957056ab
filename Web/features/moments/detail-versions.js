// Two versions of one moment: the person keeps one, both, or merges them. What is not kept is in the trash.
import { element } from "../../ui/element.js";
import { icon } from "../../ui/icon.js";
import { button, section } from "../../ui/parts.js";
import { dayAndTime, sentenceOf } from "../../ui/words.js";
import { moodIcon, moodName } from "./moods.js";
import { thumbnails } from "./thumbnails.js";
import { seen, wholeDay } from "./timeline-card.js";
import { mosaic, mosaicHeight } from "./timeline-mosaic.js";
import { copyOf, plainTitle } from "../../formats/conflict-copies.js";

/** @typedef {import("./moments.js").Moment} Moment */
/** @typedef {import("../../formats/moment-format.js").MomentPhoto} MomentPhoto */

/**
 * The words of the first, then what only the second has.
 * @param {string} one
 * @param {string} other
 */
function together(one, other) {
    const known = new Set(one.split("\n").map((line) => line.trim()));
    const more = other.split("\n").filter((line) => !known.has(line.trim()));
    return more.length > 0 ? `${one.trimEnd()}\n\n${more.join("\n")}`.trim() : one;
}

/** @param {Pick<Moment, "mood" | "place" | "favourite">} moment */
export const marks = ({ mood, place, favourite }) => element("p", { class: "moment-marks" },
    mood && element("span", { class: "moment-mark" }, icon(moodIcon(mood)),
        element("span", { dir: "auto" }, moodName(mood))),
    place?.name && element("span", { class: "moment-mark" }, icon("pin"), element("span", { dir: "auto" }, place.name)),
    favourite && element("span", { class: "moment-mark" }, icon("heart"), "Favourite"));

/**
 * @param {Context} context
 * @param {Moment[]} versions the older one, and the other
 * @param {(id: string) => void} decided
 * @returns {HTMLElement}
 */
export function comparedVersions(context, [original, copy], decided) {
    const { companion, toast } = context;
    const loader = thumbnails(context);
    const name = copyOf(copy) ?? "another device";
    const view = element("div", { class: "moment-compare", tabindex: "-1" });
    /** @param {() => Promise<Moment>} decide */
    const deciding = async (decide) => {
        try {
            decided((await decide()).id);
        } catch (error) {
            toast(sentenceOf(error));
        }
    };
    /** @param {Moment} from @returns {import("./moments.js").Draft} without what names it a copy */
    const draftOf = (from) => ({
        title: plainTitle(from), words: from.words, date: from.date, offset: from.offset, mood: from.mood,
        place: from.place ?? null, photos: from.photos, favourite: from.favourite,
    });
    const keepOriginal = async () => {
        const removed = await companion.moments.remove(copy);
        toast("The other version is in the trash", {
            milliseconds: 30_000, undo: () => companion.moments.restore(removed)
                .catch((error) => toast(sentenceOf(error))),
        });
        return original;
    };
    /** @param {import("./moments.js").Draft} draft */
    const replace = async (draft) => {
        // No other copy of it exists: it stays in the trash as a moment of its own.
        const before = await companion.moments.save(null, draftOf(original), undefined, false);
        const kept = await companion.moments.save(original, draft);
        for (const one of [before, copy]) await companion.moments.remove(one);
        toast("The earlier versions are in the trash");
        return kept;
    };
    const keepBoth = async () => {
        // With another title it is an ordinary moment.
        await companion.moments.save(copy,
            { ...draftOf(copy), title: `${plainTitle(copy) || wholeDay(copy)} (from ${name})` });
        return original;
    };

    /** @param {Moment} moment @param {string} label @param {() => void} keep */
    const pane = (moment, label, keep) => {
        const pictures = moment.photos.length > 0
            && mosaic(moment.photos, (place, id, image) => loader.watch(place, id, image));
        if (pictures) pictures.style.setProperty("aspect-ratio", `1 / ${mosaicHeight(moment.photos, 1000) / 1000}`);
        return element("section", { class: "card moment-version", "aria-label": label }, pictures,
            element("div", { class: "card-body" },
                element("p", { class: "moment-version-label" }, element("strong", { dir: "auto" }, label),
                    element("span", { class: "soft caption" }, dayAndTime(moment.modified))),
                element("h2", { class: "moment-version-title", dir: "auto" },
                    seen(plainTitle(moment)) || "Without a title"),
                element("p", { class: "soft note" }, wholeDay(moment)), marks(moment),
                seen(moment.words) && element("div", {
                    class: "moment-version-words", dir: "auto", tabindex: "0", role: "group",
                    "aria-label": `Words, ${label}`,
                }, moment.words),
                button("Keep only this version", keep,
                    { wide: true, "aria-label": `Keep only this version: ${label}` })));
    };
    const labels = ["The earlier version", `The version of ${name}`];
    const chooseOne = () => view.replaceChildren(
        element("p", { class: "soft" }, "Choose the version to keep. The other one stays in the trash for 30 days."),
        element("div", { class: "moment-versions" },
            pane(original, labels[0], () => deciding(keepOriginal)),
            pane(copy, labels[1], () => deciding(() => replace(draftOf(copy))))),
        element("div", { class: "buttons buttons-even" },
            button("Keep both", () => deciding(keepBoth)), button("Merge manually", merge, { kind: "primary" })));

    const merge = () => {
        const known = new Set(original.photos.map(({ id }) => id));
        const photos = [...original.photos, ...copy.photos.filter(({ id }) => !known.has(id))];
        const left = new Set();
        const title = element("input",
            { class: "input", value: plainTitle(original) || plainTitle(copy), "aria-label": "Title", dir: "auto" });
        const words = element("textarea", { class: "input moment-merge", "aria-label": "Words", dir: "auto", rows: 8 });
        words.value = together(original.words, copy.words);
        let from = original;
        const differs = original.mood !== copy.mood || original.place?.name !== copy.place?.name
            || dayOfDiffers(original, copy);
        view.replaceChildren(section("Merge", [
            element("p", { class: "soft" },
                "The words of both are below, one after the other, with all photos. Delete what you don’t want."),
            photos.length > 0 && element("ul", { class: "moment-pick" },
                ...photos.map((photo, index) =>
                    pick(photo, index, (isKept) => void (isKept ? left.delete(photo.id) : left.add(photo.id))))),
            title, words,
            differs && element("div", {
                class: "moment-choice", role: "radiogroup", "aria-labelledby": "moment-choice",
            }, element("p", { class: "field-label", id: "moment-choice" }, "Day, mood and place"),
                element("div", { class: "card rows" }, ...[original, copy]
                    .map((one, index) => element("label", { class: "row" },
                        element("input", {
                            type: "radio", name: "moment-facts", class: "moment-radio", checked: index === 0,
                            onchange: () => (from = one),
                        }),
                        element("span", { class: "row-text" }, element("span", { class: "row-title" }, wholeDay(one)),
                            element("span", { class: "row-note", dir: "auto" },
                                [one.mood && moodName(one.mood), one.place?.name].filter(Boolean).join(", ")
                                    || "No mood, no place")))))),
            element("div", { class: "buttons buttons-even" }, button("Back", chooseOne),
                button("Save", () => deciding(() => replace({
                    ...draftOf(from), title: title.value, words: words.value,
                    photos: photos.filter(({ id }) => !left.has(id)), favourite: original.favourite || copy.favourite,
                })), { kind: "primary" }))].flatMap((child) => child || [])));
        view.focus({ preventScroll: true });
        window.scrollTo(0, 0);
    };
    /** @param {MomentPhoto} photo @param {number} index @param {(isKept: boolean) => void} change */
    const pick = (photo, index, change) => {
        const image = element("img", { class: "moment-image", alt: "", decoding: "async" });
        const place = element("li", { class: "moment-pick-photo moment-photo" },
            element("label", { class: "moment-pick-label" }, image,
                element("input", {
                    type: "checkbox", class: "moment-check", checked: true, "aria-label": `Keep photo ${index + 1}`,
                    onchange: (/** @type {Event} */ event) =>
                        change(/** @type {HTMLInputElement} */ (event.target).checked),
                })));
        loader.watch(place, photo.id, image);
        return place;
    };
    chooseOne();
    return view;
}

/** @param {Moment} one @param {Moment} other */
const dayOfDiffers = (one, other) => one.date !== other.date || one.offset !== other.offset;

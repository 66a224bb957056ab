// A moment in the timeline. The height of every part follows from its words and sizes, so that a list of thousands is
// laid out without drawing it.
import { dayOf } from "../../formats/moment-format.js";
import { element } from "../../ui/element.js";
import { icon } from "../../ui/icon.js";
import { badge } from "../../ui/parts.js";
import { isVisible, named } from "../../ui/words.js";
import { spokenCounts } from "./remark-words.js";
import { moodIcon, moodName } from "./moods.js";
import { countedKinds } from "../../ui/recording-words.js";
import { mosaic, mosaicHeight } from "./timeline-mosaic.js";

/** @typedef {import("./moments.js").Moment} Moment */

/** In rem, as in styles/everline.css. */
const [titleLine, wordsLine, quoteLine, metaLine, padding, between] = [1.5, 1.375, 1.625, 1.5, 0.875, 0.25];
const mostWords = 2;
const mostQuoted = 6;
/** Average width of a letter, relative to the size of the words. */
const letterWidth = 0.5;
const wide =
    /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\uff00-\uff60\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/gu;

const weekday = new Intl.DateTimeFormat(undefined, { weekday: "short", timeZone: "UTC" });
const short = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", year: "numeric", timeZone: "UTC" });
const whole = new Intl.DateTimeFormat(undefined,
    { weekday: "long", day: "numeric", month: "long", year: "numeric", timeZone: "UTC" });

/** @param {Moment} moment the local day there */
const localOf = (moment) => new Date(`${dayOf(moment)}T00:00:00Z`);

/** @param {Moment} moment "Friday, 17 May 2024" */
export const wholeDay = (moment) => whole.format(localOf(moment));

/** @param {string} text @returns {string} without invisible characters, as long as fits on a card */
export const seen = (text) => (isVisible(text.slice(0, 2_000)) ? text.slice(0, 600).trim() : "");

/** @param {Moment} moment "17 May 2024" */
export const shortDay = (moment) => short.format(localOf(moment));

/** @param {Moment} moment without a title it has its first words */
export const nameOf = (moment) => seen(moment.title)
    || [...seen(moment.words).split("\n", 1)[0]].slice(0, 80).join("") || wholeDay(moment);

/**
 * Estimated lines of a text, which is cut there.
 * @param {string} text
 * @param {number} width in pixels
 * @param {number} size of its letters in pixels
 * @param {number} most
 */
function linesOf(text, width, size, most) {
    const perLine = Math.max(1, width / (size * letterWidth));
    let lines = 0;
    for (const line of text.split("\n")) {
        lines += Math.max(1, Math.ceil((line.length + (line.match(wide)?.length ?? 0)) / perLine));
        if (lines >= most) return most;
    }
    return lines;
}

/** @param {Moment} moment @param {number} width @param {number} rem */
function textOf(moment, width, rem) {
    const words = seen(moment.words);
    const isQuote = moment.photos.length === 0;
    const lines = words === "" ? 0 : isQuote
        ? linesOf(words, width - 2 * 1.125 * rem, 1.0625 * rem, mostQuoted)
        : linesOf(words, width - 2 * padding * rem, 0.9375 * rem, mostWords);
    return { title: seen(moment.title), words, isQuote, lines };
}

/** @param {Moment} moment @param {number} width in pixels @param {number} rem in pixels */
export function cardHeight(moment, width, rem) {
    const { title, isQuote, lines } = textOf(moment, width, rem);
    const parts = [title ? titleLine : 0, lines * (isQuote ? quoteLine : wordsLine), metaLine].filter((one) => one > 0);
    const text = parts.reduce((sum, one) => sum + one, 0) + (parts.length - 1) * between + 2 * padding;
    return mosaicHeight(moment.photos, width) + Math.ceil(text * rem);
}

/** @typedef {{ comments: number, reactions: number }} RemarkCounts */

/** @param {Moment} moment @param {RemarkCounts | null} remarks as a screen reader reads them */
function spoken(moment, remarks) {
    return [seen(moment.title) && named(seen(moment.title)), wholeDay(moment),
        moment.place?.name && named(moment.place.name), moment.mood && named(moodName(moment.mood)),
        countedKinds(moment.photos),
        moment.favourite && "Favourite", remarks && spokenCounts(remarks)].filter(Boolean).join(", ");
}

/**
 * @param {Moment} moment
 * @param {{ width: number, rem: number, hasVersions: boolean, remarks: RemarkCounts | null,
 *   watch: (place: HTMLElement, id: string, image: HTMLImageElement) => void }} given
 */
export function momentCard(moment, { width, rem, hasVersions, remarks, watch }) {
    const { title, words, isQuote, lines } = textOf(moment, width, rem);
    const day = localOf(moment);
    const pictures = moment.photos.length > 0 && mosaic(moment.photos, watch);
    if (pictures) pictures.style.setProperty("height", `${mosaicHeight(moment.photos, width)}px`);
    const text = words && element("p", { class: isQuote ? "moment-quote" : "moment-words", dir: "auto" }, words);
    if (text) text.style.setProperty("--lines", String(lines));
    const state = hasVersions ? badge("Two versions", "warning")
        : moment.problem ? badge("Not accepted by the hub", "danger")
        : moment.isWaiting ? element("span", { class: "moment-waiting", title: "Not sent yet" }, icon("cloud"),
            element("span", { class: "visually-hidden" }, "Not sent yet")) : null;
    return element("a", {
        class: `moment-card${isQuote ? " moment-card-quote" : ""}`, href: `#/moments/${moment.id}`,
        "aria-label": spoken(moment, remarks),
    },
        pictures,
        moment.favourite && element("span", { class: `moment-heart${isQuote ? "" : " moment-heart-over"}` },
            icon("heart")),
        element("span", { class: "moment-text" },
            title && element("span", { class: "moment-title", dir: "auto" }, title),
            text,
            element("span", { class: "moment-meta" },
                element("time", { class: "moment-day", datetime: dayOf(moment) },
                    element("strong", {}, day.getUTCDate()), ` ${weekday.format(day)}`),
                moment.mood && element("span", { class: "moment-mood" }, icon(moodIcon(moment.mood)),
                    element("span", { class: "moment-cut", dir: "auto" }, moodName(moment.mood))),
                moment.place?.name && element("span", { class: "moment-place" }, icon("pin"),
                    element("span", { class: "moment-cut", dir: "auto" }, moment.place.name.slice(0, 200))),
                remarks && element("span", { class: "moment-remarks" },
                    ...[["comment", remarks.comments], ["smile", remarks.reactions]].flatMap(([name, count]) =>
                        (count ? [icon(/** @type {import("../../ui/icon.js").IconName} */ (name)), count] : []))),
                state)));
}

// Searches and counts opened moments.
import { ringKind } from "../../crypto/ring.js";
import { dayOf, localOf, photoHash } from "../../formats/moment-format.js";
import { dayAfter } from "../../formats/special-date.js";
import { kindOf } from "../../ui/recording-words.js";

/** @typedef {import("./moments.js").Moment} Moment */

const written = new Intl.DateTimeFormat(undefined,
    { weekday: "long", year: "numeric", month: "long", day: "numeric", timeZone: "UTC" });

/**
 * The text that is searched, in lower case: words, mood, place, photos, "video" and "voice note", the date in digits
 * and in words.
 * @param {Moment} moment
 */
export function searchableText(moment) {
    const local = localOf(moment);
    const day = Number.isFinite(local.getTime()) ? `${local.toISOString().slice(0, 10)}\n${written.format(local)}` : "";
    const photos = moment.photos.flatMap(({ description = [], ...photo }) => [description,
        kindOf(photo) === "photo" ? [] : kindOf(photo)]).flat();
    return [moment.title, moment.words, moment.mood, moment.place?.name ?? "", day, ...photos].join("\n")
        .toLocaleLowerCase();
}

/**
 * @param {string} day
 * @returns {string[]} "-05-17"; where the year has no February 29, its 28 is both
 */
function calendarDays(day) {
    const isShort = new Date(`${day.slice(0, 4)}-02-29T00:00:00Z`).getUTCMonth() !== 1;
    return isShort && day.endsWith("-02-28") ? ["-02-28", "-02-29"] : [day.slice(4)];
}

/**
 * This day in other years, newest first.
 * @param {Moment[]} moments
 * @param {string} day "2024-05-17"; what was on February 29 is shown on 28 where the year has none
 */
export function onThisDay(moments, day) {
    const days = calendarDays(day);
    return moments.filter((moment) => {
        const other = dayOf(moment);
        return other.slice(0, -6) !== day.slice(0, 4) && days.includes(other.slice(-6));
    });
}

/**
 * The days, from one to another, both counted, that have moments of earlier years.
 * @param {Moment[]} moments
 * @param {string} from
 * @param {string} to
 */
export function rememberedDays(moments, from, to) {
    /** @type {Map<string, string>} the first year of each day of the calendar */
    const first = new Map();
    for (const moment of moments) {
        const day = dayOf(moment);
        const [year, rest] = [day.slice(0, -6), day.slice(-6)];
        if ((first.get(rest) ?? "9999") > year) first.set(rest, year);
    }
    const days = new Set();
    for (let day = from; day <= to; day = dayAfter(day, 1)) {
        if (calendarDays(day).some((rest) => (first.get(rest) ?? "9999") < day.slice(0, 4))) days.add(day);
    }
    return days;
}

/** @param {Map<string, number>} counts @param {string} name @param {number} [more] */
const add = (counts, name, more = 1) => void counts.set(name, (counts.get(name) ?? 0) + more);

/**
 * `months`: "2024-05", oldest first. `years`: newest first; `index`: of its first moment in the list. `daysTogether`:
 * null without a date.
 * @typedef {{ moments: number, photos: number, videos: number, voiceNotes: number, favourites: number,
 *   places: number, days: number, first: number | null,
 *   months: { month: string, moments: number, photos: number }[], moods: { mood: string, moments: number }[],
 *   years: { year: number, moments: number, index: number }[], daysTogether: number | null }} Statistics
 */

/**
 * @param {Moment[]} moments newest first
 * @param {{ together?: string, today: string }} days local ones, "2024-05-17"
 * @returns {Statistics}
 */
export function statistics(moments, { together, today }) {
    /** @type {[Map<string, number>, Map<string, number>, Map<string, number>]} */
    const [months, photos, moods] = [new Map(), new Map(), new Map()];
    const [places, days] = [new Set(), new Set()];
    let [videos, voiceNotes] = [0, 0];
    /** @type {Statistics["years"]} */
    const years = [];
    for (const [index, moment] of moments.entries()) {
        const day = dayOf(moment);
        const month = day.slice(0, -3);
        days.add(day);
        add(months, month);
        const kinds = moment.photos.map(kindOf);
        add(photos, month, kinds.filter((kind) => kind === "photo").length);
        videos += kinds.filter((kind) => kind === "video").length;
        voiceNotes += kinds.filter((kind) => kind === "voice note").length;
        if (moment.mood) add(moods, moment.mood);
        if (moment.place?.name) places.add(moment.place.name.toLocaleLowerCase());
        const year = Number(month.slice(0, -3));
        const known = years.find((one) => one.year === year);
        if (known) known.moments += 1;
        else years.push({ year, moments: 1, index });
    }
    return {
        moments: moments.length, photos: [...photos.values()].reduce((sum, count) => sum + count, 0), videos,
        voiceNotes, favourites: moments.filter(({ favourite }) => favourite).length, places: places.size,
        days: days.size,
        first: moments.at(-1)?.date ?? null,
        months: [...months].map(([month, count]) => ({ month, moments: count, photos: photos.get(month) ?? 0 }))
            .reverse(),
        moods: [...moods].map(([mood, count]) => ({ mood, moments: count }))
            .sort((one, other) => other.moments - one.moments),
        years, daysTogether: together
            ? Math.max(0, Math.floor((Date.parse(today) - Date.parse(together)) / 86_400_000))
            : null,
    };
}

/**
 * Where a file already is; null if it is nowhere.
 * @param {Moment[]} moments of the vault
 * @param {string} vault
 * @param {import("../../crypto/ring.js").KeyRing} ring
 * @param {Uint8Array} digest SHA-256 of the file
 * @returns {Promise<{ moment: string, photo: import("../../formats/moment-format.js").MomentPhoto } | null>}
 */
export async function holding(moments, vault, ring, digest) {
    const epochs = new Set(moments.flatMap(({ photos }) => photos.map(({ hash }) => hash.slice(0, 8))));
    /** @type {Set<string>} */
    const hashes = new Set();
    for (const text of epochs) {
        const epoch = parseInt(text, 16);
        const key = ring.key(ringKind.vault, vault, epoch);
        if (key) hashes.add(await photoHash({ key, epoch, vault }, digest));
    }
    for (const moment of moments) {
        const photo = moment.photos.find(({ hash }) => hashes.has(hash));
        if (photo) return { moment: moment.id, photo };
    }
    return null;
}

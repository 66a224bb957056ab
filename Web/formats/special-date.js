// The content of the records of special dates. docs/formats.md, "Special dates".
import { textOf, utf8 } from "../crypto/bytes.js";
import { FormatError } from "../crypto/errors.js";

/** @typedef {{ name: string, day: string, yearly: boolean }} DateContent `day`: "2019-06-01" */
/** @typedef {DateContent & { id: string, vault: string }} SpecialDate */
/**
 * The day that is counted from, and the others in the order of the calendar. `hidden`: more than a vault may have.
 * `unreadable`: invalid ones, and those without a key.
 * @typedef {{ together: SpecialDate | null, dates: SpecialDate[], hidden: number, unreadable: number }} DateList
 */
/**
 * `name`: null of the days together. `years`: since the first time, null where it is a number of days.
 * @typedef {{ name: string | null, day: string, inDays: number, years: number | null, days: number }} Occasion
 */

export const longestDateName = 80;

const dayLength = 86_400_000;
/** Control characters, and those that change the direction or the lines of the text around them. */
const controls = /[\p{Cc}\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;
const visible = /[\p{L}\p{N}\p{P}\p{S}]/u;

/**
 * Whether it is a day of the calendar, in the years 1000 to 9999.
 * @param {any} value
 * @returns {value is string}
 */
export const isDay = (value) => typeof value === "string" && /^[1-9]\d{3}-\d\d-\d\d$/.test(value)
    && Number.isFinite(Date.parse(value)) && dayAt(Date.parse(value)) === value;

/** @param {number} time */
const dayAt = (time) => new Date(time).toISOString().slice(0, 10);

/** @param {any} value @returns {value is DateContent} */
const isDate = (value) => typeof value?.name === "string" && value.name === cleanDateName(value.name)
    && visible.test(value.name) && [...value.name].length <= longestDateName
    && isDay(value.day) && typeof value.yearly === "boolean";

/** @param {string} typed */
export const cleanDateName = (typed) => typed.replace(controls, "").trim();

/**
 * Null if it is invalid.
 * @param {Uint8Array} body
 * @returns {DateContent | null}
 */
export function readDate(body) {
    try {
        const value = JSON.parse(textOf(body));
        return isDate(value) ? { name: value.name, day: value.day, yearly: value.yearly } : null;
    } catch {
        return null;
    }
}

/**
 * Throws FormatError `malformed` for content that readers refuse.
 * @param {DateContent} content
 */
export function dateBody(content) {
    if (!isDate(content)) {
        throw new FormatError("malformed", "A date has a name of 1 to 80 characters and a day.");
    }
    return utf8(JSON.stringify(content));
}

/** @param {string} day @param {number} years @returns {string} February 29 becomes 28 in other years */
export function anniversary(day, years) {
    const [year, month, date] = day.split("-").map(Number);
    const found = new Date(Date.UTC(year + years, month - 1, date));
    return dayAt(found.getUTCMonth() === month - 1 ? found.getTime() : Date.UTC(year + years, month, 0));
}

/**
 * When a date is next, today included; null if it is over.
 * @param {DateContent} date
 * @param {string} today
 * @returns {{ day: string, inDays: number, years: number } | null} `years`: since the first time
 */
export function nextTime({ day, yearly }, today) {
    let years = 0;
    if (yearly && day < today) {
        years = Number(today.slice(0, 4)) - Number(day.slice(0, 4));
        if (anniversary(day, years) < today) years += 1;
    }
    const next = anniversary(day, years);
    return next < today ? null : { day: next, inDays: daysBetween(today, next), years };
}

/** @param {string} from @param {string} to */
export const daysBetween = (from, to) => Math.round((Date.parse(to) - Date.parse(from)) / dayLength);

/** @param {string} day @param {number} count */
export const dayAfter = (day, count) => dayAt(Date.parse(day) + count * dayLength);

/**
 * The local day.
 * @param {number} now milliseconds since 1970
 */
export const localDay = (now) => dayAt(now - new Date(now).getTimezoneOffset() * 60_000);

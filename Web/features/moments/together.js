// The occasions of the day that two people count from: anniversaries and round numbers of days.
import { anniversary, dayAfter, daysBetween, nextTime } from "../../formats/special-date.js";

/**
 * The next occasion after today.
 * @param {string} since "2019-06-01"
 * @param {string} today
 * @returns {{ day: string, inDays: number, years: number | null, days: number }} `years`: null where it is a number of
 *   days
 */
export function nextOccasion(since, today) {
    const passed = daysBetween(since, today);
    const step = passed < 1000 ? 100 : 500;
    const round = (Math.floor(passed / step) + 1) * step;
    let years = Math.max(1, Number(today.slice(0, 4)) - Number(since.slice(0, 4)));
    if (anniversary(since, years) <= today) years += 1;
    const yearly = daysBetween(since, anniversary(since, years));
    const days = Math.min(round, yearly);
    return { day: dayAfter(since, days), inDays: days - passed, years: yearly === days ? years : null, days };
}

/**
 * The next occasion, today included; null before the first day.
 * @param {string} since
 * @param {string} today
 */
export function occasionFrom(since, today) {
    if (since >= today) return null;
    const next = nextOccasion(since, dayAfter(today, -1));
    return { ...next, inDays: next.inDays - 1 };
}

/**
 * How many occasions each day has, from a day to another, both counted; days without one are not in it.
 * @param {Pick<import("../../formats/special-date.js").DateList, "together" | "dates">} list
 * @param {string} from
 * @param {string} to
 * @returns {Map<string, number>}
 */
export function occasionDays({ together, dates }, from, to) {
    /** @type {Map<string, number>} */
    const days = new Map();
    const next = [
        ...(together ? [(/** @type {string} */ day) => occasionFrom(together.day, day)] : []),
        ...dates.map((date) => (/** @type {string} */ day) => nextTime(date, day)),
    ];
    for (const after of next) {
        for (let found = after(from); found && found.day <= to; found = after(dayAfter(found.day, 1))) {
            days.set(found.day, (days.get(found.day) ?? 0) + 1);
        }
    }
    return days;
}

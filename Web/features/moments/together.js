// The day that two people count from, in the private storage of each vault.

const name = "together";
const day = 86_400_000;

/** @param {unknown} value */
const isDay = (value) => typeof value === "string"
    && /^\d{4}-\d\d-\d\d$/.test(value) && Number.isFinite(Date.parse(value));

/**
 * "2019-06-01", or null. Throws CompanionError `locked`.
 * @param {Companion} companion
 * @returns {Promise<string | null>}
 */
export async function together(companion) {
    const kept = await companion.privateStorage.get(name);
    return isDay(kept) ? kept : null;
}

/** @param {Companion} companion @param {string | null} since */
export const setTogether = (companion, since) => companion.privateStorage.set(name, since);

/**
 * The next occasion: an anniversary, or a round number of days.
 * @param {string} since "2019-06-01"
 * @param {string} today
 * @returns {{ day: string, inDays: number, years: number | null, days: number }} `years`: null where it is a number of
 *   days
 */
export function nextOccasion(since, today) {
    const [start, now] = [Date.parse(since), Date.parse(today)];
    const passed = Math.floor((now - start) / day);
    const step = passed < 1000 ? 100 : 500;
    const round = (Math.floor(passed / step) + 1) * step;
    let years = Math.max(1, Number(today.slice(0, 4)) - Number(since.slice(0, 4)));
    if (anniversary(since, years) <= now) years += 1;
    const yearly = Math.round((anniversary(since, years) - start) / day);
    const days = Math.min(round, yearly);
    return {
        day: new Date(start + days * day).toISOString().slice(0, 10), inDays: days - passed,
        years: yearly === days ? years : null, days,
    };
}

/** @param {string} since @param {number} years */
function anniversary(since, years) {
    const [year, month, date] = since.split("-").map(Number);
    const found = new Date(Date.UTC(year + years, month - 1, date));
    // February 29 becomes 28 in other years.
    return found.getUTCMonth() === month - 1 ? found.getTime() : Date.UTC(year + years, month, 0);
}

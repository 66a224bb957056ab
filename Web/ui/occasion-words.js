// Words of special dates and of the days that two people count.
/** @typedef {import("../formats/special-date.js").Occasion} Occasion */

const number = new Intl.NumberFormat();
const longDay = new Intl.DateTimeFormat(undefined,
    { weekday: "long", day: "numeric", month: "long", year: "numeric", timeZone: "UTC" });

/**
 * "one year", "5 years", "2,500 days".
 * @param {{ years: number | null, days: number }} occasion
 */
export const spanOf = ({ years, days }) => (years === null ? `${number.format(days)} days`
    : years === 1 ? "one year" : `${years} years`);

/** @param {Occasion} occasion */
const nameOf = (occasion) => occasion.name ?? `${spanOf(occasion)} together`;

/**
 * "In 3 days: Anna’s birthday".
 * @param {Occasion} occasion
 */
export function occasionTitle(occasion) {
    const { inDays } = occasion;
    const name = nameOf(occasion);
    if (inDays === 0) return name[0].toLocaleUpperCase() + name.slice(1);
    return `${inDays === 1 ? "Tomorrow" : `In ${number.format(inDays)} days`}: ${name}`;
}

/**
 * For how many years it has been.
 * @param {Occasion} occasion
 */
export const yearsOf = ({ name, years, days }) => (name !== null && years ? spanOf({ years, days }) : "");

/**
 * "Sunday, 3 May 2026".
 * @param {string} day
 */
export const wholeDayName = (day) => longDay.format(Date.parse(day));

// Reads and writes a schedule's text, as docs/formats.md has it under "Command", and describes it in words.

/**
 * @typedef {"none" | "block" | "allow"} ScheduleMode none: always locked; block: locked inside; allow: open inside only
 */
/**
 * `days`: Monday is 0, Sunday 6. `from` and `to`: "HH:MM", `to` up to "24:00"; a window may cross midnight.
 * @typedef {{ days: number[], from: string, to: string }} Window
 */
/** @typedef {{ mode: ScheduleMode, windows: Window[] }} Schedule */

const names = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
const long = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
export const everyDay = Object.freeze([0, 1, 2, 3, 4, 5, 6]);
const groups = /** @type {Record<string, readonly number[]>} */ ({
    daily: everyDay, weekdays: [0, 1, 2, 3, 4], weekends: [5, 6],
});

/** @type {{ label: string, text: string }[]} what is offered: the templates of every AppLocker */
export const presets = [
    { label: "Work hours", text: "block mon-fri 09:00-17:00" },
    { label: "School hours", text: "block mon-fri 08:00-15:00" },
    { label: "School nights", text: "block mon-thu,sun 20:00-07:00" },
    { label: "Nights", text: "block daily 22:00-07:00" },
    { label: "Weekends only", text: "allow sat,sun 00:00-24:00" },
    { label: "Evenings only", text: "allow daily 18:00-21:00" },
    { label: "Lunch breaks only", text: "allow mon-fri 12:00-13:00" },
];

/**
 * Null if this version does not understand the text.
 * @param {string | undefined} text
 * @returns {Schedule | null}
 */
export function readSchedule(text) {
    const trimmed = (text ?? "").trim();
    if (!trimmed) return { mode: "none", windows: [] };
    const [mode, ...words] = trimmed.split(/[\s,]+/);
    if (mode !== "block" && mode !== "allow") return null;
    /** @type {Window[]} */
    const windows = [];
    /** @type {number[]} */
    let days = [];
    for (const word of words) {
        const times = /^(\d\d:\d\d)-(\d\d:\d\d)$/.exec(word);
        if (times) {
            windows.push({ days: days.length
                ? sorted(days)
                : (windows.at(-1)?.days ?? [...everyDay]), from: times[1], to: times[2] });
            days = [];
            continue;
        }
        const found = daysOf(word);
        if (!found) return null;
        days.push(...found);
    }
    return windows.length && !days.length ? { mode, windows } : null;
}

/** @param {number[]} days */
const sorted = (days) => [...new Set(days)].sort((one, other) => one - other);

/** @param {string} word */
function daysOf(word) {
    if (groups[word]) return [...groups[word]];
    const ends = word.split("-").map((name) => Math.max(names.indexOf(name), long.indexOf(name)));
    if (ends.length > 2 || ends.some((end) => end < 0)) return null;
    const [first, last = first] = ends;
    // "fri-mon" includes Sunday.
    return Array.from({ length: ((last - first + 7) % 7) + 1 }, (_, index) => (first + index) % 7);
}

/** @param {Schedule} schedule */
export function writeSchedule({ mode, windows }) {
    if (mode === "none") return "";
    return `${mode} ${windows.map(({ days, from, to }) =>
        `${days.length === 7 ? "daily" : days.map((day) => names[day]).join(",")} ${from}-${to}`).join(",")}`;
}

/**
 * Why it can't be sent, or null.
 * @param {Schedule} schedule
 */
export function problemOf({ mode, windows }) {
    if (mode === "none") return null;
    if (windows.length === 0) return "Add at least one time.";
    for (const { days, from, to } of windows) {
        if (days.length === 0) return "Choose at least one day for each time.";
        if (!from || !to) return "Enter a beginning and an end for each time.";
        if (from === to) return "The beginning and the end of a time must differ. A whole day is 00:00 to 24:00.";
    }
    return null;
}

/**
 * 2024 began with a Monday.
 * @param {number} day
 * @param {"short" | "long" | "narrow"} style
 */
export const dayWord = (day, style) => new Intl.DateTimeFormat(undefined, { weekday: style, timeZone: "UTC" })
    .format(Date.UTC(2024, 0, 1 + day));

/**
 * "Mon to Fri", "Sat, Sun", "every day".
 * @param {number[]} days
 */
function daysWords(days) {
    if (days.length === 7) return "every day";
    const isRun = days.length > 2 && days.every((day, index) => index === 0 || day === days[index - 1] + 1);
    return isRun
        ? `${dayWord(days[0], "short")} to ${dayWord(days[days.length - 1], "short")}`
        : days.map((day) => dayWord(day, "short")).join(", ");
}

/**
 * "Locked Mon to Fri, 09:00 to 17:00".
 * @param {string | undefined} text
 */
export function scheduleWords(text) {
    const schedule = readSchedule(text);
    if (!schedule) return text ?? "";
    if (schedule.mode === "none") return "Always locked";
    const times = schedule.windows.map(({ days, from, to }) =>
        `${daysWords(days)}, ${from === "00:00" && to === "24:00" ? "all day" : `${from} to ${to}`}`).join("; ");
    return `${schedule.mode === "block" ? "Locked" : "Unlocked only"} ${times}`;
}

// Formats times and sentences, in the device's language where Intl supports it.

const [minute, hour, day] = [60, 3600, 86_400];
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: "auto", style: "long" });
const clock = new Intl.DateTimeFormat(undefined, { hour: "numeric", minute: "2-digit" });
const date = new Intl.DateTimeFormat(undefined, { weekday: "long", day: "numeric", month: "long" });
const dateOfYear = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "long", year: "numeric" });

/**
 * "3 minutes ago".
 * @param {number} seconds since 1970
 * @param {number} [now] seconds since 1970
 */
export function ago(seconds, now = Date.now() / 1000) {
    const past = Math.max(0, now - seconds);
    if (past < 45) return "just now";
    if (past < 45 * minute) return relative.format(-Math.round(past / minute), "minute");
    if (past < 22 * hour) return relative.format(-Math.round(past / hour), "hour");
    if (past < 6 * day) return relative.format(-Math.max(1, daysBetween(seconds, now)), "day");
    return dateOfYear.format(seconds * 1000);
}

/** @param {number} one @param {number} other seconds since 1970; in whole days of the calendar here */
function daysBetween(one, other) {
    const start = (/** @type {number} */ seconds) => new Date(seconds * 1000).setHours(0, 0, 0, 0);
    return Math.round((start(other) - start(one)) / 86_400_000);
}

/** @param {number} seconds since 1970 */
export const timeOfDay = (seconds) => clock.format(seconds * 1000);

/**
 * "Today", "Yesterday", "Monday, 3 May", "3 May 2024".
 * @param {number} seconds since 1970
 * @param {number} [now] seconds since 1970
 */
export function dayName(seconds, now = Date.now() / 1000) {
    const days = daysBetween(seconds, now);
    if (days <= 1 && days >= 0) {
        const word = relative.format(-days, "day");
        return word[0].toLocaleUpperCase() + word.slice(1);
    }
    return (days < 180 ? date : dateOfYear).format(seconds * 1000);
}

/** @param {number} seconds since 1970 */
export const wholeDate = (seconds) => dateOfYear.format(seconds * 1000);

/** @param {number} seconds since 1970 */
export const dayAndTime = (seconds) => `${dateOfYear.format(seconds * 1000)}, ${timeOfDay(seconds)}`;

/**
 * "0:42", "12:05", "1:02:05".
 * @param {number} seconds
 */
export function countdown(seconds) {
    const whole = Math.max(0, Math.ceil(seconds));
    const parts = [Math.floor(whole / hour), Math.floor((whole % hour) / minute), whole % minute];
    const shown = parts[0] > 0 ? parts : parts.slice(1);
    return shown.map((part, index) => (index === 0 ? String(part) : String(part).padStart(2, "0"))).join(":");
}

/** @param {string} text @returns {boolean} whether it has a visible character */
export const isVisible = (text) => /[\p{L}\p{M}\p{N}\p{P}\p{S}]/u.test(text);

/** @param {number} count @param {string} one @param {string} many */
export const counted = (count, one, many = `${one}s`) => `${count} ${count === 1 ? one : many}`;

/**
 * A name within a sentence: without bidirectional control characters, and shortened.
 * @param {string} name
 */
export function named(name) {
    const plain = [...name.replace(/[\u202a-\u202e\u2066-\u2069\u200e\u200f\n\r]/g, "")];
    return plain.length > 60 ? `${plain.slice(0, 59).join("")}…` : plain.join("");
}

/**
 * "2.4 MB".
 * @param {number} bytes
 */
export function size(bytes) {
    const units = ["bytes", "kB", "MB", "GB"];
    const step = bytes < 1000 ? 0 : Math.min(3, Math.floor(Math.log10(bytes) / 3));
    return `${step === 0 ? bytes : (bytes / 1000 ** step).toPrecision(3)} ${units[step]}`;
}

/** @param {unknown} error @returns {error is Error} */
const isKnown = (error) => error instanceof Error
    && ["CompanionError", "FormatError", "HubError", "HubUnreachable", "StoreError"].includes(error.name);

/**
 * What a person can pass on of an unexpected error; "" of others.
 * @param {unknown} error
 */
export const detailOf = (error) => (isKnown(error) ? "" : String(error).slice(0, 200));

/**
 * A sentence for people; the messages of AppLocker's errors are sentences already.
 * @param {unknown} error
 */
export function sentenceOf(error) {
    if (isKnown(error)) return error.message;
    console.error(error);
    return "An unexpected error occurred; try again, and reload the app if it continues.";
}

/**
 * What happens to the keys after a revocation.
 * @param {"household" | "vault"} owner
 * @param {Error | null} pending why they are not replaced yet
 */
export const keysAfterRevoking = (owner, pending) => (pending === null
    ? `The ${owner}’s keys are replaced.`
    : `The ${owner}’s keys will be replaced later.${isKnown(pending) ? ` ${pending.message}` : ""}`);

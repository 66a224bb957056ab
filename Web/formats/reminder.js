// The content of a reminder, which the hub pushes to this device at a time that it chose, and the times of a list.
// docs/formats.md, "Reminders".
import { ByteReader, concat, fields, randomBytes, u16, u32, unhex } from "../crypto/bytes.js";
import { gcmOpen, gcmSeal } from "../crypto/primitives.js";
import { dayAfter, isDay } from "./special-date.js";

/**
 * What a day has: a number of special dates, and whether there are moments of earlier years. No names.
 * @typedef {{ day: string, dates: number, memories: boolean }} Reminder `day`: "2027-06-01"
 */

/** How many days ahead reminders are made, today included. At most as many as a list may have. */
export const reminderDays = 60;

const version = 1;
const nonceLength = 12;
const unused = new Uint8Array(8);
const most = 0xffff;

/** @param {string} device */
const bound = (device) => fields("applocker/1/reminder", unhex(device));

/**
 * Always of one length.
 * @param {CryptoKey} key of this device alone
 * @param {string} device
 * @param {Reminder} reminder
 * @returns {Promise<Uint8Array>}
 */
export async function sealReminder(key, device, { day, dates, memories }, nonce = randomBytes(nonceLength)) {
    const content = concat(
        [version, memories ? 1 : 0], u16(Math.min(dates, most)), u32(Number(day.replaceAll("-", ""))), unused);
    return concat(nonce, await gcmSeal(key, content, bound(device), nonce));
}

/**
 * Null if this device did not make it, or in a later version.
 * @param {CryptoKey} key
 * @param {string} device
 * @param {Uint8Array} sealed
 * @returns {Promise<Reminder | null>}
 */
export async function openReminder(key, device, sealed) {
    const nonce = sealed.slice(0, nonceLength);
    if (nonce.length < nonceLength) return null;
    const content = await gcmOpen(key, sealed.slice(nonceLength), bound(device), nonce);
    if (!content || content.length !== 8 + unused.length) return null;
    const reader = new ByteReader(content, "reminder");
    const [found, memories, dates, number] = [reader.number(1), reader.number(1), reader.number(2), reader.number(4)];
    const day = String(number).replace(/^(\d{4})(\d\d)(\d\d)$/, "$1-$2-$3");
    return found === version && memories <= 1 && isDay(day) ? { day, dates, memories: memories === 1 } : null;
}

/**
 * When that day has that time here, in seconds since 1970. Where clocks are set forward over it, it is later.
 * @param {string} day
 * @param {string} time "HH:MM"
 */
export function localTime(day, time) {
    const [year, month, date] = day.split("-").map(Number);
    const [hours, minutes] = time.split(":").map(Number);
    return Math.floor(new Date(year, month - 1, date, hours, minutes).getTime() / 1000);
}

/**
 * The list of a device: one reminder on each day that has something, all at one time of day.
 * @param {Map<string, number>} dates by day
 * @param {Set<string>} memories days
 * @param {string} today
 * @param {string} time "HH:MM"
 * @param {number} now seconds since 1970
 * @returns {(Reminder & { at: number })[]}
 */
export const reminderList = (dates, memories, today, time, now) =>
    Array.from({ length: reminderDays }, (_, index) => dayAfter(today, index)).flatMap((day) => {
        const reminder = { day, dates: dates.get(day) ?? 0, memories: memories.has(day), at: localTime(day, time) };
        return reminder.at > now && (reminder.dates > 0 || reminder.memories) ? [reminder] : [];
    });

// What pages and the worker share of notifications: their kinds, quiet hours, and what is shown in general words.

/**
 * `launch`: a pending launch. `vault`: an entry that another device of the vault pushes. `changed`: the owner's changes
 * at a computer. `moment`, `remark`: of another member of a shared vault. `date`, `memory`: reminders of this device.
 * The others are kinds of HouseholdEvent.
 * @typedef {"launch" | "blocked" | "failed" | "photographed" | "changed" | "vault" | "moment" | "remark" | "date"
 *   | "memory"} NoticeKind
 */
/**
 * `quiet`: this kind is turned off. `address`: opened by a tap, after the "#". `about`: identifies notifications of the
 * same thing. `reminder`: what it was made of.
 * @typedef {{ kind: NoticeKind | "unknown" | "test", tag: string, title: string, body: string, address: string,
 *   answers: boolean, quiet: boolean, about: string, reminder?: import("../formats/reminder.js").Reminder }} Notice
 */

/**
 * `from`, `to`: "HH:MM" of this device. `launch`, `photographed`: these are loud nevertheless.
 * @typedef {{ isOn: boolean, from: string, to: string, launch: boolean, photographed: boolean }} QuietHours
 */

/** @type {readonly NoticeKind[]} */
export const noticeKinds = Object.freeze(
    ["launch", "blocked", "failed", "photographed", "changed", "vault", "moment", "remark", "date", "memory"]);

/**
 * @param {Record<string, boolean>} kinds as they are stored: those that a person changed
 * @param {string} kind
 */
export const isKindOn = (kinds, kind) => kinds[kind] ?? kind !== "memory";

/** @type {QuietHours} before a person changes them */
export const usualQuietHours = Object.freeze({
    isOn: false, from: "22:00", to: "07:00", launch: true, photographed: true,
});
/** When reminders are shown, "HH:MM", before a person changes it. */
export const usualReminderTime = "09:00";
/** Names of facts in the store. */
export const factNames = Object.freeze({
    kinds: "noticeKinds", wanted: "wantsPush", test: "pushTest", identity: "guise", quietHours: "quietHours",
    lastShown: "lastNotice", reminderTime: "reminderTime",
});

/**
 * Whether a notification of this kind makes no sound now.
 * @param {QuietHours} hours
 * @param {string} kind
 * @param {Date} now
 */
export function isSilentNow(hours, kind, now) {
    if (!hours.isOn || (kind === "launch" && hours.launch) || (kind === "photographed" && hours.photographed)) {
        return false;
    }
    const time = now.toTimeString().slice(0, 5);
    const { from, to } = hours;
    return from <= to ? from <= time && time < to : time >= from || time < to;
}

/** @type {Notice} for what does not open, or is unknown to this version */
export const unknownNotice = {
    kind: "unknown", tag: "unknown", title: "New event on one of your computers",
    body: "Open AppLocker to see it.",
    address: "/home", answers: false, quiet: false, about: "",
};

/** By what the app looks like; without a name if that can't be read. */
const disguisedTitles = Object.freeze({ calculator: "Calculator", notes: "Notes", unknown: "New notification" });

/** @typedef {keyof typeof disguisedTitles} Disguise */

/**
 * What the app looks like, by the stored fact. A disguise of another version is one without a name of its own.
 * @param {unknown} fact
 * @returns {Disguise | "applocker"}
 */
export function identityOf(fact) {
    if (fact === "calculator" || fact === "notes") return fact;
    return typeof fact !== "string" || fact === "applocker" ? "applocker" : "unknown";
}

/**
 * The text while disguised: the same for everything, without actions.
 * @param {Notice} notice
 * @param {Disguise} identity
 * @returns {Notice}
 */
export const disguised = (notice, identity) =>
    ({ ...notice, title: disguisedTitles[identity], body: "Open the app to see it.", answers: false });

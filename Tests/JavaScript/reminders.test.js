// Reminders: which days have one, at what time, and what is pushed. Vectors/reminder.json is of an independent
// implementation of docs/formats.md.
import { hex, unhex } from "/crypto/bytes.js";
import { importGCMKey } from "/crypto/primitives.js";
import { rememberedDays } from "/features/moments/moment-queries.js";
import { occasionDays } from "/features/moments/together.js";
import { localTime, openReminder, reminderDays, reminderList, sealReminder } from "/formats/reminder.js";
import { dayAfter } from "/formats/special-date.js";
import { reminderListID } from "/household/reminder-keys.js";
import { isKindOn } from "/workers/notification-text.js";
import { reminderNotice } from "/workers/service/notice-text.js";
import { equal, vectors } from "./harness.js";

const date = (/** @type {string} */ day, yearly = true) => ({ id: day, vault: "", name: "x", day, yearly });
const daysOf = (/** @type {any} */ list, /** @type {string} */ from, /** @type {string} */ to) =>
    [...occasionDays({ together: null, dates: [], ...list }, from, to)];
const moment = (/** @type {string} */ day) => ({ date: Date.parse(`${day}T12:00:00Z`) / 1000, offset: 0 });

/** Runs `body` in a time zone. */
function inZone(/** @type {string} */ zone, /** @type {() => void} */ body) {
    const before = process.env.TZ;
    process.env.TZ = zone;
    try {
        body();
    } finally {
        if (before === undefined) delete process.env.TZ;
        else process.env.TZ = before;
    }
}

export const tests = {
    async contentsAreOpenedOrRefused() {
        const { key: bytes, device, opens, refused, lists } = await vectors("reminder");
        equal([opens.length, refused.length, lists.length], [4, 12, 2], "complete");
        const key = await importGCMKey(unhex(bytes));
        for (const { name, sealed, nonce, content } of opens) {
            equal(await openReminder(key, device, unhex(sealed)), content, name);
            equal(hex(await sealReminder(key, device, content, unhex(nonce))), sealed, `${name}, sealed`);
        }
        for (const { name, sealed } of refused) equal(await openReminder(key, device, unhex(sealed)), null, name);
        for (const { rootKey, id } of lists) equal(await reminderListID(unhex(rootKey)), id, "the id of a list");
    },

    async everyContentHasTheLengthThatTheHubRequires() {
        const key = await importGCMKey(new Uint8Array(32));
        for (const reminder of [{ day: "2027-06-01", dates: 0, memories: true },
            { day: "2027-06-01", dates: 100_000, memories: false }]) {
            const sealed = await sealReminder(key, "ab".repeat(16), reminder);
            equal(sealed.length, 44, "length");
            equal((await openReminder(key, "ab".repeat(16), sealed))?.dates, Math.min(reminder.dates, 65535), "dates");
        }
    },

    datesAreOnTheirDayEveryYearOrOnce() {
        const dates = [date("1990-03-01"), date("2027-03-01", false), date("2026-03-01", false), date("2027-03-02")];
        equal(daysOf({ dates }, "2027-02-01", "2027-04-01"), [["2027-03-01", 2], ["2027-03-02", 1]], "two on one day");
        equal(daysOf({ dates: [date("2020-01-31")] }, "2027-01-31", "2027-01-31"), [["2027-01-31", 1]], "both counted");
        equal(daysOf({ dates: [date("2020-06-01")] }, "2027-01-01", "2029-12-31").map(([day]) => day),
            ["2027-06-01", "2028-06-01", "2029-06-01"], "several years");
        equal(daysOf({ dates: [date("2019-12-31"), date("2019-01-01")] }, "2027-12-15", "2028-02-10"),
            [["2027-12-31", 1], ["2028-01-01", 1]], "the end of a year");
    },

    february29IsThe28InOtherYears() {
        equal(daysOf({ dates: [date("2024-02-29")] }, "2027-02-01", "2028-03-31"),
            [["2027-02-28", 1], ["2028-02-29", 1]], "a date");
        equal([...rememberedDays([moment("2024-02-29")], "2027-02-20", "2027-03-10")], ["2027-02-28"], "a moment");
        equal([...rememberedDays([moment("2024-02-29")], "2028-02-20", "2028-03-10")], ["2028-02-29"], "a leap year");
        equal([...rememberedDays([moment("2023-02-28")], "2024-02-20", "2024-03-10")], ["2024-02-28"], "its 28");
    },

    theDayThatTwoCountFromHasAnniversariesAndRoundNumbers() {
        equal(daysOf({ together: date("2026-06-01") }, "2027-05-01", "2027-07-31"),
            [["2027-06-01", 1], ["2027-07-06", 1]], "a year, and 400 days");
        equal(daysOf({ together: date("2027-06-01") }, "2027-05-01", "2027-06-30"), [], "before the first day");
    },

    onlyMomentsOfEarlierYearsAreRemembered() {
        const moments = ["2027-06-01", "2028-06-02", "2025-06-03", "2020-06-03"].map(moment);
        equal([...rememberedDays(moments, "2027-06-01", "2027-06-30")], ["2027-06-03"], "days");
        equal([...rememberedDays([moment("2020-12-31"), moment("2020-01-01")], "2027-12-30", "2028-01-02")],
            ["2027-12-31", "2028-01-01"], "the end of a year");
    },

    aListHasOneReminderADayOfThoseToCome() {
        inZone("Europe/Berlin", () => {
            const today = "2027-06-01";
            const [before, after] = [8.5, 9.5].map((hour) => Date.UTC(2027, 5, 1, hour - 2) / 1000);
            const dates = new Map([[0, 2], [reminderDays - 1, 1], [reminderDays, 1]]
                .map(([days, count]) => [dayAfter(today, days), count]));
            const memories = new Set([today, "2027-06-02"]);
            const list = (/** @type {number} */ now) => reminderList(dates, memories, today, "09:00", now);
            equal(list(before).map(({ day, dates: count, memories: has }) => [day, count, has]),
                [[today, 2, true], ["2027-06-02", 0, true], ["2027-07-30", 1, false]], "the list");
            equal(list(after).map(({ day }) => day), ["2027-06-02", "2027-07-30"], "after today's time");
            const all = new Set(Array.from({ length: 400 }, (_, index) => dayAfter(today, index)));
            equal(reminderList(new Map(), all, today, "09:00", before).length, reminderDays, "a full list");
        });
    },

    theTimeIsLocalAlsoWhenClocksChange() {
        const utc = (/** @type {string} */ day, /** @type {string} */ time) =>
            new Date(localTime(day, time) * 1000).toISOString().slice(0, 16);
        inZone("Europe/Berlin", () => {
            equal(["2027-03-27", "2027-03-28", "2027-10-30", "2027-10-31"].map((day) => utc(day, "09:00")),
                ["2027-03-27T08:00", "2027-03-28T07:00", "2027-10-30T07:00", "2027-10-31T08:00"], "summer time");
            equal(utc("2027-03-28", "02:30"), "2027-03-28T01:30", "a time that there is not");
        });
        inZone("Pacific/Kiritimati", () => equal(utc("2027-01-01", "00:00"), "2026-12-31T10:00", "14 hours ahead"));
        inZone("America/St_Johns", () => equal(utc("2027-01-01", "23:59"), "2027-01-02T03:29", "half an hour"));
    },

    aNotificationNamesNothing() {
        const shown = (/** @type {number} */ dates, /** @type {boolean} */ memories) => {
            const { kind, title, body, address } = reminderNotice({ day: "2027-06-01", dates, memories });
            return [kind, title, body, address];
        };
        equal([shown(1, false), shown(2, false), shown(1, true), shown(0, true)], [
            ["date", "A special date today", "Open AppLocker to see it.", "/moments"],
            ["date", "2 special dates today", "Open AppLocker to see it.", "/moments"],
            ["date", "A special date today", "On this day: moments of earlier years.", "/moments"],
            ["memory", "On this day: moments of earlier years", "Open AppLocker to see them.", "/moments"],
        ], "notifications");
    },

    onThisDayIsOffAtFirst() {
        equal([isKindOn({}, "date"), isKindOn({}, "memory"), isKindOn({ memory: true, date: false }, "memory"),
            isKindOn({ memory: true, date: false }, "date"), isKindOn({}, "launch")],
            [true, false, true, false, true], "which are on");
    },
};

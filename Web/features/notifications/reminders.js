// Reminders: the hub pushes to this device, at times that it is given, what this device sealed for itself.
// docs/formats.md, "Reminders".
import { reminderDays, reminderList, sealReminder } from "../../formats/reminder.js";
import { dayAfter, localDay } from "../../formats/special-date.js";
import { reminderKey, reminderListID } from "../../household/reminder-keys.js";
import { areNotificationsOn, reminderTime, wantedKinds } from "./notifications.js";

/** @typedef {import("../../formats/reminder.js").Reminder} Reminder */

const collections = ["dates", "moments", "keys"];

/**
 * What the hub gets: the dates and moments of the open vault and of shared vaults, except those with a PIN of their
 * own, because a locked phone shows reminders, and none that is only on this device. Throws CompanionError `locked`.
 * @param {Companion} companion
 * @returns {Promise<(Reminder & { at: number })[]>}
 */
export async function remindersOf(companion) {
    const [kinds, time] = [await wantedKinds(companion), await reminderTime(companion)];
    const today = localDay(companion.now());
    const last = dayAfter(today, reminderDays - 1);
    /** @type {Map<string, number>} */
    const dates = new Map();
    /** @type {Set<string>} */
    const memories = new Set();
    const shared = (await companion.vaults.list())
        .filter(({ isRevoked, isLocal, hasPIN }) => !isRevoked && !isLocal && !hasPIN);
    for (const vault of [companion, ...shared.map((one) => one.companion)]) {
        const found = kinds.date ? await (await vault.dates()).days(today, last) : new Map();
        for (const [day, count] of found) dates.set(day, (dates.get(day) ?? 0) + count);
        const days = kinds.memory ? await vault.moments.rememberedDays(today, last) : [];
        for (const day of days) memories.add(day);
    }
    return reminderList(dates, memories, today, time, companion.now() / 1000);
}

/**
 * Keeps the hub's list the one of this session, while it is unlocked and notifications are on. It is sent once after
 * each unlock, whatever the hub has: so the requests don't distinguish the PINs, and a list that the hub lost returns.
 * @param {Companion} companion
 * @returns {() => Promise<void>} to be called when a setting, the session or the day may have changed; never throws
 */
export function followReminders(companion) {
    /** @type {{ session: object, list: string } | null} what the hub accepted */
    let sent = null;
    let isStale = false;
    /** @type {Promise<void> | null} */
    let sending = null;
    const followed = new WeakSet();
    /** @param {Companion} vault */
    const follow = (vault) => {
        if (followed.has(vault)) return;
        followed.add(vault);
        vault.addEventListener("changed", (event) => {
            const keys = /** @type {CustomEvent<string[]>} */ (event).detail;
            if (keys.some((key) => collections.includes(key.split("/")[0]))) update();
        });
    };
    const send = async () => {
        if (companion.state !== "unlocked") return;
        if (!(await areNotificationsOn(companion))) {
            // The hub removes all lists with the subscription.
            sent = null;
            return;
        }
        const { device, unlockedSession: session } = companion;
        const id = await reminderListID(device.keys.rootKey);
        for (const { companion: vault } of await companion.vaults.list()) follow(vault);
        const reminders = await remindersOf(companion);
        // Unlocked with another PIN meanwhile: its session has begun another turn.
        if (companion.state !== "unlocked" || companion.unlockedSession !== session) return;
        const list = JSON.stringify(reminders);
        if (sent?.session === session && sent.list === list) return;
        const key = await reminderKey(device);
        await device.hub.setReminders(id, await Promise.all(reminders.map(async (reminder) =>
            ({ at: reminder.at, content: await sealReminder(key, device.paired.device, reminder) }))));
        sent = { session, list };
    };
    const sendAll = async () => {
        while (isStale) {
            isStale = false;
            // Locked meanwhile, or the hub can't be reached: the next change or connection tries again.
            await send().catch(() => (sent = null));
        }
        sending = null;
    };
    /** One at a time; ends when everything is sent. */
    function update() {
        isStale = true;
        return (sending ??= sendAll());
    }
    follow(companion);
    companion.vaults.addEventListener("changed", () => update());
    companion.addEventListener("connection", () => {
        if (sent === null && companion.syncLoop.connection === "live") update();
    });
    return update;
}

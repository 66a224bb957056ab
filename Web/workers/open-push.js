// A push message is the signed record as JSON, as the hub has it, opened with the keys that are available while locked;
// of a shared vault, the record without its content.
import { recordKey } from "../formats/record-key.js";
import { textOf, unbase64 } from "../crypto/bytes.js";
import { Roster } from "../crypto/roster.js";
import { isRecord } from "../hub/events.js";
import { openHousehold, openStored } from "../household/keys.js";
import { storedReminderKey } from "../household/reminder-keys.js";
import { ownerTag } from "../household/shared-keys.js";
import { checkRecord, RecordRefusal } from "../formats/record-check.js";
import { authorOfNotice, noticeCollections } from "../formats/record-notice.js";
import { nameAmong } from "../formats/remark-format.js";
import { openReminder } from "../formats/reminder.js";
import { noticeDatabases } from "../household/vault-notices.js";
import { CompanionStore } from "../store/store.js";

/** @typedef {import("../formats/record-bodies.js").RecordBodies} RecordBodies */
/** @typedef {import("../formats/reminder.js").Reminder} Reminder */
/**
 * Of "audit", which can't be opened while locked: the device that wrote it and, if it can be read, its name. Of a
 * shared vault the same; `isQuiet`: by another device of this person, or not wanted. `vault`: its household.
 * @typedef {{ collection: "events", id: string, body: RecordBodies["events"] }
 *   | { collection: "requests", id: string, body: RecordBodies["requests"] }
 *   | { collection: "audit", id: string, body: Partial<RecordBodies["devices"]> }
 *   | { collection: "moments" | "remarks", vault: string, name: string | undefined, isQuiet: boolean }
 *   | { collection: "reminder", reminder: Reminder }} OpenedPush
 */

/**
 * For the service worker. Throws RecordRefusal, KeyMissing, and a SyntaxError for an invalid record: then the
 * notification is general.
 * @param {DeviceSession} device loaded from the store
 * @param {Uint8Array} message
 * @returns {Promise<OpenedPush>}
 */
export async function openPush(device, message) {
    const record = JSON.parse(textOf(message));
    if (typeof record?.reminder === "string") return openOwn(device, record.reminder);
    if (!isRecord(record)) throw new SyntaxError("The push message is not a valid record.");
    record.blobs ??= [];
    if ("digest" in record) return openNotice(device, record);
    const checked = await checkRecord(device.roster, record, 0);
    if (record.collection === "audit") {
        const row = await device.store.record(recordKey("devices", record.author));
        return {
            collection: "audit", id: record.author,
            body: (row && (await openStored(device, row.record, "devices"))) ?? {},
        };
    }
    const collection = /** @type {"events" | "requests"} */ (record.collection);
    const body = await openHousehold(device.statusKeys, checked, collection);
    // Another computer of the household has the same keys.
    if (body.computer !== record.author) throw new RecordRefusal("wrongWriter");
    return /** @type {OpenedPush} */ ({ collection, id: record.id, body });
}

/**
 * What this device sealed for itself.
 * @param {DeviceSession} device
 * @param {string} sealed in base64
 * @returns {Promise<OpenedPush>}
 */
async function openOwn(device, sealed) {
    const key = await storedReminderKey(device);
    const reminder = key && (await openReminder(key, device.paired.device, unbase64(sealed)));
    if (!reminder) throw new SyntaxError("The push message is not a reminder of this device.");
    return { collection: "reminder", reminder };
}

/**
 * Reads the database of the shared vault, which is known while locked if its notifications are on.
 * @param {DeviceSession} main
 * @param {HubRecord & { digest?: unknown }} notice
 * @returns {Promise<OpenedPush>}
 */
async function openNotice(main, { digest, ...notice }) {
    const collection = noticeCollections.find((one) => one === notice.collection);
    if (!collection || typeof digest !== "string") throw new SyntaxError("The push message is not a valid notice.");
    const databases = await noticeDatabases(main);
    const database = Object.hasOwn(databases, notice.vault) ? databases[notice.vault] : null;
    // Turned off, while the hub could not be reached.
    if (!database || !(await CompanionStore.names(database)).includes(database)) {
        return { collection, vault: "", name: undefined, isQuiet: true };
    }
    const store = await CompanionStore.open(() => {}, database);
    try {
        const roster = await Roster.read(await store.fact("roster", /** @type {Uint8Array[]} */ ([])));
        const author = await authorOrNull(roster, { ...notice, digest });
        const reports = await ownReports(store, roster);
        const owner = author && reports.get(author)?.owner;
        const tags = await Promise.all(main.roster.members.map(({ id }) =>
            ownerTag(roster.household, notice.author, id)));
        const names = new Map([...reports].map(([id, { name }]) => [id, name]));
        return {
            collection, vault: roster.household, isQuiet: Boolean(owner && tags.includes(owner)),
            name: (author && nameAmong(names, author)) || undefined,
        };
    } finally {
        store.close();
    }
}

/**
 * Null for somebody who may have joined since this device was last open.
 * @param {Roster} roster
 * @param {import("../formats/record-notice.js").RecordNotice} notice
 */
async function authorOrNull(roster, notice) {
    try {
        return (await authorOfNotice(roster, notice)).id;
    } catch (error) {
        if (error instanceof RecordRefusal && error.code === "unknownAuthor") return null;
        throw error;
    }
}

/**
 * What the members report of themselves: another member's record of a name counts for nothing.
 * @param {CompanionStore} store
 * @param {Roster} roster
 * @returns {Promise<Map<string, import("../formats/record-bodies.js").DeviceName>>} by member
 */
async function ownReports(store, roster) {
    const statusKeys = new Map((await store.statusKeys()).map(({ epoch, key }) => [epoch, key]));
    const own = (await store.records("devices")).filter(({ record: { id, author } }) => id === author);
    const reports = await Promise.all(own.map(async ({ record }) =>
        /** @type {const} */ ([record.id, await openStored({ roster, statusKeys }, record, "devices",
            { ofFormer: true })])));
    return new Map(reports.flatMap(([id, body]) => (body ? [[id, body]] : [])));
}

// A push message is the signed record as JSON, as the hub has it, opened with the keys that are available while locked.
import { recordKey } from "../formats/record-key.js";
import { textOf } from "../crypto/bytes.js";
import { isRecord } from "../hub/events.js";
import { openHousehold, openStored } from "../household/keys.js";
import { checkRecord } from "../formats/record-check.js";

/** @typedef {import("../formats/record-bodies.js").RecordBodies} RecordBodies */
/**
 * Of "audit", which can't be opened while locked: the device that wrote it and, if it can be read, its name.
 * @typedef {{ collection: "events", id: string, body: RecordBodies["events"] }
 *   | { collection: "requests", id: string, body: RecordBodies["requests"] }
 *   | { collection: "audit", id: string, body: Partial<RecordBodies["devices"]> }} OpenedPush
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
    if (!isRecord(record)) throw new SyntaxError("The push message is not a valid record.");
    const checked = await checkRecord(device.roster, { ...record, blobs: record.blobs ?? [] }, 0);
    if (record.collection === "audit") {
        const row = await device.store.record(recordKey("devices", record.author));
        return {
            collection: "audit", id: record.author,
            body: (row && (await openStored(device, row.record, "devices"))) ?? {},
        };
    }
    const collection = /** @type {"events" | "requests"} */ (record.collection);
    const body = await openHousehold(device.statusKeys, checked, collection);
    return /** @type {OpenedPush} */ ({ collection, id: record.id, body });
}

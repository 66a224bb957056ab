// A push message is the signed record as JSON, as it stands on the hub. Opened with what is there while locked.
import { textOf } from "../crypto/bytes.js";
import { isRecord } from "../protocol/events.js";
import { keyOf } from "../store/store.js";
import { openHousehold, openStored } from "./keys.js";
import { checkRecord } from "./record-check.js";

/**
 * For the service worker. Throws RecordRefusal, KeyMissing, and a SyntaxError for what is no record: it then shows that something came.
 * @param {import("./device.js").Device} device loaded from the store
 * @param {Uint8Array} message
 * @returns {Promise<{ collection: string, id: string, body: any }>} of "events" or "requests"; of "audit", whose key is behind the gate,
 *   the device which wrote it and, as far as can be read, its name
 */
export async function openPush(device, message) {
    const record = JSON.parse(textOf(message));
    if (!isRecord(record)) throw new SyntaxError("This push message is no record.");
    const checked = await checkRecord(device.roster, { ...record, blobs: record.blobs ?? [] }, 0);
    if (record.collection === "audit") {
        const row = await device.store.record(keyOf("devices", record.author));
        return { collection: "audit", id: record.author, body: (row && (await openStored(device, row.record, "devices"))) ?? {} };
    }
    return {
        collection: record.collection, id: record.id,
        body: await openHousehold(device.statusKeys, checked, record.collection),
    };
}

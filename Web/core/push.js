// A push message is the signed record as JSON, as it stands on the hub. Opened with what is there while locked.
import { textOf } from "../crypto/bytes.js";
import { isRecord } from "../protocol/events.js";
import { openHousehold } from "./keys.js";
import { checkRecord } from "./record-check.js";

/**
 * For the service worker. Throws RecordRefusal, KeyMissing, and a SyntaxError for what is no record: it then shows that something came.
 * @param {import("./device.js").Device} device loaded from the store
 * @param {Uint8Array} message
 * @returns {Promise<{ collection: string, id: string, body: any }>} of "events" or "requests"
 */
export async function openPush(device, message) {
    const record = JSON.parse(textOf(message));
    if (!isRecord(record)) throw new SyntaxError("This push message is no record.");
    const checked = await checkRecord(device.roster, { ...record, blobs: record.blobs ?? [] }, 0);
    return {
        collection: record.collection, id: record.id,
        body: await openHousehold(device.statusKeys, checked, record.collection),
    };
}

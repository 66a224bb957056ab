// How large a video or a voice note may be: a setting of the hub, read with each connection and used offline too, and
// the room on this device.

export { storageRoom } from "../store/quota.js";

const fact = "recordingLimit";

/**
 * @param {DeviceSession} device
 * @param {number | undefined} bytes of the hub's report; an older hub has no limit of its own
 */
export async function keepRecordingLimit({ store }, bytes) {
    const limit = bytes ?? null;
    if ((await store.fact(fact, null)) !== limit) await store.write({ facts: { [fact]: limit } });
}

/**
 * In bytes; null where the hub has none.
 * @param {DeviceSession} device
 * @returns {Promise<number | null>}
 */
export const hubRecordingLimit = ({ store }) => store.fact(fact, /** @type {number | null} */ (null));

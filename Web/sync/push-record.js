// Pushes what another device shows at once.
import { noticeCollections, noticeOfRecord } from "../formats/record-notice.js";

const secondsOfPush = 86_400;
/** In milliseconds: an import of hundreds of moments is not hundreds of notifications. */
const pauseOfNotices = 60_000;
/** When this tab last pushed a notice, by vault and collection. @type {Map<string, number>} */
const pushed = new Map();

/**
 * Sent once: devices that are not reached see it when they are opened. Throws HubError, HubUnreachable.
 * @param {DeviceSession} device
 * @param {HubRecord} record that the hub has
 */
export async function pushRecord(device, record) {
    const isNotice = noticeCollections.some((collection) => collection === record.collection);
    const [place, now] = [`${record.vault}/${record.collection}`, device.time.now()];
    // Also after the clock was set back.
    if (isNotice && Math.abs(now - (pushed.get(place) ?? -Infinity)) < pauseOfNotices) return;
    const content = isNotice ? await noticeOfRecord(record) : record;
    await device.hub.push({ content, urgency: "high", ttl: secondsOfPush });
    if (isNotice) pushed.set(place, now);
}

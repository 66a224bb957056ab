// Nothing stays of what this device kept: its owner removed it here, or a computer revoked it.
import { forgetNotifications } from "../features/notifications/notifications.js";

/**
 * Says that this browser was paired, where the database is thrown away without it.
 * @param {string} name of the database
 */
export const pairedMarkName = (name) => `applocker-device/${name}`;

/**
 * Keys, records, drafts, what waits to be sent, photos on their way, shared vaults, notifications. The app's own files
 * stay: nothing of anybody is in them. Again, where an earlier time was cut off. Throws StoreError.
 * @param {import("./companion.js").Companion} companion locked, and following no more
 * @param {boolean} isRevoked remembered, so that it is shown until the device is paired again
 */
export async function eraseEverything({ device, vaults, name }, isRevoked) {
    await device.store.erase(isRevoked);
    await vaults.erase();
    localStorage.removeItem(pairedMarkName(name));
    // The push service may not answer; the hub has ended the subscription, and the worker shows nothing of a device
    // without keys.
    forgetNotifications().catch((error) => console.warn(error));
}

// Erases all data of this device after it was removed or revoked.
import { unmarkPaired } from "../store/page-settings.js";

/**
 * Erases keys, records, drafts, pending changes and uploads, shared vaults, notifications. The app's own files stay:
 * they contain no personal data. An interrupted erasure is repeated. Throws StoreError.
 * @param {import("./companion.js").Companion} companion locked, and following no more
 * @param {boolean} isRevoked remembered, so that it is shown until the device is paired again
 */
export async function eraseEverything({ device, vaults, name }, isRevoked) {
    await device.store.erase(isRevoked);
    await vaults.erase();
    unmarkPaired(name);
    // The push service may not answer; the hub has ended the subscription, and the worker shows nothing of a device
    // without keys.
    import("../features/notifications/notifications.js")
        .then(({ forgetNotifications }) => forgetNotifications()).catch((error) => console.warn(error));
}

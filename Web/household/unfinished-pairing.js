// A pairing that ended before a PIN was set.
import { HubClient } from "../hub/client.js";

/**
 * Removes a device from the hub that was admitted and has no PIN, or the household that it founded.
 * @param {DeviceSession} device
 */
export async function forgetUnfinished(device) {
    const unfinished = await device.store.fact("unfinished",
        /** @type {{ hub: string, token: Uint8Array, isFounder?: boolean } | null} */ (null));
    if (!unfinished) return;
    const hub = new HubClient(unfinished.hub, unfinished.token);
    await (unfinished.isFounder ? hub.removeHousehold() : hub.leave()).catch(() => {});
    await device.store.write({ facts: { unfinished: null } });
}

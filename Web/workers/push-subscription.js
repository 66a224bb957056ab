// The subscription to push messages, for pages and for the service worker.
import { base64url, unbase64url } from "../crypto/bytes.js";
import { CompanionError } from "../household/errors.js";
import { factNames } from "./notification-text.js";

/** Time limit of a push service, in milliseconds. */
export const pushPatience = 10_000;

/**
 * @template Value
 * @param {Promise<Value>} work
 * @param {string} sentence
 * @returns {Promise<Value>} throws CompanionError `noPush` if it is too slow or fails
 */
export function soon(work, sentence, milliseconds = pushPatience) {
    return new Promise((resolve, reject) => {
        /** @param {unknown} [cause] */
        const fail = (cause) => reject(new CompanionError("noPush", sentence, null, cause));
        const timer = setTimeout(fail, milliseconds);
        work.then(resolve, fail).finally(() => clearTimeout(timer));
    });
}

/** @param {PushSubscription} subscription */
const keyOf = (subscription) => {
    const key = subscription.options.applicationServerKey;
    return key ? base64url(new Uint8Array(key)) : null;
};

/**
 * Subscribes under the hub's key and registers it at the hub; replaces a subscription under another key. Throws
 * CompanionError `noPush`, HubError, HubUnreachable.
 * @param {DeviceSession} device
 * @param {ServiceWorkerRegistration} registration
 */
export async function keepSubscription(device, registration) {
    const { pushKey } = await device.hub.hub();
    const key = unbase64url(pushKey);
    if (!key) {
        throw new CompanionError("noPush",
            "The hub’s key for pushes is invalid; update hub and devices to one version.");
    }
    const wanted = base64url(key);
    let subscription = await registration.pushManager.getSubscription();
    if (subscription && keyOf(subscription) !== wanted) {
        await subscription.unsubscribe();
        subscription = null;
    }
    subscription ??= await soon(
        registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key }),
        "The browser’s push service did not answer; try again when the network is better.");
    await device.hub.setPush(subscription.toJSON());
    await device.store.write({ facts: { [factNames.wanted]: true } });
}

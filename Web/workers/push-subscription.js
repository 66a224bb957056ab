// The subscription to push messages, for pages and for the service worker.
import { base64url, unbase64url } from "../crypto/bytes.js";
import { CompanionError } from "../household/errors.js";
import { disguised, factNames, identityOf, unknownNotice } from "./notification-text.js";

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
 * Declarative Web Push (W3C Push API, "Declarative push message"; Safari 18.4): such a browser shows this text itself
 * if the worker does not run, and never ends the subscription for that.
 * @param {DeviceSession} device
 * @returns {Promise<{ fallback?: HubAPI.PushFallback }>}
 */
async function fallback(device) {
    const { PushEvent } = /** @type {{ PushEvent?: { prototype: object } }} */ (globalThis);
    // In a page, and in a worker.
    if (!("pushManager" in globalThis) && !(PushEvent && "notification" in PushEvent.prototype)) return {};
    const identity = identityOf(await device.store.fact(factNames.identity, "applocker"));
    const { title, body } = identity === "applocker" ? unknownNotice : disguised(unknownNotice, identity);
    return { fallback: { title, body, navigate: `${location.origin}/` } };
}

/**
 * Ends a subscription at the push service. Throws CompanionError `noPush`.
 * @param {PushSubscription} subscription
 */
export const ended = (subscription) => soon(subscription.unsubscribe(), "The browser’s push service did not answer.");

/**
 * One change of the subscription at a time, in all tabs and the worker: otherwise one that is renewed would return
 * after it was ended.
 * @template Value
 * @param {() => Promise<Value>} change
 * @returns {Promise<Value>}
 */
export const changingSubscription = (change) => navigator.locks.request("push-subscription", change);

/**
 * Subscribes again as `keepSubscription`, unless notifications were turned off meanwhile. Throws as it does.
 * @param {DeviceSession} device
 * @param {ServiceWorkerRegistration} registration
 * @param {() => Promise<import("../hub/client.js").HubClient[]>} [vaults] as of `keepSubscription`
 */
export const renewIfWanted = (device, registration, vaults) => changingSubscription(async () => {
    if (await device.store.fact(factNames.wanted, false)) await keepSubscription(device, registration, vaults);
});

/**
 * Within `changingSubscription`: subscribes under the hub's key and registers it at the hub; replaces a subscription
 * under another key. Throws CompanionError `noPush`, HubError, HubUnreachable.
 * @param {DeviceSession} device
 * @param {ServiceWorkerRegistration} registration
 * @param {() => Promise<import("../hub/client.js").HubClient[]>} vaults members of shared vaults at this hub, which
 *   push to it too
 */
export async function keepSubscription(device, registration, vaults = async () => []) {
    const { pushKey } = await device.hub.hub();
    const key = unbase64url(pushKey);
    if (!key) {
        throw new CompanionError("noPush",
            "The hub’s key for pushes is invalid; update hub and devices to one version.");
    }
    const wanted = base64url(key);
    let subscription = await registration.pushManager.getSubscription();
    if (subscription && keyOf(subscription) !== wanted) {
        await ended(subscription);
        subscription = null;
    }
    subscription ??= await soon(
        registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key }),
        "The browser’s push service did not answer; try again when the network is better.");
    const wantedSubscription = { ...subscription.toJSON(), ...(await fallback(device)) };
    await device.hub.setPush(wantedSubscription);
    // A vault that removed this device prevents nothing else.
    for (const vault of await vaults()) {
        await vault.setPush(wantedSubscription).catch((error) => console.warn(error));
    }
}

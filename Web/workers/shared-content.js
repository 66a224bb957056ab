// Fetches what another app shared from the service worker, and keeps it in this page's memory until AppLocker is
// unlocked and the person has agreed.

/** @typedef {import("./share-limits.js").SharedContent} SharedContent */

/** How long it waits while AppLocker is locked. */
const lifetime = 10 * 60_000;
/** A worker that has nothing answers at once; one that is starting, or has just read a large form, later. */
const patience = 30_000;

/** @type {{ id: string, content: Promise<SharedContent | null> } | null} */
let kept = null;

/** @param {string} address */
const idIn = (address) => /[?&]shared=([0-9a-f-]{36})$/.exec(address)?.[1] ?? "";

/**
 * At the start of a page, also while locked: the worker may end at any time.
 * @param {string} address with the id of what was shared
 */
export function fetchShared(address) {
    const id = idIn(address);
    const content = /** @type {Promise<SharedContent | null>} */ (new Promise((resolve) => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = ({ data }) => resolve(data);
        setTimeout(() => resolve(null), patience);
        const worker = navigator.serviceWorker?.controller;
        if (worker) worker.postMessage({ kind: "shared", id }, [port2]);
        else resolve(null);
    }));
    const own = { id, content };
    kept = own;
    setTimeout(() => kept === own && (kept = null), lifetime);
}

/**
 * Once; null where it is gone.
 * @param {string} address
 */
export async function takeShared(address) {
    const content = kept && kept.id === idIn(address) ? kept.content : null;
    kept = null;
    return content;
}

// The service worker's cache of the app's files: all of one version, each with the hash in the list.
import { listName, readList } from "../../hub/asset-list.js";
import { hex } from "../../crypto/bytes.js";
import { sha256 } from "../../crypto/primitives.js";

const worker = /** @type {ServiceWorkerGlobalScope} */ (/** @type {unknown} */ (self));
const prefix = "applocker/";
/** The version that this worker's address names, the only one that it serves. */
const version = new URL(worker.location.href).searchParams.get("version") ?? "";
const cacheName = prefix + version;
/** Headers that are cached with a response of the hub. */
const keptHeaders = [
    "Content-Type", "Content-Security-Policy", "Referrer-Policy", "X-Frame-Options", "Cross-Origin-Opener-Policy",
    "Cross-Origin-Resource-Policy", "Permissions-Policy",
];

/** Fetches and checks every file. Throws if one is missing or not the list's; the cache stays as it was. */
export async function install() {
    const isRepair = (await caches.match(`/${listName}`, { cacheName })) !== undefined;
    try {
        const answer = await fetched(`${listName}?latest`, "no-store");
        const list = await readList(await answer.clone().json());
        if (list?.version !== version) throw new Error("The hub now serves another version.");
        const cache = await caches.open(cacheName);
        await Promise.all(Object.entries(list.files).map(async ([name, hash]) => {
            await cache.put(`/${name}`, (await keptBefore(name, hash)) ?? (await checked(name, hash)));
        }));
        // The list is stored last: with it, the cache is complete.
        await cache.put(`/${listName}`, await plain(answer));
    } catch (error) {
        // After an incomplete repair the old files are still served: each was checked when it was stored.
        if (!isRepair) await caches.delete(cacheName);
        throw error;
    }
}

/** @param {string} name @param {RequestCache} cache */
async function fetched(name, cache) {
    const answer = await fetch(`/${name}`, { cache, credentials: "omit", redirect: "error" });
    if (!answer.ok) throw new Error(`The hub does not serve ${name}.`);
    return answer;
}

/** @param {string} name @param {string} hash */
async function checked(name, hash) {
    // The page has just loaded most of them; the hash shows whether the browser's copy is valid.
    const near = await plain(await fetched(name, "force-cache"));
    if (await has(near, hash)) return near;
    const answer = await plain(await fetched(name, "reload"));
    if (!(await has(answer, hash))) throw new Error(`The hub’s ${name} does not match its list.`);
    return answer;
}

/**
 * Unchanged files are not fetched again.
 * @param {string} name
 * @param {string} hash
 */
async function keptBefore(name, hash) {
    const kept = await caches.match(`/${name}`);
    return kept && (await has(kept, hash)) ? kept : null;
}

/** @param {Response} answer @param {string} hash */
const has = async (answer, hash) => hex(await sha256(new Uint8Array(await answer.clone().arrayBuffer()))) === hash;

/**
 * Without headers of the transfer: compression, age.
 * @param {Response} answer
 */
async function plain(answer) {
    const headers = new Headers();
    for (const name of keptHeaders) {
        const value = answer.headers.get(name);
        if (value) headers.set(name, value);
    }
    return new Response(await answer.arrayBuffer(), { headers });
}

/**
 * Lets the browser read cached files without this worker, where it can (Service Workers, section 4.5, "addRoutes").
 * Pages are still answered here, so that an evicted or incomplete cache is filled again.
 * @param {ExtendableEvent} event "install"
 */
export async function routePastWorker(event) {
    // What a page plays is in no cache; playback.js answers.
    const played = { condition: { urlPattern: { pathname: "/media/*" } }, source: "fetch-event" };
    const files = { condition: { not: { requestMode: "navigate" } }, source: { cacheName } };
    // Refused by browsers without "not"; they have no routes then.
    await event.addRoutes?.([played, files]).catch(() => {});
}

/** Deletes other versions, and claims open pages. */
export async function activate() {
    const names = await caches.keys();
    await Promise.all(names.filter((name) => name.startsWith(prefix) && name !== cacheName)
        .map((name) => caches.delete(name)));
    await worker.clients.claim();
}

/** @param {FetchEvent} event */
export function answer(event) {
    const { request } = event;
    const { origin, pathname, search } = new URL(request.url);
    // What the hub computes is never cached.

    if (request.method !== "GET" || origin !== worker.location.origin || /^\/(v1|metrics|health)\b/.test(pathname)) {
        return;
    }
    if (request.mode === "navigate") {
        event.waitUntil(repair());
        return event.respondWith(file("index.html", event));
    }
    if (pathname === `/${listName}` && search) return;
    event.respondWith(file(pathname.slice(1), event));
}

/** Fetches everything again if a file is missing, which the browser may have read past this worker. Never throws. */
async function repair() {
    const list = await caches.match(`/${listName}`, { cacheName });
    if (!list) return;
    const [{ files }, kept] = await Promise.all([list.json(), caches.open(cacheName).then((cache) => cache.keys())]);
    if (kept.length <= Object.keys(files).length) await install().catch(() => {});
}

/** @param {string} name @param {FetchEvent} event */
async function file(name, event) {
    const kept = await caches.match(`/${name}`, { cacheName });
    if (kept) return kept;
    const list = await caches.match(`/${listName}`, { cacheName });
    if (list && !Object.hasOwn((await list.json()).files, name)) return fetch(event.request);
    // The browser evicted the cache: everything is fetched again, and the hub serves meanwhile.
    event.waitUntil(install().catch(() => {}));
    return fetch(event.request).catch(() => gone());
}

const gone = () => new Response(
    `<!doctype html><html lang="en"><meta name="viewport" content="width=device-width"><title>Not available</title>
    <h1>This app is no longer on this device</h1>
    <p>The browser removed its files to free space, and the hub can’t be reached.
    Connect to the network and reload.</p></html>`,
    {
        status: 503,
        headers: { "Content-Type": "text/html; charset=utf-8", "Content-Security-Policy": "default-src 'none'" },
    });

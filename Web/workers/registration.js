// Registers the service worker, which caches the app for offline use, and asks before an update is activated.
import { fetchList } from "../hub/asset-list.js";
import { scriptURL } from "./script-url.js";

/**
 * `ready`: it works offline. `unsupported`: this browser caches no app (a private window). `failed`: `problem` has the
 * reason.
 * @typedef {"starting" | "ready" | "unsupported" | "failed"} OfflineState
 */
/**
 * @typedef {{ state: OfflineState, problem: string | null, update: string | null }} Offline `update`: the version that
 *   waits
 */

/**
 * Events: "state" (`offline` changed), "ready" (an update waits for `applyUpdate`; detail: its version), "failed" (an
 * update was refused; detail: one sentence), "reload" (another version is active and this page reloads; cancelable: a
 * page with unsaved content calls `location.reload()` itself).
 */
export const updates = new EventTarget();

/** @type {Offline} */
export const offline = { state: "starting", problem: null, update: null };

const workerName = "/service-worker.js";

/** @param {ServiceWorker | null | undefined} worker */
const versionOf = (worker) => (worker ? new URL(worker.scriptURL).searchParams.get("version") : null);

/** @type {ServiceWorkerRegistration | null} */
let registration = null;
/** @type {Promise<Offline> | null} */
let starting = null;

/** @param {Partial<Offline>} change */
function become(change) {
    Object.assign(offline, change);
    updates.dispatchEvent(new Event("state"));
}

/** Once for each page, when it is drawn. Never throws; the outcome is in `offline`. */
export function startOffline() {
    return (starting ??= start());
}

async function start() {
    const container = navigator.serviceWorker;
    if (!container) {
        become({
            state: "unsupported",
            problem: "This browser does not store AppLocker; it opens only while the hub can be reached.",
        });
        return offline;
    }
    let had = container.controller !== null;
    container.addEventListener("controllerchange", () => {
        // The first worker claims the page that registered it.
        if (!had) return void (had = true);
        if (updates.dispatchEvent(new Event("reload", { cancelable: true }))) location.reload();
    });
    try {
        registration = (await container.getRegistration("/")) ?? null;
        if (registration) watch(registration);
        if (registration?.active) become({ state: "ready", problem: null });
        await checkForUpdate();
    } catch (error) {
        become({
            state: "failed",
            problem: `AppLocker could not be stored on this device: ${/** @type {Error} */ (error).message}`,
        });
    }
    return offline;
}

/**
 * Asks the hub for its version, and fetches a different one, whose state is "ready" then.
 * @returns {Promise<boolean>} whether the hub has another version than the one in use
 */
export async function checkForUpdate() {
    const container = navigator.serviceWorker;
    if (!container) return false;
    const list = await fetchList({ latest: true });
    if (!list) {
        if (!registration?.active) {
            become({
                state: "failed", problem: "The hub can’t be reached, so AppLocker is not stored on this device yet.",
            });
        }
        return false;
    }
    const newest = registration?.installing ?? registration?.waiting ?? registration?.active;
    if (versionOf(newest) !== list.version) {
        const address = `${workerName}?version=${list.version}`;
        registration = await container.register(scriptURL(address),
            { type: "module", scope: "/", updateViaCache: "none" });
        watch(registration);
    }
    return versionOf(registration?.active) !== null && versionOf(registration?.active) !== list.version;
}

/** @type {WeakSet<EventTarget>} */
const watched = new WeakSet();

/** @param {ServiceWorkerRegistration} found */
function watch(found) {
    const waits = () => {
        if (!found.waiting || !found.active) return;
        const update = versionOf(found.waiting);
        if (offline.update === update) return;
        become({ update });
        updates.dispatchEvent(new CustomEvent("ready", { detail: update }));
    };
    /** @param {ServiceWorker | null} worker */
    const follow = (worker) => {
        if (!worker || watched.has(worker)) return;
        watched.add(worker);
        let wasInstalled = worker.state !== "installing";
        const look = () => {
            if (worker.state === "installed") waits();
            if (worker.state === "activated") become({ state: "ready", problem: null, update: null });
            if (worker.state === "redundant" && !wasInstalled) refused(found);
            wasInstalled ||= worker.state !== "redundant";
        };
        worker.addEventListener("statechange", look);
    };
    follow(found.installing);
    follow(found.waiting);
    waits();
    if (watched.has(found)) return;
    watched.add(found);
    found.addEventListener("updatefound", () => follow(found.installing));
}

/** @param {ServiceWorkerRegistration} found */
function refused(found) {
    const sentence = found.active
        ? "An update was damaged or incomplete and was refused; AppLocker is unchanged."
        : "AppLocker’s files were damaged or incomplete and were not stored; reload to try again.";
    if (!found.active) become({ state: "failed", problem: sentence });
    updates.dispatchEvent(new CustomEvent("failed", { detail: sentence }));
}

/**
 * Activates the waiting version; every tab reloads.
 * @returns {boolean} whether there was one
 */
export function applyUpdate() {
    if (!registration?.waiting) return false;
    registration.waiting.postMessage({ kind: "apply" });
    return true;
}

/**
 * The running version. `hash` is the same on every device with the same files; docs/operations.md has how to compare
 * it.
 * @returns {Promise<{ version: string, hash: string } | null>} null where it can't be had: no network, nothing kept
 */
export async function appVersion() {
    const list = await fetchList();
    return list && { version: list.release, hash: list.version };
}

// What another app shares with AppLocker: a form that the browser posts. It is kept in memory alone, for the page that
// opens: a box to this device would open in the session of one PIN only, which shows that there is another one.
import { CompanionStore } from "../../store/store.js";
import { factNames } from "../notification-text.js";
import { shareAddress, shareLimits as most } from "../share-limits.js";

/** @typedef {import("../share-limits.js").SharedContent} SharedContent */

const worker = /** @type {ServiceWorkerGlobalScope} */ (/** @type {unknown} */ (self));
/** How long the page has to ask for it. */
const lifetime = 60_000;

/** @type {{ id: string, content: SharedContent } | null} the latest */
let kept = null;

/** @param {FetchEvent} event */
export function isShare({ request: { method, mode, url } }) {
    const { origin, pathname } = new URL(url);
    return method === "POST" && mode === "navigate" && origin === worker.location.origin && pathname === shareAddress;
}

/**
 * Any site can post the form: nothing is opened or stored before the person agrees.
 * @param {FetchEvent} event
 */
export function receiveShare(event) {
    event.respondWith((async () => {
        const content = (await isDisguised()) ? null : await event.request.formData().then(contentOf, () => null);
        if (!content) return Response.redirect("/", 303);
        const id = crypto.randomUUID();
        kept = { id, content };
        setTimeout(() => kept?.id === id && (kept = null), lifetime);
        return Response.redirect(`/#/moments/new?shared=${id}`, 303);
    })());
}

/** Nothing is shared with a calculator or a note pad. */
async function isDisguised() {
    try {
        const store = await CompanionStore.open();
        try {
            return (await store.fact(factNames.identity, "applocker")) !== "applocker";
        } finally {
            store.close();
        }
    } catch {
        return true;
    }
}

/** @param {FormData} form @returns {SharedContent} */
function contentOf(form) {
    const text = (/** @type {string} */ name) => {
        const value = form.get(name);
        return typeof value === "string" ? value.trim() : "";
    };
    const files = form.getAll("photos").flatMap((value) => (value instanceof File && value.size > 0 ? value : []));
    const images = files.filter(({ type }) => type.startsWith("image/") && type !== "image/svg+xml");
    /** @type {File[]} */
    const photos = [];
    let size = 0;
    for (const image of images) {
        if (photos.length >= most.photos || image.size > most.photo || size + image.size > most.all) continue;
        photos.push(image);
        size += image.size;
    }
    return {
        title: text("title").slice(0, most.title),
        text: [text("text"), text("url")].filter(Boolean).join("\n").slice(0, most.text),
        photos, others: files.length - images.length, left: images.length - photos.length,
    };
}

/**
 * Answers a page, once.
 * @param {ExtendableMessageEvent} event
 */
export function handOver({ data, ports: [port] }) {
    const content = kept !== null && kept.id === data.id ? kept.content : null;
    if (content) kept = null;
    port?.postMessage(content);
}

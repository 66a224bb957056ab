// Answers a player's requests for a video or a voice note. The page that plays it opens the sealed chunks, one at a
// time: this worker has no key, and nothing of it is cached.

const worker = /** @type {ServiceWorkerGlobalScope} */ (/** @type {unknown} */ (self));
const prefix = "/media/";
/** How long a page may take to answer, in milliseconds: the hub is slow or out of reach. */
const patience = 60_000;

/**
 * What a page answers: the file's type and size, and its bytes from the offset to the end of a chunk; null if it plays
 * no such file.
 * @typedef {{ type: string, size: number, bytes: Uint8Array } | { failed: true } | null} PlaybackAnswer
 */

/** @param {FetchEvent} event */
export function isPlayback({ request: { method, mode, url } }) {
    const { origin, pathname } = new URL(url);
    return method === "GET" && mode !== "navigate" && origin === worker.location.origin && pathname.startsWith(prefix);
}

/** @param {FetchEvent} event */
export function answerPlayback(event) {
    event.respondWith(answer(event));
}

/**
 * Only the page that plays it is asked: no other one can use its address.
 * @param {FetchEvent} event
 */
async function answer({ request, clientId }) {
    const client = clientId ? await worker.clients.get(clientId) : undefined;
    const token = new URL(request.url).pathname.slice(prefix.length);
    const range = rangeOf(request.headers.get("Range"));
    const asked = (/** @type {number} */ offset) => (client ? ask(client, token, offset) : Promise.resolve(null));
    const first = await asked(range.first);
    if (!first) return refused(404);
    if ("failed" in first) return refused(503);
    const { type, size } = first;
    if (range.first >= size) return refused(416, { "Content-Range": `bytes */${size}` });
    const last = Math.min(range.last, size - 1);
    return new Response(streamed(first.bytes, range.first, last, asked), {
        status: range.isAsked ? 206 : 200,
        headers: {
            "Content-Type": type, "Content-Length": String(last - range.first + 1), "Accept-Ranges": "bytes",
            "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff",
            "Cross-Origin-Resource-Policy": "same-origin",
            ...(range.isAsked ? { "Content-Range": `bytes ${range.first}-${last}/${size}` } : {}),
        },
    });
}

/**
 * One range of bytes (RFC 9110 section 14.1.2); players request no other form.
 * @param {string | null} header
 */
function rangeOf(header) {
    const [, first, last] = /^bytes=(\d{1,15})-(\d{1,15})?$/.exec(header ?? "") ?? [];
    return { isAsked: first !== undefined, first: Number(first ?? 0), last: last === undefined ? Infinity
        : Number(last) };
}

/** @param {number} status @param {Record<string, string>} [headers] */
const refused = (status, headers = {}) =>
    new Response(null, { status, headers: { "Cache-Control": "no-store", ...headers } });

/**
 * Chunk after chunk, each when the player wants more.
 * @param {Uint8Array} first bytes of the chunk
 * @param {number} start
 * @param {number} last offset
 * @param {(offset: number) => Promise<PlaybackAnswer>} asked
 */
function streamed(first, start, last, asked) {
    let [next, offset] = [/** @type {Uint8Array | null} */ (first), start];
    return new ReadableStream({
        async pull(controller) {
            const answer = next ? { bytes: next } : await asked(offset);
            next = null;
            if (!answer || "failed" in answer || answer.bytes.length === 0) {
                return controller.error(new TypeError("The playback ended."));
            }
            const bytes = answer.bytes.subarray(0, last - offset + 1);
            controller.enqueue(bytes);
            offset += bytes.length;
            if (offset > last) controller.close();
        },
    }, { highWaterMark: 0 });
}

/** @param {Client} client @param {string} token @param {number} offset @returns {Promise<PlaybackAnswer>} */
function ask(client, token, offset) {
    const { port1, port2 } = new MessageChannel();
    return new Promise((/** @type {(answer: PlaybackAnswer) => void} */ resolve) => {
        const late = setTimeout(() => resolve({ failed: true }), patience);
        port1.onmessage = ({ data }) => {
            clearTimeout(late);
            resolve(data);
        };
        client.postMessage({ kind: "playback", token, offset }, [port2]);
    }).finally(() => port1.close());
}

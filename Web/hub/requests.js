// Requests to a hub over fetch: the token, time limits, and refusals.
import { base64url } from "../crypto/bytes.js";
import { HubError, HubUnreachable } from "./errors.js";
import { watchdog } from "./watchdog.js";

/**
 * @typedef {{ body?: unknown, bytes?: Uint8Array, headers?: Record<string, string>, access?: "anybody",
 *   signal?: AbortSignal }} Options
 */

/** Time limit of a response, in milliseconds. */
const patience = 30_000;
/** A stream without data for so long is dead: the hub sends something every 15 seconds. */
const silence = 45_000;

export const notUnderstood = () =>
    new HubUnreachable("notUnderstood", "The hub’s response is invalid; update hub and devices to one version.");

export class HubRequests {
    /** @type {string} */
    #address;
    /** @type {Uint8Array | null} */
    #token;

    /** @param {string} address @param {Uint8Array | null} token */
    constructor(address, token) {
        this.#address = address;
        this.#token = token;
    }

    /**
     * @param {string} method
     * @param {string} path
     * @param {Options} options
     * @param {ReturnType<typeof watchdog>} watch
     */
    async #respond(method, path, { body, bytes, headers = {}, access }, watch) {
        /** @type {Record<string, string>} */
        const all = { ...headers };
        if (this.#token && access !== "anybody") all.Authorization = `Bearer ${base64url(this.#token)}`;
        if (body !== undefined) all["Content-Type"] = "application/json";
        if (bytes) all["Content-Type"] = "application/octet-stream";
        let response;
        try {
            response = await fetch(this.#address + path, {
                method, headers: all, body: bytes ?? (body === undefined ? null : JSON.stringify(body)),
                signal: watch.signal, credentials: "omit", cache: "no-store", redirect: "error",
                referrerPolicy: "no-referrer",
            });
        } catch {
            throw this.#failure(watch);
        }
        if (response.ok) return response;
        /** @type {HubAPI.HubErrorBody | null} */
        const refusal = await response.json().catch(() => null);
        if (typeof refusal?.error?.code !== "string" || typeof refusal.error.message !== "string") {
            throw new HubUnreachable("notUnderstood",
                `The server at this address is not a hub (HTTP ${response.status}).`);
        }
        const seconds = refusal.error.retryAfterSeconds ?? Number(response.headers.get("Retry-After") ?? NaN);
        throw new HubError(refusal.error.code, refusal.error.message, Number.isFinite(seconds) ? seconds : null);
    }

    /** @param {ReturnType<typeof watchdog>} watch */
    #failure(watch) {
        return watch.isLate
            ? new HubUnreachable("timeout", "The hub did not answer in time.")
            : new HubUnreachable("offline", "The hub can’t be reached.");
    }

    /**
     * Sends a request; `read` converts its response. Throws HubError, HubUnreachable.
     * @template Value
     * @param {string} method
     * @param {string} path
     * @param {(response: Response) => Promise<Value>} read
     * @param {Options} [options]
     */
    async read(method, path, read, options = {}) {
        const watch = watchdog(patience, options.signal);
        try {
            const response = await this.#respond(method, path, options, watch);
            try {
                return await read(response);
            } catch (error) {
                throw watch.signal.aborted ? this.#failure(watch)
                    : error instanceof HubUnreachable ? error : notUnderstood();
            }
        } finally {
            watch.end();
        }
    }

    /** @param {string} method @param {string} path @param {Options} [options] @returns {Promise<any>} */
    json(method, path, options) {
        return this.read(method, path, (response) => response.json(), options);
    }

    /** @param {string} method @param {string} path @param {Options} [options] */
    send(method, path, options) {
        return this.read(method, path, async () => {}, options);
    }

    /**
     * A streamed response. Throws HubError, HubUnreachable.
     * @param {string} path
     * @param {Record<string, string>} headers
     * @param {AbortSignal} [signal]
     * @returns {AsyncGenerator<Uint8Array | null, void>} null once the hub has accepted the request, then bytes
     */
    async *stream(path, headers, signal) {
        const watch = watchdog(silence, signal);
        /** @type {ReadableStreamDefaultReader<Uint8Array> | undefined} */
        let reader;
        try {
            const response = await this.#respond("GET", path, { headers }, watch);
            reader = response.body?.getReader();
            if (!reader) throw notUnderstood();
            yield null;
            for (;;) {
                const part = await reader.read().catch(() => {
                    throw this.#failure(watch);
                });
                if (part.done) return;
                watch.restart();
                yield part.value;
            }
        } finally {
            watch.end();
            // Closes a connection that nobody reads any more: a browser has six to one address.
            reader?.cancel().catch(() => {});
        }
    }
}

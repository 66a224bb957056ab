// A device's way to its hub, over fetch. What the hub answers is believed by nobody: the devices check signatures and seals.
import { base64, base64url, isID, unbase64, utf8 } from "../crypto/bytes.js";
import { HubError, HubUnreachable } from "./errors.js";
import { EventParser, isCount, isRecord } from "./events.js";
import { systemTime } from "./time.js";
import { watchdog } from "./watchdog.js";

/**
 * @typedef {import("../crypto/signature.js").HubRecord} HubRecord
 * @typedef {import("./events.js").StreamItem} StreamItem
 * @typedef {{ records: HubRecord[], next: number, more: boolean }} RecordPage
 * @typedef {{ sequence?: number, conflict?: HubRecord, error?: { code: import("./errors.js").HubErrorCode, message: string } }} WriteOutcome
 * @typedef {{ size: number, received: number, isComplete: boolean }} BlobState
 * @typedef {{ id: string, after: number }} Generation a run of the hub's store, and the newest sequence number when it began
 * @typedef {{ failures: number, retryAfterSeconds: number }} PINShareState
 * @typedef {{ id: string, role: "computer" | "companion", state: "pending" | "active", lastSeen?: number,
 *   isConnected: boolean, hasPush: boolean }} HubDevice
 * @typedef {{ body?: unknown, bytes?: Uint8Array, headers?: Record<string, string>, access?: "anybody", signal?: AbortSignal }} Options
 */

/** An answer is waited for so long. */
const patience = 30_000;
/** A stream on which nothing comes for so long is dead: the hub shows every 15 seconds that it is alive. */
const silence = 45_000;

const notUnderstood = () =>
    new HubUnreachable("notUnderstood", "The hub's answer was not understood; bring hub and devices to one version.");

/** @param {any} outcome @returns {outcome is WriteOutcome} */
const isOutcome = (outcome) => outcome !== null && typeof outcome === "object" && (outcome.sequence == null || isCount(outcome.sequence))
    && (outcome.conflict == null || isRecord(outcome.conflict))
    && (outcome.error == null || (typeof outcome.error.code === "string" && typeof outcome.error.message === "string"));

export class HubClient {
    /** @type {string} */
    #address;
    /** @type {Uint8Array | null} */
    #token;

    /**
     * @param {string} address "https://hub.example", without a slash at its end
     * @param {Uint8Array | null} token 32 bytes
     */
    constructor(address, token, time = systemTime) {
        this.#address = address;
        this.#token = token;
        this.time = time;
    }

    /** @param {string} method @param {string} path @param {Options} options @param {ReturnType<typeof watchdog>} watch */
    async #answer(method, path, { body, bytes, headers = {}, access }, watch) {
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
        const refusal = await response.json().catch(() => null);
        if (typeof refusal?.error?.code !== "string" || typeof refusal.error.message !== "string") {
            throw new HubUnreachable("notUnderstood", `What answers there is not a hub (HTTP ${response.status}).`);
        }
        const seconds = refusal.error.retryAfterSeconds ?? Number(response.headers.get("Retry-After") ?? NaN);
        throw new HubError(refusal.error.code, refusal.error.message, Number.isFinite(seconds) ? seconds : null);
    }

    /** @param {ReturnType<typeof watchdog>} watch */
    #failure(watch) {
        return watch.isLate
            ? new HubUnreachable("timeout", "The hub did not answer in time.")
            : new HubUnreachable("offline", "The hub can't be reached.");
    }

    /**
     * One request and what is made of its answer. Throws HubError, HubUnreachable.
     * @template Value
     * @param {string} method
     * @param {string} path
     * @param {(response: Response) => Promise<Value>} read
     * @param {Options} [options]
     */
    async #send(method, path, read, options = {}) {
        const watch = watchdog(patience, options.signal);
        try {
            const response = await this.#answer(method, path, options, watch);
            try {
                return await read(response);
            } catch (error) {
                throw watch.signal.aborted ? this.#failure(watch) : error instanceof HubUnreachable ? error : notUnderstood();
            }
        } finally {
            watch.end();
        }
    }

    /** @param {string} method @param {string} path @param {Options} [options] @returns {Promise<any>} */
    #call(method, path, options) {
        return this.#send(method, path, (response) => response.json(), options);
    }

    /** @param {string} method @param {string} path @param {Options} [options] */
    #tell(method, path, options) {
        return this.#send(method, path, async () => {}, options);
    }

    // Device and household

    /** @returns {Promise<{ name: string, version: string, time: number, pushKey: string, needsRegistrationToken?: boolean }>} */
    hub() {
        return this.#call("GET", "/v1/hub", { access: "anybody" });
    }

    /** @returns {Promise<{ device: string, household: string, state: "pending" | "active" }>} */
    ownDevice() {
        return this.#call("GET", "/v1/device");
    }

    leave() {
        return this.#tell("DELETE", "/v1/device");
    }

    /**
     * For people: lists who was seen when, by the hub's word.
     * @returns {Promise<HubDevice[]>}
     */
    async devices() {
        return (await this.#call("GET", "/v1/devices")).devices;
    }

    /**
     * Entries above this number.
     * @param {number} number
     * @returns {Promise<Uint8Array[]>}
     */
    async roster(number) {
        const page = await this.#call("GET", `/v1/roster?after=${number}`);
        if (!Array.isArray(page.entries)) throw notUnderstood();
        return page.entries.map((/** @type {string} */ entry) => unbase64(entry));
    }

    /**
     * Without a token: the proof is what lets in.
     * @param {string} invitation
     * @param {{ proof: Uint8Array, device: string, tokenHash: Uint8Array, sealed: Uint8Array, role?: "computer" | "companion" }} request
     */
    join(invitation, { proof, device, tokenHash, sealed, role = "companion" }) {
        const body = { proof: base64(proof), device, role, tokenHash: base64(tokenHash), sealed: base64(sealed) };
        return this.#tell("POST", `/v1/invitations/${invitation}/join`, { body, access: "anybody" });
    }

    // For devices that may admit others

    /**
     * Another household. A hub that not everybody may register at is told who asks: whoever belongs to a household there may.
     * @param {{ household: string, device: string, entry: Uint8Array, tokenHash: Uint8Array }} request
     */
    async found({ household, device, entry, tokenHash }) {
        const body = { household, device, entry: base64(entry), tokenHash: base64(tokenHash) };
        try {
            await this.#tell("POST", "/v1/households", { body, access: "anybody" });
        } catch (error) {
            if (!(error instanceof HubError) || error.code !== "forbidden") throw error;
            await this.#tell("POST", "/v1/households", { body });
        }
    }

    /**
     * The newest sequence number, and the runs of the hub's store, oldest first.
     * @returns {Promise<{ sequence: number, generations: Generation[] }>}
     */
    async household() {
        const { sequence, generations } = await this.#call("GET", "/v1/household");
        const isRight = isCount(sequence) && Array.isArray(generations)
            && generations.every((generation) => isID(generation?.id) && isCount(generation.after));
        if (!isRight) throw notUnderstood();
        return { sequence, generations: generations.map((/** @type {Generation} */ { id, after }) => ({ id, after })) };
    }

    /** Everything that the hub has of the household goes. */
    removeHousehold() {
        return this.#tell("DELETE", "/v1/household");
    }

    /**
     * Throws HubError `conflict` where the list is longer already.
     * @param {number} number of the entry
     * @param {Uint8Array} entry
     * @param {{ admit: { device: string, role: "computer" | "companion", invitation: string } } | { revoke: { device: string } }
     *   | { restore: { revoked?: string } }} change `restore`: an entry that the hub lost
     */
    append(number, entry, change) {
        return this.#tell("POST", "/v1/roster", { body: { number, entry: base64(entry), change } });
    }

    /** @param {{ id: string, proofHash: Uint8Array, expiresInSeconds: number }} invitation at most 300 seconds */
    invite({ id, proofHash, expiresInSeconds }) {
        return this.#tell("POST", "/v1/invitations", { body: { id, proofHash: base64(proofHash), expiresInSeconds } });
    }

    /**
     * Null before a device has joined. Throws HubError `gone`.
     * @param {string} id
     * @returns {Promise<{ device: string, sealed: Uint8Array } | null>}
     */
    async joined(id) {
        const { join } = await this.#call("GET", `/v1/invitations/${id}`);
        if (join === undefined || join === null) return null;
        if (!isID(join.device) || typeof join.sealed !== "string") throw notUnderstood();
        return { device: join.device, sealed: unbase64(join.sealed) };
    }

    /**
     * Whoever joined by it and was not admitted is put off.
     * @param {string} id
     */
    withdraw(id) {
        return this.#tell("DELETE", `/v1/invitations/${id}`);
    }

    // Records

    /** @param {number} after @returns {Promise<RecordPage>} */
    async records(after, limit = 256) {
        const page = await this.#call("GET", `/v1/records?after=${after}&limit=${limit}`);
        if (!Array.isArray(page.records) || !page.records.every(isRecord) || !Number.isSafeInteger(page.next)) {
            throw notUnderstood();
        }
        return { ...page, records: page.records.map((/** @type {HubRecord} */ record) => ({ ...record, blobs: record.blobs ?? [] })) };
    }

    /** @param {string} collection @param {string} id @returns {Promise<HubRecord>} */
    async record(collection, id) {
        const record = await this.#call("GET", `/v1/records/${collection}/${id}`);
        if (!isRecord(record)) throw notUnderstood();
        return { ...record, blobs: record.blobs ?? [] };
    }

    /**
     * One outcome for each record, in the same order. Throws HubUnreachable `notUnderstood` where one has not its shape: it would be stored.
     * @param {HubRecord[]} records
     * @returns {Promise<WriteOutcome[]>}
     */
    async write(records) {
        const { outcomes } = await this.#call("POST", "/v1/records", { body: { records } });
        if (!Array.isArray(outcomes) || outcomes.length !== records.length || !outcomes.every(isOutcome)) throw notUnderstood();
        return outcomes.map(({ sequence, conflict, error }) => (
            { sequence: sequence ?? undefined, conflict: conflict ?? undefined, error: error ?? undefined }));
    }

    /**
     * What was written after a sequence number, then what is written from now on.
     * Throws HubError, HubUnreachable; ends where the hub ends it or the signal is given.
     * @param {number} after
     * @param {AbortSignal} [signal]
     * @returns {AsyncGenerator<StreamItem, void>}
     */
    async *stream(after, signal) {
        const watch = watchdog(silence, signal);
        try {
            const headers = { Accept: "text/event-stream", "Last-Event-ID": String(after) };
            const response = await this.#answer("GET", "/v1/stream", { headers }, watch);
            const reader = response.body?.getReader();
            if (!reader) throw notUnderstood();
            yield { kind: "open" };
            const parser = new EventParser();
            for (;;) {
                const part = await reader.read().catch(() => {
                    throw this.#failure(watch);
                });
                if (part.done) return;
                watch.heard();
                yield* parser.read(part.value);
            }
        } finally {
            watch.end();
        }
    }

    // Blobs

    /** @param {string} id @returns {Promise<BlobState>} */
    blobState(id) {
        return this.#call("GET", `/v1/blobs/${id}/state`);
    }

    /** @param {{ id: string, size: number, hash: Uint8Array }} blob @param {AbortSignal} [signal] @returns {Promise<BlobState>} */
    beginBlob({ id, size, hash }, signal) {
        return this.#call("POST", "/v1/blobs", { body: { id, size, hash: base64(hash) }, signal });
    }

    /**
     * The next piece, at most 4 MiB.
     * @param {string} id
     * @param {number} offset
     * @param {Uint8Array} bytes
     * @param {AbortSignal} [signal]
     * @returns {Promise<BlobState>}
     */
    writeBlob(id, offset, bytes, signal) {
        return this.#call("PATCH", `/v1/blobs/${id}?offset=${offset}`, { bytes, signal });
    }

    /**
     * Bytes from `start` to before `end`.
     * @param {string} id
     * @param {number} start
     * @param {number} end
     * @param {AbortSignal} [signal]
     */
    async readBlob(id, start, end, signal) {
        const bytes = await this.#send(
            "GET", `/v1/blobs/${id}`, async (response) => new Uint8Array(await response.arrayBuffer()),
            { headers: { Range: `bytes=${start}-${end - 1}` }, signal });
        if (bytes.length !== end - start) {
            throw new HubUnreachable("notUnderstood", "The hub served another piece than it was asked for.");
        }
        return bytes;
    }

    // PIN share and push

    /**
     * Always four entries. Throws HubError `conflict` once a PIN of those that are there was right.
     * @param {{ verifier: Uint8Array, share: Uint8Array, changeHash: Uint8Array }[]} entries
     */
    setPINShare(entries) {
        const body = {
            entries: entries.map(({ verifier, share, changeHash }) => (
                { verifier: base64(verifier), share: base64(share), changeHash: base64(changeHash) })),
        };
        return this.#tell("PUT", "/v1/pin-share", { body });
    }

    /** @returns {Promise<PINShareState>} */
    pinShare() {
        return this.#call("GET", "/v1/pin-share");
    }

    /**
     * Throws HubError `wrong_pin`, `too_many`, `gone`.
     * @param {Uint8Array} verifier
     * @returns {Promise<Uint8Array>} 32 bytes
     */
    async attemptPIN(verifier) {
        const answer = await this.#call("POST", "/v1/pin-share/attempt", { body: { verifier: base64(verifier) } });
        const share = unbase64(String(answer.share));
        if (share.length !== 32) throw notUnderstood();
        return share;
    }

    /**
     * Another entry in the place of the one that this secret changes, which goes on to change it; the others stay. Throws HubError
     * `not_found`, `gone`.
     * @param {Uint8Array} changeSecret
     * @param {{ verifier: Uint8Array, share: Uint8Array }} entry
     */
    replacePIN(changeSecret, { verifier, share }) {
        const body = { changeSecret: base64(changeSecret), verifier: base64(verifier), share: base64(share) };
        return this.#tell("POST", "/v1/pin-share/replace", { body });
    }

    /** @param {PushSubscriptionJSON} subscription as `PushSubscription.toJSON()` gives it */
    setPush(subscription) {
        const body = { endpoint: subscription.endpoint, keys: subscription.keys };
        return this.#tell("PUT", "/v1/push", { body });
    }

    /**
     * To other devices, or to the ones that are named. `content`: as JSON at most 3,072 bytes. `ttl`: seconds.
     * @param {{ content: unknown, urgency: "low" | "normal" | "high", ttl: number, devices?: string[] }} message
     * @returns {Promise<number>} how many subscriptions it is on its way to
     */
    async push({ content, ...rest }) {
        const body = { payload: base64(utf8(JSON.stringify(content))), ...rest };
        const { subscriptions } = await this.#call("POST", "/v1/push/messages", { body });
        if (!Number.isSafeInteger(subscriptions)) throw notUnderstood();
        return subscriptions;
    }

    removePush() {
        return this.#tell("DELETE", "/v1/push");
    }
}

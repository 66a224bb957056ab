// A device's client of its hub, over fetch. The hub is untrusted: the devices check signatures and seals.
import { base64, isCount, isID, unbase64, utf8 } from "../crypto/bytes.js";
import { HubError, HubUnreachable } from "./errors.js";
import { EventParser, isRecord } from "./events.js";
import { HubRequests, notUnderstood } from "./requests.js";

/** @typedef {import("./events.js").StreamItem} StreamItem */

/** @param {any} outcome @returns {outcome is HubAPI.HubWriteOutcome} */
const isOutcome = (outcome) => outcome !== null
    && typeof outcome === "object" && (outcome.sequence == null || isCount(outcome.sequence))
    && (outcome.conflict == null || isRecord(outcome.conflict))
    && (outcome.error == null || (typeof outcome.error.code === "string" && typeof outcome.error.message === "string"));

export class HubClient {
    #requests;

    /**
     * @param {string} address "https://hub.example", without a slash at its end
     * @param {Uint8Array | null} token 32 bytes
     */
    constructor(address, token) {
        this.#requests = new HubRequests(address, token);
    }

    // Device and household

    /** @returns {Promise<HubAPI.HubReport>} */
    hub() {
        return this.#requests.json("GET", "/v1/hub", { access: "anybody" });
    }

    /** @returns {Promise<HubAPI.OwnDeviceReport>} */
    ownDevice() {
        return this.#requests.json("GET", "/v1/device");
    }

    leave() {
        return this.#requests.send("DELETE", "/v1/device");
    }

    /**
     * For display only: the hub's report when each device was last seen.
     * @returns {Promise<HubAPI.HubDevice[]>}
     */
    async devices() {
        const { devices } = /** @type {HubAPI.HubDeviceList} */ (await this.#requests.json("GET", "/v1/devices"));
        return devices;
    }

    /**
     * Entries above this number.
     * @param {number} number
     * @returns {Promise<Uint8Array[]>}
     */
    async roster(number) {
        /** @type {HubAPI.RosterPage} */
        const { entries } = await this.#requests.json("GET", `/v1/roster?after=${number}`);
        if (!Array.isArray(entries)) throw notUnderstood();
        return entries.map((entry) => unbase64(entry));
    }

    /**
     * The sealed details that the inviting computer stored for a device with a typed code. Without a token.
     * @param {string} invitation
     * @param {Uint8Array} proof
     */
    async invitationDetails(invitation, proof) {
        /** @type {HubAPI.InvitationDetails} */
        const { details } = await this.#requests.json("POST", `/v1/invitations/${invitation}/details`,
            { body: { proof: base64(proof) }, access: "anybody" });
        return unbase64(details);
    }

    /**
     * Without a token: the proof authorizes the request.
     * @param {string} invitation
     * @param {{ proof: Uint8Array, device: string, tokenHash: Uint8Array, sealed: Uint8Array,
     *   role?: HubAPI.HubDeviceRole }} request
     */
    join(invitation, { proof, device, tokenHash, sealed, role = "companion" }) {
        /** @type {HubAPI.JoinRequest} */
        const body = { proof: base64(proof), device, role, tokenHash: base64(tokenHash), sealed: base64(sealed) };
        return this.#requests.send("POST", `/v1/invitations/${invitation}/join`, { body, access: "anybody" });
    }

    // For devices that admit others

    /**
     * Registers another household. A hub with restricted registration requires a member's token.
     * @param {{ household: string, device: string, entry: Uint8Array, tokenHash: Uint8Array }} request
     */
    async found({ household, device, entry, tokenHash }) {
        /** @type {HubAPI.NewHouseholdRequest} */
        const body = { household, device, entry: base64(entry), tokenHash: base64(tokenHash) };
        try {
            await this.#requests.send("POST", "/v1/households", { body, access: "anybody" });
        } catch (error) {
            if (!(error instanceof HubError) || error.code !== "forbidden") throw error;
            await this.#requests.send("POST", "/v1/households", { body });
        }
    }

    /**
     * Registers a household with this client's token, for a PIN share apart from this device's own: it has one device,
     * an administrator, and no records.
     * @param {{ household: string, device: string, entry: Uint8Array, tokenHash: Uint8Array }} request
     */
    foundForPIN({ household, device, entry, tokenHash }) {
        /** @type {HubAPI.NewHouseholdRequest} */
        const body = { household, device, entry: base64(entry), tokenHash: base64(tokenHash), role: "administrator" };
        return this.#requests.send("POST", "/v1/households", { body });
    }

    /**
     * Registers the household of a phone. Repeatable. Throws HubError `forbidden`, `gone`.
     * @param {{ household: string, device: string, entry: Uint8Array, tokenHash: Uint8Array, start?: string,
     *   invitation: { id: string, proof: Uint8Array } | null }} request
     */
    foundMain({ household, device, entry, tokenHash, start, invitation }) {
        /** @type {HubAPI.NewHouseholdRequest} */
        const body = {
            household, device, entry: base64(entry), tokenHash: base64(tokenHash), role: "administrator", start,
            vaultInvitation: invitation ? { id: invitation.id, proof: base64(invitation.proof) } : undefined,
        };
        return this.#requests.send("POST", "/v1/households", { body, access: "anybody" });
    }

    /**
     * The newest sequence number, the generations of the store, oldest first, and how large a recording may be.
     * @returns {Promise<Pick<HubAPI.HouseholdReport, "sequence" | "generations" | "recordingBytes">>}
     */
    async household() {
        /** @type {HubAPI.HouseholdReport} */
        const { sequence, generations, recordingBytes } = await this.#requests.json("GET", "/v1/household");
        const isRight = isCount(sequence) && Array.isArray(generations)
            && generations.every((generation) => isID(generation?.id) && isCount(generation.after));
        if (!isRight) throw notUnderstood();
        return { sequence, generations: generations.map(({ id, after }) => ({ id, after })),
            ...(isCount(recordingBytes) ? { recordingBytes } : {}) };
    }

    removeHousehold() {
        return this.#requests.send("DELETE", "/v1/household");
    }

    /**
     * Throws HubError `conflict` if the list is longer already.
     * @param {number} number of the entry
     * @param {Uint8Array} entry
     * @param {HubAPI.RosterChange} change
     */
    append(number, entry, change) {
        /** @type {HubAPI.RosterAppendRequest} */
        const body = { number, entry: base64(entry), change };
        return this.#requests.send("POST", "/v1/roster", { body });
    }

    /**
     * @param {{ id: string, proofHash: Uint8Array, expiresInSeconds: number, details: Uint8Array | null }} invitation
     *   at most 300 seconds. `details`: for a device that has the proof, at most 256 bytes
     */
    invite({ id, proofHash, expiresInSeconds, details }) {
        /** @type {HubAPI.NewInvitationRequest} */
        const body = { id, proofHash: base64(proofHash), expiresInSeconds };
        if (details) body.details = base64(details);
        return this.#requests.send("POST", "/v1/invitations", { body });
    }

    /**
     * Null before a device joined. Throws HubError `gone`.
     * @param {string} id
     * @returns {Promise<{ device: string, sealed: Uint8Array } | null>}
     */
    async joined(id) {
        /** @type {HubAPI.InvitationReport} */
        const { join } = await this.#requests.json("GET", `/v1/invitations/${id}`);
        if (join === undefined || join === null) return null;
        if (!isID(join.device) || typeof join.sealed !== "string") throw notUnderstood();
        return { device: join.device, sealed: unbase64(join.sealed) };
    }

    /**
     * Refuses a device that joined by it and was not admitted.
     * @param {string} id
     */
    withdraw(id) {
        return this.#requests.send("DELETE", `/v1/invitations/${id}`);
    }

    // Records

    /** @param {number} after @returns {Promise<HubAPI.HubRecordPage>} */
    async records(after, limit = 256) {
        /** @type {HubAPI.HubRecordPage} */
        const page = await this.#requests.json("GET", `/v1/records?after=${after}&limit=${limit}`);
        if (!Array.isArray(page.records) || !page.records.every(isRecord) || !Number.isSafeInteger(page.next)) {
            throw notUnderstood();
        }
        return { ...page, records: page.records.map((record) => ({ ...record, blobs: record.blobs ?? [] })) };
    }

    /** @param {string} collection @param {string} id @returns {Promise<HubRecord>} */
    async record(collection, id) {
        const record = await this.#requests.json("GET", `/v1/records/${collection}/${id}`);
        if (!isRecord(record)) throw notUnderstood();
        return { ...record, blobs: record.blobs ?? [] };
    }

    /**
     * One outcome for each record, in order. Throws HubUnreachable `notUnderstood` for an invalid one: it would be
     * stored.
     * @param {HubRecord[]} records
     * @returns {Promise<HubAPI.HubWriteOutcome[]>}
     */
    async write(records) {
        /** @type {HubAPI.HubWriteRequest} */
        const body = { records };
        /** @type {HubAPI.HubWriteAnswer} */
        const { outcomes } = await this.#requests.json("POST", "/v1/records", { body });
        if (!Array.isArray(outcomes) || outcomes.length !== records.length || !outcomes.every(isOutcome)) {
            throw notUnderstood();
        }
        return outcomes.map(({ sequence, conflict, error }) => (
            { sequence: sequence ?? undefined, conflict: conflict ?? undefined, error: error ?? undefined }));
    }

    /**
     * What was written after a sequence number, then what is written from now on. Throws HubError, HubUnreachable; ends
     * with the hub's response or by the signal.
     * @param {number} after
     * @param {AbortSignal} [signal]
     * @returns {AsyncGenerator<StreamItem, void>}
     */
    async *stream(after, signal) {
        const headers = { Accept: "text/event-stream", "Last-Event-ID": String(after) };
        const parser = new EventParser();
        for await (const part of this.#requests.stream("/v1/stream", headers, signal)) {
            if (part) yield* parser.read(part);
            else yield { kind: "open" };
        }
    }

    // Blobs

    /** @param {string} id @returns {Promise<HubAPI.BlobState>} */
    blobState(id) {
        return this.#requests.json("GET", `/v1/blobs/${id}/state`);
    }

    /**
     * @param {{ id: string, size: number, hash: Uint8Array }} blob
     * @param {AbortSignal} [signal]
     * @returns {Promise<HubAPI.BlobState>}
     */
    beginBlob({ id, size, hash }, signal) {
        /** @type {HubAPI.NewBlobRequest} */
        const body = { id, size, hash: base64(hash) };
        return this.#requests.json("POST", "/v1/blobs", { body, signal });
    }

    /**
     * The next piece, at most 4 MiB.
     * @param {string} id
     * @param {number} offset
     * @param {Uint8Array} bytes
     * @param {AbortSignal} [signal]
     * @returns {Promise<HubAPI.BlobState>}
     */
    writeBlob(id, offset, bytes, signal) {
        return this.#requests.json("PATCH", `/v1/blobs/${id}?offset=${offset}`, { bytes, signal });
    }

    /**
     * Bytes from `start` to before `end`.
     * @param {string} id
     * @param {number} start
     * @param {number} end
     * @param {AbortSignal} [signal]
     */
    async readBlob(id, start, end, signal) {
        const bytes = await this.#requests.read("GET", `/v1/blobs/${id}`,
            async (response) => new Uint8Array(await response.arrayBuffer()),
            { headers: { Range: `bytes=${start}-${end - 1}` }, signal });
        if (bytes.length !== end - start) {
            throw new HubUnreachable("notUnderstood", "The hub returned the wrong piece.");
        }
        return bytes;
    }

    // PIN share and push

    /**
     * Always four entries. Throws HubError `conflict` once a PIN of the existing ones was right.
     * @param {{ verifier: Uint8Array, share: Uint8Array, changeHash: Uint8Array }[]} entries
     */
    setPINShare(entries) {
        /** @type {HubAPI.PINShareRequest} */
        const body = {
            entries: entries.map(({ verifier, share, changeHash }) => (
                { verifier: base64(verifier), share: base64(share), changeHash: base64(changeHash) })),
        };
        return this.#requests.send("PUT", "/v1/pin-share", { body });
    }

    /** @returns {Promise<HubAPI.PINShareState>} */
    pinShare() {
        return this.#requests.json("GET", "/v1/pin-share");
    }

    /**
     * Throws HubError `wrong_pin`, `too_many`, `gone`.
     * @param {Uint8Array} verifier
     * @returns {Promise<Uint8Array>} 32 bytes
     */
    async attemptPIN(verifier) {
        /** @type {HubAPI.PINAttemptRequest} */
        const body = { verifier: base64(verifier) };
        /** @type {HubAPI.PINShareAnswer} */
        const answer = await this.#requests.json("POST", "/v1/pin-share/attempt", { body });
        const share = unbase64(String(answer.share));
        if (share.length !== 32) throw notUnderstood();
        return share;
    }

    /**
     * Replaces the entry of this secret, which stays valid. Throws HubError `not_found`, `gone`.
     * @param {Uint8Array} changeSecret
     * @param {{ verifier: Uint8Array, share: Uint8Array }} entry
     */
    replacePIN(changeSecret, { verifier, share }) {
        /** @type {HubAPI.PINReplaceRequest} */
        const body = { changeSecret: base64(changeSecret), verifier: base64(verifier), share: base64(share) };
        return this.#requests.send("POST", "/v1/pin-share/replace", { body });
    }

    /**
     * @param {PushSubscriptionJSON & { fallback?: HubAPI.PushFallback }} subscription from `PushSubscription.toJSON()`
     */
    setPush(subscription) {
        const { endpoint, keys, fallback } = subscription;
        const body = /** @type {HubAPI.PushSubscriptionRequest} */ ({ endpoint, keys, ...(fallback && { fallback }) });
        return this.#requests.send("PUT", "/v1/push", { body });
    }

    /**
     * To the named devices, or to all others. `content`: as JSON at most 3,072 bytes. `ttl`: seconds.
     * @param {{ content: unknown } & Omit<HubAPI.PushMessageRequest, "payload">} message
     * @returns {Promise<number>} how many subscriptions it is on its way to
     */
    async push({ content, ...rest }) {
        /** @type {HubAPI.PushMessageRequest} */
        const body = { payload: base64(utf8(JSON.stringify(content))), ...rest };
        /** @type {HubAPI.PushMessageAnswer} */
        const { subscriptions } = await this.#requests.json("POST", "/v1/push/messages", { body });
        if (!Number.isSafeInteger(subscriptions)) throw notUnderstood();
        return subscriptions;
    }

    /**
     * Replaces this device's list of pushes to itself. `at`: seconds since 1970. Throws HubError `conflict` without a
     * push subscription.
     * @param {string} list an id
     * @param {{ at: number, content: Uint8Array }[]} reminders
     */
    setReminders(list, reminders) {
        /** @type {HubAPI.PushRemindersRequest} */
        const body = { list, reminders: reminders.map(({ at, content }) => ({ at, content: base64(content) })) };
        return this.#requests.send("PUT", "/v1/push/reminders", { body });
    }

    removePush() {
        return this.#requests.send("DELETE", "/v1/push");
    }
}

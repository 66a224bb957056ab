// Server-sent events (WHATWG HTML, section 9.2.6) of a hub.
import { isCount, isID } from "../crypto/bytes.js";
import { HubUnreachable } from "./errors.js";

/**
 * Items of `GET /v1/stream`. `large`: a record that has to be fetched. `live`: everything up to it was sent.
 * @typedef {{ kind: "open" } | { kind: "record", record: HubRecord } | { kind: "large", sequence: number }
 *   | { kind: "roster", number: number } | { kind: "live", sequence: number }} StreamItem
 */

const maximumLine = 1 << 20;
const notUnderstood = () =>
    new HubUnreachable("notUnderstood", "The hub’s stream is invalid; update hub and devices to one version.");

/** @param {string} text */
function number(text) {
    const value = /^\d+$/.test(text) ? Number(text) : NaN;
    if (!Number.isSafeInteger(value)) throw notUnderstood();
    return value;
}

/** At most 16 versions of 8 bytes, as base64. */
const isAncestors = (/** @type {unknown} */ value) => typeof value === "string"
    && /^[A-Za-z0-9+/]{0,171}={0,2}$/.test(value) && value.length % 4 === 0;

/**
 * Whether a value has the shape of a record; it is not verified yet.
 * @param {any} value
 * @returns {value is HubRecord}
 */
export function isRecord(value) {
    return value !== null && typeof value === "object" && typeof value.collection === "string"
        && /^[a-z-]{1,32}$/.test(value.collection) && isID(value.id) && isID(value.vault) && isID(value.author)
        && isCount(value.revision) && isCount(value.epoch) && value.epoch < 2 ** 32
        && (value.sealed === undefined || value.sealed === null || typeof value.sealed === "string")
        && (value.blobs === undefined || (Array.isArray(value.blobs) && value.blobs.every(isID)))
        && typeof value.signature === "string" && (value.sequence == null || isCount(value.sequence))
        && (value.ancestors == null || isAncestors(value.ancestors));
}

/** Ignores comments, unknown fields and unknown events. */
export class EventParser {
    #decoder = new TextDecoder();
    #pending = "";
    #event = "";
    #id = "";
    #data = "";

    /**
     * Throws HubUnreachable for invalid data.
     * @param {Uint8Array} bytes
     * @returns {StreamItem[]}
     */
    read(bytes) {
        this.#pending += this.#decoder.decode(bytes, { stream: true });
        const lines = this.#pending.split("\n");
        this.#pending = lines.pop() ?? "";
        if (this.#pending.length + this.#data.length > maximumLine) throw notUnderstood();
        return lines.flatMap((line) => this.#readLine(line.replace(/\r$/, "")) ?? []);
    }

    /** @param {string} line */
    #readLine(line) {
        if (line === "") {
            const item = this.#item();
            this.#event = "";
            this.#data = "";
            return item;
        }
        const [, field, value] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
        if (field === "event") this.#event = value ?? "";
        if (field === "id") this.#id = value ?? "";
        if (field === "data") this.#data += value ?? "";
        return null;
    }

    /** @returns {StreamItem | null} */
    #item() {
        switch (/** @type {HubAPI.HubStreamEvent | ""} */ (this.#event)) {
            case "record": {
                const record = parsed(this.#data);
                if (!isRecord(record)) throw notUnderstood();
                return { kind: "record", record: { ...record, blobs: record.blobs ?? [], sequence: number(this.#id) } };
            }
            case "large":
                return { kind: "large", sequence: number(this.#id) };
            case "live":
                return { kind: "live", sequence: number(this.#id) };
            case "roster":
                return { kind: "roster", number: number(this.#data) };
            default:
                return null;
        }
    }
}

/** @param {string} text */
function parsed(text) {
    try {
        return JSON.parse(text);
    } catch {
        throw notUnderstood();
    }
}

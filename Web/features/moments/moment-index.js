// An index of all moments that this device can open, in memory while it is unlocked. Opening thousands of records takes
// seconds, so the index is stored sealed in one piece, and only newer records are opened one by one.
import { recordKey } from "../../formats/record-key.js";
import { sealedBytes } from "../../crypto/signature.js";
import { hasVaultKey } from "../../household/private-storage.js";
import { readMoment } from "../../formats/moment-format.js";
import { readSnapshot, writeSnapshot } from "../../sync/moment-snapshot.js";
import { searchableText } from "./moment-queries.js";

/** @typedef {import("./moments.js").Moment} Moment */
/** @typedef {import("../../store/store.js").Waiting} Waiting */

/** Opened records from which storing the result pays off, and records opened at a time. */
const [worthKeeping, atOnce] = [64, 64];

/** @param {string} key "moments/id" */
const idOf = (key) => key.slice("moments/".length);

export class MomentIndex {
    /** @type {Map<string, Moment>} */
    #moments = new Map();
    /** @type {Map<string, string>} */
    #haystacks = new Map();
    /** @type {Set<string>} keys of records that this device has no key for */
    unreadable = new Set();
    /** @type {Moment[] | null} newest first; null where something changed since */
    #sorted = null;

    /**
     * @param {DeviceSession} device
     * @param {import("../../household/keys.js").UnlockedKeys} keys that it is built with, and ends with
     */
    constructor(device, keys) {
        this.device = device;
        this.keys = keys;
    }

    /** @param {DeviceSession} device */
    static async build(device) {
        const index = new MomentIndex(device, device.keys);
        const { cursor, snapshot } = await readSnapshot(device, index.keys);
        for (const moment of snapshot?.moments ?? []) index.#put(recordKey("moments", moment.id), moment);
        const newer = await device.storedAll("moments", { after: snapshot?.upTo ?? -1 });
        const older = await Promise.all((snapshot?.unreadable ?? []).map((key) => device.stored("moments", idOf(key))));
        const rows = [...newer, ...older].flatMap(({ row }) => row ?? []);
        for (let start = 0; start < rows.length; start += atOnce) {
            await Promise.all(rows.slice(start, start + atOnce)
                .map(({ key, record }) => index.#open(key, record, record.revision)));
            device.requireUnlocked(index.keys);
        }
        if (rows.length > worthKeeping) {
            await writeSnapshot(device, index.keys, cursor, {
                unreadable: [...index.unreadable], moments: index.sorted,
            });
        }
        for (const { key, line, record, base } of newer) if (line) await index.#open(key, record, base, line);
        device.requireUnlocked(index.keys);
        return index;
    }

    /** @param {string} key @param {Moment | null} moment */
    #put(key, moment) {
        this.unreadable.delete(key);
        this.#haystacks.delete(key);
        this.#sorted = null;
        if (moment) this.#moments.set(key, moment);
        else this.#moments.delete(key);
    }

    /** @param {string} key @param {HubRecord} record @param {number} base @param {Waiting} [line] */
    async #open(key, record, base, line) {
        const rest = { base, isWaiting: line !== undefined, problem: line?.problem ?? null };
        const known = this.#moments.get(key);
        if (known?.signature === record.signature) return this.#put(key, { ...known, ...rest });
        // Records of another PIN's vault are left out.
        if (!hasVaultKey(this.keys.ring, record.vault)) return this.#put(key, null);
        const sealed = sealedBytes(record);
        if (!sealed) return this.#put(key, null);
        const content = readMoment(await this.keys.openContent(record, sealed).catch(() => new Uint8Array()));
        if (this.device.unlocked !== this.keys) return;
        this.#put(key, content && {
            ...content, id: record.id, vault: record.vault, revision: record.revision,
            signature: record.signature, ...rest,
        });
        if (!content) this.unreadable.add(key);
    }

    /**
     * Called after a record was written.
     * @param {string} key "moments/id"
     */
    async refresh(key) {
        const { line, record, base } = await this.device.stored("moments", idOf(key));
        if (record) await this.#open(key, record, base, line);
        else this.#put(key, null);
        this.device.requireUnlocked(this.keys);
    }

    /** All moments, the trash too, newest first. */
    get sorted() {
        return (this.#sorted ??= [...this.#moments.values()].sort(
            (one, other) => other.date - one.date || other.created - one.created || (one.id < other.id ? -1 : 1)));
    }

    /** @param {string} id */
    moment(id) {
        return this.#moments.get(recordKey("moments", id));
    }

    /** @param {Moment} moment */
    haystack(moment) {
        const key = recordKey("moments", moment.id);
        let text = this.#haystacks.get(key);
        if (text === undefined) this.#haystacks.set(key, (text = searchableText(moment)));
        return text;
    }

    forget() {
        this.#moments.clear();
        this.#haystacks.clear();
        this.unreadable.clear();
        this.#sorted = null;
    }
}

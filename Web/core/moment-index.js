// Every moment that this device can open, in memory while the gate is open. Opening thousands of records takes seconds, so what was
// opened is kept sealed in one piece, under a key of the root key's, and only what came since is opened one by one.
import { concat, fields, randomBytes, textOf, utf8, wipe } from "../crypto/bytes.js";
import { drawerCount, filler } from "../crypto/drawers.js";
import { hkdf } from "../crypto/primitives.js";
import { sealedBytes } from "../crypto/signature.js";
import { openContent, sealContent, streamName } from "../crypto/stream.js";
import { keyOf } from "../store/store.js";
import { knowsVault } from "./drawer.js";
import { readMoment } from "./moment-format.js";
import { haystackOf } from "./moment-figures.js";

/** @typedef {import("./device.js").Device} Device */
/** @typedef {import("./moments.js").Moment} Moment */
/** @typedef {import("../crypto/signature.js").HubRecord} HubRecord */
/** @typedef {import("../store/store.js").Waiting} Waiting */
/**
 * `upTo`: every record of the hub's up to this sequence number is in it; `count` of them there were. `unreadable`: keys of records.
 * @typedef {{ version: 1, upTo: number, count: number, unreadable: string[], moments: Moment[] }} Snapshot
 */

/** Where it is kept; gone where it no longer fits. */
export const indexFact = "momentIndex";
const snapshotName = streamName({ purpose: "moment index" });
const saltLength = 32;
/** So many records are opened before the result is worth keeping; and so many at a time. */
const [worthKeeping, atOnce] = [64, 64];

/**
 * Its salt is fresh, so the key is for one stream.
 * @param {Uint8Array} rootKey @param {Uint8Array} salt
 */
const snapshotKey = (rootKey, salt) => hkdf(rootKey, salt, fields("applocker/1/moment-index"));

export class MomentIndex {
    /** @type {Map<string, Moment>} */
    #moments = new Map();
    /** @type {Map<string, string>} */
    #haystacks = new Map();
    /**
     * Keys of records that this device has no key for.
     * @type {Set<string>}
     */
    unreadable = new Set();
    /**
     * Newest first; null where something changed since.
     * @type {Moment[] | null}
     */
    #sorted = null;

    /** @param {Device} device @param {import("./keys.js").UnlockedKeys} keys that it is built with, and ends with */
    constructor(device, keys) {
        this.device = device;
        this.keys = keys;
    }

    /** @param {Device} device */
    static async build(device) {
        const index = new MomentIndex(device, device.keys);
        const { store } = device;
        // Before anything is read: what comes meanwhile is above it.
        const cursor = await store.sequence("cursor");
        const snapshot = await index.#snapshot();
        for (const moment of snapshot?.moments ?? []) index.#put(keyOf("moments", moment.id), moment);
        const rows = await store.records("moments", { after: snapshot?.upTo ?? -1 });
        const older = await Promise.all((snapshot?.unreadable ?? []).map((key) => store.record(key)));
        const records = [...rows, ...older.flatMap((row) => row ?? [])];
        for (let start = 0; start < records.length; start += atOnce) {
            await Promise.all(records.slice(start, start + atOnce).map(({ key, record }) => index.#take(key, record, record.revision)));
            device.still(index.keys);
        }
        if (records.length > worthKeeping) await index.#keepSnapshot(cursor);
        for (const line of await store.waiting()) {
            if (line.record.collection === "moments") await index.#take(line.key, line.record, line.record.replaces ?? 0, line);
        }
        device.still(index.keys);
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
    async #take(key, record, base, line) {
        const rest = { base, isWaiting: line !== undefined, problem: line?.problem ?? null };
        const known = this.#moments.get(key);
        if (known?.signature === record.signature) return this.#put(key, { ...known, ...rest });
        // What is of another PIN's vault is not there.
        if (!knowsVault(this.keys.ring, record.vault)) return this.#put(key, null);
        const sealed = sealedBytes(record);
        if (!sealed) return this.#put(key, null);
        const content = readMoment(await this.keys.openContent(record, sealed).catch(() => new Uint8Array()));
        if (this.device.unlocked !== this.keys) return;
        this.#put(key, content && {
            ...content, id: record.id, vault: record.vault, revision: record.revision, signature: record.signature, ...rest,
        });
        if (!content) this.unreadable.add(key);
    }

    /**
     * A record was written.
     * @param {string} key "moments/id"
     */
    async refresh(key) {
        const [line, row] = [await this.device.store.waitingFor(key), await this.device.store.record(key)];
        const record = line?.record ?? row?.record;
        if (record) await this.#take(key, record, line ? line.record.replaces ?? 0 : record.revision, line);
        else this.#put(key, null);
        this.device.still(this.keys);
    }

    /** All of them, in the trash too, the newest first. */
    get sorted() {
        return (this.#sorted ??= [...this.#moments.values()].sort(
            (one, other) => other.date - one.date || other.created - one.created || (one.id < other.id ? -1 : 1)));
    }

    /** @param {string} id */
    moment(id) {
        return this.#moments.get(keyOf("moments", id));
    }

    /**
     * What a search looks through.
     * @param {Moment} moment
     */
    haystack(moment) {
        const key = keyOf("moments", moment.id);
        let text = this.#haystacks.get(key);
        if (text === undefined) this.#haystacks.set(key, (text = haystackOf(moment)));
        return text;
    }

    /** Nothing of a moment stays. */
    forget() {
        this.#moments.clear();
        this.#haystacks.clear();
        this.unreadable.clear();
        this.#sorted = null;
    }

    /**
     * One for each drawer of keys, whichever are in use: what is not is random.
     * @returns {Promise<Uint8Array[] | null>}
     */
    async #kept() {
        const kept = await this.device.store.fact(indexFact, /** @type {unknown} */ (null));
        return Array.isArray(kept) ? kept : null;
    }

    /** @returns {Promise<Snapshot | null>} null where there is none that fits what the store has */
    async #snapshot() {
        const bytes = (await this.#kept())?.[this.keys.drawer];
        if (!bytes) return null;
        try {
            const key = await snapshotKey(this.keys.rootKey, bytes.slice(0, saltLength));
            const plain = await openContent(bytes.subarray(saltLength), snapshotName, key);
            wipe(key);
            /** @type {Snapshot} */
            const snapshot = JSON.parse(textOf(plain));
            wipe(plain);
            const isComplete = snapshot.version === 1 && (await this.device.store.count("moments", snapshot.upTo)) === snapshot.count;
            return isComplete ? snapshot : null;
        } catch {
            // Of another root key, or damaged: it is made anew.
            return null;
        }
    }

    /** @param {number} upTo */
    async #keepSnapshot(upTo) {
        // A restored hub was found meanwhile: what came since lies below the number too.
        if ((await this.device.store.sequence("cursor")) < upTo) return;
        const rows = await this.device.store.count("moments", upTo);
        const snapshot = {
            version: 1, upTo, count: rows, unreadable: [...this.unreadable], moments: this.sorted,
        };
        const plain = utf8(JSON.stringify(snapshot));
        const salt = randomBytes(saltLength);
        this.device.still(this.keys);
        const key = await snapshotKey(this.keys.rootKey, salt);
        const sealed = await sealContent(plain, snapshotName, key);
        wipe(plain, key);
        const bytes = concat(salt, sealed);
        await this.device.tabs.alone("index", async () => {
            const kept = (await this.#kept()) ?? Array.from({ length: drawerCount }, () => filler(bytes.length));
            // A full device does without.
            await this.device.store.write({ facts: { [indexFact]: kept.map((one, drawer) => (drawer === this.keys.drawer ? bytes : one)) } }).catch(() => {});
        });
    }
}

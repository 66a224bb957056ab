// What a companion keeps: records as they came, sealed; what waits to be sent; its keys behind the gate.
import { openDatabase, requested, transact } from "./database.js";

/** @typedef {import("../crypto/signature.js").HubRecord} HubRecord */
/**
 * A record as it was taken. `at`: when, by this device. `hidden`: the person put it away.
 * @typedef {{ key: string, collection: string, sequence: number, record: HubRecord, at: number, hidden?: boolean }} Row
 */
/**
 * A change that waits to be sent, one for each record. `problem`: the code that the hub refused it with for good.
 * @typedef {{ key: string, record: HubRecord, problem?: string, conflict?: boolean }} Waiting
 */
/**
 * A status key that no script can read: it opens while the companion is locked.
 * @typedef {{ epoch: number, key: CryptoKey }} StatusKey
 */
/**
 * All that one step changes.
 * @typedef {object} Change
 * @property {Row[]} [records]
 * @property {HubRecord[]} [deferred] put beside those that are there
 * @property {number[]} [undeferred]
 * @property {Waiting[]} [waiting]
 * @property {{ key: string, signature: string, followedBy?: number }[]} [sent] removed from what waits, unless it was changed
 *   meanwhile: then the rest replaces revision `followedBy`
 * @property {Record<string, unknown>} [facts]
 * @property {StatusKey[]} [keys]
 */

/** @param {string} collection @param {string} id */
export const keyOf = (collection, id) => `${collection}/${id}`;

const everything = ["facts", "records", "outbox", "deferred", "keys"];

export class CompanionStore {
    /** @type {IDBDatabase} */
    #database;

    /** @param {IDBDatabase} database */
    constructor(database) {
        this.#database = database;
    }

    /** @param {() => void} lost @returns {Promise<CompanionStore>} throws StoreError */
    static async open(lost = () => {}, name = "applocker") {
        return new CompanionStore(await openDatabase(name, lost));
    }

    close() {
        this.#database.close();
    }

    /** @template Value @param {string} name @param {Value} otherwise @returns {Promise<Value>} */
    fact(name, otherwise) {
        return transact(this.#database, ["facts"], "readonly", async (transaction) =>
            (await requested(transaction.objectStore("facts").get(name))) ?? otherwise);
    }

    /** @param {string} key @returns {Promise<Row | undefined>} */
    record(key) {
        return transact(this.#database, ["records"], "readonly", (transaction) =>
            requested(transaction.objectStore("records").get(key)));
    }

    /**
     * Of a collection, newest first.
     * @param {string} collection
     * @param {{ before?: number, limit?: number }} page `before` is a sequence number
     * @returns {Promise<Row[]>}
     */
    records(collection, { before = Number.MAX_SAFE_INTEGER, limit = Infinity } = {}) {
        return transact(this.#database, ["records"], "readonly", (transaction) =>
            new Promise((resolve, reject) => {
                /** @type {Row[]} */
                const rows = [];
                const range = IDBKeyRange.bound([collection, -1], [collection, before], false, true);
                const request = transaction.objectStore("records").index("order").openCursor(range, "prev");
                request.onerror = () => reject(request.error);
                request.onsuccess = () => {
                    const cursor = request.result;
                    if (!cursor || rows.length >= limit) return resolve(rows);
                    if (!cursor.value.hidden) rows.push(cursor.value);
                    cursor.continue();
                };
            }));
    }

    /** @returns {Promise<Waiting[]>} */
    waiting() {
        return transact(this.#database, ["outbox"], "readonly", (transaction) =>
            requested(transaction.objectStore("outbox").getAll()));
    }

    /**
     * Of one record.
     * @param {string} key
     * @returns {Promise<Waiting | undefined>}
     */
    waitingFor(key) {
        return transact(this.#database, ["outbox"], "readonly", (transaction) =>
            requested(transaction.objectStore("outbox").get(key)));
    }

    /**
     * Under keys that this device can't use yet.
     * @returns {Promise<{ number: number, record: HubRecord }[]>}
     */
    deferred() {
        return transact(this.#database, ["deferred"], "readonly", async (transaction) => {
            const store = transaction.objectStore("deferred");
            const [numbers, records] = await Promise.all([requested(store.getAllKeys()), requested(store.getAll())]);
            return records.map((record, index) => ({ number: Number(numbers[index]), record }));
        });
    }

    /** @returns {Promise<StatusKey[]>} */
    statusKeys() {
        return transact(this.#database, ["keys"], "readonly", (transaction) =>
            requested(transaction.objectStore("keys").getAll()));
    }

    /**
     * All of it, or nothing and a StoreError.
     * @param {Change} change
     */
    write(change) {
        return transact(this.#database, everything, "readwrite", async (transaction) => {
            const [records, outbox, deferred, facts, keys] = ["records", "outbox", "deferred", "facts", "keys"]
                .map((name) => transaction.objectStore(name));
            for (const row of change.records ?? []) records.put(row);
            for (const record of change.deferred ?? []) deferred.add(record);
            for (const number of change.undeferred ?? []) deferred.delete(number);
            for (const line of change.waiting ?? []) outbox.put(line);
            for (const key of change.keys ?? []) keys.put(key);
            for (const [name, value] of Object.entries(change.facts ?? {})) facts.put(value, name);
            for (const { key, signature, followedBy } of change.sent ?? []) {
                /** @type {Waiting | undefined} */
                const line = await requested(outbox.get(key));
                if (line?.record.signature === signature) outbox.delete(key);
                else if (line && followedBy !== undefined) {
                    outbox.put({ ...line, record: { ...line.record, replaces: followedBy } });
                }
            }
        });
    }

    /**
     * Forgets records that were taken before a time.
     * @param {Record<string, number>} before by collection, milliseconds since 1970
     */
    forget(before) {
        return transact(this.#database, ["records"], "readwrite", async (transaction) => {
            for (const [collection, time] of Object.entries(before)) {
                const range = IDBKeyRange.bound([collection, -1], [collection, Infinity]);
                await new Promise((resolve, reject) => {
                    const request = transaction.objectStore("records").index("order").openCursor(range);
                    request.onerror = () => reject(request.error);
                    request.onsuccess = () => {
                        const cursor = request.result;
                        // Older ones come first.
                        if (!cursor || cursor.value.at >= time) return resolve(undefined);
                        cursor.delete();
                        cursor.continue();
                    };
                });
            }
        });
    }

    /** Removes everything. */
    erase() {
        return transact(this.#database, everything, "readwrite", (transaction) => {
            for (const name of everything) transaction.objectStore(name).clear();
        });
    }

    /**
     * Whether the browser promised to keep it, and how much room there is.
     * @returns {Promise<{ persisted: boolean, usage: number, quota: number }>}
     */
    static async room() {
        const storage = navigator.storage;
        if (!storage?.estimate) return { persisted: false, usage: 0, quota: 0 };
        const persisted = (await storage.persisted?.()) ?? false;
        const { usage = 0, quota = 0 } = await storage.estimate();
        return { persisted, usage, quota };
    }
}


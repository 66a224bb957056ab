// What a companion keeps: records as they came, sealed; what waits to be sent; its keys behind the gate.
import { isCount } from "../protocol/events.js";
import { openDatabase, requested, transact } from "./database.js";
import { StoreError, storeError } from "./errors.js";

/** @typedef {import("../crypto/signature.js").HubRecord} HubRecord */
/**
 * A record as it was taken. `at`: when, by this device. `hidden`: the person put it away. `versions`: what the hub had of it before, the
 * newest last. `atHub`: the hub's store was restored, and has this revision (0: none) in the place of this one, which is sent again.
 * @typedef {{ key: string, collection: string, sequence: number, record: HubRecord, at: number, hidden?: boolean, versions?: string[],
 *   atHub?: number }} Row
 */
/**
 * A blob that has to be at the hub before its record: its sealed bytes lie in pieces of `pieceSize`. `hash`: SHA-256 of them all.
 * @typedef {{ blob: string, size: number, hash: Uint8Array }} Upload
 */
/**
 * A change that waits to be sent, one for each record. `problem`: the code that the hub refused it with for good. `uploads` go
 * first; `retries`: how often the hub had lost them by then; `isPushed`: other devices are told as soon as the hub has it.
 * @typedef {{ key: string, record: HubRecord, problem?: string, conflict?: boolean, uploads?: Upload[], isUploaded?: boolean,
 *   retries?: number, isPushed?: boolean }} Waiting
 */
/**
 * A photo that was sealed and belongs to no moment yet. `at`: when, by this device.
 * @typedef {{ id: string, record: HubRecord, uploads: Upload[], at: number }} Staged
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
 * @property {{ key: string, signature: string, change: Partial<Waiting> }[]} [lines] what became of those that wait; unless they were
 *   changed meanwhile
 * @property {Staged[]} [staged]
 * @property {string[]} [unstaged]
 * @property {string[]} [withoutPieces] blobs whose bytes are not needed here any more
 * @property {Record<string, unknown>} [facts]
 * @property {StatusKey[]} [keys]
 */

/** @param {string} collection @param {string} id */
export const keyOf = (collection, id) => `${collection}/${id}`;

const everything = ["facts", "records", "outbox", "deferred", "keys", "staged", "pieces"];

/** Of a device that was revoked and erased: nothing more is kept here until it is paired again. */
export const revokedFact = "revoked";

/** @param {IDBObjectStore} facts */
async function refuseIfRevoked(facts) {
    if (await requested(facts.get(revokedFact))) {
        throw new StoreError("revoked", "This device was removed from its household; nothing is kept here any more.");
    }
}

/** What a hub lost lies between the last sequence number that it has and the next one, within this distance. */
export const lostSpan = 0.5;

/**
 * Earlier versions stored what a hub answered without checking it: a value that is no count is read as absent.
 * @param {unknown} value
 * @returns {number}
 */
export const storedCount = (value) => (isCount(value) ? value : 0);

/** Of sealed content, in bytes; what a slow network takes in well under the time for a request. */
export const pieceSize = 1 << 20;

/**
 * All pieces of a blob.
 * @param {string} blob
 */
const piecesOf = (blob) => IDBKeyRange.bound([blob], [blob, []]);

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

    /**
     * The whole database; who has it open is told that it is lost.
     * @param {string} name
     * @returns {Promise<void>} throws StoreError
     */
    static remove(name) {
        return new Promise((resolve, reject) => {
            const request = indexedDB.deleteDatabase(name);
            request.onerror = () => reject(storeError(request.error));
            request.onsuccess = () => resolve();
        });
    }

    /** @template Value @param {string} name @param {Value} otherwise @returns {Promise<Value>} */
    fact(name, otherwise) {
        return transact(this.#database, ["facts"], "readonly", async (transaction) =>
            (await requested(transaction.objectStore("facts").get(name))) ?? otherwise);
    }

    /**
     * A sequence number among the facts; 0 where none is stored.
     * @param {string} name
     */
    async sequence(name) {
        return storedCount(await this.fact(name, 0));
    }

    /** @param {string} key @returns {Promise<Row | undefined>} */
    record(key) {
        return transact(this.#database, ["records"], "readonly", (transaction) =>
            requested(transaction.objectStore("records").get(key)));
    }

    /**
     * Of a collection, newest first.
     * @param {string} collection
     * @param {{ before?: number, after?: number, limit?: number }} page `before` and `after` are sequence numbers
     * @returns {Promise<Row[]>}
     */
    records(collection, { before = Number.MAX_SAFE_INTEGER, after = -1, limit = Infinity } = {}) {
        return transact(this.#database, ["records"], "readonly", (transaction) =>
            new Promise((resolve, reject) => {
                /** @type {Row[]} */
                const rows = [];
                const range = IDBKeyRange.bound([collection, after], [collection, before], after >= 0, true);
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
            const [records, outbox, deferred, facts, keys, staged, pieces] =
                ["records", "outbox", "deferred", "facts", "keys", "staged", "pieces"].map((name) => transaction.objectStore(name));
            await refuseIfRevoked(facts);
            for (const row of change.records ?? []) records.put(row);
            for (const record of change.deferred ?? []) deferred.add(record);
            for (const number of change.undeferred ?? []) deferred.delete(number);
            for (const line of change.waiting ?? []) outbox.put(line);
            for (const key of change.keys ?? []) keys.put(key);
            for (const [name, value] of Object.entries(change.facts ?? {})) facts.put(value, name);
            for (const photo of change.staged ?? []) staged.put(photo);
            for (const id of change.unstaged ?? []) staged.delete(id);
            for (const blob of change.withoutPieces ?? []) pieces.delete(piecesOf(blob));
            for (const { key, signature, change: rest } of change.lines ?? []) {
                /** @type {Waiting | undefined} */
                const line = await requested(outbox.get(key));
                if (line?.record.signature === signature) outbox.put({ ...line, ...rest });
            }
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
     * The hub's store has nothing of what this device read after a sequence number. Rows after it may be lost there; they keep their order.
     * @param {number} common the sequence number
     * @param {readonly string[]} compared collections of which the hub is sent again what it lost
     * @param {Pick<Change, "waiting" | "facts">} change written in the same transaction
     */
    beginComparing(common, compared, { waiting = [], facts: changed = {} }) {
        return transact(this.#database, ["facts", "records", "outbox"], "readwrite", async (transaction) => {
            const [facts, records, outbox] = ["facts", "records", "outbox"].map((name) => transaction.objectStore(name));
            await refuseIfRevoked(facts);
            const index = records.index("order");
            for (const collection of [...compared, "events", "requests"]) {
                // Those without a number came by a push.
                const [later, unnumbered] = await Promise.all([
                    IDBKeyRange.bound([collection, common], [collection, Infinity], true), IDBKeyRange.only([collection, 0]),
                ].map((range) => requested(index.getAllKeys(range))));
                const keys = new Set([...unnumbered, ...later]);
                let place = 0;
                for (const key of keys) {
                    /** @type {Row} */
                    const row = await requested(records.get(key));
                    place += 1;
                    records.put({
                        ...row, sequence: common + (lostSpan * place) / keys.size, ...(compared.includes(collection) ? { atHub: 0 } : {}),
                    });
                }
            }
            for (const key of await requested(records.index("lost").getAllKeys())) records.put({ ...(await requested(records.get(key))), atHub: 0 });
            for (const line of waiting) if ((await requested(outbox.get(line.key))) === undefined) outbox.put(line);
            for (const [name, value] of Object.entries(changed)) facts.put(value, name);
        });
    }

    /**
     * Keys of the records that a restored hub has not, or has an older state of.
     * @returns {Promise<string[]>}
     */
    lost() {
        return transact(this.#database, ["records"], "readonly", async (transaction) =>
            (await requested(transaction.objectStore("records").index("lost").getAllKeys())).map(String));
    }

    /**
     * How many there are of a collection up to a sequence number, tombstones too.
     * @param {string} collection
     * @param {number} upTo
     */
    count(collection, upTo) {
        return transact(this.#database, ["records"], "readonly", (transaction) => requested(
            transaction.objectStore("records").index("order").count(IDBKeyRange.bound([collection, -1], [collection, upTo]))));
    }

    // Photos on their way

    /** @param {string} id @returns {Promise<Staged | undefined>} */
    stagedPhoto(id) {
        return transact(this.#database, ["staged"], "readonly", (transaction) => requested(transaction.objectStore("staged").get(id)));
    }

    /** @returns {Promise<Staged[]>} */
    staged() {
        return transact(this.#database, ["staged"], "readonly", (transaction) => requested(transaction.objectStore("staged").getAll()));
    }

    /** @param {string} blob @param {number} index @returns {Promise<Uint8Array | undefined>} */
    piece(blob, index) {
        return transact(this.#database, ["pieces"], "readonly", (transaction) =>
            requested(transaction.objectStore("pieces").get([blob, index])));
    }

    /**
     * Each on its own, so that a page can do other things between them.
     * @param {string} blob
     * @param {Uint8Array} sealed
     */
    async putPieces(blob, sealed) {
        for (let index = 0; index * pieceSize < sealed.length; index += 1) {
            const piece = sealed.slice(index * pieceSize, (index + 1) * pieceSize);
            await transact(this.#database, ["facts", "pieces"], "readwrite", async (transaction) => {
                await refuseIfRevoked(transaction.objectStore("facts"));
                await requested(transaction.objectStore("pieces").put(piece, [blob, index]));
            });
        }
    }

    /**
     * Photos that waited for a moment since before this time, and pieces that nothing names, go.
     * @param {number} before milliseconds since 1970
     */
    sweepPieces(before) {
        return transact(this.#database, ["staged", "outbox", "pieces"], "readwrite", async (transaction) => {
            const [staged, outbox, pieces] = ["staged", "outbox", "pieces"].map((name) => transaction.objectStore(name));
            const [photos, lines, keys] = await Promise.all([staged.getAll(), outbox.getAll(), pieces.getAllKeys()].map(requested));
            const kept = /** @type {Staged[]} */ (photos).filter(({ at }) => at >= before);
            for (const { id, at } of /** @type {Staged[]} */ (photos)) if (at < before) staged.delete(id);
            const named = new Set([...kept, .../** @type {Waiting[]} */ (lines)].flatMap(({ uploads = [] }) => uploads.map(({ blob }) => blob)));
            for (const key of /** @type {[string, number][]} */ (keys)) if (!named.has(key[0])) pieces.delete(key);
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

    /**
     * Removes everything.
     * @param {boolean} [isRevoked] tabs and workers that are at work keep nothing more either
     */
    erase(isRevoked = false) {
        return transact(this.#database, everything, "readwrite", (transaction) => {
            for (const name of everything) transaction.objectStore(name).clear();
            if (isRevoked) transaction.objectStore("facts").put(true, revokedFact);
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


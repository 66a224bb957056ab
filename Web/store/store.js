// What a companion stores: records sealed, as they arrived; pending changes; its sealed keys.
import { isCount } from "../crypto/bytes.js";
import { openDatabase, requested, transact, visit } from "./database.js";
import { StoreError, storeError } from "./errors.js";

/**
 * An ingested record. `at`: when, by this device's clock. `hidden`: the person cleared it. `versions`: the hub's
 * earlier versions, the newest last. `atHub`: the restored hub has this revision (0: none) instead of this one, which
 * is sent again.
 * @typedef {{ key: string, collection: string, sequence: number, record: HubRecord, at: number, hidden?: boolean,
 *   versions?: string[], atHub?: number }} Row
 */
/**
 * A blob that is uploaded before its record, stored in pieces of `pieceSize`. `hash`: SHA-256 of its sealed bytes.
 * @typedef {{ blob: string, size: number, hash: Uint8Array }} Upload
 */
/**
 * A pending change, one for each record. `problem`: the code with which the hub refused it permanently. `uploads` are
 * sent first; `retries`: how often the hub had lost them; `isPushed`: the hub pushes it to other devices. `after`: the
 * key of a record whose change is sent first; with that one it is dropped.
 * @typedef {{ key: string, record: HubRecord, problem?: string, conflict?: boolean, uploads?: Upload[],
 *   isUploaded?: boolean, retries?: number, isPushed?: boolean, after?: string }} Waiting
 */
/**
 * A sealed photo without a moment. `at`: when, by this device.
 * @typedef {{ id: string, record: HubRecord, uploads: Upload[], at: number }} Staged
 */
/**
 * A status key that no script can read, usable while the companion is locked.
 * @typedef {{ epoch: number, key: CryptoKey }} StatusKey
 */
/**
 * All changes of one step.
 * @typedef {object} Change
 * @property {Row[]} [records]
 * @property {HubRecord[]} [deferred] added to the stored ones
 * @property {number[]} [undeferred]
 * @property {Waiting[]} [waiting]
 * @property {{ key: string, signature: string, followedBy?: number }[]} [sent] removed from the pending ones, unless
 *   changed meanwhile: then the rest replaces revision `followedBy`
 * @property {{ key: string, signature: string, change: Partial<Waiting> }[]} [lines] what became of those that wait;
 *   unless they were changed meanwhile
 * @property {Staged[]} [staged]
 * @property {string[]} [unstaged]
 * @property {string[]} [kept] blobs whose bytes stay here until they are removed by `withoutPieces`
 * @property {string[]} [withoutPieces] blobs whose bytes are not needed here any more
 * @property {Record<string, unknown>} [facts]
 * @property {StatusKey[]} [keys]
 * @property {boolean} [withoutKeys] removes the stored ones first
 */

const everything = ["facts", "records", "outbox", "deferred", "keys", "staged", "pieces"];

/** Set on a device that was revoked and erased: nothing is stored until it is paired again. */
export const revokedFact = "revoked";

/** @param {IDBObjectStore} facts */
async function refuseIfRevoked(facts) {
    if (await requested(facts.get(revokedFact))) {
        throw new StoreError("revoked", "This device was revoked; its data was erased.");
    }
}

/** Lost records are numbered between the hub's last sequence number and the next one, within this distance. */
export const lostSpan = 0.5;

/**
 * Earlier versions stored unchecked values of the hub: one that is not a count is read as absent.
 * @param {unknown} value
 * @returns {number}
 */
export const storedCount = (value) => (isCount(value) ? value : 0);

/** Of sealed content, in bytes; a slow network uploads it within the time limit of a request. */
export const pieceSize = 1 << 20;

/** In place of a piece's number: the blob's pieces are swept only once this is gone. */
const keptMark = -1;

/** @param {string} blob */
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
     * Deletes the whole database; open sessions are notified that it is lost.
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

    /** @param {string} prefix @returns {Promise<string[]>} the names of the databases that begin with it */
    static async names(prefix) {
        const all = (await indexedDB.databases?.()) ?? [];
        return all.flatMap(({ name }) => (name?.startsWith(prefix) ? [name] : []));
    }

    /** @template Value @param {string} name @param {(store: IDBObjectStore) => Promise<Value>} body */
    #read(name, body) {
        return transact(this.#database, [name], "readonly", (transaction) => body(transaction.objectStore(name)));
    }

    /** @template Value @param {string} name @param {Value} otherwise @returns {Promise<Value>} */
    fact(name, otherwise) {
        return this.#read("facts", async (store) => (await requested(store.get(name))) ?? otherwise);
    }

    /** Whether the device was revoked and erased. */
    wasRevoked() {
        return this.fact(revokedFact, false);
    }

    /**
     * A sequence number among the facts, or 0.
     * @param {string} name
     */
    async sequence(name) {
        return storedCount(await this.fact(name, 0));
    }

    /** @param {string} key @returns {Promise<Row | undefined>} */
    record(key) {
        return this.#read("records", (store) => requested(store.get(key)));
    }

    /**
     * Newest first.
     * @param {string} collection
     * @param {{ before?: number, after?: number, limit?: number }} page `before` and `after` are sequence numbers
     * @returns {Promise<Row[]>}
     */
    records(collection, { before = Number.MAX_SAFE_INTEGER, after = -1, limit = Infinity } = {}) {
        return this.#read("records", async (store) => {
            /** @type {Row[]} */
            const rows = [];
            const range = IDBKeyRange.bound([collection, after], [collection, before], after >= 0, true);
            await visit(store.index("order").openCursor(range, "prev"), (cursor) => {
                if (rows.length >= limit) return false;
                if (!cursor.value.hidden) rows.push(cursor.value);
                return true;
            });
            return rows;
        });
    }

    /** @returns {Promise<Waiting[]>} */
    waiting() {
        return this.#read("outbox", (store) => requested(store.getAll()));
    }

    /** @param {string} key @returns {Promise<Waiting | undefined>} */
    waitingFor(key) {
        return this.#read("outbox", (store) => requested(store.get(key)));
    }

    /**
     * Records whose keys this device can't use yet.
     * @returns {Promise<{ number: number, record: HubRecord }[]>}
     */
    deferred() {
        return this.#read("deferred", async (store) => {
            const [numbers, records] = await Promise.all([requested(store.getAllKeys()), requested(store.getAll())]);
            return records.map((record, index) => ({ number: Number(numbers[index]), record }));
        });
    }

    /** @returns {Promise<StatusKey[]>} */
    statusKeys() {
        return this.#read("keys", (store) => requested(store.getAll()));
    }

    /**
     * Atomic. Throws StoreError.
     * @param {Change} change
     */
    write(change) {
        return transact(this.#database, everything, "readwrite", async (transaction) => {
            const [records, outbox, deferred, facts, keys, staged, pieces] =
                ["records", "outbox", "deferred", "facts", "keys", "staged", "pieces"]
                    .map((name) => transaction.objectStore(name));
            await refuseIfRevoked(facts);
            for (const row of change.records ?? []) records.put(row);
            for (const record of change.deferred ?? []) deferred.add(record);
            for (const number of change.undeferred ?? []) deferred.delete(number);
            for (const line of change.waiting ?? []) outbox.put(line);
            if (change.withoutKeys) keys.clear();
            for (const key of change.keys ?? []) keys.put(key);
            for (const [name, value] of Object.entries(change.facts ?? {})) facts.put(value, name);
            for (const photo of change.staged ?? []) staged.put(photo);
            for (const id of change.unstaged ?? []) staged.delete(id);
            for (const blob of change.kept ?? []) pieces.put(new Uint8Array(), [blob, keptMark]);
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
     * The hub's store has nothing of what this device read after a sequence number. Later rows may be lost there; they
     * keep their order.
     * @param {number} common the sequence number
     * @param {readonly string[]} compared collections of which the hub is sent again what it lost
     * @param {Pick<Change, "waiting" | "facts">} change written in the same transaction
     */
    beginComparing(common, compared, { waiting = [], facts: changed = {} }) {
        return transact(this.#database, ["facts", "records", "outbox"], "readwrite", async (transaction) => {
            const [facts, records, outbox] = ["facts", "records", "outbox"]
                .map((name) => transaction.objectStore(name));
            await refuseIfRevoked(facts);
            const index = records.index("order");
            for (const collection of [...compared, "events", "requests"]) {
                // Rows without a number arrived by a push.
                const [later, unnumbered] = await Promise.all([
                    IDBKeyRange.bound([collection, common], [collection, Infinity], true),
                    IDBKeyRange.only([collection, 0]),
                ].map((range) => requested(index.getAllKeys(range))));
                const keys = new Set([...unnumbered, ...later]);
                let place = 0;
                for (const key of keys) {
                    /** @type {Row} */
                    const row = await requested(records.get(key));
                    place += 1;
                    records.put({
                        ...row, sequence: common + (lostSpan * place) / keys.size,
                        ...(compared.includes(collection) ? { atHub: 0 } : {}),
                    });
                }
            }
            for (const key of await requested(records.index("lost").getAllKeys())) {
                records.put({ ...(await requested(records.get(key))), atHub: 0 });
            }
            for (const line of waiting) if ((await requested(outbox.get(line.key))) === undefined) outbox.put(line);
            for (const [name, value] of Object.entries(changed)) facts.put(value, name);
        });
    }

    /**
     * Keys of the records that a restored hub lacks, or has in an older state.
     * @returns {Promise<string[]>}
     */
    lost() {
        return this.#read("records", async (store) => (await requested(store.index("lost").getAllKeys())).map(String));
    }

    /**
     * How many records a collection has up to a sequence number, tombstones too.
     * @param {string} collection
     * @param {number} upTo
     */
    count(collection, upTo) {
        const range = IDBKeyRange.bound([collection, -1], [collection, upTo]);
        return this.#read("records", (store) => requested(store.index("order").count(range)));
    }

    // Photos that are not at the hub yet

    /** @param {string} id @returns {Promise<Staged | undefined>} */
    stagedPhoto(id) {
        return this.#read("staged", (store) => requested(store.get(id)));
    }

    /** @returns {Promise<Staged[]>} */
    staged() {
        return this.#read("staged", (store) => requested(store.getAll()));
    }

    /** @param {string} blob @param {number} index @returns {Promise<Uint8Array | undefined>} */
    piece(blob, index) {
        return this.#read("pieces", (store) => requested(store.get([blob, index])));
    }

    /**
     * Null if a part of the range is not here.
     * @param {string} blob
     * @param {number} start
     * @param {number} end
     */
    async bytes(blob, start, end) {
        const bytes = new Uint8Array(end - start);
        for (let offset = start; offset < end;) {
            const piece = await this.piece(blob, Math.floor(offset / pieceSize));
            const part = piece?.subarray(offset % pieceSize, (offset % pieceSize) + end - offset);
            if (!part?.length) return null;
            bytes.set(part, offset - start);
            offset += part.length;
        }
        return bytes;
    }

    /**
     * One at a time, so that a page stays responsive.
     * @param {string} blob
     * @param {Uint8Array} sealed
     */
    async putPieces(blob, sealed) {
        for (let index = 0; index * pieceSize < sealed.length; index += 1) {
            await this.putPiece(blob, index, sealed.slice(index * pieceSize, (index + 1) * pieceSize));
        }
    }

    /** @param {string} blob @param {number} index @param {Uint8Array} piece `pieceSize` bytes, fewer of the last one */
    putPiece(blob, index, piece) {
        return transact(this.#database, ["facts", "pieces"], "readwrite", async (transaction) => {
            await refuseIfRevoked(transaction.objectStore("facts"));
            await requested(transaction.objectStore("pieces").put(piece, [blob, index]));
        });
    }

    /**
     * Deletes photos that were staged before this time, and pieces without a photo or change that are not kept.
     * @param {number} before milliseconds since 1970
     */
    sweepPieces(before) {
        return transact(this.#database, ["staged", "outbox", "pieces"], "readwrite", async (transaction) => {
            const [staged, outbox, pieces] = ["staged", "outbox", "pieces"]
                .map((name) => transaction.objectStore(name));
            const [photos, lines, keys] = await Promise.all([staged.getAll(), outbox.getAll(), pieces.getAllKeys()]
                .map(requested));
            const kept = /** @type {Staged[]} */ (photos).filter(({ at }) => at >= before);
            for (const { id, at } of /** @type {Staged[]} */ (photos)) if (at < before) staged.delete(id);
            const named = new Set([...kept, .../** @type {Waiting[]} */ (lines)]
                .flatMap(({ uploads = [] }) => uploads.map(({ blob }) => blob)));
            const all = /** @type {[string, number][]} */ (keys);
            for (const [blob, number] of all) if (number === keptMark) named.add(blob);
            for (const key of all) if (!named.has(key[0])) pieces.delete(key);
        });
    }

    /**
     * Deletes records that were ingested before a time.
     * @param {Record<string, number>} before by collection, milliseconds since 1970
     */
    forget(before) {
        return transact(this.#database, ["records"], "readwrite", async (transaction) => {
            for (const [collection, time] of Object.entries(before)) {
                const range = IDBKeyRange.bound([collection, -1], [collection, Infinity]);
                await visit(transaction.objectStore("records").index("order").openCursor(range), (cursor) => {
                    // The oldest is the first.
                    if (cursor.value.at >= time) return false;
                    cursor.delete();
                    return true;
                });
            }
        });
    }

    /** @param {boolean} [isRevoked] tabs and workers that are at work keep nothing more either */
    erase(isRevoked = false) {
        return transact(this.#database, everything, "readwrite", (transaction) => {
            for (const name of everything) transaction.objectStore(name).clear();
            if (isRevoked) transaction.objectStore("facts").put(true, revokedFact);
        });
    }
}

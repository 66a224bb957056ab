// IndexedDB with promises.
import { storeError } from "./errors.js";

/** @template Value @param {IDBRequest<Value>} request @returns {Promise<Value>} */
export const requested = (request) =>
    new Promise((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(storeError(request.error));
    });

/**
 * @param {IDBRequest<IDBCursorWithValue | null>} request
 * @param {(cursor: IDBCursorWithValue) => boolean} body returns false to stop
 * @returns {Promise<void>}
 */
export const visit = (request, body) =>
    new Promise((resolve, reject) => {
        request.onsuccess = () => {
            const cursor = request.result;
            if (!cursor || !body(cursor)) return resolve();
            cursor.continue();
        };
        request.onerror = () => reject(storeError(request.error));
    });

/**
 * Stores: `facts` by name, `records` by "collection/id" (index `lost`: those that a restored hub may lack), `outbox` by
 * the same, `deferred` by a number, `keys` by epoch, `staged` photos by id, `pieces` of sealed content by [blob,
 * number].
 * @param {string} name
 * @param {() => void} lost called when the browser closes it from outside: evicted, or opened by a newer version
 * @returns {Promise<IDBDatabase>} throws StoreError
 */
export function openDatabase(name, lost) {
    return new Promise((resolve, reject) => {
        /** @type {IDBOpenDBRequest} */
        let request;
        try {
            request = indexedDB.open(name, 3);
        } catch (error) {
            return reject(storeError(error));
        }
        request.onerror = () => reject(storeError(request.error));
        request.onupgradeneeded = ({ oldVersion }) => {
            const database = request.result;
            if (oldVersion < 1) {
                database.createObjectStore("facts");
                database.createObjectStore("records", { keyPath: "key" })
                    .createIndex("order", ["collection", "sequence"]);
                database.createObjectStore("outbox", { keyPath: "key" });
                database.createObjectStore("deferred", { autoIncrement: true });
                database.createObjectStore("keys", { keyPath: "epoch" });
            }
            if (oldVersion < 2) {
                database.createObjectStore("staged", { keyPath: "id" });
                database.createObjectStore("pieces");
            }
            /** @type {IDBTransaction} */ (request.transaction).objectStore("records").createIndex("lost", "atHub");
        };
        request.onsuccess = () => {
            const database = request.result;
            database.onversionchange = () => {
                database.close();
                lost();
            };
            database.onclose = lost;
            resolve(database);
        };
    });
}

/**
 * One atomic transaction, on disk once the promise resolves. The body may only wait for its own requests.
 * @template Value
 * @param {IDBDatabase} database
 * @param {string[]} stores
 * @param {IDBTransactionMode} mode
 * @param {(transaction: IDBTransaction) => Promise<Value> | Value} body
 * @returns {Promise<Value>} throws StoreError
 */
export async function transact(database, stores, mode, body) {
    /** @type {IDBTransaction} */
    let transaction;
    try {
        transaction = database.transaction(stores, mode, mode === "readwrite" ? { durability: "strict" } : undefined);
    } catch (error) {
        throw storeError(error);
    }
    const finished = new Promise((resolve, reject) => {
        transaction.oncomplete = () => resolve(undefined);
        transaction.onabort = () => reject(storeError(transaction.error));
    });
    finished.catch(() => {});
    try {
        const value = await body(transaction);
        await finished;
        return value;
    } catch (error) {
        try {
            transaction.abort();
        } catch {
            // It has ended already.
        }
        throw storeError(error);
    }
}

/**
 * `full`: the browser's quota is used up. `lost`: the data is gone (evicted, or removed by the person). `unavailable`:
 * this browser stores nothing for this site. `elsewhere`: a newer version of the app is open in another tab. `revoked`:
 * a computer revoked this device, and it was erased.
 * @typedef {"full" | "lost" | "unavailable" | "elsewhere" | "revoked"} StoreErrorCode
 */

/** The data of this device can't be stored or read. */
export class StoreError extends Error {
    /** @param {StoreErrorCode} code @param {string} message one sentence @param {unknown} [cause] */
    constructor(code, message, cause) {
        super(message, { cause });
        this.name = "StoreError";
        this.code = code;
    }
}

/**
 * Converts an error of IndexedDB into a sentence for people.
 * @param {unknown} error
 */
export function storeError(error) {
    if (error instanceof StoreError) return error;
    const name = error instanceof DOMException ? error.name : "";
    if (name === "QuotaExceededError") {
        return new StoreError("full",
            "This device’s storage is full; free some space. Pending changes are not lost.", error);
    }
    if (name === "VersionError") {
        return new StoreError("elsewhere", "This page is from an older AppLocker; reload it.", error);
    }
    return new StoreError("unavailable",
        "This browser does not allow AppLocker to store data (IndexedDB). Use a window that is not private.", error);
}

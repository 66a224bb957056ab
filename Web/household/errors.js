import { FormatError } from "../crypto/errors.js";

/**
 * `locked`: unlock first. `wrongPIN`, `wait` (for `retryAfterSeconds`), `pairAgain`: why unlocking failed. `noPasskey`:
 * the passkey does not unlock this device. `weakPIN`. `alreadyPaired`, `refused` (by the owner), `tooLate`, `untrusted`
 * (an invalid response of the hub): pairing. `noKey`: this device lacks the key. `notFound`. `noAnswer`: of a computer.
 * `cancelled`, `notSupported`, `noPRF`: of a passkey. `noNotifications`: refused by the person or the browser.
 * `noPush`: the push service does not answer. `notPicture`: an unsupported file. `tooLarge`: for its destination.
 * `otherHub`, `full`: shared vaults.
 * @typedef {"locked" | "wrongPIN" | "wait" | "pairAgain" | "noPasskey" | "weakPIN" | "alreadyPaired" | "refused" |
 *   "tooLate" | "untrusted" | "noKey" | "notFound" | "noAnswer" | "notPaired" | "cancelled" | "notSupported" | "noPRF"
 *   | "noNotifications" | "noPush" | "notPicture" | "tooLarge" | "otherHub" | "full" |
 *   "onlyHere"} CompanionErrorCode
 */

/** Why a companion can't do something. The message is one sentence for people. */
export class CompanionError extends Error {
    /**
     * @param {CompanionErrorCode} code
     * @param {string} message
     * @param {number | null} [retryAfterSeconds]
     * @param {unknown} [cause]
     */
    constructor(code, message, retryAfterSeconds = null, cause = undefined) {
        super(message, { cause });
        this.name = "CompanionError";
        this.code = code;
        this.retryAfterSeconds = retryAfterSeconds;
    }
}

/**
 * Whether one record does not open on this device: it is not here, lacks its key, or is invalid. The others may open.
 * @param {unknown} error
 */
export const isUnreadable = (error) => error instanceof FormatError
    || (error instanceof CompanionError && (error.code === "notFound" || error.code === "noKey"));

/**
 * `locked`: unlock first. `wrongPIN`, `wait` (for `retryAfterSeconds`), `pairAgain`: why unlocking failed. `noPasskey`:
 * the passkey opens nothing here. `weakPIN`. `alreadyPaired`, `refused` (by the owner), `tooLate`, `untrusted` (the hub
 * served what it must not): pairing. `noKey`: this device was not given the key. `notFound`. `noAnswer`: of a computer.
 * `cancelled`, `notSupported`, `noPRF`: what came of asking for a passkey. `noNotifications`: the person or the browser
 * refuses them. `noPush`: the push service does not answer. `notPicture`: a file that can't be kept as a photo.
 * `tooLarge`: for where it should go. `otherHub`, `full`: shared vaults.
 * @typedef {"locked" | "wrongPIN" | "wait" | "pairAgain" | "noPasskey" | "weakPIN" | "alreadyPaired" | "refused" |
 *   "tooLate" | "untrusted" | "noKey" | "notFound" | "noAnswer" | "notPaired" | "cancelled" | "notSupported" | "noPRF"
 *   | "noNotifications" | "noPush" | "notPicture" | "tooLarge" | "otherHub" | "full"} CompanionErrorCode
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

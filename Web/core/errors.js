/**
 * `locked`: open the gate first. `wrongPIN`, `wait` (`retryAfterSeconds` says how long), `pairAgain`: what the gate says.
 * `noPasskey`: the passkey opens nothing here. `weakPIN`. `alreadyPaired`, `refused` (by the owner), `tooLate`, `untrusted`
 * (the hub served what it must not): pairing. `noKey`: this device was not given the key. `notFound`. `noAnswer`: of a computer.
 * @typedef {"locked" | "wrongPIN" | "wait" | "pairAgain" | "noPasskey" | "weakPIN" | "alreadyPaired" | "refused" | "tooLate"
 *   | "untrusted" | "noKey" | "notFound" | "noAnswer" | "notPaired"} CompanionErrorCode
 */

/** Why a companion can't do something. The message is one sentence for people. */
export class CompanionError extends Error {
    /**
     * @param {CompanionErrorCode} code
     * @param {string} message
     * @param {number | null} retryAfterSeconds
     */
    constructor(code, message, retryAfterSeconds = null) {
        super(message);
        this.name = "CompanionError";
        this.code = code;
        this.retryAfterSeconds = retryAfterSeconds;
    }
}

/**
 * The hub's refusals, as in Sources/Shared/HubAPI/HubError.swift.
 * @typedef {"bad_request" | "unauthorized" | "forbidden" | "not_found" | "conflict" | "gone" | "too_large"
 *   | "quota_exceeded" | "too_many" | "wrong_pin" | "unavailable" | "failed"} HubErrorCode
 */

/** A request that the hub refused. The message is one sentence for people. */
export class HubError extends Error {
    /** @param {HubErrorCode} code @param {string} message @param {number | null} retryAfterSeconds */
    constructor(code, message, retryAfterSeconds = null) {
        super(message);
        this.name = "HubError";
        this.code = code;
        this.retryAfterSeconds = retryAfterSeconds;
    }
}

/** The hub did not answer, or not in a way that this version understands. */
export class HubUnreachable extends Error {
    /** @param {"offline" | "timeout" | "restarted" | "notUnderstood"} code @param {string} message */
    constructor(code, message) {
        super(message);
        this.name = "HubUnreachable";
        this.code = code;
    }
}

// Coordinates the tabs of one companion: one follows the hub and sends, and the others receive its messages.

/**
 * `changed`: written records, by their keys. `waiting`: a change is pending. `connected`: the hub can be reached again.
 * `lock`: every tab locks. `unlocked`: this device's keys changed. `erased`: the device is no longer a companion;
 * `isRevoked`: because a computer revoked it.
 * @typedef {{ kind: "changed", keys: string[] } | { kind: "waiting" } | { kind: "connected" } | { kind: "lock" }
 *   | { kind: "erased", isRevoked: boolean } | { kind: "state" }} TabMessage
 */

export class Tabs {
    #channel;
    #isClosed = false;

    /** @param {string} name */
    constructor(name) {
        this.name = name;
        this.#channel = new BroadcastChannel(name);
    }

    /**
     * Sends a message to the other tabs; a closed tab sends nothing.
     * @param {TabMessage} message
     */
    post(message) {
        if (!this.#isClosed) this.#channel.postMessage(message);
    }

    /** @param {(message: TabMessage) => void} listener */
    listen(listener) {
        this.#channel.onmessage = (event) => listener(event.data);
    }

    /**
     * Runs the body under a Web Lock: one tab at a time.
     * @template Value
     * @param {string} what
     * @param {() => Promise<Value>} body
     * @param {AbortSignal} [signal] stops waiting
     * @returns {Promise<Value>}
     */
    exclusive(what, body, signal) {
        return navigator.locks.request(`${this.name}/${what}`, signal ? { signal } : {}, body);
    }

    /**
     * Whether a tab waits for this lock.
     * @param {string} what
     */
    async isAwaited(what) {
        const { pending } = await navigator.locks.query();
        return (pending ?? []).some(({ name }) => name === `${this.name}/${what}`);
    }

    close() {
        this.#isClosed = true;
        this.#channel.close();
    }
}

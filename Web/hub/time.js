/**
 * Clock, pauses and random numbers, which tests replace.
 * @typedef {object} Time
 * @property {() => number} now milliseconds since 1970
 * @property {(milliseconds: number, signal?: AbortSignal) => Promise<void>} sleep ends at once, without an error, when
 *   the signal aborts
 * @property {() => number} random from 0 up to 1
 */

/** @type {Time} */
export const systemTime = {
    now: () => Date.now(),
    random: () => crypto.getRandomValues(new Uint32Array(1))[0] / 2 ** 32,
    sleep: (milliseconds, signal) =>
        new Promise((resolve) => {
            if (signal?.aborted) return resolve();
            const end = () => {
                clearTimeout(timer);
                signal?.removeEventListener("abort", end);
                resolve();
            };
            const timer = setTimeout(end, milliseconds);
            signal?.addEventListener("abort", end);
        }),
};

/** Exponential back-off with jitter, so that many devices don't reconnect at once. */
export class Backoff {
    #failures = 0;

    /** @param {() => number} random */
    constructor(random, first = 500, longest = 60_000) {
        this.random = random;
        this.first = first;
        this.longest = longest;
    }

    /** Milliseconds: from half the step to all of it; the step doubles up to the longest. */
    next() {
        const step = Math.min(this.first * 2 ** Math.min(this.#failures, 16), this.longest);
        this.#failures += 1;
        return step / 2 + (step / 2) * this.random();
    }

    succeeded() {
        this.#failures = 0;
    }
}

// Asynchronous work on a list that begins before its result is needed.

/**
 * The results in the list's order; `count` of them are worked on at once. After an error nothing new begins, and what
 * runs has ended before it is thrown.
 * @template Item, Result
 * @param {Item[]} items
 * @param {number} count
 * @param {(item: Item) => Promise<Result>} work
 * @returns {AsyncGenerator<Result, void>}
 */
export async function* ahead(items, count, work) {
    /** @type {Promise<Result>[]} */
    const running = [];
    try {
        for (const item of items) {
            const result = work(item);
            result.catch(() => {});
            running.push(result);
            if (running.length >= count) yield await /** @type {Promise<Result>} */ (running.shift());
        }
        for (const result of running) yield await result;
    } finally {
        await Promise.allSettled(running);
    }
}

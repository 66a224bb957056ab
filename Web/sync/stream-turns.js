// Streams of shared vaults take turns: a browser has six connections to one address, over all tabs, and the companion's
// own stream and its requests need some of them.

/** Open at once. */
const streams = 3;
/** How long one stays open while another vault waits for its place. */
const turn = 10_000;

/**
 * Runs the body when it is the vault's turn. Its signal aborts when the turn is over.
 * @template Value
 * @param {DeviceSession} main the companion's own
 * @param {number} place of the vault in the list
 * @param {(over: AbortSignal) => Promise<Value>} body
 * @param {AbortSignal} signal stops waiting
 * @returns {Promise<Value>}
 */
export function takeTurn({ tabs, time }, place, body, signal) {
    const name = `stream/${place % streams}`;
    return tabs.exclusive(name, async () => {
        const over = new AbortController();
        const end = () => over.abort();
        signal.addEventListener("abort", end);
        if (signal.aborted) end();
        (async () => {
            while (!over.signal.aborted) {
                await time.sleep(turn, over.signal);
                if (await tabs.isAwaited(name)) end();
            }
        })().catch(end);
        try {
            return await body(over.signal);
        } finally {
            end();
            signal.removeEventListener("abort", end);
        }
    }, signal);
}

// Updates a part of the screen with the records.

/**
 * Calls `show` now and after each change of these collections, one at a time, at most once a frame. `show` throws if
 * AppLocker is locked meanwhile, which is ignored: the screen is removed then too.
 * @param {Companion} companion
 * @param {string[]} collections
 * @param {() => Promise<void>} show
 * @param {AbortSignal} signal
 */
export async function live(companion, collections, show, signal) {
    let [isShowing, isStale] = [false, false];
    const update = async () => {
        isStale = true;
        if (isShowing) return;
        isShowing = true;
        while (isStale && !signal.aborted) {
            isStale = false;
            await show().catch((error) => {
                if (!signal.aborted) console.error(error);
            });
            // A hidden page has no frames.
            await new Promise((resolve) =>
                (document.hidden ? setTimeout(resolve, 100) : requestAnimationFrame(resolve)));
        }
        isShowing = false;
    };
    companion.addEventListener("changed", (event) => {
        const keys = /** @type {CustomEvent<string[]>} */ (event).detail;
        if (keys.some((key) => collections.includes(key.split("/")[0]))) update();
    }, { signal });
    await update();
}

/** @param {() => void} tick @param {AbortSignal} signal */
export function everySecond(tick, signal) {
    const timer = setInterval(() => {
        if (!document.hidden) tick();
    }, 1000);
    signal.addEventListener("abort", () => clearInterval(timer), { once: true });
}

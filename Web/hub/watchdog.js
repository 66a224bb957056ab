// Ends requests and streams that are silent.

/**
 * A signal that aborts after a silence of this length, or with the outer signal.
 * @param {number} milliseconds
 * @param {AbortSignal} [outer]
 */
export function watchdog(milliseconds, outer) {
    const controller = new AbortController();
    let isLate = false;
    const late = () => {
        isLate = true;
        controller.abort();
    };
    let timer = setTimeout(late, milliseconds);
    const abort = () => controller.abort();
    outer?.addEventListener("abort", abort);
    if (outer?.aborted) abort();
    return {
        signal: controller.signal,
        get isLate() {
            return isLate;
        },
        restart() {
            clearTimeout(timer);
            timer = setTimeout(late, milliseconds);
        },
        end() {
            clearTimeout(timer);
            outer?.removeEventListener("abort", abort);
        },
    };
}

// Ends what the other side has left hanging.

/**
 * Gives its signal when nothing was heard for so long, or when the outer one is given.
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
        heard() {
            clearTimeout(timer);
            timer = setTimeout(late, milliseconds);
        },
        end() {
            clearTimeout(timer);
            outer?.removeEventListener("abort", abort);
        },
    };
}

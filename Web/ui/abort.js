// Lifetimes within others.

/**
 * A controller that aborts with `signal` too, at once if that has aborted already: its screen was left while it was
 * made, and nothing else would end what the controller ends.
 * @param {AbortSignal} signal
 */
export function controllerWithin(signal) {
    const controller = new AbortController();
    if (signal.aborted) controller.abort();
    else signal.addEventListener("abort", () => controller.abort(), { once: true, signal: controller.signal });
    return controller;
}

// A long press, which nothing on the page announces.

/** In milliseconds. */
const heldFor = 700;
/** Movement allowed while holding, in pixels. */
const wandering = 16;

/**
 * Calls `done` when a long press is released: browsers ask for Face ID only after a touch has ended.
 * @param {HTMLElement} node
 * @param {AbortSignal} signal
 * @param {() => void} done
 */
export function onLongPress(node, signal, done) {
    /** @type {PointerEvent | null} */
    let began = null;
    node.addEventListener("pointerdown", (event) => {
        began = event.isPrimary && event.button === 0 ? event : null;
    }, { signal });
    node.addEventListener("pointercancel", () => {
        began = null;
    }, { signal });
    node.addEventListener("pointerup", (event) => {
        const start = began;
        began = null;
        if (!start || event.timeStamp - start.timeStamp < heldFor) return;
        if (Math.hypot(event.clientX - start.clientX, event.clientY - start.clientY) <= wandering) done();
    }, { signal });
    // The context menu would reveal that a long press does something.
    node.addEventListener("contextmenu", (event) => event.preventDefault(), { signal });
}

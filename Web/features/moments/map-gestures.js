// Touch, wheel and keyboard input of the plot.

/** @typedef {import("./map-plot.js").Plot} Plot */

/** Movement of a tap, in pixels. */
const trembling = 6;

/** @param {Plot} plot @param {AbortSignal} signal */
export function follow(plot, signal) {
    const { surface } = plot;
    /** @type {Map<number, { x: number, y: number }>} */
    const down = new Map();
    let wandered = 0;
    const at = (/** @type {MouseEvent} */ { clientX, clientY }) => {
        const { left, top } = surface.getBoundingClientRect();
        return { x: clientX - left, y: clientY - top };
    };
    surface.addEventListener("pointerdown", (event) => {
        if (event.button !== 0) return;
        if (down.size === 0) wandered = 0;
        down.set(event.pointerId, at(event));
    }, { signal });
    surface.addEventListener("pointermove", (event) => {
        const before = down.get(event.pointerId);
        if (!before) return;
        const now = at(event);
        wandered += Math.hypot(now.x - before.x, now.y - before.y);
        if (wandered < trembling && down.size === 1) return;
        surface.setPointerCapture(event.pointerId);
        down.set(event.pointerId, now);
        const [one, other] = down.values();
        if (!other) return plot.pan(now.x - before.x, now.y - before.y);
        const still = now === one ? other : one;
        const [wide, was] = [Math.hypot(now.x - still.x, now.y - still.y),
            Math.hypot(before.x - still.x, before.y - still.y)];
        plot.pan((now.x - before.x) / 2, (now.y - before.y) / 2);
        if (was > 0) plot.zoom(wide / was, { x: (now.x + still.x) / 2, y: (now.y + still.y) / 2 });
    }, { signal });
    for (const kind of ["pointerup", "pointercancel"]) {
        surface.addEventListener(kind, (event) => down.delete(/** @type {PointerEvent} */ (event).pointerId),
            { signal });
    }
    // The end of a drag is not a tap.
    surface.addEventListener("click", (event) => {
        if (wandered < trembling || event.detail === 0) return;
        event.stopPropagation();
        event.preventDefault();
    }, { signal, capture: true });
    surface.addEventListener("dblclick", (event) => plot.zoom(2, at(event)), { signal });
    surface.addEventListener("wheel", (event) => {
        event.preventDefault();
        plot.zoom(2 ** (-event.deltaY / (event.ctrlKey ? 100 : 400)), at(event));
    }, { signal, passive: false });
    surface.addEventListener("keydown", (event) => {
        if (event.altKey || event.metaKey || event.ctrlKey) return;
        const known = {
            ArrowLeft: () => plot.pan(80, 0), ArrowRight: () => plot.pan(-80, 0), ArrowUp: () => plot.pan(0, 80),
            ArrowDown: () => plot.pan(0, -80),
            "+": () => plot.zoom(2), "=": () => plot.zoom(2), "-": () => plot.zoom(0.5), 0: () => plot.all(),
        };
        const action = known[/** @type {keyof typeof known} */ (event.key)];
        if (!action) return;
        event.preventDefault();
        action();
    }, { signal });
}

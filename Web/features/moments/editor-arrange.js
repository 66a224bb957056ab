// Reorders tiles by dragging: at once with a mouse, after a long press with a finger, so that the page still scrolls.

/** Milliseconds until a finger picks up a tile, and how many pixels it may move. */
const [press, trembling] = [280, 8];
/** Distance from the screen's edge at which the page scrolls, in pixels. */
const edge = 72;

/**
 * @param {HTMLElement} list of `.editor-tile`s, and something after them; positioned
 * @param {AbortSignal} signal
 * @param {(from: number, to: number) => void} move moves the element too
 */
export function arrange(list, signal, move) {
    /**
     * @type {{ tile: HTMLElement, pointer: number, x: number, y: number, isMoving: boolean, timer?: ReturnType<typeof
     *   setTimeout> } | null}
     */
    let held = null;
    const tiles = () => /** @type {HTMLElement[]} */ ([...list.querySelectorAll(".editor-tile")]);
    const begin = () => {
        if (!held) return;
        held.isMoving = true;
        list.setPointerCapture(held.pointer);
        held.tile.classList.add("editor-tile-held");
        navigator.vibrate?.(10);
    };
    const end = () => {
        if (!held) return;
        clearTimeout(held.timer);
        held.tile.classList.remove("editor-tile-held");
        held.tile.style.removeProperty("translate");
        if (held.isMoving) {
            // Suppresses the click that follows.
            const swallow = (/** @type {Event} */ event) => event.stopPropagation();
            list.addEventListener("click", swallow, { capture: true, once: true });
            setTimeout(() => list.removeEventListener("click", swallow, { capture: true }));
        }
        held = null;
    };
    list.addEventListener("pointerdown", (event) => {
        const tile = /** @type {Element} */ (event.target).closest(".editor-photo")?.closest(".editor-tile");
        if (held || event.button !== 0 || !(tile instanceof HTMLElement)) return;
        held = { tile, pointer: event.pointerId, x: event.clientX, y: event.clientY, isMoving: false };
        if (event.pointerType !== "mouse") held.timer = setTimeout(begin, press);
    }, { signal });
    list.addEventListener("pointermove", (event) => {
        if (!held || event.pointerId !== held.pointer) return;
        const [x, y] = [event.clientX - held.x, event.clientY - held.y];
        if (!held.isMoving) {
            if (Math.hypot(x, y) < trembling) return;
            // A finger that moves at once scrolls.
            if (event.pointerType !== "mouse") return end();
            begin();
        }
        follow(event);
    }, { signal });
    /** @param {PointerEvent} event */
    const follow = (event) => {
        if (!held) return;
        const { tile } = held;
        const all = tiles();
        const from = all.indexOf(tile);
        const { left, top } = list.getBoundingClientRect();
        const to = all.findIndex((other) => other !== tile
            && isInside(other, event.clientX - left, event.clientY - top));
        if (to >= 0) {
            const before = new Map(all.map((one) => [one, one.getBoundingClientRect()]));
            const own = placeOf(tile);
            move(from, to);
            const now = placeOf(tile);
            // The point that is held moves with it.
            held.x += now.x - own.x;
            held.y += now.y - own.y;
            for (const one of all) if (one !== tile) slide(one, before.get(one));
        }
        tile.style.setProperty("translate", `${event.clientX - held.x}px ${event.clientY - held.y}px`);
        if (event.clientY < edge) window.scrollBy(0, -8);
        else if (event.clientY > innerHeight - edge) window.scrollBy(0, 8);
    };
    for (const kind of ["pointerup", "pointercancel", "lostpointercapture"]) {
        list.addEventListener(kind, end, { signal });
    }
    list.addEventListener("touchmove", (event) => held?.isMoving && event.cancelable && event.preventDefault(),
        { signal, passive: false });
    // A long press is ours.
    list.addEventListener("contextmenu", (event) => held && event.preventDefault(), { signal });
    list.addEventListener("dragstart", (event) => event.preventDefault(), { signal });
}

/**
 * Its position in the list, without the transform.
 * @param {HTMLElement} tile
 */
const placeOf = (tile) => ({ x: tile.offsetLeft, y: tile.offsetTop });

/** @param {HTMLElement} tile @param {number} x @param {number} y from the list's corner */
function isInside(tile, x, y) {
    const place = placeOf(tile);
    return x > place.x && x < place.x + tile.offsetWidth && y > place.y && y < place.y + tile.offsetHeight;
}

/** @param {HTMLElement} tile @param {DOMRect | undefined} from */
function slide(tile, from) {
    const to = tile.getBoundingClientRect();
    if (!from || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    const [x, y] = [from.left - to.left, from.top - to.top];
    if (x !== 0 || y !== 0) {
        tile.animate([{ translate: `${x}px ${y}px` }, { translate: "0 0" }], { duration: 160, easing: "ease-out" });
    }
}

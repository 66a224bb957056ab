// A picture that is moved by touch: swiped to the next one, pulled down, tapped, or zoomed with two fingers or a double
// tap.

const largest = 4;
const swipe = 60;
/** How far a picture is pulled down, and how far a tap moves at most, in pixels. */
const [pull, still] = [110, 8];
/** A tap is no double tap after so many milliseconds. */
const second = 260;

/**
 * @param {HTMLElement} stage
 * @param {HTMLElement} image in it
 * @param {(step: 1 | -1) => void} turn swiped to the next one or the one before
 * @param {AbortSignal} signal
 * @param {{ tapped?: () => void, pulledDown?: () => void }} rest
 * @returns {() => void} back to its whole
 */
export function zoomable(stage, image, turn, signal, { tapped = () => {}, pulledDown } = {}) {
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let tapping;
    /** @type {Map<number, { x: number, y: number }>} */
    const fingers = new Map();
    let [scale, x, y] = [1, 0, 0];
    let spread = 0;
    let start = { x: 0, y: 0 };
    let isPinch = false;

    const draw = () => {
        // The picture can't be moved out of view.
        const [roomX, roomY] = [((scale - 1) * stage.clientWidth) / 2, ((scale - 1) * stage.clientHeight) / 2];
        x = Math.max(-roomX, Math.min(roomX, x));
        y = Math.max(-roomY, Math.min(roomY, y));
        image.style.setProperty("transform", scale === 1 ? "none" : `translate(${x}px, ${y}px) scale(${scale})`);
    };
    const whole = () => {
        [scale, x, y] = [1, 0, 0];
        draw();
    };
    const distance = () => {
        const [one, other] = [...fingers.values()];
        return other ? Math.hypot(one.x - other.x, one.y - other.y) : 0;
    };

    stage.addEventListener("pointerdown", (event) => {
        fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
        start = { x: event.clientX, y: event.clientY };
        spread = distance();
        isPinch = fingers.size > 1;
        stage.setPointerCapture?.(event.pointerId);
    }, { signal });
    stage.addEventListener("pointermove", (event) => {
        const before = fingers.get(event.pointerId);
        if (!before) return;
        fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
        if (fingers.size === 2) {
            const wider = distance();
            if (spread > 0) scale = Math.max(1, Math.min(largest, (scale * wider) / spread));
            spread = wider;
        } else if (scale > 1) {
            x += event.clientX - before.x;
            y += event.clientY - before.y;
        } else if (pulledDown && !isPinch) {
            // It follows the finger.
            image.style.setProperty("translate", `0 ${Math.max(0, event.clientY - start.y)}px`);
        }
        draw();
    }, { signal });
    const lifted = (/** @type {PointerEvent} */ event) => {
        if (!fingers.delete(event.pointerId)) return;
        image.style.removeProperty("translate");
        if (event.type !== "pointerup") return;
        spread = distance();
        const [movedX, movedY] = [event.clientX - start.x, event.clientY - start.y];
        if (fingers.size > 0 || isPinch) return;
        if (Math.hypot(movedX, movedY) < still) {
            clearTimeout(tapping);
            tapping = setTimeout(() => !signal.aborted && tapped(), second);
        }
        if (scale > 1) return;
        if (movedY > pull && movedY > 2 * Math.abs(movedX)) return pulledDown?.();
        if (Math.abs(movedX) > swipe && Math.abs(movedX) > 2 * Math.abs(movedY)) turn(movedX < 0 ? 1 : -1);
    };
    for (const kind of /** @type {const} */ (["pointerup", "pointercancel"])) {
        stage.addEventListener(kind, lifted, { signal });
    }
    stage.addEventListener("dblclick", () => {
        clearTimeout(tapping);
        if (scale > 1) return whole();
        scale = 2.5;
        draw();
    }, { signal });
    return whole;
}

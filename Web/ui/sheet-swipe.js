// A sheet on a phone closes by a swipe down, unless its content scrolls.

/** A shorter swipe moves the sheet back, in pixels. */
const farEnough = 90;
/** A flick closes it sooner, in pixels per millisecond. */
const fastEnough = 0.6;
/** As in styles/components.css: there a sheet is in the middle. */
const wide = "(min-width: 48rem)";
/** A shorter movement is a tap, in pixels. */
const slack = 8;

/**
 * @param {HTMLDialogElement} dialog
 * @param {() => void} close
 * @param {AbortSignal} signal
 */
export function closeBySwipe(dialog, close, signal) {
    const isCalm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    /** @type {{ id: number, x: number, y: number, at: number, isDrag: boolean } | null} */
    let start = null;
    const moveTo = (/** @type {number} */ y) => {
        if (!isCalm) dialog.style.setProperty("transform", y > 0 ? `translateY(${y}px)` : "none");
    };
    // The browser pans what scrolls, and cancels the pointer then; everything else is left to this swipe.
    const fits = new ResizeObserver(() =>
        dialog.classList.toggle("sheet-scrolls", dialog.scrollHeight > dialog.clientHeight));
    fits.observe(dialog);
    signal.addEventListener("abort", () => fits.disconnect(), { once: true });
    dialog.addEventListener("pointerdown", (event) => {
        if (event.pointerType === "mouse" || !event.isPrimary || matchMedia(wide).matches) return;
        // A swipe there selects text.
        if (event.target instanceof Element && event.target.closest("input, textarea, select")) return;
        start = { id: event.pointerId, x: event.clientX, y: event.clientY, at: event.timeStamp, isDrag: false };
    }, { signal });
    dialog.addEventListener("pointermove", (event) => {
        if (event.pointerId !== start?.id) return;
        const [x, y] = [event.clientX - start.x, event.clientY - start.y];
        if (!start.isDrag && Math.hypot(x, y) < slack) return;
        if (!start.isDrag && y < Math.abs(x)) {
            start = null;
            return;
        }
        if (!start.isDrag) dialog.setPointerCapture(event.pointerId);
        start.isDrag = true;
        moveTo(y);
    }, { signal });
    dialog.addEventListener("pointerup", (event) => {
        if (event.pointerId !== start?.id) return;
        const y = event.clientY - start.y;
        const isFlick = y / Math.max(1, event.timeStamp - start.at) > fastEnough;
        const isOver = start.isDrag && (y > farEnough || isFlick);
        start = null;
        if (isOver) close();
        else moveTo(0);
    }, { signal });
    dialog.addEventListener("pointercancel", () => {
        start = null;
        moveTo(0);
    }, { signal });
}

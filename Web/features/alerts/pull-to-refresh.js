// Pull to refresh by touch. Without touch there is a button.
import { element } from "../../ui/element.js";
import { icon } from "../../ui/icon.js";

/** How far to pull, in pixels. */
const enough = 72;

/**
 * @param {() => Promise<void>} refresh
 * @param {AbortSignal} signal
 * @returns {HTMLElement} the indicator above the pulled element
 */
export function pullToRefresh(refresh, signal) {
    const mark = element("div", { class: "pull", "aria-hidden": "true" }, icon("refresh"));
    /** @type {{ x: number, y: number } | null} */
    let start = null;
    let pulled = 0;
    const draw = () => {
        mark.style.setProperty("height", `${Math.min(pulled, enough) / 2}px`);
        mark.classList.toggle("pull-ready", pulled >= enough);
    };
    const end = async () => {
        const isEnough = start !== null && pulled >= enough;
        start = null;
        if (isEnough) {
            mark.classList.add("pull-busy");
            await refresh();
            mark.classList.remove("pull-busy");
        }
        pulled = 0;
        draw();
    };
    const options = { signal, passive: true };
    window.addEventListener("touchstart", ({ touches: [touch], target }) => {
        const isOver = target instanceof Element && target.closest("dialog, nav");
        start = window.scrollY <= 0 && !isOver ? { x: touch.clientX, y: touch.clientY } : null;
    }, options);
    window.addEventListener("touchmove", ({ touches: [touch] }) => {
        if (!start) return;
        const [dx, dy] = [touch.clientX - start.x, touch.clientY - start.y];
        if (window.scrollY > 0 || (pulled === 0 && Math.abs(dx) > dy)) {
            start = null;
            pulled = 0;
        } else pulled = Math.max(0, dy);
        draw();
    }, options);
    for (const kind of /** @type {const} */ (["touchend", "touchcancel"])) {
        window.addEventListener(kind, () => void end(), options);
    }
    return mark;
}

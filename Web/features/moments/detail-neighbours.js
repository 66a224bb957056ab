// The moments before and after: by links, by a swipe beside the photos, by arrow keys.
import { element } from "../../ui/element.js";
import { icon } from "../../ui/icon.js";
import { nameOf } from "./timeline-card.js";

/** @typedef {import("./moments.js").Moment} Moment */

/** Of a finger, in pixels. */
const swipe = 70;

/**
 * @param {Context} context
 * @param {HTMLElement} surface that is swiped
 * @param {string} id
 * @param {Moment[]} moments newest first
 */
export function neighbours(context, surface, id, moments) {
    const { signal } = context;
    const index = moments.findIndex((moment) => moment.id === id);
    const [newer, older] = index < 0 ? [undefined, undefined] : [moments[index - 1], moments[index + 1]];
    /** @param {Moment | undefined} moment */
    const show = async (moment) => {
        if (!moment || !(await context.mayLeave()) || signal.aborted) return;
        context.go(`moments/${moment.id}`, { replace: true });
    };
    /** @type {{ id: number, x: number, y: number } | null} */
    let began = null;
    surface.addEventListener("pointerdown", (event) => {
        const isFinger = event.pointerType === "touch" && event.isPrimary
            && !(/** @type {Element} */ (event.target).closest("form"));
        began = isFinger ? { id: event.pointerId, x: event.clientX, y: event.clientY } : null;
    }, { signal });
    surface.addEventListener("pointerup", (event) => {
        if (event.pointerId !== began?.id || !getSelection()?.isCollapsed) return;
        const [x, y] = [event.clientX - began.x, event.clientY - began.y];
        if (Math.abs(x) > swipe && Math.abs(x) > 2 * Math.abs(y)) show(x < 0 ? older : newer);
    }, { signal });
    document.addEventListener("keydown", (event) => {
        const isTyping = /** @type {Element} */ (event.target).closest("input, textarea, [role=slider]");
        if (event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey || isTyping
            || document.querySelector("dialog")) return;
        if (event.key === "ArrowLeft") show(newer);
        if (event.key === "ArrowRight") show(older);
    }, { signal });
    /** @param {Moment | undefined} one @param {string} label @param {"back" | "forward"} arrow */
    const link = (one, label, arrow) =>
        one && element("a", { class: `moment-neighbour moment-neighbour-${arrow}`, href: `#/moments/${one.id}` },
            icon(arrow),
            element("span", { class: "moment-neighbour-text" }, element("span", { class: "soft caption" }, label),
                element("span", { class: "moment-neighbour-name", dir: "auto" }, nameOf(one))));
    return element("nav", { class: "moment-neighbours", "aria-label": "Other moments" },
        link(newer, "Newer", "back"), link(older, "Older", "forward"));
}

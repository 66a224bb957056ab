// A long press, or the other mouse button.
import { isDialogOpen } from "./modal.js";

/** In milliseconds. */
const longEnough = 500;
/** A finger that moves further scrolls, in pixels. */
const slack = 8;

/** @param {HTMLElement} node @param {() => unknown} act opens a sheet */
export function onLongPress(node, act) {
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer;
    let [x, y] = [0, 0];
    const open = () => {
        clearTimeout(timer);
        // Android sends a context menu for a long press, an iPhone does not.
        if (isDialogOpen()) return;
        swallowClick();
        act();
    };
    node.addEventListener("pointerdown", (event) => {
        [x, y] = [event.clientX, event.clientY];
        if (event.pointerType !== "mouse" && event.isPrimary) timer = setTimeout(open, longEnough);
    });
    node.addEventListener("pointermove", (event) => {
        if (Math.hypot(event.clientX - x, event.clientY - y) > slack) clearTimeout(timer);
    });
    for (const kind of ["pointerup", "pointercancel"]) node.addEventListener(kind, () => clearTimeout(timer));
    node.addEventListener("contextmenu", (event) => {
        event.preventDefault();
        open();
    });
}

/** Lifting the finger would follow the link, or close the sheet that is there now. */
function swallowClick() {
    const over = new AbortController();
    const { signal } = over;
    window.addEventListener("click", (event) => {
        over.abort();
        event.preventDefault();
        event.stopPropagation();
    }, { capture: true, signal });
    for (const kind of ["pointerdown", "keydown"]) {
        window.addEventListener(kind, () => over.abort(), { capture: true, signal });
    }
}

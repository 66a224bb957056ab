// A screen that is laid out differently on a wide page.
import { isDialogOpen } from "./modal.js";

/**
 * Draws the screen again when the page's width crosses `media`. An open sheet stays, and with it the screen that it
 * belongs to: the next visit draws it for the new width.
 * @param {Context} context
 * @param {MediaQueryList} media
 */
export function redrawAtWidth(context, media) {
    media.addEventListener("change", () => {
        if (!isDialogOpen()) context.go(location.hash.replace(/^#\//, ""), { replace: true });
    }, { signal: context.signal });
}

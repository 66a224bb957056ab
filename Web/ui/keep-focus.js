// Keeps the focus at its place: when the control that has it is removed, hidden or disabled, a neighbour gets it.
// Otherwise a keyboard or a screen reader would begin at the top of the page again.

/** No text fields: on a phone the keyboard would open. */
const focusable = "a[href], button, summary, [tabindex]";

/** @param {Element} node */
const accepts = (node) => node.matches(focusable) && !node.matches(":disabled") && node.getClientRects().length > 0;

/** @param {Node | null} node in it, or itself */
const firstIn = (node) => !(node instanceof Element) || !node.isConnected ? undefined
    : accepts(node) ? node : [...node.querySelectorAll(focusable)].find(accepts);

/** Call it once for each page. */
export function keepFocus() {
    /** @type {Element | null} what had the focus last */
    let last = null;
    document.addEventListener("focusin", ({ target }) => {
        last = target instanceof Element ? target : null;
    });
    // The person left it on purpose.
    document.addEventListener("click", () => {
        if (document.activeElement === document.body) last = null;
    });
    new MutationObserver((records) => {
        const lost = last;
        if (!lost || (document.activeElement !== document.body && document.activeElement !== lost)) return;
        const loss = records.find(({ target, type, removedNodes }) => (type === "attributes"
            ? target.contains(lost) && lost.getClientRects().length === 0 || lost.matches(":disabled")
            : !lost.isConnected && [...removedNodes].some((node) => node.contains(lost))));
        if (!loss) return;
        const scope = [...document.querySelectorAll("dialog[open]")].at(-1) ?? document.querySelector("main");
        const place = neighbour(loss, scope) ?? scope?.querySelector("h1, h2");
        if (place instanceof HTMLElement) place.focus({ preventScroll: true });
    }).observe(document.body,
        { subtree: true, childList: true, attributes: true, attributeFilter: ["hidden", "disabled"] });
}

/**
 * What replaced it, what follows it, what precedes it, or the first control of the closest part of the page around it.
 * @param {MutationRecord} loss
 * @param {Element | null} scope
 */
function neighbour({ target, addedNodes, nextSibling, previousSibling }, scope) {
    for (const node of [...addedNodes, nextSibling, previousSibling]) {
        const found = scope?.contains(node) && firstIn(node);
        if (found) return found;
    }
    for (let around = target; scope?.contains(around) && around !== scope; around = /** @type {Node} */ (
        around.parentNode)) {
        const found = firstIn(around);
        if (found) return found;
    }
    return null;
}

// Covers the page while it has no focus: a task switcher's picture, or a glance at an unattended desktop, shows a
// padlock.

/** Once, for as long as the page lives. */
export function coverWhenUnseen() {
    const root = document.documentElement;
    const cover = () => root.setAttribute("data-covered", "");
    const uncover = () => {
        if (document.visibilityState === "visible" && document.hasFocus()) root.removeAttribute("data-covered");
    };
    // Before anything else that listens: what is drawn next must be the cover.
    window.addEventListener("pagehide", cover, { capture: true });
    // A field's own blur passes here as well.
    window.addEventListener("blur", (event) => event.target === window && cover(), { capture: true });
    document.addEventListener("freeze", cover, { capture: true });
    document.addEventListener("visibilitychange", () => (document.hidden ? cover() : uncover()), { capture: true });
    for (const kind of ["pageshow", "focus"]) window.addEventListener(kind, uncover, { capture: true });
    // A touch or a key is a look, where a browser gave no focus, as after a Tab through its own buttons.
    for (const kind of ["pointerdown", "keydown"]) {
        window.addEventListener(kind, () => {
            if (document.visibilityState === "visible") root.removeAttribute("data-covered");
        }, { capture: true });
    }
}

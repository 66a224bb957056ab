// Covers the page while it has no focus: a task switcher or an unattended desktop shows a padlock.

/** Call it once for each page. */
export function coverWhenUnseen() {
    const root = document.documentElement;
    const cover = () => root.setAttribute("data-covered", "");
    const uncover = () => {
        if (document.visibilityState === "visible" && document.hasFocus()) root.removeAttribute("data-covered");
    };
    // Before other listeners: the next paint must be the cover.
    window.addEventListener("pagehide", cover, { capture: true });
    // A field's blur arrives here too.
    window.addEventListener("blur", (event) => event.target === window && cover(), { capture: true });
    document.addEventListener("freeze", cover, { capture: true });
    document.addEventListener("visibilitychange", () => (document.hidden ? cover() : uncover()), { capture: true });
    for (const kind of ["pageshow", "focus"]) window.addEventListener(kind, uncover, { capture: true });
    // Touch and keys uncover it where the browser reports no focus, as after a Tab through its own buttons.
    for (const kind of ["pointerdown", "keydown"]) {
        window.addEventListener(kind, () => {
            if (document.visibilityState === "visible") root.removeAttribute("data-covered");
        }, { capture: true });
    }
}

// Modal dialogs. Each has an entry in the browser's history while it is open, so that Back closes it instead of leaving
// the screen. `history.state.dialogs` is how many were open at an entry.

/** @type {HTMLDialogElement[]} the topmost last */
const open = [];
/** @type {Promise<void> | null} until the entries of closed dialogs are left */
let leaving = null;
/** A browser that doesn't leave an entry within so many milliseconds never will. */
const patience = 1000;

const depth = () => Number(history.state?.dialogs) || 0;

export const isDialogOpen = () => open.length > 0;

/** Call it once for each page. It also leaves the entry of a dialog that was open when the page was reloaded. */
export function closeDialogsOnBack() {
    window.addEventListener("popstate", () => {
        if (leaving) return;
        for (const dialog of open.splice(depth())) dialog.close();
        settle();
    });
    settle();
}

/** Adds or leaves entries until the current one has as many dialogs as are open. */
function settle() {
    if (!leaving && depth() > open.length) leaving = leave();
    while (!leaving && depth() < open.length) history.pushState({ dialogs: depth() + 1 }, "");
    return leaving;
}

async function leave() {
    const address = location.href;
    history.go(open.length - depth());
    await popped();
    // An address was opened before the browser went back: it goes back from there, and the address is opened again.
    const opened = location.href === address ? null : location.href;
    if (opened) await popped();
    leaving = null;
    // Another dialog may have been opened meanwhile. What could not be left becomes an ordinary entry.
    if (!opened && depth() > open.length) history.replaceState({ dialogs: open.length }, "");
    await settle();
    if (opened && opened !== location.href) location.href = opened;
}

/** Resolves when the shown entry of the history changes, or after `patience`. */
function popped() {
    const ended = new AbortController();
    return new Promise((resolve) => {
        window.addEventListener("popstate", resolve, { signal: ended.signal });
        setTimeout(resolve, patience);
    }).finally(() => ended.abort());
}

/**
 * Shows `dialog` over the page, and removes it when it is closed.
 * @param {HTMLDialogElement} dialog
 * @returns {Promise<void>} ends when it is closed and its entry of the history is left: the address may change then
 */
export function showModal(dialog) {
    document.body.append(dialog);
    dialog.showModal();
    open.push(dialog);
    settle();
    return new Promise((resolve) => dialog.addEventListener("close", async () => {
        if (open.includes(dialog)) open.splice(open.indexOf(dialog), 1);
        dialog.remove();
        await settle();
        resolve();
    }, { once: true }));
}

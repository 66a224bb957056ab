// Modal dialogs. Each has an entry in the browser's history while it is open, so that Back closes it instead of leaving
// the screen. A dialog that is closed otherwise leaves its entry behind: the next dialog uses it, and Back passes it.
// Going back from it at once would be simpler to read, but browsers do that later, when the person may have opened
// another screen.

/**
 * The state of an entry: how many dialogs are open at it, above the entry of the screen with the same `visit`.
 * @typedef {{ visit: string, dialogs: number }} Entry
 */

/** @type {HTMLDialogElement[]} the topmost last */
let dialogs = [];
/** Browsers send the event "close" with a later frame: Back may come before, and must not close that dialog again. */
const open = () => (dialogs = dialogs.filter((dialog) => dialog.open && dialog.isConnected));
/** @returns {Entry} */
const currentEntry = () => history.state ?? { visit: "", dialogs: 0 };
let shown = currentEntry();
let isPassed = false;
let isClosed = false;

export const isDialogOpen = () => open().length > 0;

/** Whether Back is passing the current entry: its screen need not be drawn. */
export const isPassing = () => isPassed;

/** Whether Back has just closed a dialog, and its screen stays. */
export const isClosing = () => isClosed;

/** Call it once for each page. */
export function closeDialogsOnBack() {
    window.addEventListener("popstate", () => {
        const left = shown;
        shown = currentEntry();
        const isSameScreen = left.visit !== "" && left.visit === shown.visit;
        isPassed = isSameScreen && left.dialogs > open().length && left.dialogs > shown.dialogs;
        const closed = open().slice(shown.dialogs);
        isClosed = isSameScreen && closed.length > 0;
        for (const dialog of closed) closeModal(dialog);
        if (isPassed) history.back();
    });
}

function addEntry() {
    const entry = currentEntry();
    const count = open().length;
    if (entry.dialogs >= count) return;
    const below = { ...entry, visit: entry.visit || crypto.randomUUID() };
    history.replaceState(below, "");
    history.pushState((shown = { ...below, dialogs: count }), "");
}

/**
 * Closes it at once: the browser's own event "close" comes with a later frame, and on a hidden page not before it is
 * seen again. Its listeners are to be `once`.
 * @param {HTMLDialogElement} dialog
 */
export function closeModal(dialog) {
    if (!dialog.open) return;
    dialog.close();
    dialog.dispatchEvent(new Event("close"));
}

/**
 * Shows `dialog` over the page, and removes it when it is closed.
 * @param {HTMLDialogElement} dialog
 * @returns {Promise<void>} ends when it is closed
 */
export function showModal(dialog) {
    document.body.append(dialog);
    dialog.showModal();
    dialogs.push(dialog);
    addEntry();
    return new Promise((resolve) => dialog.addEventListener("close", () => {
        dialogs = dialogs.filter((other) => other !== dialog);
        dialog.remove();
        resolve();
    }, { once: true }));
}

// Notes ask the gate once more for each session, unless the person wants otherwise. What was answered is tied to the keys that
// are open now: it ends with them, in the moment the companion locks.

/** @typedef {import("../views/shell.js").Context} Context */
/** @typedef {import("../core/companion.js").Companion} Companion */

const name = "notesAskGate";
/** @type {WeakSet<object>} */
const answered = new WeakSet();

/** @param {Companion} companion @returns {Promise<boolean>} */
export const notesAskGate = (companion) => companion.device.store.fact(name, true);

/**
 * Throws StoreError.
 * @param {Companion} companion
 * @param {boolean} isOn
 */
export const setNotesAskGate = (companion, isOn) => companion.device.store.write({ facts: { [name]: isOn } });

/** @param {Companion} companion */
export async function notesAreOpen(companion) {
    return answered.has(companion.device.keys) || !(await notesAskGate(companion));
}

/**
 * True where the person showed that they may read on.
 * @param {Context} context
 * @param {string} [what] that is opened with it: one answer opens all
 */
export async function openNotes(context, what = "notes") {
    const { keys } = context.companion.device;
    const isOpen = await context.confirmWithGate({
        title: `Open your ${what}`, text: `${what[0].toUpperCase()}${what.slice(1)} ask once more each time AppLocker was locked.`, action: "Open",
    });
    if (isOpen) answered.add(keys);
    return isOpen;
}

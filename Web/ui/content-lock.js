// Notes and moments ask for the PIN or the passkey once more in each session, unless the person turns it off. The
// answer is tied to the keys in memory: it ends with them when the companion locks.

/** The stored name of the setting. */
const name = "notesAskGate";
/** @type {WeakSet<object>} */
const answered = new WeakSet();

/** @param {Companion} companion @returns {Promise<boolean>} */
export const contentAsksAgain = (companion) => companion.settings.get(name, true);

/**
 * Throws StoreError.
 * @param {Companion} companion
 * @param {boolean} isOn
 */
export const setContentAsksAgain = (companion, isOn) => companion.settings.set(name, isOn);

/** @param {Companion} companion */
export async function isContentOpen(companion) {
    return answered.has(companion.unlockedSession) || !(await contentAsksAgain(companion));
}

/**
 * True where the person showed that they may read on.
 * @param {Context} context
 * @param {string} [what] that is opened with it: one answer opens all
 */
export async function openContent(context, what = "notes") {
    const session = context.companion.unlockedSession;
    const isOpen = await context.confirmUnlock({
        title: `Open your ${what}`,
        text: `${what[0].toUpperCase()}${what.slice(1)} require the PIN again after each lock.`, action: "Open",
    });
    if (isOpen) answered.add(session);
    return isOpen;
}

// Notes and moments ask for the PIN or the passkey again in each session, unless the person turns it off. The answer is
// tied to the keys in memory, and ends with them.
import { button, empty } from "./parts.js";
import { clearToasts } from "./toast.js";

/** The stored name of the setting. */
const name = "notesAskGate";
/**
 * By session: true once the person confirmed, false once they locked notes and moments.
 * @type {WeakMap<object, boolean>}
 */
const answers = new WeakMap();

/** @param {Companion} companion @returns {Promise<boolean>} */
export const contentAsksAgain = (companion) => companion.settings.get(name, true);

/** @param {Companion} companion @param {boolean} isOn */
export const setContentAsksAgain = (companion, isOn) => companion.settings.set(name, isOn);

/** @param {Companion} companion */
export async function isContentOpen(companion) {
    return answers.get(companion.unlockedSession)
        ?? (companion.wasJustFounded || !(await contentAsksAgain(companion)));
}

/**
 * Asks again from now on, while the rest of AppLocker stays unlocked. Only the screens close: the vault's key stays in
 * memory until AppLocker locks.
 * @param {Companion} companion
 */
export function closeContent(companion) {
    answers.set(companion.unlockedSession, false);
    companion.notes.forget();
    clearToasts();
}

/**
 * The page of notes or moments until the person confirmed; one answer opens both.
 * @param {Context} context
 * @param {string} title
 * @param {string} what "notes", "moments"
 * @param {import("./icon.js").IconName} icon
 * @returns {Page}
 */
export function lockedContent(context, title, what, icon) {
    const open = async () => {
        const session = context.companion.unlockedSession;
        // The page before may just have been answered.
        const isOpen = answers.get(session) || await context.confirmUnlock({
            title: `Open your ${what}`,
            text: `${what[0].toUpperCase()}${what.slice(1)} require the PIN again after each lock.`, action: "Open",
        });
        if (!isOpen) return;
        answers.set(session, true);
        context.go(location.hash.replace(/^#\//, ""), { replace: true });
    };
    // Asked once automatically; after a "Cancel", or where the person locked them, by the button.
    if (answers.get(context.companion.unlockedSession) !== false) setTimeout(() => !context.signal.aborted && open());
    return {
        title, body: [empty(icon, `Your ${what} are locked`, "Enter your PIN again, or use Face ID or fingerprint.",
            button(`Open ${what}`, open, { kind: "primary", icon: "unlock" }))],
    };
}

// Notes and moments ask for the PIN or the passkey again in each session, unless the person turns it off. The answer is
// tied to the keys in memory, and ends with them.
import { button, empty } from "./parts.js";

/** The stored name of the setting. */
const name = "notesAskGate";
/** @type {WeakSet<object>} */
const answered = new WeakSet();

/** @param {Companion} companion @returns {Promise<boolean>} */
export const contentAsksAgain = (companion) => companion.settings.get(name, true);

/** @param {Companion} companion @param {boolean} isOn */
export const setContentAsksAgain = (companion, isOn) => companion.settings.set(name, isOn);

/** @param {Companion} companion */
export async function isContentOpen(companion) {
    return answered.has(companion.unlockedSession) || !(await contentAsksAgain(companion));
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
        const isOpen = await context.confirmUnlock({
            title: `Open your ${what}`,
            text: `${what[0].toUpperCase()}${what.slice(1)} require the PIN again after each lock.`, action: "Open",
        });
        if (!isOpen) return;
        answered.add(session);
        context.go(location.hash.replace(/^#\//, ""), { replace: true });
    };
    // Asked once automatically; after a "Cancel" by the button.
    setTimeout(() => !context.signal.aborted && open());
    return {
        title, body: [empty(icon, `Your ${what} are locked`, "Enter your PIN again, or use Face ID or fingerprint.",
            button(`Open ${what}`, open, { kind: "primary", icon: "unlock" }))],
    };
}

// What a paired device needs: its lock screens, the frame, and what follows the companion session. Loaded in one piece,
// so that nothing is unlocked without what locks it again, and a panic finds the calculator.
import { followAudit } from "../features/activity/audit-toasts.js";
import { AutoLock } from "../features/lock-screen/auto-lock.js";
import { IdleLock } from "../features/lock-screen/idle-lock.js";
import { PanicWatch } from "../features/panic/panic-watch.js";
import { keepFocus } from "../ui/keep-focus.js";
import { toast } from "../ui/toast.js";
import { Frame } from "./frame.js";
import { followNotifications } from "./notifications.js";
import { routes, untabbedRoutes } from "./routes.js";

export { disguisedLockScreen } from "../features/disguise/disguised-lock-screen.js";
export { chooseFirstPIN, lockScreen } from "../features/lock-screen/lock-screen.js";

/**
 * Starts what locks, disguises and reports, before the first unlocking.
 * @param {Companion} companion
 * @param {HTMLElement} root
 */
export function startPaired(companion, root) {
    keepFocus();
    new AutoLock(companion, document);
    new IdleLock(companion, document);
    new PanicWatch(companion);
    followNotifications(companion);
    followAudit(companion, toast);
    followRemovals(companion);
    return new Frame(companion, root, routes, untabbedRoutes);
}

/** @param {Companion} companion */
function followRemovals(companion) {
    companion.vaults.addEventListener("removed", (event) => {
        const { vault, name } =
            /** @type {CustomEvent<import("../features/vaults/vaults.js").RemovedMember>} */ (event).detail;
        if (companion.state === "unlocked") {
            toast(`${name} was removed from the shared vault “${vault}”: it is no longer in your household.`);
        }
    });
}

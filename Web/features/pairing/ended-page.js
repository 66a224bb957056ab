// The page of a device whose data the browser deleted, or which another device revoked.
import { entryPage } from "../../ui/entry-page.js";
import { button } from "../../ui/parts.js";
import { ask } from "../../ui/sheet.js";
import { welcome } from "./welcome.js";

/** @typedef {import("./entry-link.js").EntryLink} EntryLink */

/**
 * The browser deleted what was stored here.
 * @param {Companion} companion
 * @param {EntryLink | null} entry
 * @param {AbortSignal} signal
 */
export function dataLost(companion, entry, signal) {
    if (entry) return welcome(companion, entry, signal);
    return entryPage("This browser lost AppLocker’s data",
        "Browsers delete the data of sites that were not opened for a long time. What was sent is at the hub and on "
            + "your other devices. Set this device up again, with a link from another device of yours or with your "
            + "recovery sheet, and put AppLocker on the Home Screen so that its data stays.",
        startAgain(companion, signal));
}

/**
 * Another device revoked this one, and its data was erased.
 * @param {Companion} companion
 * @param {EntryLink | null} entry
 * @param {AbortSignal} signal
 */
export function revoked(companion, entry, signal) {
    if (entry) return welcome(companion, entry, signal);
    return entryPage("This device was revoked",
        "A device of the household removed it, so everything that AppLocker stored in this browser was "
            + "erased: keys, notes, moments, alerts, shared vaults, and changes that had not been sent yet. Sent data "
            + "is on your other devices. To use AppLocker here again, set this device up again.",
        startAgain(companion, signal));
}

/** @param {Companion} companion @param {AbortSignal} signal */
function startAgain(companion, signal) {
    return button("Start again", async () => {
        const sure = await ask({
            title: "Start again?", text: "This device is set up from the beginning.", action: "Start again",
        }, signal);
        if (sure) await companion.remove().catch(() => {});
    }, { kind: "primary", wide: true });
}

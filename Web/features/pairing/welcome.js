// The first page of a device that is not set up.
import { entryPage } from "../../ui/entry-page.js";
import { button } from "../../ui/parts.js";
import { ask } from "../../ui/sheet.js";
import { installsFirst } from "./entry-link.js";

/** @typedef {import("./entry-link.js").EntryLink} EntryLink */

/**
 * Without a link: the ways to begin. Pages that few people see are loaded when they are shown.
 * @param {Companion} companion
 * @param {EntryLink | null} entry
 * @param {AbortSignal} signal
 */
export async function welcome(companion, entry, signal) {
    const page = () => pageOf(companion, entry, signal);
    return installsFirst() ? (await import("./install-page.js")).installPage(entry, page) : page();
}

/** @param {Companion} companion @param {EntryLink | null} entry @param {AbortSignal} signal */
async function pageOf(companion, entry, signal) {
    const { computerPage, waysPage } = await import("./ways-page.js");
    if (!entry) return waysPage(companion, signal);
    const back = () => waysPage(companion, signal);
    if (entry.kind === "pair") {
        return (await import("./join-page.js")).joinPage(companion, entry, signal, (reason) =>
            computerPage(signal, back, "This link no longer works", reason));
    }
    if (entry.kind === "recover") {
        return (await import("./recovery-page.js")).recoveryPage(companion, entry, signal, back);
    }
    return (await import("./founding-page.js")).foundingPage(companion, entry, back);
}

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

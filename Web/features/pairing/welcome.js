// The first page of a device that is not set up.
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
    const { waysPage } = await import("./ways-page.js");
    if (!entry) return waysPage(companion, signal);
    const back = () => waysPage(companion, signal);
    if (entry.kind === "pair") {
        const { computerPage } = await import("./computer-page.js");
        return (await import("./join-page.js")).joinPage(companion, entry, signal, (reason) =>
            computerPage(signal, back, "This link no longer works", reason));
    }
    if (entry.kind === "recover") {
        return (await import("./recovery-page.js")).recoveryPage(companion, entry, signal, back);
    }
    return (await import("./founding-page.js")).foundingPage(companion, entry, back);
}

// The first page of a device that is not paired.
import { entryPage } from "../../ui/entry-page.js";
import { button, stepRows } from "../../ui/parts.js";
import { ask } from "../../ui/sheet.js";
import { linkInput } from "./link-input.js";
import { installsFirst } from "./pairing-link.js";

/**
 * Without a link: how to get one. Pages that few people see are loaded when they are shown.
 * @param {Companion} companion
 * @param {string | null} link
 * @param {AbortSignal} signal
 */
export async function welcome(companion, link, signal) {
    const needsNewLink = (/** @type {string} */ reason) => noLink(signal, "This link no longer works", reason);
    const page = async () => (link
        ? (await import("./join-page.js")).joinPage(companion, link, signal, needsNewLink)
        : noLink(signal));
    return installsFirst() ? (await import("./install-page.js")).installPage(link, page) : page();
}

/** @param {AbortSignal} signal @param {string} [title] @param {string} [text] */
function noLink(signal, title = "Welcome to AppLocker", text = "") {
    return entryPage(title, text,
        stepRows([
            ["computer", "On your computer, run “applocker pair”, or choose Pair a phone."],
            ["phone", "Scan the code that it shows with this device’s camera."],
            ["check", "Compare three words, confirm at the computer, then choose a PIN here."],
        ]),
        linkInput(signal));
}

/**
 * The browser deleted what was stored here.
 * @param {Companion} companion
 * @param {string | null} link
 * @param {AbortSignal} signal
 */
export function dataLost(companion, link, signal) {
    if (link) return welcome(companion, link, signal);
    return entryPage("This browser lost AppLocker’s data",
        "Browsers delete the data of sites that were not opened for a long time. Nothing is lost elsewhere: notes " +
            "and alerts are on your "
            + "computer and at the hub. Pair this device again, and put AppLocker on the Home Screen so that it stays.",
        startAgain(companion, signal));
}

/**
 * A computer revoked this device, and its data was erased.
 * @param {Companion} companion
 * @param {string | null} link
 * @param {AbortSignal} signal
 */
export function revoked(companion, link, signal) {
    if (link) return welcome(companion, link, signal);
    return entryPage("This device was revoked",
        "A computer removed it from the household, so everything that AppLocker stored in this browser was "
            + "erased: keys, notes, moments, alerts, shared vaults, and changes that had not been sent yet. Sent data "
            + "is on your computer and your other devices. To use AppLocker here again, pair this device again.",
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

// The first page of a device that is not paired.
import { entryPage } from "../../ui/entry-page.js";
import { element } from "../../ui/element.js";
import { button, field, stepRows } from "../../ui/parts.js";
import { ask } from "../../ui/sheet.js";
import { installPage } from "./install-page.js";
import { joinPage } from "./join-page.js";
import { installsFirst } from "./pairing-link.js";

/**
 * Without a link: how to get one.
 * @param {Companion} companion
 * @param {string | null} link
 * @param {AbortSignal} signal
 */
export function welcome(companion, link, signal) {
    const page = () => (link ? joinPage(companion, link, signal, newLink) : noLink());
    return installsFirst() ? installPage(link, page) : page();
}

/**
 * After the link was used up, or expired.
 * @param {string} reason
 */
const newLink = (reason) => noLink("This link no longer works", reason);

function noLink(title = "Welcome to AppLocker", text = "") {
    const problem = element("p", { class: "problem note", role: "alert" });
    const input = field("Or paste the link here",
        { type: "url", name: "link", placeholder: "https://…/#pair=…", autocomplete: "off" });
    const form = element("form", {
        class: "entry-page-form", onsubmit: (/** @type {Event} */ event) => {
            event.preventDefault();
            const typed = /** @type {HTMLInputElement} */ (input.lastElementChild).value.trim();
            const hash = typed.indexOf("#pair=");
            if (hash < 0) problem.textContent = "This is not a pairing link. A pairing link contains “#pair=”.";
            else if (!typed.startsWith(location.origin))
                problem.textContent = "This link is for another hub. Open it in the browser.";
            else location.hash = typed.slice(hash);
        },
    }, input, element("button", { class: "button button-wide", type: "submit" }, "Continue"), problem);
    return entryPage(title, text,
        stepRows([
            ["computer", "On your computer, run “applocker pair”, or choose Pair a phone."],
            ["phone", "Scan the code that it shows with this device’s camera."],
            ["check", "Compare three words, confirm at the computer, then choose a PIN here."],
        ]),
        form);
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

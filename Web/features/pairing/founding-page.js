// This phone founds a household of its own: to start Everline, or to join a partner's shared vault afterwards.
import { backButton, everlinePage, nextStep, replacePage } from "../../ui/entry-page.js";
import { stepRows } from "../../ui/parts.js";
import { linkInput } from "./link-input.js";
import { nameForm } from "./name-form.js";
import { registration } from "./registration.js";

/** @typedef {import("./entry-link.js").EntryLink} EntryLink */
/** @typedef {"start" | "join"} Beginning */

const titles = { start: "Start Everline", join: "Join your partner" };

/**
 * Without a link: asks for the one that is needed, if any.
 * @param {Companion} companion
 * @param {Beginning} beginning
 * @param {AbortSignal} signal
 * @param {() => HTMLElement} back
 */
export async function beginningPage(companion, beginning, signal, back) {
    const isOpen = beginning === "start" && (await registration()) === "open";
    if (isOpen) return foundingPage(companion, null, back);
    /** @type {HTMLElement} */
    const page = beginning === "start"
        ? everlinePage(titles.start, "This hub is by invitation. Ask its operator for a start link: it works once.",
            linkInput(signal, "start"), backButton(() => replacePage(page, back())))
        : everlinePage(titles.join, "",
            stepRows([
                ["people", "Your partner opens the shared vault in Settings, and chooses Invite a device."],
                ["phone", "Scan the code on their screen, or open the link that they send you."],
                ["check", "Choose a PIN here. Then you both compare three words."],
            ]),
            linkInput(signal, "vault"), backButton(() => replacePage(page, back())));
    return page;
}

/**
 * With the link that entitles this phone, or none at an open hub.
 * @param {Companion} companion
 * @param {EntryLink | null} entry
 * @param {() => HTMLElement} back
 */
export function foundingPage(companion, entry, back) {
    const joins = entry?.kind === "vault";
    const form = nameForm("Continue", (name) => companion.found(location.origin, name, {
        ...(entry && { [joins ? "vault" : "start"]: entry.link }),
    }));
    const page = everlinePage(joins ? titles.join : titles.start,
        joins
            ? "This phone first gets a vault of its own, which nobody else opens. Then it joins the vault that you are "
                + "invited to. The invitation works for five minutes."
            : "This phone gets a vault for moments, notes and photos. You choose its PIN next, then print a sheet "
                + "that opens it if the phone is lost.",
        form, nextStep("phone", "Now on this device: choose its name."),
        backButton(() => replacePage(page, back())));
    return page;
}

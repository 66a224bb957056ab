// A device with a pairing link: its name, then three words to compare until the owner confirms on the other device.
import { entryPage, nextStep, replacePage } from "../../ui/entry-page.js";
import { wordList } from "../../ui/parts.js";
import { readLink } from "../../crypto/invitation.js";
import { sentenceOf } from "../../ui/words.js";
import { markUsed } from "./entry-link.js";
import { nameForm } from "./name-form.js";

/** Codes of errors after which the link can't be used again. */
const usedUp = ["gone", "not_found", "refused", "tooLate", "untrusted"];

/**
 * Whether the household has phones that admit devices: one of them invites.
 * @param {string} link
 */
function isOfPhone(link) {
    try {
        return readLink(link).role === "administrator";
    } catch {
        return false;
    }
}

/**
 * @param {Companion} companion
 * @param {import("./entry-link.js").EntryLink} entry
 * @param {AbortSignal} signal
 * @param {(reason: string) => HTMLElement} needsNewLink the page for a link that is used up
 */
export function joinPage(companion, entry, signal, needsNewLink) {
    const byPhone = isOfPhone(entry.link);
    const form = nameForm("Pair this device", async (name) => {
        let shown = page;
        const show = (/** @type {HTMLElement} */ next) => {
            if (signal.aborted) return;
            replacePage(shown, next);
            shown = next;
        };
        try {
            await companion.pair(entry.link, name, {
                signal, waiting: (words) => {
                    markUsed(entry);
                    show(comparison(words, byPhone));
                },
            });
        } catch (error) {
            if (usedUp.includes(/** @type {{ code: string }} */ (error).code)) {
                markUsed(entry);
                return show(needsNewLink(sentenceOf(error)));
            }
            if (shown !== page) show(page);
            throw error;
        }
    });
    const page = byPhone
        ? entryPage("Add this phone", "It becomes another phone of your own: everything of yours opens on it. The link "
            + "works once, for five minutes.", form, nextStep("phone", "Now on this device: choose its name."))
        : entryPage("Pair with your computer",
            "This device will show alerts and approve launches. The link works once, for five minutes.", form,
            nextStep("phone", "Now on this device: choose its name."));
    return page;
}

/** @param {string[]} words @param {boolean} byPhone */
const comparison = (words, byPhone) => entryPage("Compare three words",
    `The ${byPhone ? "other phone" : "computer"} shows the same three words. If they differ, don’t confirm there.`,
    wordList(words),
    nextStep(byPhone ? "phone" : "computer",
        `Now ${byPhone ? "on the other phone" : "at the computer"}: compare the words and confirm.`));

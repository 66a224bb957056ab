// Invites a device: shows the link and its code, then who joins by it, then asks to admit.
import { controllerWithin } from "./abort.js";
import { element } from "./element.js";
import { everySecond } from "./live.js";
import { button, wordList } from "./parts.js";
import { qrPicture } from "./qr-picture.js";
import { sheet } from "./sheet.js";
import { countdown, named, sentenceOf } from "./words.js";

/** @typedef {import("../household/administration.js").Asking} Asking */
/** @typedef {import("../crypto/invitation.js").Invitation} Invitation */
/** @typedef {import("../household/administration.js").Invited} Invited */
/**
 * `modules`: of the link's QR code.
 * @typedef {Invited & { link: string, modules: boolean[][] }} ShownInvitation
 */
/**
 * What invites and admits: a shared vault, or the household.
 * @typedef {{ invite: () => Promise<ShownInvitation>, asking: (invitation: Invitation) => Promise<Asking | null>,
 *   admit: (invitation: Invitation, asking: Asking) => Promise<void>,
 *   withdraw: (invitation: Invitation) => Promise<void> }} Inviting
 */
/**
 * `question`: before the link is made. `text`: above the link. `code`: above the code, if there is one. `warning`:
 * before a device is admitted. `admitted`: the toast afterwards.
 * @typedef {{ question: import("./sheet.js").Question, text: string, code?: string, warning: string,
 *   admitted: string }} InviteWords
 */

/** How often the hub is asked whether a device joined, in milliseconds. */
const pause = 1_000;

/**
 * @param {Context} context
 * @param {Inviting} inviting
 * @param {InviteWords} words
 * @returns {Promise<boolean>} whether a device was admitted
 */
export async function inviteDevice(context, inviting, words) {
    if (!(await context.confirmUnlock(words.question))) return false;
    let made;
    try {
        made = await inviting.invite();
    } catch (error) {
        context.toast(sentenceOf(error));
        return false;
    }
    const shown = made;
    const ended = controllerWithin(context.signal);
    const title = words.question.title.replace("?", "");
    const isIn = await sheet(title, context.signal, (/** @type {(answer: boolean) => void} */ close) => {
        const body = element("div", { class: "settings-form" },
            ...linkParts(shown, words, ended.signal, context),
            button("Withdraw the invitation", () => close(false), { wide: true, kind: "plain" }));
        follow(context, inviting, shown.invitation, words.warning, ended.signal, body, close).catch((error) => {
            if (!ended.signal.aborted) {
                body.replaceChildren(element("p", { class: "problem", role: "alert" }, sentenceOf(error)),
                    button("Close", () => close(false), { wide: true }));
            }
        });
        return [body];
    });
    ended.abort();
    if (isIn) context.toast(words.admitted);
    else await inviting.withdraw(shown.invitation).catch(() => {});
    return isIn === true;
}

/** @param {ShownInvitation} shown @param {InviteWords} words @param {AbortSignal} signal @param {Context} context */
function linkParts({ link, code, expires, modules }, words, signal, context) {
    const left = element("p", { class: "soft note", role: "timer" });
    const tick = () => {
        const seconds = (expires - Date.now()) / 1000;
        left.textContent = seconds > 0
            ? `It works once, for ${countdown(seconds)} more.`
            : "It has expired. Create another one.";
    };
    tick();
    everySecond(tick, signal);
    const address = element("code", { class: "settings-code sharing-link" }, link);
    const copy = async () => {
        try {
            await navigator.clipboard.writeText(link);
            context.toast("Copied");
        } catch {
            getSelection()?.selectAllChildren(address);
            context.toast("Copy the link by hand: it is selected.");
        }
    };
    const share = () => navigator.share({ url: link }).catch(() => {});
    return [
        element("p", { class: "soft" }, words.text),
        qrPicture(modules, "The link as a QR code"),
        element("div", { class: "buttons buttons-even" }, button("Copy", copy),
            typeof navigator.share === "function" && button("Share", share, { icon: "share" })),
        address,
        code && element("p", { class: "soft" }, words.code),
        code && element("code", { class: "settings-code sharing-code" }, code),
        left,
    ];
}

/**
 * Until a device joined, and was answered.
 * @param {Context} context
 * @param {Inviting} inviting
 * @param {Invitation} invitation
 * @param {string} warning
 * @param {AbortSignal} signal
 * @param {HTMLElement} body
 * @param {(answer: boolean) => void} close
 */
async function follow({ companion }, inviting, invitation, warning, signal, body, close) {
    let asking = null;
    while (!asking) {
        await companion.wait(pause, signal);
        if (signal.aborted) return;
        asking = await inviting.asking(invitation).catch((error) => {
            // The network may fail for a while.
            if (error?.name === "HubUnreachable") return null;
            throw error;
        });
    }
    if (signal.aborted) return;
    const guest = asking;
    const problem = element("p", { class: "problem note", role: "alert" });
    const yes = button("Admit", async () => {
        yes.disabled = true;
        try {
            await inviting.admit(invitation, guest);
            close(true);
        } catch (error) {
            problem.textContent = sentenceOf(error);
            yes.disabled = false;
        }
    }, { kind: "primary", autofocus: true });
    body.replaceChildren(
        element("p", { class: "sharing-name", dir: "auto", role: "status" }, `“${named(guest.name)}” asks to join`),
        element("p", { class: "soft" }, "It shows these three words too. If they differ, choose Deny."),
        wordList(guest.words),
        element("p", { class: "soft note" }, warning),
        problem, element("div", { class: "buttons buttons-even" }, button("Deny", () => close(false)), yes));
    yes.focus();
}

// Invites a device into a shared vault: shows the link, then who joins by it, then asks to admit.
import { element } from "../../ui/element.js";
import { everySecond } from "../../ui/live.js";
import { button } from "../../ui/parts.js";
import { sheet } from "../../ui/sheet.js";
import { countdown, named, sentenceOf } from "../../ui/words.js";

/** @typedef {import("./vaults.js").Vault} Vault */

/** How often the hub is asked whether a device joined, in milliseconds. */
const pause = 1_000;

/** @param {Context} context @param {Vault} vault */
export async function invite(context, vault) {
    const isSure = await context.confirmUnlock({
        title: "Invite a device?", action: "Invite",
        text: "A new member reads everything in this vault, also earlier entries, and can invite others. You see the "
            + "name and confirm first.",
    });
    if (!isSure) return;
    let made;
    try {
        made = await vault.membership.invite();
    } catch (error) {
        return context.toast(sentenceOf(error));
    }
    const { invitation, link, expires } = made;
    const ended = new AbortController();
    const end = () => ended.abort();
    context.signal.addEventListener("abort", end, { once: true });
    const isIn = await sheet("Invite a device", context.signal, (/** @type {(answer: boolean) => void} */ close) => {
        const body = element("div", { class: "settings-form" }, ...linkParts(link, expires, ended.signal, context),
            button("Withdraw the invitation", () => close(false), { wide: true, kind: "plain" }));
        follow(vault, invitation, ended.signal, body, close).catch((error) => {
            if (!ended.signal.aborted) {
                body.replaceChildren(element("p", { class: "problem", role: "alert" }, sentenceOf(error)),
                    button("Close", () => close(false), { wide: true }));
            }
        });
        return [body];
    });
    end();
    if (isIn) return context.toast("Admit");
    await vault.membership.withdraw(invitation).catch(() => {});
}

/** @param {string} link @param {number} expires @param {AbortSignal} signal @param {Context} context */
function linkParts(link, expires, signal, context) {
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
        element("p", { class: "soft" },
            "Open this link on the other device, which has to be paired at the same hub. Send it only to the right "
                + "person: anybody who has it can ask to join."),
        address,
        element("div", { class: "buttons buttons-even" }, button("Copy", copy),
            typeof navigator.share === "function" && button("Share", share, { icon: "share" })),
        left,
    ];
}

/**
 * Until a device joined, and was answered.
 * @param {Vault} vault
 * @param {import("../../crypto/invitation.js").Invitation} invitation
 * @param {AbortSignal} signal
 * @param {HTMLElement} body
 * @param {(answer: boolean) => void} close
 */
async function follow(vault, invitation, signal, body, close) {
    const { membership, companion } = vault;
    let asking = null;
    while (!asking) {
        await companion.wait(pause, signal);
        if (signal.aborted) return;
        asking = await membership.asking(invitation).catch((error) => {
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
            await membership.admit(invitation, guest);
            close(true);
        } catch (error) {
            problem.textContent = sentenceOf(error);
            yes.disabled = false;
        }
    }, { kind: "primary", autofocus: true });
    body.replaceChildren(
        element("p", { class: "sharing-name", dir: "auto", role: "status" }, `“${named(guest.name)}” asks to join`),
        element("p", { class: "soft" },
            "Confirm only if this is the person you sent the link to. They can read everything in this vault."),
        problem, element("div", { class: "buttons buttons-even" }, button("Deny", () => close(false)), yes));
    yes.focus();
}

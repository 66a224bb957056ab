// The list of vaults besides one's own; creating and joining one.
import { element } from "../../ui/element.js";
import { forgetInvitation, invitation, joinsAtOnce } from "./invitation.js";
import { redrawing } from "../../ui/live.js";
import { button, card, empty, field, row, section, tile, wordList } from "../../ui/parts.js";
import { askText } from "../../ui/sheet.js";
import { sentenceOf } from "../../ui/words.js";
import { createLocalVault } from "./local-vault.js";
import { vaultNameProblem } from "./membership.js";
import { chooseVault, vaultRows } from "../../ui/vault-choice.js";
import { vaultPage } from "./vault.js";

const longestName = 64;
const bytesOf = (/** @type {string} */ text) => new TextEncoder().encode(text).length;

/** @type {SettingsPage} */
export async function vaultsPage(context) {
    const id = context.query.get("vault");
    if (id) return vaultPage(context, id);
    const { companion, signal } = context;
    const list = element("div", { class: "settings-parts" });
    const read = async () => {
        const vaults = await vaultRows(companion);
        return () => {
            const problems = [...companion.vaults.problems];
            list.replaceChildren(
                vaults.length === 0 && problems.length === 0
                    ? empty("heart", "No other vault yet",
                        "A shared vault contains moments that you share with other people; your own stay private. Or "
                            + "make a vault that is only on this device.")
                    : element("div", { class: "card rows" }, ...vaults,
                        ...problems.map(([own, problem]) => row({
                            start: tile("warning", "danger"), title: "A vault that can’t be opened", note: problem,
                            onclick: () => forget(context, own),
                        }))));
        };
    };
    companion.vaults.addEventListener("changed", redrawing(read, signal), { signal });
    (await read())();
    const link = invitation();
    return {
        title: "Vaults",
        body: [
            link && joinCard(context, link), list,
            element("div", { class: "settings-form" },
                button("New shared vault", () => create(context),
                    { wide: true, kind: link ? "" : "primary", icon: "plus" }),
                button("Join with an invitation", () => paste(context), { wide: true, icon: "key" }),
                button("Type an invitation’s code", () => typeCode(context), { wide: true, icon: "edit" }),
                button("New vault only on this device", () => createLocalVault(context),
                    { wide: true, icon: "phone" })),
            section(null, [], {
                foot: "Every member of a shared vault can read and change all of it, and invite and remove devices. "
                    + "The hub sees an additional household and which devices connect to it, but not its name or "
                        + "content. All members need the same hub.",
            }),
        ],
    };
}

/** @param {Context} context @param {string} id */
async function forget(context, id) {
    const isSure = await context.ask({
        title: "Remove it from this device?", action: "Remove", isDanger: true,
        text: "The vault’s data is removed from this device. The others keep "
            + "all of it, and can invite this device again.",
    });
    if (!isSure) return;
    await context.companion.vaults.forget(id).then(() => context.toast("Removed from this device"),
        (error) => context.toast(sentenceOf(error)));
}

/** @param {Context} context */
async function create(context) {
    const name = await askText(context.signal, "New shared vault",
        "You invite others after that. Its name is sealed: only members can read it.", {
            label: "Name", value: "Ours", action: "Create", problem: vaultNameProblem,
        });
    if (!name) return;
    context.toast("Creating the vault…", { milliseconds: 30_000 });
    try {
        const { id } = await context.companion.vaults.create(name);
        await chooseVault(context.companion, id);
        context.toast("The vault was created. Now invite somebody.");
        context.go(`settings/vaults?vault=${id}`);
    } catch (error) {
        context.toast(sentenceOf(error));
    }
}

/** @param {Context} context */
async function paste(context) {
    const link = await askText(context.signal, "Join with an invitation",
        "Ask for the link, or scan it with this device’s camera. It works once, for five minutes.", {
            label: "The invitation’s link", type: "url", action: "Continue",
            problem: (typed) => (typed.includes("#vault=")
                ? null
                : "This is not an invitation to a vault. An invitation contains “#vault=”."),
        });
    if (link) location.hash = link.slice(link.indexOf("#vault="));
}

/** @param {Context} context */
async function typeCode(context) {
    const { askCode } = await import("../../ui/code-input.js");
    const link = await askCode(context.signal);
    if (!link) return;
    if (link.includes("#vault=")) location.hash = link.slice(link.indexOf("#vault="));
    else context.toast("This code sets up a new phone. Ask for an invitation to a shared vault.");
}

/**
 * Joins by the invitation that opened the page.
 * @param {Context} context
 * @param {string} link
 */
function joinCard(context, link) {
    const { companion, signal } = context;
    const problem = element("p", { class: "problem note", role: "alert" });
    const waiting = element("div", { class: "settings-form", role: "status" });
    const name = field("Your name for the others",
        { name: "own", value: companion.own.name, autocomplete: "off", dir: "auto" });
    const submit = element("button", { class: "button button-primary button-wide", type: "submit" }, "Request to join");
    const away = button("Not now", () => {
        forgetInvitation();
        context.go("settings/vaults", { replace: true });
    }, { wide: true, kind: "plain" });
    const join = async (/** @type {Event} */ event) => {
        event.preventDefault();
        const ownName = /** @type {HTMLInputElement} */ (name.lastElementChild).value.trim();
        problem.textContent = ownName === "" ? "The others need a name for you."
            : bytesOf(ownName) > longestName ? "This name is too long; use fewer letters." : "";
        if (problem.textContent) return;
        submit.disabled = true;
        try {
            const { id } = await companion.vaults.join(link, {
                ownName, signal, waiting: (words) => waiting.replaceChildren(
                    element("p", { class: "soft note" },
                        "The other member sees these three words too, and confirms them. Keep this page open."),
                    wordList(words)),
            });
            forgetInvitation();
            await chooseVault(companion, id);
            if (signal.aborted) return;
            context.toast("You joined the vault");
            context.go(`settings/vaults?vault=${id}`, { replace: true });
        } catch (error) {
            if (signal.aborted) return;
            problem.textContent = sentenceOf(error);
            submit.disabled = false;
        }
        waiting.replaceChildren();
    };
    const form = element("form", { class: "settings-form", onsubmit: join }, name, submit, away, waiting, problem);
    // Who began with this invitation has chosen to join, and named this device.
    setTimeout(() => !signal.aborted && joinsAtOnce() && form.requestSubmit());
    return card(element("h2", { class: "section-title" }, "You are invited to a shared vault"),
        element("p", { class: "soft note" },
            "All members can read and change everything in it. The invitation works once, for five minutes."),
        form);
}

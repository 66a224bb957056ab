// One shared vault: who belongs to it, inviting, its name, leaving.
import { element, keyed } from "../views/element.js";
import { live } from "../views/live.js";
import { badge, banner, button, row, section, tile } from "../views/parts.js";
import { sentenceOf } from "../views/words.js";
import { invite } from "./settings-vault-invite.js";
import { asked, vaultNameProblem } from "./settings-vaults.js";
import { chooseVault } from "./vault-choice.js";

/** @typedef {import("../views/shell.js").Context} Context */
/** @typedef {import("../core/vaults.js").Vault} Vault */
/** @typedef {import("../core/vault-membership.js").VaultMember} VaultMember */

const all = "settings/vaults";

/**
 * @param {Context} context
 * @param {string} id
 * @returns {Promise<{ title: string, back: string, body: import("../views/element.js").Child[] }>}
 */
export async function vaultPage(context, id) {
    const { companion, signal } = context;
    const vault = await companion.vaults.vault(id).catch(() => null);
    if (!vault) {
        return { title: "Shared vault", back: all, body: [banner("warning", "warning", "There is no such vault on this device any more."), backLink()] };
    }
    const name = element("p", { class: "sharing-name", dir: "auto" });
    const out = element("div", { hidden: true });
    const list = element("ul", { class: "card rows" });
    const actions = element("div", { class: "settings-form" });
    const show = async () => {
        const members = await vault.membership.members();
        if (signal.aborted) return;
        name.textContent = vault.name;
        out.hidden = !vault.isOut;
        out.replaceChildren(banner("warning", "warning", "Another member removed this device from the vault. What came before is still here until you remove it."));
        keyed(list, vault.isOut ? [] : members, (member) => member.id, (member) => element("li", {}, row({
            start: tile("phone", member.isConnected ? "good" : ""), title: member.name, note: seen(member),
            end: member.isThis ? badge("This one") : null, onclick: member.isThis ? undefined : () => remove(context, vault, member),
            label: member.isThis ? undefined : `${member.name}. ${seen(member)}. Remove it`,
        })));
        list.hidden = vault.isOut;
        actions.replaceChildren(...buttons(context, vault, members.length === 1));
    };
    await live(vault.companion, ["devices", "about"], show, signal);
    const again = () => void show().catch(() => {});
    companion.vaults.addEventListener("changed", again, { signal });
    vault.companion.addEventListener("connection", again, { signal });
    return {
        title: "Shared vault", back: all,
        body: [name, out, section("Who belongs", [list], { foot: vault.isOut ? undefined : "Each device is for itself: invite all of yours." }), actions, backLink()],
    };
}

/** Beside the menu there is no arrow. */
const backLink = () => element("a", { class: "button button-plain button-wide sharing-all", href: `#/${all}` }, "All shared vaults");

/** @param {VaultMember} member */
const seen = ({ isThis, isConnected }) => (isThis ? "You are using it now" : isConnected === null ? "Not known while offline" : isConnected ? "Connected now" : "Not connected now");

/** @param {Context} context @param {Vault} vault @param {boolean} isAlone */
function buttons(context, vault, isAlone) {
    if (vault.isOut) return [button("Remove it from this device", () => forget(context, vault), { wide: true, kind: "danger" })];
    return [
        button("Invite a device", () => invite(context, vault), { wide: true, kind: "primary", icon: "share" }),
        button("Show its moments", async () => {
            await chooseVault(context.companion, vault.id);
            context.go("moments");
        }, { wide: true, icon: "heart" }),
        button("Rename", () => rename(context, vault), { wide: true }),
        button(isAlone ? "Delete this vault" : "Leave this vault", () => leave(context, vault, isAlone), { wide: true, kind: "danger" }),
    ];
}

/** @param {Context} context @param {Vault} vault */
async function rename(context, vault) {
    const name = await asked(context, "Rename the vault", "For everybody who belongs to it.", { label: "Name", value: vault.name, action: "Rename", problem: vaultNameProblem });
    if (!name || name === vault.name) return;
    await vault.membership.rename(name).then(() => context.tell("Renamed"), (error) => context.tell(sentenceOf(error)));
}

/** @param {Context} context @param {Vault} vault @param {VaultMember} member */
async function remove(context, vault, member) {
    const isSure = await context.confirmWithGate({
        title: `Remove ${member.name}?`, action: "Remove",
        text: "It can’t read what is written from now on: the vault’s keys are replaced. What it has already stays on it, sealed behind its PIN. To come back it has to be invited again.",
    });
    if (!isSure) return;
    await vault.membership.remove(member.id).then(() => context.tell("Removed"), (error) => context.tell(sentenceOf(error)));
}

/** @param {Context} context @param {Vault} vault @param {boolean} isAlone */
async function leave(context, vault, isAlone) {
    const waiting = (await vault.companion.report()).waiting;
    const unsent = waiting === 0 ? "" : " Some changes of this device have not been sent yet; they are lost.";
    const isSure = await context.confirmWithGate(isAlone ? {
        title: "Delete this vault?", action: "Delete", text: `Only this device belongs to it. All its moments and photos go, here and at the hub, for good.${unsent}`,
    } : {
        title: "Leave this vault?", action: "Leave",
        text: `This device keeps nothing of it. The others keep everything, also what you wrote, and replace the keys: you can’t read what they write after. To come back you have to be invited again.${unsent}`,
    });
    if (!isSure) return;
    try {
        await context.companion.vaults.leave(vault.id);
        context.tell(isAlone ? "The vault was deleted" : "You left the vault");
        context.go(all, { replace: true });
    } catch (error) {
        context.tell(sentenceOf(error));
    }
}

/** @param {Context} context @param {Vault} vault */
async function forget(context, vault) {
    const isSure = await context.ask({ title: "Remove it from this device?", text: "What this device has of the vault goes. The others keep all of it.", action: "Remove", isDanger: true });
    if (!isSure) return;
    try {
        await context.companion.vaults.forget(vault.id);
        context.go(all, { replace: true });
    } catch (error) {
        context.tell(sentenceOf(error));
    }
}

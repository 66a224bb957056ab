// The page of one vault. Of a shared one: its members, inviting, its name, leaving.
import { drawn, element, keyed } from "../../ui/element.js";
import { live } from "../../ui/live.js";
import { badge, banner, button, row, section, tile } from "../../ui/parts.js";
import { inviteDevice } from "../../ui/invite-sheet.js";
import { keysAfterRevoking, sentenceOf } from "../../ui/words.js";
import { localVaultPage } from "./local-vault.js";
import { membersShown } from "./membership.js";
import { allVaultsLink, renameVault, vaultsAddress } from "./vault-actions.js";
import { chooseVault } from "../../ui/vault-choice.js";

/** @typedef {import("./vaults.js").Vault} Vault */
/** @typedef {import("./membership.js").VaultMember} VaultMember */

/**
 * @param {Context} context
 * @param {string} id
 * @returns {Promise<{ title: string, back: string, body: import("../../ui/element.js").Child[] }>}
 */
export async function vaultPage(context, id) {
    const { companion, signal } = context;
    const vault = await companion.vaults.vault(id).catch(() => null);
    const { followLock, lockedVault, pinSection } = await import("./pin-section.js");
    const locked = !vault && (await companion.vaults.locked()).find((one) => one.id === id);
    if (locked) {
        return {
            title: "Shared vault", back: vaultsAddress, body: [
                ...lockedVault(context, locked, `${vaultsAddress}?vault=${id}`, () => forget(context, locked, true)),
                allVaultsLink()],
        };
    }
    if (!vault) {
        return {
            title: "Shared vault", back: vaultsAddress,
            body: [banner("warning", "warning", "This vault is no longer on this device."), allVaultsLink()],
        };
    }
    if (vault.isLocal) return localVaultPage(context, vault);
    const name = element("p", { class: "sharing-name", dir: "auto" });
    const out = element("div", { hidden: true });
    const list = element("ul", { class: "card rows" });
    const actions = element("div", {});
    const read = async () => {
        const members = await vault.membership.members().catch((error) => {
            if (vault.companion.state === "unlocked") throw error;
            // It is being left: nothing can be read any more.
            return null;
        });
        return members && (() => {
            name.textContent = vault.name;
            out.hidden = !vault.isRevoked;
            out.replaceChildren(banner("warning", "warning",
                "Another member removed this device from the vault. Earlier content stays here until you remove it."));
            keyed(list, vault.isRevoked ? [] : members, (member) => member.id, (member) => element("li", {}, row({
                start: tile(member.spareOf ? "key" : "phone", member.isConnected ? "good" : ""),
                title: member.name, note: seen(member),
                end: member.isThis ? badge("This one") : null,
                onclick: member.isThis ? undefined : () => remove(context, vault, member),
                label: member.isThis ? undefined : `${member.name}. ${seen(member)}. Remove it`,
            })));
            list.hidden = vault.isRevoked;
            const isAlone = membersShown(members) === 1;
            drawn(actions, [vault.isRevoked, isAlone, vault.hasPIN], () => element("div", { class: "settings-parts" },
                element("div", { class: "settings-form" }, ...buttons(context, vault, isAlone)),
                !vault.isRevoked && pinSection(context, vault, isAlone)));
        });
    };
    followLock(context, id, `${vaultsAddress}?vault=${id}`);
    await live(vault.companion, ["devices", "about"], read, signal,
        [[companion.vaults, "changed"], [vault.companion, "connection"]]);
    return {
        title: "Shared vault", back: vaultsAddress,
        body: [name, out, section("Members", [list], {
            foot: vault.isRevoked ? undefined : "Each device is a separate member: invite all of yours.",
        }), actions, allVaultsLink()],
    };
}

const inviteWords = {
    question: {
        title: "Invite a device?", action: "Invite",
        text: "A new member reads everything in this vault, also earlier entries, and can invite others. You see the "
            + "name and confirm first.",
    },
    text: "Scan this code with the other phone, or send the link to the right person: anybody who has it can ask to "
        + "join. A phone that is new to this hub is set up by it too.",
    code: `Or open ${location.host} there and type this code: a new phone on its first page, another one in Settings, `
        + "Vaults.",
    warning: "Confirm only if this is the person you sent the link to. They can read everything in this vault.",
    admitted: "Admitted",
};

/** @param {VaultMember} member */
const seen = ({ isThis, isConnected, spareOf }) => (isThis ? "In use now"
    : spareOf ? "Opens the vault for other phones of the same person"
    : isConnected === null ? "Unknown while offline" : isConnected ? "Connected now" : "Not connected now");

/** @param {Context} context @param {Vault} vault @param {boolean} isAlone */
function buttons(context, vault, isAlone) {
    if (vault.isRevoked) {
        return [button("Remove it from this device", () => forget(context, vault), { wide: true, kind: "danger" })];
    }
    return [
        button("Invite a device", () => inviteDevice(context, vault.membership, inviteWords),
            { wide: true, kind: "primary", icon: "share" }),
        button("Show its moments", async () => {
            await chooseVault(context.companion, vault.id);
            context.go("moments");
        }, { wide: true, icon: "heart" }),
        button("Notifications", () => context.go("settings/notifications"), { wide: true, icon: "bell" }),
        button("Rename", () => renameVault(context, vault, "For all members."), { wide: true }),
        button(isAlone ? "Delete this vault" : "Leave this vault", () => leave(context, vault, isAlone),
            { wide: true, kind: "danger" }),
    ];
}

/** @param {Context} context @param {Vault} vault @param {VaultMember} member */
async function remove(context, vault, member) {
    const isSure = await context.confirmUnlock({
        title: `Remove ${member.name}?`, action: "Remove",
        text: "It can’t read new entries: the vault’s keys are replaced. Its existing data stays on it, sealed with "
            + "its PIN. To rejoin it has to be invited again.",
    });
    if (!isSure) return;
    await vault.membership.remove(member.id)
        .then(({ pending }) => context.toast(pending ? `Removed. ${keysAfterRevoking("vault", pending)}` : "Removed"),
            (error) => context.toast(sentenceOf(error)));
}

/** @param {Context} context @param {Vault} vault @param {boolean} isAlone */
async function leave(context, vault, isAlone) {
    const waiting = (await vault.companion.report()).waiting;
    const unsent = waiting === 0 ? "" : " Some changes of this device have not been sent yet and will be lost.";
    const isSure = await context.confirmUnlock(isAlone ? {
        title: "Delete this vault?", action: "Delete",
        text: `This device is its only member. All its moments and photos are permanently deleted, here and at the ` +
            `hub.${unsent}`,
    } : {
        title: "Leave this vault?", action: "Leave",
        text: `Its data is removed from this device. The others keep everything, also what you wrote, and replace ` +
            `the keys: you can’t read later entries. To rejoin you have to be invited again.${unsent}`,
    });
    if (!isSure) return;
    try {
        await context.companion.vaults.leave(vault.id);
        context.toast(isAlone ? "The vault was deleted" : "You left the vault");
        context.go(vaultsAddress, { replace: true });
    } catch (error) {
        context.toast(sentenceOf(error));
    }
}

/** @param {Context} context @param {{ id: string }} vault @param {boolean} [isMember] while it is locked */
async function forget(context, vault, isMember = false) {
    const [title, action] = ["Remove it from this device?", "Remove"];
    const text = "The vault’s data is removed from this device. The others keep all of it.";
    const isSure = isMember ? await context.confirmUnlock({
        title, action, text: `${text} They see this device in the list of members until one removes it. Without other `
            + "members, all content is lost.",
    }) : await context.ask({ title, action, text, isDanger: true });
    if (!isSure) return;
    try {
        await context.companion.vaults.forget(vault.id);
        context.go(vaultsAddress, { replace: true });
    } catch (error) {
        context.toast(sentenceOf(error));
    }
}

// A vault that is only on this device: creating one, and its page.
import { element } from "../../ui/element.js";
import { live } from "../../ui/live.js";
import { banner, button } from "../../ui/parts.js";
import { askText } from "../../ui/sheet.js";
import { counted, sentenceOf } from "../../ui/words.js";
import { chooseVault } from "../../ui/vault-choice.js";
import { vaultNameProblem } from "./membership.js";
import { allVaultsLink, renameVault, vaultsAddress } from "./vault-actions.js";

const meaning = "Nothing of it is sent to the hub, not even sealed. If this device is lost or revoked, its PIN "
    + "forgotten, or its browser’s data deleted, no other device and no recovery sheet can restore it.";

/** @param {Context} context */
export async function createLocalVault({ companion, signal, go, toast }) {
    const name = await askText(signal, "New vault only on this device",
        `${meaning} Only a backup can: export one from time to time.`,
        { label: "Name", value: "Only here", action: "Create", problem: vaultNameProblem });
    if (!name) return;
    // It may be refused: the vault's page shows it.
    await companion.persistStorage();
    try {
        const { id } = await companion.vaults.create(name, { isLocal: true });
        await chooseVault(companion, id);
        toast("The vault was created");
        go(`${vaultsAddress}?vault=${id}`);
    } catch (error) {
        toast(sentenceOf(error));
    }
}

/**
 * @param {Context} context
 * @param {Vault} vault
 * @returns {Promise<{ title: string, back: string, body: import("../../ui/element.js").Child[] }>}
 */
export async function localVaultPage(context, vault) {
    const name = element("p", { class: "sharing-name", dir: "auto" });
    await live(vault.companion, ["about"], async () => () => {
        name.textContent = vault.name;
    }, context.signal, [[context.companion.vaults, "changed"]]);
    const { room } = await vault.companion.report();
    /** @param {string} address */
    const open = async (address) => {
        await chooseVault(context.companion, vault.id);
        context.go(address);
    };
    return {
        title: "Vault only on this device", back: vaultsAddress,
        body: [name, banner("phone", "", meaning),
            !room.persisted && banner("warning", "warning",
                "The browser may delete it when space is low. Put AppLocker on the Home Screen, and export backups."),
            element("div", { class: "settings-form" },
            button("Show its moments", () => open("moments"), { wide: true, kind: "primary", icon: "heart" }),
            button("Back it up", () => open("settings/everline/copy"), { wide: true, icon: "share" }),
            button("Rename", () => renameVault(context, vault, "Only you see it."), { wide: true }),
            button("Delete this vault", () => remove(context, vault), { wide: true, kind: "danger" })),
        allVaultsLink()],
    };
}

/** @param {Context} context @param {Vault} vault */
async function remove(context, vault) {
    const { moments } = vault.companion;
    const count = (await Promise.all([moments.list(), moments.list({ trash: true })]))
        .reduce((sum, list) => sum + list.moments.length, 0);
    const isSure = await context.confirmUnlock({
        title: "Delete this vault?", action: "Delete",
        text: count === 0 ? "It is empty."
            : `${counted(count, "moment")}, with photos and recordings, ${count === 1 ? "is" : "are"} permanently `
                + "deleted. They are nowhere else, except in backups that you exported.",
    });
    if (!isSure) return;
    try {
        await context.companion.vaults.leave(vault.id);
        context.toast("The vault was deleted");
        context.go(vaultsAddress, { replace: true });
    } catch (error) {
        context.toast(sentenceOf(error));
    }
}

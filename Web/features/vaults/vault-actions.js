// What the pages of shared vaults and of those that are only on this device have in common.
import { element } from "../../ui/element.js";
import { askText } from "../../ui/sheet.js";
import { sentenceOf } from "../../ui/words.js";
import { vaultNameProblem } from "./membership.js";

/** The list of vaults. */
export const vaultsAddress = "settings/vaults";

/** Beside the menu there is no arrow. */
export const allVaultsLink = () => element("a", {
    class: "button button-plain button-wide sharing-all", href: `#/${vaultsAddress}`,
}, "All vaults");

/** @param {Context} context @param {Vault} vault @param {string} foot for whom the name is */
export async function renameVault(context, vault, foot) {
    const name = await askText(context.signal, "Rename the vault", foot,
        { label: "Name", value: vault.name, action: "Rename", problem: vaultNameProblem });
    if (!name || name === vault.name) return;
    await vault.membership.rename(name)
        .then(() => context.toast("Renamed"), (error) => context.toast(sentenceOf(error)));
}

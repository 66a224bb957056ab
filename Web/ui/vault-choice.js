// Whose moments are shown: the person's own, or a shared vault's. The last choice is stored sealed.
import { element } from "./element.js";
import { redrawing } from "./live.js";
import { row, tile } from "./parts.js";
import { counted, named } from "./words.js";

const kept = "chosenVault";

/**
 * Null: the person's own, also if the chosen vault is gone.
 * @param {Companion} main
 * @returns {Promise<Vault | null>}
 */
export async function chosenVault(main) {
    const vaults = await main.vaults.list();
    if (vaults.length === 0) return null;
    const id = await main.privateStorage.get(kept);
    return vaults.find((vault) => vault.id === id) ?? null;
}

/** @param {Companion} main @param {string | null} id null: the own one */
export const chooseVault = (main, id) => main.privateStorage.set(kept, id);

/**
 * A row for each shared vault.
 * @param {Companion} main
 */
export const vaultRows = async (main) => Promise.all((await main.vaults.list()).map(
    async ({ id, name, isRevoked, membership }) => {
        const count = await membership.countShown();
        return row({
            start: tile("heart", isRevoked ? "warning" : ""), title: name, href: `#/settings/vaults?vault=${id}`,
            note: isRevoked ? "You are no longer a member"
                : count === 1 ? "Only this device so far" : counted(count, "device"),
        });
    }));

/**
 * Null without shared vaults.
 * @param {Context} context
 * @param {Vault | null} chosen
 * @param {string} address of the page, which is drawn again
 */
export async function vaultChooser(context, chosen, address = "moments") {
    const { companion: main, signal } = context;
    if ((await main.vaults.list()).length === 0) return null;
    const chips = element("div", { class: "sharing-chooser", role: "group", "aria-label": "Vault" });
    const draw = async () => {
        const vaults = await main.vaults.list();
        if (signal.aborted) return;
        const chip = (/** @type {string | null} */ id, /** @type {string} */ name, isRevoked = false) =>
            element("button", {
                type: "button", class: "sharing-chip", dir: "auto", "aria-pressed": String((chosen?.id ?? null) === id),
                onclick: async () => {
                    await chooseVault(main, id);
                    if (!signal.aborted) context.go(address, { replace: true });
                },
            }, named(name), isRevoked && " (removed)");
        chips.replaceChildren(chip(null, "Mine"),
            ...vaults.map(({ id, name, isRevoked }) => chip(id, name, isRevoked)));
    };
    await draw();
    // The chosen one may be beyond the edge of the screen.
    requestAnimationFrame(() => chips.scrollTo({
        left: (/** @type {HTMLElement | null} */ (chips.querySelector("[aria-pressed=true]"))?.offsetLeft ?? 0)
            - chips.offsetLeft - chips.clientWidth / 4,
    }));
    main.vaults.addEventListener("changed", redrawing(draw, signal), { signal });
    return chips;
}

// Which vault's moments are shown: the person's own, or another one's. The last choice is stored sealed.
import { element } from "./element.js";
import { icon } from "./icon.js";
import { redrawing } from "./live.js";
import { banner, button, row, tile } from "./parts.js";
import { counted, named } from "./words.js";

const kept = "chosenVault";

/**
 * Null: the person's own, also if the chosen vault is gone or locked.
 * @param {Companion} main
 * @returns {Promise<Vault | null>}
 */
export async function chosenVault(main) {
    const vaults = await main.vaults.list();
    if (vaults.length === 0) return null;
    const id = await main.privateStorage.get(kept);
    return vaults.find((vault) => vault.id === id) ?? null;
}

/**
 * Asks for the PIN of a locked vault, and chooses it.
 * @param {Context} context with the main companion
 * @param {{ id: string, name: string }} vault
 * @param {string} address shown then
 */
async function openLocked(context, vault, address) {
    const { unlockVault } = await import("./vault-pin.js");
    if (!(await unlockVault(context, vault))) return;
    await chooseVault(context.companion, vault.id);
    if (!context.signal.aborted) context.go(address, { replace: true });
}

/**
 * Above the own moments, where the chosen vault needs its PIN first; null otherwise.
 * @param {Context} context with the main companion
 * @param {string} [address]
 */
export async function lockedChoice(context, address = "moments") {
    const { companion: main } = context;
    const locked = await main.vaults.locked();
    const id = locked.length > 0 && await main.privateStorage.get(kept);
    const vault = locked.find((one) => one.id === id);
    return vault ? banner("lock", "", element("p", {}, `“${named(vault.name)}” is locked. These are your own moments.`),
        button("Enter its PIN", () => openLocked(context, vault, address), { kind: "primary" })) : null;
}

/**
 * Draws the page again when the vault that it shows is locked or left, here or in another tab.
 * @param {Context} context with the main companion
 * @param {Vault | null} vault
 * @param {string} address
 */
export function leaveLocked({ companion: main, signal, go }, vault, address) {
    if (!vault) return;
    main.vaults.addEventListener("changed", async () => {
        const open = await main.vaults.list().catch(() => [vault]);
        if (!signal.aborted && !open.some(({ companion }) => companion === vault.companion)) {
            go(address, { replace: true });
        }
    }, { signal });
}

/** @param {Companion} main @param {string | null} id null: the own one */
export const chooseVault = (main, id) => main.privateStorage.set(kept, id);

/**
 * A row for each vault besides the own one; the locked ones last.
 * @param {Companion} main
 */
export const vaultRows = async (main) => [...await openRows(main), ...(await main.vaults.locked()).map(
    ({ id, name }) =>
        row({ start: tile("lock"), title: name, href: `#/settings/vaults?vault=${id}`, note: "Locked" }))];

/** @param {Companion} main */
const openRows = async (main) => Promise.all((await main.vaults.list()).map(
    async ({ id, name, isRevoked, isLocal, membership }) => {
        const count = await membership.countShown();
        return row({
            start: tile(isLocal ? "phone" : "heart", isRevoked ? "warning" : ""), title: name,
            href: `#/settings/vaults?vault=${id}`,
            note: isRevoked ? "You are no longer a member" : isLocal ? "Only on this device"
                : count === 1 ? "Only this device so far" : counted(count, "device"),
        });
    }));

/**
 * Null without other vaults.
 * @param {Context} context
 * @param {Vault | null} chosen
 * @param {string} address of the page, which is drawn again
 */
export async function vaultChooser(context, chosen, address = "moments") {
    const { companion: main, signal } = context;
    const read = async () => ({ vaults: await main.vaults.list(), locked: await main.vaults.locked() });
    const first = await read();
    if (first.vaults.length + first.locked.length === 0) return null;
    const chips = element("div", { class: "sharing-chooser", role: "group", "aria-label": "Vault" });
    const show = (/** @type {typeof first} */ { vaults, locked }) => {
        const chip = (/** @type {string | null} */ id, /** @type {string} */ name, isRevoked = false) =>
            element("button", {
                type: "button", class: "sharing-chip", dir: "auto", "aria-pressed": String((chosen?.id ?? null) === id),
                onclick: async () => {
                    await chooseVault(main, id);
                    if (!signal.aborted) context.go(address, { replace: true });
                },
            }, named(name), isRevoked && " (removed)");
        chips.replaceChildren(chip(null, "Mine"),
            ...vaults.map(({ id, name, isRevoked }) => chip(id, name, isRevoked)),
            ...locked.map((vault) => element("button", {
                type: "button", class: "sharing-chip sharing-chip-locked", dir: "auto",
                onclick: () => openLocked(context, vault, address),
            }, icon("lock"), named(vault.name), element("span", { class: "visually-hidden" }, " (locked)"))));
    };
    show(first);
    // The chosen one may be beyond the edge of the screen.
    requestAnimationFrame(() => chips.scrollTo({
        left: (/** @type {HTMLElement | null} */ (chips.querySelector("[aria-pressed=true]"))?.offsetLeft ?? 0)
            - chips.offsetLeft - chips.clientWidth / 4,
    }));
    main.vaults.addEventListener("changed", redrawing(async () => {
        const found = await read();
        return () => show(found);
    }, signal), { signal });
    return chips;
}

/**
 * A settings page about the vault that is chosen on it.
 * @param {string} address of the page
 * @param {(context: Context, vault: Vault | null) => ReturnType<SettingsPage>} page `context`: with that vault's
 *   companion
 * @returns {SettingsPage}
 */
export const ofChosenVault = (address, page) => async (main) => {
    const vault = await chosenVault(main.companion);
    leaveLocked(main, vault, address);
    const { body, ...rest } = await page(vault ? { ...main, companion: vault.companion } : main, vault);
    return { ...rest, body: [await vaultChooser(main, vault, address), await lockedChoice(main, address), ...body] };
};

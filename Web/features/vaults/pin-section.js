// The PIN of one vault: its rows on the vault's page, what is asked before it is set, changed or removed, and the page
// of a vault that is locked.
import { isChosen, newPINEntry } from "../../ui/choose-pin.js";
import { element } from "../../ui/element.js";
import { banner, button, points, row, rows, section, tile } from "../../ui/parts.js";
import { sheet } from "../../ui/sheet.js";
import { confirmVaultPIN, unlockVault } from "../../ui/vault-pin.js";
import { sentenceOf } from "../../ui/words.js";

/** @typedef {import("./vaults.js").Vault} Vault */

/**
 * Of an open vault.
 * @param {Context} context
 * @param {Vault} vault
 * @param {boolean} isAlone
 */
export const pinSection = (context, vault, isAlone) => section("PIN of this vault", [vault.hasPIN
    ? rows(
        row({
            start: tile("lock", "good"), title: "Lock this vault", note: "Its PIN opens it again",
            onclick: () => context.companion.vaults.lock(vault.id),
        }),
        row({ start: tile("key"), title: "Change the vault’s PIN", onclick: () => change(context, vault) }),
        row({
            start: tile("trash", "danger"), title: "Remove the vault’s PIN", onclick: () => remove(context, vault),
        }))
    : rows(row({
        start: tile("key"), title: "Set a PIN for this vault", note: "Besides the one of AppLocker",
        onclick: () => set(context, vault, isAlone),
    }))]);

/**
 * The body of the page while the vault is locked. `forget`: removes it from this device.
 * @param {Context} context
 * @param {{ id: string, name: string }} vault
 * @param {string} address of the page, which is drawn again
 * @param {() => void} forget
 */
export const lockedVault = (context, vault, address, forget) => [
    element("p", { class: "sharing-name", dir: "auto" }, vault.name),
    banner("lock", "", "This vault has a PIN of its own, and is locked."),
    element("div", { class: "settings-form" },
        button("Enter the vault’s PIN", async () => {
            if (await unlockVault(context, vault) && !context.signal.aborted) context.go(address, { replace: true });
        }, { wide: true, kind: "primary", icon: "unlock" }),
        button("Remove it from this device", forget, { wide: true, kind: "danger" })),
];

/**
 * Draws the page of an open vault again when it is locked, here or in another tab.
 * @param {Context} context
 * @param {string} id
 * @param {string} address
 */
export function followLock({ companion, signal, go }, id, address) {
    companion.vaults.addEventListener("changed", async () => {
        const locked = await companion.vaults.locked().catch(() => []);
        if (!signal.aborted && locked.some((one) => one.id === id)) go(address, { replace: true });
    }, { signal });
}

/** @param {Context} context @param {Vault} vault @param {boolean} isAlone */
async function set(context, vault, isAlone) {
    const { companion, signal, toast } = context;
    const isAgreed = await explain(context, isAlone);
    if (!isAgreed || !(await context.confirmUnlock({
        title: "Set a PIN for this vault?", text: "First confirm that AppLocker is yours.", action: "Continue",
    }))) return;
    const isSet = await choosePIN(signal, async (pin) => {
        try {
            await (await companion.vaults.pins()).set(vault.id, pin);
        } catch (error) {
            throw withoutHub(error, "The hub can’t be reached. The vault has no PIN; try again later.");
        }
    });
    if (isSet) toast("The PIN is set, and the vault is locked");
}

/** @param {Context} context @param {boolean} isAlone */
async function explain({ companion, signal }, isAlone) {
    const answer = await sheet("A PIN for this vault", signal, (/** @type {(answer: boolean) => void} */ end) => [
        points(
            "After AppLocker is unlocked, this vault stays locked on this device until you enter its PIN.",
            "The hub counts wrong PINs, so opening the vault needs the hub. After ten, this device loses the vault.",
            isAlone
                ? "If you forget the PIN, all content is lost, because you are the only member. Export a backup or "
                    + "invite another device first."
                : "If you forget the PIN, only another member can invite this device again.",
            ...companion.isPhoneFounded
                ? ["A new phone of yours, or one from the recovery sheet, no longer joins this vault: invite it. "
                    + "Phones that are in the vault open it without this PIN, and make it possible again once this "
                        + "device is revoked."]
                : ["Your other devices in this vault open it without this PIN."]),
        element("div", { class: "buttons buttons-even" },
            button("Cancel", () => end(false)),
            button("Continue", () => end(true), { kind: "primary", autofocus: true })),
    ]);
    return answer === true;
}

/** @param {Context} context @param {Vault} vault */
async function change(context, vault) {
    const { companion, signal, toast } = context;
    const isSure = await confirmVaultPIN(context, vault, {
        title: "Change the vault’s PIN", text: "First enter the current PIN of this vault.", action: "Continue",
    });
    const isSet = isSure && await choosePIN(signal, async (pin) => {
        try {
            await (await companion.vaults.pins()).set(vault.id, pin);
        } catch (error) {
            throw withoutHub(error, "The hub can’t be reached. The old PIN or the new one works; try again later.");
        }
    });
    if (isSet) toast("The vault’s PIN was changed");
}

/** @param {Context} context @param {Vault} vault */
async function remove(context, vault) {
    const isSure = await confirmVaultPIN(context, vault, {
        title: "Remove the vault’s PIN?", action: "Remove",
        text: "Enter the vault’s PIN. Then the vault opens with AppLocker again.",
    });
    if (!isSure) return;
    await context.companion.vaults.pins().then((pins) => pins.remove(vault.id))
        .then(() => context.toast("The vault’s PIN was removed"), (error) => context.toast(sentenceOf(error)));
}

/** @param {unknown} error @param {string} sentence */
function withoutHub(error, sentence) {
    if (error instanceof Error && error.name === "HubUnreachable") error.message = sentence;
    return error;
}

const steps = Object.freeze({
    first: "Six digits or more, or letters; not the PIN of AppLocker.",
    again: "Repeat the PIN. This avoids typing mistakes.",
});

/**
 * Twice. A short one only after its risk was shown.
 * @param {AbortSignal} signal
 * @param {(pin: string) => Promise<void>} done
 */
async function choosePIN(signal, done) {
    /** @typedef {(answer: boolean) => void} End */
    const answer = await sheet("Choose the vault’s PIN", signal, (/** @type {End} */ end, closed) => {
        const text = element("p", { class: "soft", "aria-live": "polite" }, steps.first);
        const entry = newPINEntry(closed, {
            become: (step) => (text.textContent = steps[step]),
            isChosen: (pin) => isChosen(pin, signal, { loss: "this device loses the vault", check: () => {} }),
            done: async (pin) => {
                await done(pin);
                end(true);
            },
        });
        return [text, entry.element, button("Cancel", () => end(false), { kind: "plain", wide: true })];
    });
    return answer === true;
}

// Asks for the PIN of one shared vault; loaded when a vault with a PIN of its own is opened or changed.
import { wrongPINSentence } from "./pin-entry.js";
import { pinSheet } from "./pin-sheet.js";
import { named } from "./words.js";

/** @typedef {import("./sheet.js").Question} Question */
/** @typedef {{ id: string, name: string }} NamedVault */

/** The hub counts wrong PINs before it answers. */
const isOffline = "You’re offline. The vault’s PIN works again once the hub is reachable.";

/**
 * Why a vault's PIN was refused, and what follows.
 * @param {Companion} main
 * @param {string} id
 * @param {unknown} error
 */
async function explained(main, id, error) {
    if (!(error instanceof Error)) return error;
    const { code } = /** @type {{ code?: string }} */ (error);
    if (error.name === "HubUnreachable") error.message = isOffline;
    if (code === "wrongPIN") {
        const state = await main.vaults.pins().then((pins) => pins.state(id)).catch(() => null);
        if (state) error.message = wrongPINSentence(state.failures, "this device loses the vault");
    }
    if (code === "pairAgain" || code === "unauthorized") {
        error.message = "This PIN no longer opens the vault, as after ten wrong ones. Another member can invite this "
            + "device again.";
    }
    return error;
}

/**
 * @param {Context} context
 * @param {NamedVault} vault
 * @param {Question} question
 * @param {(pin: string) => Promise<void>} submit
 * @returns {Promise<boolean>} whether the PIN was right
 */
function askPIN({ companion: main, signal }, { id }, question, submit) {
    const submitting = async (/** @type {string} */ pin) => {
        await submit(pin).catch(async (error) => {
            throw await explained(main, id, error);
        });
    };
    return pinSheet(question, signal, submitting, (entry) => {
        if (main.syncLoop.connection === "waiting") entry.showMessage(isOffline);
        main.vaults.pins().then((pins) => pins.state(id))
            .then(({ retryAfterSeconds }) => retryAfterSeconds > 0 && entry.wait(retryAfterSeconds)).catch(() => {});
        return [entry.element];
    });
}

/**
 * Opens a locked vault.
 * @param {Context} context with the main companion
 * @param {NamedVault} vault
 */
export const unlockVault = (context, vault) => askPIN(context, vault, {
    title: `Open “${named(vault.name)}”`, text: "Enter the PIN of this vault.", action: "Open",
}, async (pin) => (await context.companion.vaults.pins()).unlock(vault.id, pin));

/**
 * Confirms the PIN of an open vault: the keys in use stay.
 * @param {Context} context with the main companion
 * @param {NamedVault} vault
 * @param {Question} question
 */
export const confirmVaultPIN = (context, vault, question) => askPIN(context, vault, question,
    async (pin) => (await context.companion.vaults.pins()).confirm(vault.id, pin));

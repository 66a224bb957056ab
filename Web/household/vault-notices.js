// Which shared vaults notify this device while it is locked. Of those the name of their database and their status keys,
// which open the members' names and no content, are stored unprotected. docs/formats.md, "Notices of a shared vault".
import { statusKeysOf } from "./keys.js";
import { sharedVaultID } from "./shared-keys.js";

const databases = "vaultNotices";

/**
 * The databases of the vaults that notify, by the vault's id. Null: its notices were turned off, and the hub still has
 * to be informed.
 * @param {DeviceSession} main
 * @returns {Promise<Record<string, string | null>>}
 */
export const noticeDatabases = (main) => main.store.fact(databases, {});

/**
 * @param {DeviceSession} main
 * @param {string} household the shared vault's
 * @param {string | null | undefined} database as of `noticeDatabases`; undefined: nothing of it is kept
 */
export const setNoticeDatabase = (main, household, database) => main.tabs.exclusive("notices", async () => {
    const id = await sharedVaultID(household);
    const { [id]: _, ...others } = await noticeDatabases(main);
    await main.store.write({
        facts: { [databases]: database === undefined ? others : { ...others, [id]: database } },
    });
});

/**
 * Stores the status keys of an open shared vault, or removes them. Nothing is written without a change.
 * @param {DeviceSession} vault
 * @param {boolean} isOn
 */
export async function keepNoticeKeys(vault, isOn) {
    const keys = isOn ? await statusKeysOf(vault.keys.ring, vault.paired.household) : [];
    if (keys.length !== (await vault.store.statusKeys()).length) await vault.store.write({ withoutKeys: true, keys });
}

// Which shared vaults notify this device of what other members add. docs/formats.md, "Notices of a shared vault".
import { sharedVaultID } from "../../household/shared-keys.js";
import { keepNoticeKeys, noticeDatabases, setNoticeDatabase } from "../../household/vault-notices.js";

/**
 * The vaults of this session, and whether each notifies this device. Throws CompanionError `locked`.
 * @param {Companion} companion
 * @returns {Promise<{ vault: Vault, isOn: boolean }[]>}
 */
export async function vaultNotices({ device, vaults }) {
    const databases = await noticeDatabases(device);
    return Promise.all((await vaults.list()).filter(({ isRevoked }) => !isRevoked).map(async (vault) =>
        ({ vault, isOn: Object.hasOwn(databases, await sharedVaultID(vault.id)) })));
}

/**
 * The members that push to this device. Their keys that are usable while locked are renewed. Throws as `vaultNotices`.
 * @param {Companion} companion
 */
export async function noticedHubs(companion) {
    const notices = await vaultNotices(companion);
    for (const { vault, isOn } of notices) await keepNoticeKeys(vault.companion.device, isOn);
    return notices.filter(({ isOn }) => isOn).map(({ vault }) => vault.companion.device.hub);
}

/**
 * Whether this device shows what the others add, also while it is locked; `renewSubscription` asks the hub for it. It
 * is ended here first, so that nothing is shown even if the hub fails. Throws HubError, HubUnreachable.
 * @param {Companion} companion
 * @param {Vault} vault
 * @param {boolean} isOn
 */
export async function setVaultNotices({ device }, vault, isOn) {
    const member = vault.companion.device;
    await setNoticeDatabase(device, vault.id, isOn ? vault.companion.name : null);
    await keepNoticeKeys(member, isOn);
    if (!isOn) await member.hub.removePush();
}

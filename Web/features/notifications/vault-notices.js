// Which shared vaults notify this device of what other members add. docs/formats.md, "Notices of a shared vault".
import { sharedVaultID } from "../../household/shared-keys.js";
import { keepNoticeKeys, noticeDatabases, setNoticeDatabase } from "../../household/vault-notices.js";
import { changingSubscription } from "../../workers/push-subscription.js";

/**
 * The vaults of this session that can notify, and whether each does. Throws CompanionError `locked`.
 * @param {Companion} companion
 * @returns {Promise<{ vault: Vault, isOn: boolean }[]>}
 */
export async function vaultNotices({ device, vaults }) {
    const databases = await noticeDatabases(device);
    const notifying = (await vaults.list()).filter(({ isRevoked, isLocal }) => !isRevoked && !isLocal);
    return Promise.all(notifying.map(async (vault) =>
        ({ vault, isOn: Boolean(databases[await sharedVaultID(vault.id)]) })));
}

/**
 * Within `changingSubscription`: the members that push to this device, with their keys that are usable while locked.
 * Ends the notices of the others: of a vault that removed this device, of all if notifications are off, and where the
 * hub could not be reached before. One vault prevents no other.
 * @param {Companion} companion
 * @param {boolean} isWanted whether this device shows notifications
 */
export async function noticedHubs({ device, vaults }, isWanted) {
    const databases = await noticeDatabases(device);
    const hubs = [];
    for (const vault of await vaults.list()) {
        const kept = databases[await sharedVaultID(vault.id)];
        const member = vault.companion.device;
        const isOn = isWanted && !vault.isRevoked && Boolean(kept);
        try {
            await keepNoticeKeys(member, isOn);
            if (isOn) hubs.push(member.hub);
            else if (kept !== undefined) await end(device, vault);
        } catch (error) {
            console.warn(error);
        }
    }
    return hubs;
}

/**
 * First on this device, so that nothing is shown even if the hub fails; `noticedHubs` tries again.
 * @param {DeviceSession} device
 * @param {Vault} vault
 */
async function end(device, vault) {
    await setNoticeDatabase(device, vault.id, null);
    await keepNoticeKeys(vault.companion.device, false);
    // The hub has nothing of a member that was removed.
    if (!vault.isRevoked) await vault.companion.device.hub.removePush();
    await setNoticeDatabase(device, vault.id, undefined);
}

/**
 * Whether this device shows what the others add, also while it is locked; `renewSubscription` asks the hub for it.
 * Throws HubError, HubUnreachable: then it is ended here, and at the hub later.
 * @param {Companion} companion
 * @param {Vault} vault
 * @param {boolean} isOn
 */
export const setVaultNotices = ({ device }, vault, isOn) => changingSubscription(async () => {
    if (!isOn) return end(device, vault);
    await setNoticeDatabase(device, vault.id, vault.companion.name);
    await keepNoticeKeys(vault.companion.device, true);
});

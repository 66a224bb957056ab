// What this device seals its reminders with, and under which id each PIN's list is at the hub. docs/formats.md,
// "Reminders".
import { fields, hex, randomBytes } from "../crypto/bytes.js";
import { hkdf, importGCMKey } from "../crypto/primitives.js";

const keyFact = "reminderKey";
const idLength = 16;

/**
 * Usable while locked; no script can read it. Null before this device made reminders.
 * @param {DeviceSession} device
 * @returns {Promise<CryptoKey | null>}
 */
export const storedReminderKey = (device) => device.store.fact(keyFact, /** @type {CryptoKey | null} */ (null));

/**
 * One for all PINs. Throws StoreError.
 * @param {DeviceSession} device
 * @returns {Promise<CryptoKey>}
 */
export const reminderKey = (device) => device.tabs.exclusive("reminder-key", async () => {
    const stored = await storedReminderKey(device);
    if (stored) return stored;
    const key = await importGCMKey(randomBytes(32));
    await device.store.write({ facts: { [keyFact]: key } });
    return key;
});

/**
 * A session replaces its own list alone, and nothing that is stored shows which lists there are.
 * @param {Uint8Array} rootKey
 */
export const reminderListID = async (rootKey) =>
    hex(await hkdf(rootKey, new Uint8Array(), fields("applocker/1/reminders"), idLength));

/**
 * Of PINs that are removed. Never throws: without the hub, they end with the last reminder.
 * @param {DeviceSession} device
 * @param {Uint8Array[]} rootKeys
 */
export async function removeReminderLists(device, rootKeys) {
    if (!(await storedReminderKey(device))) return;
    for (const rootKey of rootKeys) {
        await device.hub.setReminders(await reminderListID(rootKey), [])
            .catch((error) => console.warn(error));
    }
}

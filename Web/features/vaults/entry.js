// A vault in the list that is sealed under the main keys. docs/formats.md, "Shared vaults".
import { base64url, unbase64url, wipe } from "../../crypto/bytes.js";
import { unlockWithPIN, unlockWithRootKey } from "../../household/unlock.js";

/** @typedef {import("../../sync/device-session.js").DeviceFacts} DeviceFacts */
/**
 * The stored form. Bytes in base64url. `hub`: "" of one that is only on this device. With a PIN of its own it has
 * `deviceSecret` and `pinToken`, and no root key.
 * @typedef {{ database: string, name: string, hub: string, household: string, device: string, ownName: string,
 *   token: string, rootKey?: string, deviceSecret?: string, pinToken?: string }} Entry
 */

/** @param {string} [text] */
const bytesOf = (text = "") => unbase64url(text) ?? new Uint8Array();

/**
 * Wipes the root key.
 * @param {import("./joining.js").Membership} membership
 * @param {string} database
 * @param {string} name
 * @returns {Entry}
 */
export function entryOf({ facts, rootKey }, database, name) {
    const { hub, household, device, name: ownName, token } = facts;
    const entry = { database, name, hub, household, device, ownName, token: base64url(token),
        rootKey: base64url(rootKey) };
    wipe(rootKey);
    return entry;
}

/**
 * @param {Entry} entry
 * @returns {DeviceFacts}
 */
export const factsOf = ({ hub, household, device, ownName, token, deviceSecret, pinToken }) => ({
    hub, household, computer: device, device, name: ownName, token: bytesOf(token),
    deviceSecret: bytesOf(deviceSecret), ...pinToken && { pinToken: bytesOf(pinToken) },
});

/**
 * Opens the vault's keys. Throws as `unlockWithRootKey` or, with its own PIN, `unlockWithPIN`.
 * @param {DeviceSession} device of the vault
 * @param {Entry} entry
 * @param {string} [pin]
 */
export const unlockEntry = (device, { rootKey }, pin) =>
    (pin === undefined ? unlockWithRootKey(device, bytesOf(rootKey)) : unlockWithPIN(device, pin));

// What a gate asks first, where this device has both: Face ID or a fingerprint, or the PIN.

/** @typedef {import("../core/companion.js").Companion} Companion */

const name = "passkeyComesFirst";

/** @param {Companion} companion @returns {Promise<boolean>} */
export const passkeyComesFirst = (companion) => companion.device.store.fact(name, true);

/**
 * Throws StoreError.
 * @param {Companion} companion
 * @param {boolean} isFirst
 */
export const setPasskeyComesFirst = (companion, isFirst) => companion.device.store.write({ facts: { [name]: isFirst } });

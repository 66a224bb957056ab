// Which is asked first where this device has both: Face ID or a fingerprint, or the PIN.

const name = "passkeyComesFirst";

/** @param {Companion} companion @returns {Promise<boolean>} */
export const passkeyComesFirst = (companion) => companion.settings.get(name, true);

/**
 * Throws StoreError.
 * @param {Companion} companion
 * @param {boolean} isFirst
 */
export const setPasskeyComesFirst = (companion, isFirst) => companion.settings.set(name, isFirst);

// Whether the passkey or the PIN is asked for first.

const name = "passkeyComesFirst";

/** @param {Companion} companion @returns {Promise<boolean>} */
export const passkeyComesFirst = (companion) => companion.settings.get(name, true);

/** @param {Companion} companion @param {boolean} isFirst */
export const setPasskeyComesFirst = (companion, isFirst) => companion.settings.set(name, isFirst);

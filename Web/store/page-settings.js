// Small unsealed values in localStorage, which pages read before the database is open. They hold nothing secret.

const keys = Object.freeze({
    appearance: "applocker-appearance", identity: "applocker-disguise", panic: "applocker-panic",
    panicWays: "applocker-panic-ways", usedLink: "applocker-used-link",
});

/** @typedef {keyof typeof keys} PageSetting */

/** @param {PageSetting} name @returns {string | null} null if it is not set */
export const pageSetting = (name) => localStorage.getItem(keys[name]);

/** @param {PageSetting} name @param {string | null} value null removes it */
export function setPageSetting(name, value) {
    if (value === null) localStorage.removeItem(keys[name]);
    else localStorage.setItem(keys[name], value);
}

/**
 * Calls `changed` when another tab changed or removed one of these.
 * @param {PageSetting[]} names
 * @param {() => void} changed
 */
export function followPageSettings(names, changed) {
    window.addEventListener("storage", (event) => {
        if (event.key === null || names.some((name) => keys[name] === event.key)) changed();
    });
}

/** @param {string} database */
const pairedKey = (database) => `applocker-device/${database}`;

/**
 * Whether a device was paired in this database; stays true if the browser deletes the database.
 * @param {string} database
 */
export const isMarkedPaired = (database) => localStorage.getItem(pairedKey(database)) !== null;

/** @param {string} database @param {string} device */
export const markPaired = (database, device) => localStorage.setItem(pairedKey(database), device);

/** @param {string} database */
export const unmarkPaired = (database) => localStorage.removeItem(pairedKey(database));

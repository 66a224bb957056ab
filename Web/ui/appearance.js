// Light, dark, or as the system has it. No secret: it is read before the store is open, so that nothing flashes.

/** @typedef {"system" | "light" | "dark"} Appearance */

const key = "applocker-appearance";

/** @returns {Appearance} */
export function appearance() {
    const kept = localStorage.getItem(key);
    return kept === "light" || kept === "dark" ? kept : "system";
}

export function applyAppearance() {
    const chosen = appearance();
    if (chosen === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = chosen;
}

/** @param {Appearance} chosen */
export function chooseAppearance(chosen) {
    if (chosen === "system") localStorage.removeItem(key);
    else localStorage.setItem(key, chosen);
    applyAppearance();
}

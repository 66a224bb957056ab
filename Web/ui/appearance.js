// Light, dark, or the system's choice. Not secret: read before the store is open, so that nothing flashes.
import { pageSetting, setPageSetting } from "../store/page-settings.js";

/** @typedef {"system" | "light" | "dark"} Appearance */

/** @returns {Appearance} */
export function appearance() {
    const kept = pageSetting("appearance");
    return kept === "light" || kept === "dark" ? kept : "system";
}

export function applyAppearance() {
    const chosen = appearance();
    if (chosen === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = chosen;
}

/** @param {Appearance} chosen */
export function chooseAppearance(chosen) {
    setPageSetting("appearance", chosen === "system" ? null : chosen);
    applyAppearance();
}

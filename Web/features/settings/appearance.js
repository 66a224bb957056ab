import { appearance, chooseAppearance } from "../../ui/appearance.js";
import { section, segments } from "../../ui/parts.js";

/** @type {SettingsPage} */
export const appearancePage = () => ({
    title: "Appearance",
    body: [section("Colours",
        [segments("Colours", [["system", "System"], ["light", "Light"], ["dark", "Dark"]], appearance(),
            chooseAppearance)],
        { foot: "Text size, contrast and motion follow this device’s own settings." })],
});

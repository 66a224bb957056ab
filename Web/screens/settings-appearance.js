import { appearance, chooseAppearance } from "../views/appearance.js";
import { section, segments } from "../views/parts.js";

/** @type {import("./settings.js").SettingsPage} */
export const appearancePage = () => ({
    title: "Appearance",
    body: [section("Colours", [segments("Colours", [["system", "System"], ["light", "Light"], ["dark", "Dark"]], appearance(), chooseAppearance)],
        { foot: "Text size, contrast and motion follow this device’s own settings." })],
});

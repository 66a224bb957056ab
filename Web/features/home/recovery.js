// Asks once, after the first run, whether the household could be recovered without its passcode.
import { element } from "../../ui/element.js";
import { button, card, section } from "../../ui/parts.js";

const fact = "recoveryAsked";

/**
 * Null once it was answered.
 * @param {Context} context
 */
export async function recoveryCheck({ companion, go }) {
    if (await companion.settings.get(fact, false)) return null;
    const part = section("Do you have a recovery sheet?", [card(
        element("p", {}, "Nobody can reset a forgotten passcode. A printed recovery sheet opens the vault without it."),
        element("div", { class: "buttons buttons-even" },
            button("I have a sheet", async () => {
                await companion.settings.set(fact, true);
                part.remove();
            }),
            button("How to print one", () => go("settings/recovery"), { kind: "primary" })))]);
    return part;
}

// Asked once, at the end of the first run: could this household get back in without its passcode?
import { element } from "../views/element.js";
import { button, card, section } from "../views/parts.js";

const fact = "recoveryAsked";

/**
 * Null where it was answered.
 * @param {import("../views/shell.js").Context} context
 */
export async function recoveryCheck({ companion, go }) {
    if (await companion.device.store.fact(fact, false)) return null;
    const part = section("Could you get back in?", [card(
        element("p", {}, "Nobody can reset a forgotten passcode. A printed recovery sheet opens the vault without it."),
        element("div", { class: "buttons buttons-even" },
            button("I have a sheet", async () => {
                await companion.device.store.write({ facts: { [fact]: true } });
                part.remove();
            }),
            button("How to print one", () => go("settings/recovery"), { kind: "primary" })))]);
    return part;
}

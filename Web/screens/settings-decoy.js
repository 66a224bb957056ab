// Another PIN, for whoever makes you open AppLocker: it opens a vault of its own.
import { element } from "../views/element.js";
import { banner, button, card, row, rows, section, tile } from "../views/parts.js";
import { sentenceOf } from "../views/words.js";
import { pinSteps } from "./settings-gate.js";

/** @type {import("./settings.js").SettingsPage} */
export async function decoyPage(context) {
    const { companion, go } = context;
    const [isSet, passkey] = [await companion.decoy.isSet(), await companion.passkey()];
    const faces = passkey && banner("face", "warning", element("p", {},
        "Face ID and fingerprint open the vault they were added in. If somebody could hold the phone to your face, ",
        element("a", { href: "#/settings/gate" }, "remove them"), " and use the PIN alone."));
    if (isSet) return { title: "Decoy PIN", body: [...whenSet(context), faces] };
    return {
        title: "Decoy PIN",
        body: [
            section("A second PIN for a second vault", [card(element("p", {}, "If somebody makes you open AppLocker, type the decoy PIN. It opens another vault with notes and moments of its own; computers, alerts and settings are the same. Nothing shows that there is another PIN."))]),
            button("Set a decoy PIN", () => go("settings/decoy/pin"), { kind: "primary", wide: true, icon: "key" }),
            section("Good to know", [card(element("ul", { class: "settings-points" },
                element("li", {}, "An empty vault convinces nobody: write a few harmless notes and moments in it."),
                element("li", {}, "If AppLocker looks like a calculator here, the decoy PIN has to be digits alone, as your own has."),
                element("li", {}, "It is on this device alone; your computer and other phones show your own vault."),
                element("li", {}, "Who copies this phone’s storage or the hub’s can count records of more than one vault, though read none.")))]),
            faces,
        ],
    };
}

/** @param {import("../views/shell.js").Context} context */
function whenSet(context) {
    const { companion, tell, go, signal } = context;
    const remove = async () => {
        const isSure = await context.confirmWithGate({
            title: "Remove the decoy PIN?", text: "It opens nothing then, and what was written behind it is removed for good.", action: "Remove",
        });
        if (!isSure) return;
        try {
            await companion.decoy.remove();
            if (signal.aborted) return;
            tell("The decoy PIN was removed");
            go("settings/decoy", { replace: true });
        } catch (error) {
            tell(sentenceOf(error));
        }
    };
    return [
        section("Make it believable", [
            card(element("ol", { class: "settings-points" },
                element("li", {}, "Lock AppLocker and open it with the decoy PIN."),
                element("li", {}, "Write some notes and moments that anybody may see: a shopping list, a walk, a meal."),
                element("li", {}, "Look in now and then. A vault that nobody has touched for months looks like what it is."))),
            button("Lock now", () => companion.lock(), { kind: "primary", wide: true, icon: "lock" }),
        ], { foot: "To change the decoy PIN, open AppLocker with it and change the PIN there." }),
        section("Decoy PIN", [rows(
            row({ start: tile("key", "good"), title: "Set", note: "You see this behind your own PIN alone" }),
            row({ start: tile("trash", "danger"), title: "Remove it", onclick: remove }))]),
    ];
}

/** @type {import("./settings.js").SettingsPage} */
export function decoyPINPage(context) {
    const { companion, signal, tell, go } = context;
    const steps = pinSteps(context, {
        old: ["Type the PIN you have now", "So that nobody else sets one."],
        first: ["Choose the decoy PIN", "Six digits or more, or letters, and not too like your own."],
        again: ["Type the decoy PIN again", "So that no slip of the finger keeps you out."],
    }, async (pin) => {
        await companion.decoy.set(pin);
        if (signal.aborted) return;
        tell("The decoy PIN is set");
        go("settings/decoy", { replace: true });
    });
    return { title: "Set a decoy PIN", body: [steps] };
}

// The settings of the decoy PIN, which opens another vault under coercion.
import { element } from "../../ui/element.js";
import { banner, button, card, points, row, rows, section, switchRow, tile } from "../../ui/parts.js";
import { sentenceOf } from "../../ui/words.js";
import { sampleMoments } from "./decoy-samples.js";
import { pinSteps } from "./settings.js";

/** @type {SettingsPage} */
export async function decoyPage(context) {
    const { companion, go } = context;
    const [isSet, passkey] = [await companion.decoy.isSet(), await companion.passkey()];
    const faces = passkey && banner("face", "warning", element("p", {},
        "Face ID and fingerprint unlock the vault they were added in. If somebody could hold the phone to your face, ",
        element("a", { href: "#/settings/unlock" }, "remove them"), " and use the PIN alone."));
    let hasSamples = true;
    if (isSet) return { title: "Decoy PIN", body: [...whenSet(context), faces] };
    return {
        title: "Decoy PIN",
        body: [
            section("A second PIN for a second vault",
                [
                    card(
                        element("p", {},
                            "If somebody forces you to unlock AppLocker, type the decoy PIN. It opens another vault "
                                + "with notes and moments of its own; devices and settings are the same. "
                                + "Nothing shows that there is another PIN."))]),
            section("", [rows(switchRow({
                title: "Start with sample moments", note: "Six short texts of the last months. Change their words: "
                    + "somebody who knows AppLocker may recognise them.",
                checked: hasSamples, change: (checked) => (hasSamples = checked),
            }))]),
            button("Set a decoy PIN", () => go(`settings/decoy/pin${hasSamples ? "?samples=yes" : ""}`),
                { kind: "primary", wide: true, icon: "key" }),
            section("Good to know", [card(points(
                "An empty vault is not believable: add a few harmless notes and moments of your own.",
                "If the disguise is on, the decoy PIN must contain only digits, like your own PIN.",
                "It works on this device only; your other devices show your own vault.",
                "Somebody who copies this phone’s or the hub’s storage can count records of more than one vault, but "
                    + "can’t read them."))]),
            faces,
        ],
    };
}

/** @param {Context} context */
function whenSet(context) {
    const { companion, toast, go, signal } = context;
    const remove = async () => {
        const isSure = await context.confirmUnlock({
            title: "Remove the decoy PIN?",
            text: "This PIN will stop working and its vault will be permanently deleted.", action: "Remove",
        });
        if (!isSure) return;
        try {
            await companion.decoy.remove();
            if (signal.aborted) return;
            toast("The decoy PIN was removed");
            go("settings/decoy", { replace: true });
        } catch (error) {
            toast(sentenceOf(error));
        }
    };
    return [
        section("Make it believable", [
            card(element("ol", { class: "settings-points" },
                element("li", {}, "Lock AppLocker and unlock it with the decoy PIN."),
                element("li", {},
                    "Write some notes and moments that anybody may see: a shopping list, a walk, a meal."),
                element("li", {}, "Open it now and then. A vault that is unchanged for months looks like a decoy."))),
            button("Lock now", () => companion.lock(), { kind: "primary", wide: true, icon: "lock" }),
        ], { foot: "To change the decoy PIN, unlock AppLocker with it and change the PIN there." }),
        section("Decoy PIN", [rows(
            row({ start: tile("key", "good"), title: "Set", note: "Visible only with your own PIN" }),
            row({ start: tile("trash", "danger"), title: "Remove it", onclick: remove }))]),
    ];
}

/** @type {SettingsPage} */
export function decoyPINPage(context) {
    const { companion, signal, toast, go } = context;
    const steps = pinSteps(context, {
        old: ["Enter your current PIN", "This confirms that it is you."],
        first: ["Choose the decoy PIN", "Six digits or more, or letters; not similar to your own PIN."],
        again: ["Repeat the decoy PIN", "This avoids typing mistakes."],
    }, async (pin) => {
        await companion.decoy.set(pin,
            context.query.get("samples") ? sampleMoments(companion.now() / 1000) : []);
        if (signal.aborted) return;
        toast("The decoy PIN is set");
        go("settings/decoy", { replace: true });
    });
    return { title: "Set a decoy PIN", body: [steps] };
}

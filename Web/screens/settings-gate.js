// What opens AppLocker here: the PIN, and Face ID or a fingerprint.
import { createPasskey, isAvailable } from "../core/passkey.js";
import { checkPIN } from "../core/pin.js";
import { checkGuise } from "../views/disguise.js";
import { element } from "../views/element.js";
import { passkeyComesFirst, setPasskeyComesFirst } from "../views/gate-order.js";
import { row, rows, section, segments, switchRow, tile } from "../views/parts.js";
import { PINEntry } from "../views/pin-entry.js";
import { sentenceOf } from "../views/words.js";
import { notesAskGate, setNotesAskGate } from "./notes-gate.js";

/** @typedef {import("../views/shell.js").Context} Context */

/** @type {import("./settings.js").SettingsPage} */
export async function gatePage(context) {
    const { companion, signal, tell } = context;
    const passkeys = element("div", {});
    const drawPasskeys = async () => {
        const [passkey, available, isFirst] = [await companion.passkey(), await isAvailable(), await passkeyComesFirst(companion)];
        if (signal.aborted) return;
        passkeys.replaceChildren(passkeySection(context, { hasOne: passkey !== null, available, isFirst }, drawPasskeys));
    };
    await drawPasskeys();
    const asks = await notesAskGate(companion);
    return {
        title: "PIN, Face ID and fingerprint",
        body: [
            section("PIN", [rows(row({ start: tile("key"), title: "Change the PIN", note: "You type the old one first", onclick: () => context.go("settings/gate/pin") }))],
                { foot: "The PIN needs the hub, which counts wrong ones. After ten of them this device has to be paired again." }),
            passkeys,
            section("Notes", [rows(switchRow({
                title: "Notes ask once more", note: "Once each time AppLocker was locked", checked: asks,
                change: async (isOn, input) => {
                    try {
                        // Asking less often is for who could open it anyway.
                        if (!isOn && !(await context.confirmWithGate({ title: "Stop asking for notes?", text: "Whoever holds this device while AppLocker is open can read your notes then.", action: "Stop asking" }))) {
                            input.checked = true;
                            return;
                        }
                        await setNotesAskGate(companion, isOn);
                    } catch (error) {
                        input.checked = !isOn;
                        tell(sentenceOf(error));
                    }
                },
            }))]),
        ],
    };
}

/**
 * @param {Context} context
 * @param {{ hasOne: boolean, available: boolean, isFirst: boolean }} state
 * @param {() => Promise<void>} again
 */
function passkeySection(context, { hasOne, available, isFirst }, again) {
    const { companion, tell } = context;
    const title = "Face ID or fingerprint";
    if (!hasOne && !available) {
        return section(title, [rows(row({ start: tile("face"), title: "Not on this device", note: "The PIN alone opens AppLocker here." }))]);
    }
    const add = async () => {
        const isSure = await context.confirmWithGate({ title: "Use Face ID or fingerprint?", text: "It opens AppLocker on this device, without a network too. The PIN stays.", action: "Continue" });
        if (!isSure) return;
        try {
            const { passkey, output } = await createPasskey(companion.device.paired.name);
            await companion.addPasskey(passkey, output);
            tell("Face ID or fingerprint opens AppLocker now");
        } catch (error) {
            tell(sentenceOf(error));
        }
        await again();
    };
    const remove = async () => {
        const isSure = await context.confirmWithGate({ title: "Remove Face ID or fingerprint?", text: "The PIN alone opens AppLocker here then, and it needs the hub. You can delete the passkey in this device’s settings as well.", action: "Remove" });
        if (!isSure) return;
        try {
            await companion.removePasskey();
            tell("The PIN alone opens AppLocker now");
        } catch (error) {
            tell(sentenceOf(error));
        }
        await again();
    };
    if (!hasOne) {
        return section(title, [rows(row({ start: tile("face"), title: "Add Face ID or fingerprint", note: "Opens AppLocker offline too", onclick: add }))]);
    }
    return section(title, [
        rows(row({ start: tile("face", "good"), title: "On", note: "Opens AppLocker offline too" }),
            row({ start: tile("trash", "danger"), title: "Remove it", onclick: remove })),
        segments("What is asked first", [["passkey", "Face ID first"], ["pin", "PIN first"]], isFirst ? "passkey" : "pin",
            (value) => setPasskeyComesFirst(companion, value === "passkey").catch((error) => tell(sentenceOf(error)))),
    ]);
}

/**
 * @typedef {Record<"old" | "first" | "again", [string, string]>} PINSteps the title of each step, and what it says
 */

/**
 * The PIN that opens now, then a new one, twice.
 * @param {Context} context
 * @param {PINSteps} steps
 * @param {(pin: string) => Promise<void>} done
 */
export function pinSteps({ companion, signal }, steps, done) {
    const title = element("h2", { class: "settings-step", "aria-live": "polite" });
    const text = element("p", { class: "soft" });
    /** @type {keyof PINSteps} */
    let step = "old";
    let first = "";
    const become = (/** @type {keyof PINSteps} */ next) => {
        step = next;
        [title.textContent, text.textContent] = steps[next];
    };
    become("old");
    signal.addEventListener("abort", () => {
        first = "";
    }, { once: true });
    /** @type {PINEntry} */
    const entry = new PINEntry({
        go: "Continue", signal, explain: sentenceOf,
        submit: async (pin) => {
            if (step === "old") {
                await companion.confirmWithPIN(pin);
                return become("first");
            }
            if (step === "first") {
                checkPIN(pin);
                checkGuise(pin);
                first = pin;
                return become("again");
            }
            const isSame = first === pin;
            first = "";
            become("first");
            if (!isSame) return entry.say("The two PINs differ; choose one again.");
            await done(pin);
        },
    });
    return element("div", { class: "settings-pin" }, title, text, entry.element);
}

/** @type {import("./settings.js").SettingsPage} */
export function pinPage(context) {
    const { companion, signal, tell, go } = context;
    const steps = pinSteps(context, {
        old: ["Type the PIN you have now", "So that nobody else changes it."],
        first: ["Choose the new PIN", "Six digits or more, or letters."],
        again: ["Type the new PIN again", "So that no slip of the finger locks you out."],
    }, async (pin) => {
        await companion.setPIN(pin);
        if (signal.aborted) return;
        tell("The PIN was changed");
        go("settings/gate", { replace: true });
    });
    return { title: "Change the PIN", body: [steps] };
}

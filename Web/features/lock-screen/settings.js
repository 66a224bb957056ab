// The settings of the PIN and the passkey.
import { createPasskey, isAvailable } from "../../household/passkey.js";
import { element } from "../../ui/element.js";
import { isChosen, newPINEntry } from "../../ui/choose-pin.js";
import { passkeyComesFirst, setPasskeyComesFirst } from "./unlock-order.js";
import { row, rows, section, segments, switchRow, tile } from "../../ui/parts.js";
import { sentenceOf } from "../../ui/words.js";
import { contentAsksAgain, setContentAsksAgain } from "../../ui/content-lock.js";

/** @type {SettingsPage} */
export async function unlockPage(context) {
    const { companion, signal, toast } = context;
    const passkeys = element("div", {});
    const drawPasskeys = async () => {
        const [passkey, available,
            isFirst] = [await companion.passkey(), await isAvailable(), await passkeyComesFirst(companion)];
        if (signal.aborted) return;
        passkeys.replaceChildren(passkeySection(context, { hasOne: passkey !== null, available, isFirst },
            drawPasskeys));
    };
    await drawPasskeys();
    const asks = await contentAsksAgain(companion);
    return {
        title: "PIN, Face ID and fingerprint",
        body: [
            section("PIN",
                [
                    rows(row({
                        start: tile("key"), title: "Change the PIN", note: "Requires the current PIN",
                        onclick: () => context.go("settings/unlock/pin"),
                    }))],
                {
                    foot: "Unlocking with the PIN needs the hub, which counts wrong PINs. After ten wrong PINs this "
                        + "device has to be paired again.",
                }),
            passkeys,
            section("Notes", [rows(switchRow({
                title: "Require the PIN for notes", note: "After each lock of AppLocker", checked: asks,
                change: async (isOn, input) => {
                    try {
                        // Only who can open it may lower the protection.
                        if (!isOn && !(await context.confirmUnlock({
                            title: "Stop requiring the PIN for notes?",
                            text: "Anybody with this device can then read your notes while AppLocker is unlocked.",
                            action: "Stop requiring it",
                        }))) {
                            input.checked = true;
                            return;
                        }
                        await setContentAsksAgain(companion, isOn);
                        toast(isOn ? "Notes require the PIN" : "Notes no longer require the PIN");
                    } catch (error) {
                        input.checked = !isOn;
                        toast(sentenceOf(error));
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
    const { companion, toast } = context;
    const title = "Face ID or fingerprint";
    if (!hasOne && !available) {
        return section(title,
            [
                rows(row({
                    start: tile("face"), title: "Not set up", note: "Only the PIN unlocks AppLocker here.",
                }))]);
    }
    const add = async () => {
        const isSure = await context.confirmUnlock({
            title: "Use Face ID or fingerprint?",
            text: "It unlocks AppLocker on this device, also offline. The PIN stays.", action: "Continue",
        });
        if (!isSure) return;
        try {
            const { passkey, output } = await createPasskey(companion.own.name);
            await companion.addPasskey(passkey, output);
            toast("Face ID or fingerprint added");
        } catch (error) {
            toast(sentenceOf(error));
        }
        await again();
    };
    const remove = async () => {
        const isSure = await context.confirmUnlock({
            title: "Remove Face ID or fingerprint?",
            text: "Then only the PIN unlocks AppLocker here, and it needs the hub. You can delete the passkey in this "
                + "device’s settings as well.", action: "Remove",
        });
        if (!isSure) return;
        try {
            await companion.removePasskey();
            toast("Face ID or fingerprint removed");
        } catch (error) {
            toast(sentenceOf(error));
        }
        await again();
    };
    if (!hasOne) {
        return section(title,
            [
                rows(row({
                    start: tile("face"), title: "Add Face ID or fingerprint", note: "Also unlocks AppLocker offline",
                    onclick: add,
                }))]);
    }
    return section(title, [
        rows(row({ start: tile("face", "good"), title: "On", note: "Also unlocks AppLocker offline" }),
            row({ start: tile("trash", "danger"), title: "Remove it", onclick: remove })),
        segments("First method", [["passkey", "Face ID first"], ["pin", "PIN first"]],
            isFirst ? "passkey" : "pin",
            (value) => setPasskeyComesFirst(companion, value === "passkey").catch((error) => toast(sentenceOf(error)))),
    ]);
}

/** @typedef {Record<"old" | "first" | "again", [string, string]>} PINSteps title and text of each step */

/**
 * Asks for the current PIN, then twice for a new one.
 * @param {Context} context
 * @param {PINSteps} steps
 * @param {(pin: string) => Promise<void>} done
 */
export function pinSteps({ companion, signal }, steps, done) {
    const title = element("h2", { class: "settings-step", "aria-live": "polite" });
    const text = element("p", { class: "soft" });
    const become = (/** @type {keyof PINSteps} */ step) => {
        [title.textContent, text.textContent] = steps[step];
    };
    become("old");
    let isConfirmed = false;
    const entry = newPINEntry(signal, {
        become, done,
        isChosen: async (pin) => {
            if (isConfirmed) return isChosen(pin, signal);
            await companion.confirmWithPIN(pin);
            isConfirmed = true;
            become("first");
            return false;
        },
    });
    return element("div", { class: "settings-pin" }, title, text, entry.element);
}

/** @type {SettingsPage} */
export function pinPage(context) {
    const { companion, signal, toast, go } = context;
    const steps = pinSteps(context, {
        old: ["Enter your current PIN", "This confirms that it is you."],
        first: ["Choose the new PIN", "Six digits or more, or letters."],
        again: ["Repeat the new PIN", "This avoids typing mistakes."],
    }, async (pin) => {
        await companion.setPIN(pin);
        if (signal.aborted) return;
        toast("The PIN was changed");
        go("settings/unlock", { replace: true });
    });
    return { title: "Change the PIN", body: [steps] };
}

// The lock screen, and the choice of the first PIN.
import { askPasskey, isAvailable } from "../../household/passkey.js";
import { element } from "../../ui/element.js";
import { emblem, entryPage } from "../../ui/entry-page.js";
import { isChosen } from "../../ui/choose-pin.js";
import { passkeyComesFirst } from "./unlock-order.js";
import { button } from "../../ui/parts.js";
import { PINEntry } from "../../ui/pin-entry.js";
import { sentenceOf } from "../../ui/words.js";
import { explainRefusal } from "./explain-refusal.js";

/** A new page asks for the passkey by itself; after locking it does not. */
let isFresh = true;

/** @param {Companion} companion @param {AbortSignal} signal */
export function chooseFirstPIN(companion, signal) {
    isFresh = false;
    const title = element("h1", { class: "entry-page-title", tabindex: "-1" }, "Choose a PIN");
    const text = element("p", { class: "soft" },
        "It opens AppLocker on this device: six digits or more, or letters. It can’t be reset.");
    const again = button("Start again", () => void companion.startAgain(), { kind: "plain", wide: true, hidden: true });
    /** @type {string | null} */
    let first = null;
    /** @type {PINEntry} */
    const entry = new PINEntry({
        go: "Continue", signal, explain: sentenceOf,
        submit: async (pin) => {
            if (first === null) {
                if (!(await isChosen(pin, signal))) return;
                first = pin;
                title.textContent = "Repeat the PIN";
                text.textContent = "This avoids typing mistakes.";
                return;
            }
            const same = first === pin;
            first = null;
            title.textContent = "Choose a PIN";
            if (!same) {
                text.textContent = "Six digits or more, or letters.";
                return entry.showMessage("The two PINs differ; choose one again.");
            }
            try {
                await companion.setPIN(pin);
            } catch (error) {
                // As if the hub refuses to found a household: the link was used.
                again.hidden = false;
                throw error;
            }
        },
    });
    return element("main", { class: "entry-page" }, emblem(), element("div", { class: "entry-page-text" }, title, text),
        entry.element, again);
}

/** @param {Companion} companion @param {AbortSignal} signal */
export function lockScreen(companion, signal) {
    const entry = new PINEntry({
        go: "Unlock", signal, explain: sentenceOf,
        submit: async (pin) => {
            try {
                await companion.unlockWithPIN(pin);
            } catch (error) {
                throw await explainRefusal(companion, error);
            }
        },
    });
    const passkeys = element("div", {});
    const wasFresh = isFresh;
    isFresh = false;
    const page = entryPage("AppLocker is locked", "", passkeys, entry.element);
    companion.pinState().then(({ retryAfterSeconds }) => retryAfterSeconds > 0 && entry.wait(retryAfterSeconds))
        .catch(() => {});
    Promise.all([companion.passkey(), isAvailable(), passkeyComesFirst(companion)])
        .then(([passkey, available, isFirst]) => {
            if (!passkey || !available || signal.aborted) return;
            const open = async () => {
                try {
                    await companion.unlockWithPasskey(await askPasskey(passkey));
                } catch (error) {
                    entry.showMessage(sentenceOf(error));
                }
            };
            passkeys.append(button("Unlock with Face ID or fingerprint", open,
                { kind: isFirst ? "primary" : "", wide: true, icon: "face" }));
            if (!isFirst) page.append(passkeys);
            else if (wasFresh && !document.hidden) open();
            // A person who returns to a locked AppLocker wants to unlock it; one who has just locked it does not.
            else document.addEventListener("visibilitychange", () => !document.hidden && open(),
                { signal, once: true });
        }).catch(() => {});
    return page;
}


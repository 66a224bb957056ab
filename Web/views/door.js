// What stands before the app: the first run, the gate, and what to do when this browser lost everything.
import { askPasskey, isAvailable } from "../core/passkey.js";
import { checkPIN } from "../core/pin.js";
import { checkGuise } from "./disguise.js";
import { element } from "./element.js";
import { passkeyComesFirst } from "./gate-order.js";
import { icon } from "./icon.js";
import { button, field } from "./parts.js";
import { PINEntry } from "./pin-entry.js";
import { ask } from "./sheet.js";
import { counted, sentenceOf } from "./words.js";

/** @typedef {import("../core/companion.js").Companion} Companion */

/** A page that was just opened asks for the passkey by itself; one that somebody locked does not. */
let isFresh = true;

const emblem = () => element("img", { src: "/icons/favicon.svg", alt: "", width: 72, height: 72 });

/**
 * @param {string} title
 * @param {string} text
 * @param {...import("./element.js").Child} rest
 */
function door(title, text, ...rest) {
    return element("main", { class: "door" }, emblem(),
        element("div", { class: "door-text" }, element("h1", { class: "door-title", tabindex: "-1" }, title),
            text && element("p", { class: "soft" }, text)),
        ...rest);
}

/** What this device calls itself, to begin with. */
function deviceKind() {
    const agent = navigator.userAgent;
    if (/iPhone/.test(agent)) return "iPhone";
    if (/iPad/.test(agent)) return "iPad";
    if (/Android/.test(agent)) return "Android phone";
    return "Browser";
}

/**
 * Without a link: how to get one. With one: a name, then the owner's word at the computer.
 * @param {Companion} companion
 * @param {string | null} link
 * @param {AbortSignal} signal
 */
export function welcome(companion, link, signal) {
    if (!link) return noLink();
    const problem = element("p", { class: "problem note", role: "alert" });
    const submit = element("button", { class: "button button-primary button-wide", type: "submit" }, "Pair this device");
    const waiting = element("p", { class: "soft note", role: "status" });
    const name = field("Name of this device", { name: "name", value: deviceKind(), maxlength: 40, required: true, autocomplete: "off", dir: "auto" });
    const form = element("form", {
        class: "door-form",
        onsubmit: async (/** @type {Event} */ event) => {
            event.preventDefault();
            problem.textContent = "";
            submit.disabled = true;
            try {
                const typed = /** @type {HTMLInputElement} */ (name.lastElementChild).value.trim();
                await companion.pair(link, typed, {
                    signal, waiting: () => {
                        waiting.textContent = "Now agree at the computer: it shows this device's name and asks.";
                    },
                });
            } catch (error) {
                problem.textContent = sentenceOf(error);
            }
            waiting.textContent = "";
            submit.disabled = false;
        },
    }, name, submit, waiting, problem);
    return door("Pair with your computer", "This device will see alerts and answer for locked apps. The link works once, for five minutes.", form);
}

function noLink() {
    const problem = element("p", { class: "problem note", role: "alert" });
    const input = field("Or paste the link here", { type: "url", name: "link", placeholder: "https://…/#pair=…", autocomplete: "off" });
    const form = element("form", {
        class: "door-form", onsubmit: (/** @type {Event} */ event) => {
            event.preventDefault();
            const typed = /** @type {HTMLInputElement} */ (input.lastElementChild).value.trim();
            const hash = typed.indexOf("#pair=");
            if (hash < 0) problem.textContent = "This is not a pairing link; it has “#pair=” in it.";
            else if (!typed.startsWith(location.origin)) problem.textContent = "This link is for another address; open it itself.";
            else location.hash = typed.slice(hash);
        },
    }, input, element("button", { class: "button button-wide", type: "submit" }, "Continue"), problem);
    return door("Welcome to AppLocker", "",
        element("ol", { class: "card rows door-steps" },
            ...[["computer", "On your computer, run “applocker pair”, or choose Pair a phone."],
                ["phone", "Scan the code that it shows with this device’s camera."],
                ["check", "Agree at the computer, then choose a PIN here."]].map(([name, text]) =>
                element("li", { class: "row" }, element("span", { class: "tile" }, icon(/** @type {any} */ (name))), element("span", { class: "row-text" }, text)))),
        form);
}

/**
 * The first PIN, typed twice.
 * @param {Companion} companion
 * @param {AbortSignal} signal
 */
export function firstPIN(companion, signal) {
    isFresh = false;
    const title = element("h1", { class: "door-title", tabindex: "-1" }, "Choose a PIN");
    const text = element("p", { class: "soft" }, "Six digits or more, or letters. It opens AppLocker here; nobody can reset it.");
    /** @type {string | null} */
    let first = null;
    /** @type {PINEntry} */
    const entry = new PINEntry({
        go: "Continue", signal, explain: sentenceOf,
        submit: async (pin) => {
            if (first === null) {
                checkPIN(pin);
                checkGuise(pin);
                first = pin;
                title.textContent = "Type it again";
                text.textContent = "So that no slip of the finger locks you out.";
                return;
            }
            const same = first === pin;
            first = null;
            title.textContent = "Choose a PIN";
            if (!same) {
                text.textContent = "Six digits or more, or letters.";
                return entry.say("The two PINs differ; choose one again.");
            }
            await companion.setPIN(pin);
        },
    });
    return element("main", { class: "door" }, emblem(), element("div", { class: "door-text" }, title, text), entry.element);
}

/**
 * @param {Companion} companion
 * @param {AbortSignal} signal
 */
export function gate(companion, signal) {
    const entry = new PINEntry({
        go: "Unlock", signal, explain: sentenceOf,
        submit: async (pin) => {
            try {
                await companion.unlockWithPIN(pin);
            } catch (error) {
                throw await explained(companion, error);
            }
        },
    });
    const passkeys = element("div", {});
    const wasFresh = isFresh;
    isFresh = false;
    const page = door("AppLocker is locked", "", passkeys, entry.element);
    companion.pinState().then(({ retryAfterSeconds }) => retryAfterSeconds > 0 && entry.wait(retryAfterSeconds)).catch(() => {});
    Promise.all([companion.passkey(), isAvailable(), passkeyComesFirst(companion)]).then(([passkey, available, isFirst]) => {
        if (!passkey || !available || signal.aborted) return;
        const open = async () => {
            try {
                await companion.unlockWithPasskey(await askPasskey(passkey));
            } catch (error) {
                entry.say(sentenceOf(error));
            }
        };
        passkeys.append(button("Unlock with Face ID or fingerprint", open, { kind: isFirst ? "primary" : "", wide: true, icon: "face" }));
        if (!isFirst) page.append(passkeys);
        else if (wasFresh && !document.hidden) open();
        // Whoever comes back to a locked AppLocker wants it open; whoever locked it does not.
        else document.addEventListener("visibilitychange", () => !document.hidden && open(), { signal, once: true });
    }).catch(() => {});
    return page;
}

/**
 * How many tries are left, and why a PIN needs the hub.
 * @param {Companion} companion
 * @param {unknown} error
 */
async function explained(companion, error) {
    const { code, name } = /** @type {{ code?: string, name?: string }} */ (error);
    if (name === "HubUnreachable" && error instanceof Error) {
        error.message = "The PIN needs the hub, which counts wrong ones, and it can’t be reached. A passkey opens offline.";
    }
    if (code === "wrongPIN" && error instanceof Error) {
        const { failures } = await companion.pinState().catch(() => ({ failures: 0 }));
        if (failures > 0) error.message = `The PIN is wrong. ${counted(10 - failures, "try", "tries")} left before this device has to be paired again.`;
    }
    return error;
}

/**
 * The browser threw away what was kept here.
 * @param {Companion} companion
 * @param {string | null} link
 * @param {AbortSignal} signal
 */
export function lost(companion, link, signal) {
    if (link) return welcome(companion, link, signal);
    return door("This browser lost AppLocker’s data",
        "Browsers clear sites that were not opened for long. Nothing is lost elsewhere: notes and alerts are on your computer and at the hub. Pair this device again, and put AppLocker on the Home Screen so that it stays.",
        noLinkAgain(companion, signal));
}

/**
 * A computer revoked this device, and all that it kept was erased.
 * @param {Companion} companion
 * @param {string | null} link
 * @param {AbortSignal} signal
 */
export function revoked(companion, link, signal) {
    if (link) return welcome(companion, link, signal);
    return door("This device was removed from the household",
        "A computer took it off the list of devices, so everything that AppLocker kept in this browser was erased: keys, notes, moments, alerts, shared vaults, and changes that had not been sent yet. What was sent is on your computer and your other devices. To use AppLocker here again, pair this device again.",
        noLinkAgain(companion, signal));
}

/**
 * @param {Companion} companion
 * @param {AbortSignal} signal
 */
function noLinkAgain(companion, signal) {
    return button("Start again", async () => {
        const sure = await ask({ title: "Start again?", text: "This device is set up from the beginning.", action: "Start again" }, signal);
        if (sure) await companion.remove().catch(() => {});
    }, { kind: "primary", wide: true });
}

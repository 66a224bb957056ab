// What the app calls itself and looks like from outside: AppLocker, or a calculator. No secret: it is read before anything is
// shown, so index.html names nothing, and nothing flashes.
import { CompanionError } from "../core/errors.js";
import { factNames } from "../core/notices.js";
import { mostDigits } from "../core/calculator.js";
import { element } from "./element.js";

/** @typedef {"applocker" | "calculator"} Guise */

const [key, panicKey, mark] = ["applocker-disguise", "applocker-panic", "applocker-device/applocker"];

/**
 * `manifest`: what is put on the Home Screen.
 * @type {Record<Guise, { name: string, manifest: string, icon: string, smallIcon: string, touchIcon: string }>}
 */
const guises = {
    applocker: {
        name: "AppLocker", manifest: "/app.webmanifest", icon: "/icons/favicon.svg", smallIcon: "/icons/favicon-32.png",
        touchIcon: "/icons/apple-touch-icon-180.png",
    },
    calculator: {
        name: "Calculator", manifest: "/calculator.webmanifest", icon: "/icons/calculator.svg", smallIcon: "/icons/calculator-favicon-32.png",
        touchIcon: "/icons/calculator-apple-touch-icon-180.png",
    },
};

/** @returns {Guise} what the person chose */
export const chosenGuise = () => (localStorage.getItem(key) === "calculator" ? "calculator" : "applocker");

/** @returns {Guise} what is to be seen now */
export const guise = () => (localStorage.getItem(panicKey) ? "calculator" : chosenGuise());

/** Where the person chose none, an app that was put on the Home Screen as a calculator starts as one: with its start_url. */
export function takeAddress() {
    const isAsked = new URLSearchParams(location.search).get("as") === "calculator";
    // Nobody else's link changes what a paired device looks like.
    if (isAsked && localStorage.getItem(key) === null && localStorage.getItem(mark) === null) localStorage.setItem(key, "calculator");
}

/** @param {Guise} chosen */
export function chooseGuise(chosen) {
    localStorage.setItem(key, chosen);
    dress();
}

/**
 * Throws CompanionError `weakPIN` where a PIN can't be typed into what the app looks like.
 * @param {string} pin
 * @param {Guise} [chosen]
 */
export function checkGuise(pin, chosen = chosenGuise()) {
    if (chosen === "applocker" || (/^\d+$/.test(pin) && pin.length <= mostDigits)) return;
    throw new CompanionError("weakPIN", `A calculator has no letters: it needs a PIN of digits alone, at most ${mostDigits}.`);
}

/**
 * For the worker, which shows notifications and can't read what pages keep. Never throws: the next start does it again.
 * @param {import("../core/companion.js").Companion} companion
 */
export async function keepGuise({ device }) {
    try {
        if (device.facts && (await device.store.fact(factNames.guise, "applocker")) !== chosenGuise()) {
            await device.store.write({ facts: { [factNames.guise]: chosenGuise() } });
        }
    } catch (error) {
        console.warn(error);
    }
}

/** The device was removed: there is nothing to hide any more. */
export function forgetGuise() {
    localStorage.removeItem(key);
    localStorage.removeItem(panicKey);
    dress();
}

/** Harmless in every tab, and after a reload, until the person comes back. */
export function beginPanic() {
    localStorage.setItem(panicKey, "1");
    dress();
}

export function endPanic() {
    if (!localStorage.getItem(panicKey)) return;
    localStorage.removeItem(panicKey);
    dress();
}

export const isPanic = () => localStorage.getItem(panicKey) !== null;

/**
 * The page's title: in disguise the same whatever is open, as the task switcher and the list of tabs show it.
 * @param {string} [title] of a screen
 */
export function pageTitle(title) {
    const { name } = guises[guise()];
    return title && guise() === "applocker" ? `${title} · ${name}` : name;
}

/** Puts name and icons into the page. */
export function dress() {
    const worn = guises[guise()];
    document.documentElement.dataset.guise = guise();
    document.title = worn.name;
    const head = [
        // A panic is over soon: nothing is put on the Home Screen, and what is there stays.
        ...(isPanic() ? [] : [element("link", { rel: "manifest", href: worn.manifest })]),
        element("meta", { name: "apple-mobile-web-app-title", content: worn.name }),
        element("link", { rel: "apple-touch-icon", href: worn.touchIcon }),
        element("link", { rel: "icon", href: worn.icon, type: "image/svg+xml" }),
        element("link", { rel: "icon", href: worn.smallIcon, sizes: "32x32", type: "image/png" }),
    ];
    for (const node of document.head.querySelectorAll("[data-dress]")) node.remove();
    for (const node of head) node.dataset.dress = "";
    document.head.append(...head);
}

/**
 * Calls `changed` when another tab chose or panicked.
 * @param {() => void} changed
 */
export function followGuise(changed) {
    window.addEventListener("storage", (event) => {
        if (event.key !== key && event.key !== panicKey && event.key !== null) return;
        dress();
        changed();
    });
}

// The app's name and icons from outside: AppLocker's, a calculator's or a note pad's. Not secret: read before anything
// is shown, so that index.html names nothing and nothing flashes.
import { CompanionError } from "../household/errors.js";
import { mostDigits, usualLength } from "../household/pin-rules.js";
import { followPageSettings, isMarkedPaired, pageSetting, setPageSetting } from "../store/page-settings.js";
import { element } from "./element.js";

/** @typedef {"applocker" | "calculator" | "notes"} AppIdentity */

/** The stored name of the setting that the service worker reads. */
const identityFact = "guise";

/** A page's database; other sessions have databases of their own. */
const database = "applocker";

/**
 * `manifest`: for the Home Screen.
 * @type {Record<AppIdentity, { name: string, manifest: string, icon: string, smallIcon: string, touchIcon: string }>}
 */
const identities = {
    applocker: {
        name: "AppLocker", manifest: "/app.webmanifest", icon: "/icons/favicon.svg", smallIcon: "/icons/favicon-32.png",
        touchIcon: "/icons/apple-touch-icon-180.png",
    },
    calculator: {
        name: "Calculator", manifest: "/calculator.webmanifest", icon: "/icons/calculator.svg",
        smallIcon: "/icons/calculator-favicon-32.png",
        touchIcon: "/icons/calculator-apple-touch-icon-180.png",
    },
    notes: {
        name: "Notes", manifest: "/notes.webmanifest", icon: "/icons/notes.svg",
        smallIcon: "/icons/notes-favicon-32.png", touchIcon: "/icons/notes-apple-touch-icon-180.png",
    },
};

/** @param {string | null} name @returns {AppIdentity} */
const identityNamed = (name) => (name === "calculator" || name === "notes" ? name : "applocker");

/** Why the PIN must have digits alone, by what it is typed into. */
const reasons = {
    calculator: "A calculator has no letters, and short numbers are calculated every day",
    notes: "Words and short numbers are written in notes every day",
};

/** @returns {AppIdentity} the person's choice */
export const chosenIdentity = () => identityNamed(pageSetting("identity"));

/** @returns {AppIdentity} what is visible now */
export const appIdentity = () => (pageSetting("panic") ? "calculator" : chosenIdentity());

/** Without a choice, an app that was installed in disguise starts so, by its start_url. */
export function adoptIdentityFromAddress() {
    const asked = identityNamed(new URLSearchParams(location.search).get("as"));
    // A link must not change the appearance of a paired device.
    if (asked !== "applocker" && pageSetting("identity") === null && !isMarkedPaired(database)) {
        setPageSetting("identity", asked);
    }
}

/** @param {AppIdentity} chosen */
export function chooseIdentity(chosen) {
    setPageSetting("identity", chosen);
    applyIdentity();
}

/**
 * Throws CompanionError `weakPIN` if the PIN can't be typed into what the app looks like.
 * @param {string} pin
 * @param {AppIdentity} [chosen]
 */
export function checkPINForIdentity(pin, chosen = chosenIdentity()) {
    if (chosen === "applocker") return;
    if (/^\d+$/.test(pin) && pin.length >= usualLength && pin.length <= mostDigits) return;
    throw new CompanionError("weakPIN",
        `${reasons[chosen]}: it needs a PIN of digits alone, ${usualLength} to ${mostDigits}.`);
}

/**
 * For the service worker, which can't read localStorage. Never throws: the next start does it again.
 * @param {Companion} companion
 */
export async function storeIdentity({ state, settings }) {
    try {
        const isPaired = state === "locked" || state === "unlocked";
        if (isPaired && (await settings.get(identityFact, "applocker")) !== appIdentity()) {
            await settings.set(identityFact, appIdentity());
        }
    } catch (error) {
        console.warn(error);
    }
}

/** After the device was removed there is nothing to hide. */
export function resetIdentity() {
    setPageSetting("identity", null);
    setPageSetting("panic", null);
    applyIdentity();
}

/** Disguises every tab, also after a reload, until the person returns. */
export function beginPanic() {
    setPageSetting("panic", "1");
    applyIdentity();
}

export function endPanic() {
    if (!pageSetting("panic")) return;
    setPageSetting("panic", null);
    applyIdentity();
}

export const isPanic = () => pageSetting("panic") !== null;

/**
 * The page's title: constant in disguise, as the task switcher and the list of tabs show it.
 * @param {string} [title] of a screen
 */
export function pageTitle(title) {
    const { name } = identities[appIdentity()];
    return title && appIdentity() === "applocker" ? `${title} · ${name}` : name;
}

/** Sets the page's name and icons. */
export function applyIdentity() {
    const shown = identities[appIdentity()];
    document.documentElement.dataset.identity = appIdentity();
    document.title = shown.name;
    const head = [
        // A panic is temporary: nothing new is offered for the Home Screen.
        ...(isPanic() ? [] : [element("link", { rel: "manifest", href: shown.manifest })]),
        element("meta", { name: "apple-mobile-web-app-title", content: shown.name }),
        element("link", { rel: "apple-touch-icon", href: shown.touchIcon }),
        element("link", { rel: "icon", href: shown.icon, type: "image/svg+xml" }),
        element("link", { rel: "icon", href: shown.smallIcon, sizes: "32x32", type: "image/png" }),
    ];
    for (const node of document.head.querySelectorAll("[data-identity-link]")) node.remove();
    for (const node of head) node.dataset.identityLink = "";
    document.head.append(...head);
}

/** Until `applyIdentity`, an app added to the Home Screen begins at this address: that manifest has no start_url. */
export const installFromThisAddress = () =>
    document.querySelector("link[rel=manifest]")?.setAttribute("href", "/install.webmanifest");

/**
 * Calls `changed` when another tab chose or panicked.
 * @param {() => void} changed
 */
export function followIdentity(changed) {
    followPageSettings(["identity", "panic"], () => {
        applyIdentity();
        changed();
    });
}

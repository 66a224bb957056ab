// What the app calls itself and looks like from outside.
import { checkGuise, chooseGuise, chosenGuise, keepGuise } from "../views/disguise.js";
import { element } from "../views/element.js";
import { button, card, section } from "../views/parts.js";
import { PINEntry } from "../views/pin-entry.js";
import { sheet } from "../views/sheet.js";
import { sentenceOf } from "../views/words.js";

/** @typedef {import("../views/shell.js").Context} Context */
/** @typedef {import("../views/disguise.js").Guise} Guise */

/** @type {[Guise, string, string][]} */
const guises = [
    ["applocker", "AppLocker", "Its own name and icon"],
    ["calculator", "Calculator", "A calculator that calculates, and opens with your PIN"],
];

/** @param {string[]} texts */
const points = (texts) => card(element("ul", { class: "settings-points" }, ...texts.map((text) => element("li", {}, text))));

/**
 * The PIN, typed as it will be: one with letters would lock its owner out.
 * @param {Context} context
 */
async function showsDigits({ companion, signal }) {
    const ended = new AbortController();
    signal.addEventListener("abort", () => ended.abort(), { once: true });
    const answer = await sheet("Look like a calculator?", signal, (/** @type {(answer: boolean) => void} */ end) => [
        element("p", { class: "soft" }, "Type your PIN. A calculator has no letters, so it must be digits alone."),
        new PINEntry({
            go: "Continue", signal: ended.signal, explain: sentenceOf,
            submit: async (pin) => {
                checkGuise(pin, "calculator");
                await companion.confirmWithPIN(pin);
                end(true);
            },
        }).element,
        button("Cancel", () => end(false), { kind: "plain", wide: true }),
    ]);
    ended.abort();
    return answer === true;
}

/** @type {import("./settings.js").SettingsPage} */
export function disguisePage(context) {
    const { companion, signal, tell } = context;
    const choose = async (/** @type {Guise} */ chosen) => {
        if (chosen === chosenGuise()) return;
        const isSure = chosen === "applocker" || (await showsDigits(context));
        if (signal.aborted) return;
        if (isSure) {
            chooseGuise(chosen);
            await keepGuise(companion);
            const registration = await navigator.serviceWorker?.getRegistration("/");
            // They still have the other name.
            for (const notification of (await registration?.getNotifications()) ?? []) notification.close();
            tell(chosen === "calculator" ? "It looks like a calculator now" : "It looks like AppLocker now");
        }
        draw();
    };
    const list = element("div", { class: "card rows", role: "radiogroup", "aria-label": "What it looks like" });
    const draw = () => list.replaceChildren(...guises.map(([value, title, note]) => element("label", { class: "row settings-choice" },
        element("span", { class: "row-text" }, element("span", { class: "row-title" }, title), element("span", { class: "row-note" }, note)),
        element("input", {
            type: "radio", name: "guise", class: "settings-radio", checked: value === chosenGuise(), onchange: () => choose(value),
        }))));
    draw();
    return {
        title: "Disguise",
        body: [
            section("What it looks like", [list],
                { foot: "Name, icon, title and notifications, and what is shown while it is locked. Notifications say that something is new and no more; you approve and deny inside." }),
            section("How the calculator opens", [points([
                "Type your PIN and nothing else, then press = twice, or hold it for a second.",
                "With Face ID or a fingerprint: hold the display for a second and let go. On a keyboard: Shift and Enter.",
                "Calculating presses = once and never tries a PIN.",
                "A wrong PIN, a wait after five wrong ones, or no network: the number stays, and nothing is said. Ten wrong ones count here as well.",
            ])], { foot: "The PIN is readable while you type it, as any number on a calculator." }),
            section("On the Home Screen", [points([
                "An icon that is there already keeps its name. Open the address below in the browser and add the calculator from there.",
                "On an iPhone the new icon is a device of its own: pair it, then remove the old one in Devices. Elsewhere remove the old icon and keep its data.",
            ]), element("p", {}, element("span", { class: "settings-code" }, `${location.origin}/?as=calculator`))],
            { foot: "What stays: the address, what the browser lists about it, the passkey’s name, and the files’ names. A disguise is for a glance, not for a search." }),
        ],
    };
}

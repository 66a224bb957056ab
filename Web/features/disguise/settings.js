// The app's name and icon: AppLocker's, a calculator's or a note pad's.
import { checkPINForIdentity, chooseIdentity, chosenIdentity, storeIdentity } from "../../ui/app-identity.js";
import { element } from "../../ui/element.js";
import { button, card, points, radioRow, section } from "../../ui/parts.js";
import { PINEntry } from "../../ui/pin-entry.js";
import { sheet } from "../../ui/sheet.js";
import { sentenceOf } from "../../ui/words.js";

/** @typedef {import("../../ui/app-identity.js").AppIdentity} AppIdentity */

/** @type {[AppIdentity, string, string][]} */
const guises = [
    ["applocker", "AppLocker", "Its own name and icon"],
    ["calculator", "Calculator", "A working calculator that your PIN unlocks"],
    ["notes", "Notes", "A working note pad that your PIN unlocks"],
];
const whyDigits = {
    calculator: "A calculator has no letters, so it must be digits alone.",
    notes: "Words are ordinary notes, so it must be digits alone.",
};
/** What both have in common, after a failure. */
const failure = (/** @type {string} */ shown) => "After a wrong PIN, during a lockout, or without a network, "
    + `${shown} does not change. The limit of ten wrong PINs also applies.`;

/**
 * Asks for the PIN: no disguise accepts one with letters.
 * @param {Context} context
 * @param {keyof typeof whyDigits} disguise
 */
async function showsDigits({ companion, signal }, disguise) {
    const question = "Turn on the disguise?";
    const answer = await sheet(question, signal, (/** @type {(answer: boolean) => void} */ end, closed) => [
        element("p", { class: "soft" }, `Type your PIN. ${whyDigits[disguise]}`),
        new PINEntry({
            go: "Continue", signal: closed, explain: sentenceOf,
            submit: async (pin) => {
                checkPINForIdentity(pin, disguise);
                await companion.confirmWithPIN(pin);
                end(true);
            },
        }).element,
        button("Cancel", () => end(false), { kind: "plain", wide: true }),
    ]);
    return answer === true;
}

/** @type {SettingsPage} */
export function disguisePage(context) {
    const { companion, signal, toast } = context;
    const choose = async (/** @type {AppIdentity} */ chosen) => {
        if (chosen === chosenIdentity()) return;
        const isSure = chosen === "applocker" || (await showsDigits(context, chosen));
        if (signal.aborted) return;
        if (!isSure) {
            // The choice before is marked again. One that counts is marked already.
            draw();
            return;
        }
        chooseIdentity(chosen);
        await storeIdentity(companion);
        // The hub's text for browsers that show it themselves has the old name, too.
        companion.dispatchEvent(new Event("identity"));
        const registration = await navigator.serviceWorker?.getRegistration("/");
        // They still have the other name.
        for (const notification of (await registration?.getNotifications()) ?? []) notification.close();
        toast(chosen === "applocker" ? "Disguise turned off" : "Disguise turned on");
    };
    const list = element("div", { class: "card rows", role: "radiogroup", "aria-label": "Appearance" });
    const draw = () =>
        list.replaceChildren(...guises.map(([value, title, note]) => radioRow({
            title, note, name: "identity", checked: value === chosenIdentity(), choose: () => choose(value),
        })));
    draw();
    return {
        title: "Disguise",
        body: [
            section("Appearance", [list], {
                foot: "Name, icon, title and notifications, and what is shown while it is locked. Notifications "
                    + "only show that something is new; you approve and deny in the app.",
            }),
            section("How to unlock the calculator", [card(points(
                "Type your PIN and nothing else, then press = twice, or hold it for a second.",
                "With Face ID or a fingerprint: hold the display for a second and "
                    + "release it. On a keyboard: Shift and Enter.",
                "Calculating presses = once and never tries a PIN.", failure("the display")))],
            { foot: "The PIN is readable while you type it, as any number on a calculator." }),
            section("How to unlock the notes", [card(points(
                "Type your PIN on a line of its own, then press Enter twice, or hold Done for a second.",
                "With Face ID or a fingerprint: hold the title for a second and "
                    + "release it. On a keyboard: Shift and Tab, then Shift and Enter.",
                "Words, and a number after which you press Enter once, never try a PIN.", failure("the note")))],
            {
                foot: "What you type there is not sealed. It is kept in memory only, and removed when the app is "
                    + "closed or you unlock AppLocker. The PIN is readable while you type it.",
            }),
            section("On the Home Screen", [card(points(
                "An icon that is there already keeps its name. Open one of the addresses below "
                    + "in the browser and add the calculator or the notes from there.",
                "On an iPhone the new icon is a device of its own: pair it, then revoke the old one in Devices. "
                    + "Elsewhere remove the old icon and keep its data.")),
            ...["calculator", "notes"].map((name) => element("p", {},
                element("span", { class: "settings-code" }, `${location.origin}/?as=${name}`)))],
            {
                foot: "Not disguised: the address, what the browser lists about it, the passkey’s name, and the "
                    + "files’ names. A disguise withstands a glance, not a search.",
            }),
        ],
    };
}

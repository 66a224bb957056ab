// What is done to a whole computer, each after the gate has opened once more.
import { element } from "../views/element.js";
import { button, section } from "../views/parts.js";
import { choose } from "../views/sheet.js";
import { named } from "../views/words.js";
import { appGrants, Flight, grantWords } from "./commanding.js";

/** @typedef {import("../core/household.js").Computer} Computer */
/** @typedef {import("../core/commands.js").Action} Action */
/** @typedef {import("../views/shell.js").Context} Context */

/**
 * "Lock all" and "Unlock all", for home and for the list of apps.
 * @param {Context} context
 * @param {() => { id: string, name: string } | null} computerNow
 * @param {Flight} flight
 */
export function lockActions(context, computerNow, flight) {
    const lockAll = () => run(context, computerNow, flight, {
        title: "Lock everything?", text: (name) => `Every app on ${name}’s list is locked, and its vault.`, action: "Lock all",
    }, { lockAll: {} });
    const unlockAll = async () => {
        const grant = await choose("Unlock all for how long", appGrants, context.signal);
        if (!grant) return;
        await run(context, computerNow, flight, {
            title: "Unlock everything?", text: (name) => `Every app on ${name}’s list opens ${grantWords(grant)}.`, action: "Unlock all",
        }, { unlockAll: { grant } });
    };
    return { lockAll, unlockAll };
}

/**
 * @param {Context} context
 * @param {() => { id: string, name: string } | null} computerNow
 * @param {Flight} flight
 * @param {{ title: string, text: (computer: string) => string, action: string }} question
 * @param {Action} action
 */
async function run(context, computerNow, flight, question, action) {
    const computer = computerNow();
    if (!computer || flight.isUnderWay) return null;
    if (!(await context.confirmWithGate({ ...question, text: question.text(named(computer.name)) }))) return null;
    return flight.send(computer.id, computer.name, action);
}

/**
 * @param {Context} context
 * @param {() => Computer | null} computerNow
 */
export function quickActions(context, computerNow) {
    const flight = new Flight(context.companion, context.signal, () => {
        // Not disabled: that would take the focus from who works with the keyboard.
        for (const node of buttons) node.setAttribute("aria-disabled", String(flight.isUnderWay));
    });
    const { lockAll, unlockAll } = lockActions(context, computerNow, flight);
    const takePhoto = async () => {
        const reply = await run(context, computerNow, flight, {
            title: "Take a photo?", text: (name) => `${name}’s camera takes a picture now; only your phones can open it.`, action: "Take a photo",
        }, { takePhoto: {} });
        if (reply?.state === "done" && reply.record) flight.offer(element("a", { class: "flight-link", href: "#/photos" }, "Show photos"));
    };
    const lockVault = () => run(context, computerNow, flight, {
        title: "Lock the vault?", text: (name) => `Notes, files and moments on ${name} close until the passcode is given there.`, action: "Lock the vault",
    }, { lockVault: {} });
    const buttons = [
        button("Lock all", lockAll, { icon: "lock", kind: "primary" }), button("Unlock all", unlockAll, { icon: "unlock" }),
        button("Take a photo", takePhoto, { icon: "camera" }), button("Lock the vault", lockVault, { icon: "key" }),
    ];
    return section("Actions", [element("div", { class: "home-actions" }, ...buttons), flight.element]);
}

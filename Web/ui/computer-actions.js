// Commands for a whole computer, each after the PIN or the passkey.
import { element } from "./element.js";
import { button, section } from "./parts.js";
import { choose } from "./sheet.js";
import { named } from "./words.js";
import { CommandProgress, markBusy } from "./command-progress.js";
import { appGrants, grantWords } from "./grants.js";

/** @typedef {import("../household/household.js").Computer} Computer */
/** @typedef {import("../household/commands.js").Action} Action */

/**
 * "Lock all" and "Unlock all", for home and for the list of apps.
 * @param {Context} context
 * @param {() => { id: string, name: string } | null} computerNow
 * @param {CommandProgress} progress
 */
export function lockActions(context, computerNow, progress) {
    const lockAll = () => run(context, computerNow, progress, {
        title: "Lock everything?", text: (name) => `Locks every app on ${name}’s list, and its vault.`,
        action: "Lock all",
    }, { lockAll: {} });
    const unlockAll = async () => {
        if (!progress.mayBegin()) return;
        const grant = await choose("Unlock all for…", appGrants, context.signal);
        if (!grant) return;
        await run(context, computerNow, progress, {
            title: "Unlock everything?", text: (name) => `Unlocks every app on ${name}’s list ${grantWords(grant)}.`,
            action: "Unlock all",
        }, { unlockAll: { grant } });
    };
    return { lockAll, unlockAll };
}

/**
 * @param {Context} context
 * @param {() => { id: string, name: string } | null} computerNow
 * @param {CommandProgress} progress
 * @param {{ title: string, text: (computer: string) => string, action: string }} question
 * @param {Action} action
 */
async function run(context, computerNow, progress, question, action) {
    const computer = computerNow();
    if (!computer || !progress.mayBegin()) return null;
    if (!(await context.confirmUnlock({ ...question, text: question.text(named(computer.name)) }))) return null;
    return progress.send(computer.id, computer.name, action);
}

/** @param {Context} context @param {() => Computer | null} computerNow */
export function quickActions(context, computerNow) {
    const progress = new CommandProgress(context.companion, context.signal, () => {
        markBusy(buttons, progress);
    });
    const { lockAll, unlockAll } = lockActions(context, computerNow, progress);
    const takePhoto = async () => {
        const reply = await run(context, computerNow, progress, {
            title: "Take a photo?", text: (name) =>
                `The camera of ${name} takes a photo now. It is sealed to the vault.`, action: "Take a photo",
        }, { takePhoto: {} });
        if (reply?.state === "done" && reply.record) {
            progress.offer(element("a", { class: "command-progress-link", href: "#/photos" }, "Show photos"));
        }
    };
    const lockVault = () => run(context, computerNow, progress, {
        title: "Lock the vault?", text: (name) =>
            `Locks notes, files and moments on ${name} until the passcode is entered there.`, action: "Lock the vault",
    }, { lockVault: {} });
    const buttons = [
        button("Lock all", lockAll, { icon: "lock", kind: "primary" }),
        button("Unlock all", unlockAll, { icon: "unlock" }),
        button("Take a photo", takePhoto, { icon: "camera" }), button("Lock the vault", lockVault, { icon: "key" }),
    ];
    return section("Actions", [element("div", { class: "home-actions" }, ...buttons), progress.element]);
}

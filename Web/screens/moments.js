// Everline: which of its screens an address means. Behind the gate once more, as notes are: one answer opens both.
import { button, empty } from "../views/parts.js";
import { notesAreOpen, openNotes } from "./notes-gate.js";
import { chosenVault, vaultChooser } from "./vault-choice.js";

/** @typedef {import("../views/shell.js").Context} Context */
/** @typedef {import("../views/shell.js").Page} Page */

/** @type {Record<string, import("../views/shell.js").Screen>} */
const screens = {
    new: async (context) => (await import("./moments-editor.js")).editor(context, null),
    trash: async (context) => (await import("./moments-trash.js")).trash(context),
    statistics: async (context) => (await import("./moments-statistics.js")).figures(context),
    map: async (context) => (await import("./moments-map.js")).map(context),
};

/** @type {import("../views/shell.js").Screen} */
export async function moments(main) {
    if (!(await notesAreOpen(main.companion))) return closed(main);
    const vault = await chosenVault(main.companion);
    const context = vault ? { ...main, companion: vault.companion } : main;
    const [first, second] = context.parts;
    if (!first) {
        const page = await (await import("./moments-timeline.js")).timeline(context);
        return { ...page, body: [await vaultChooser(main, vault), ...page.body] };
    }
    if (screens[first]) return screens[first](context);
    if (second === "edit") return (await import("./moments-editor.js")).editor(context, first);
    return (await import("./moments-detail.js")).detail(context, first);
}

/** @param {Context} context @returns {Page} */
function closed(context) {
    const open = async () => {
        if (await openNotes(context, "moments")) context.go(location.hash.replace(/^#\//, ""), { replace: true });
    };
    // The keys are open: what has to be read for the timeline is read while the person answers.
    context.companion.moments.list().catch(() => {});
    // Asked once by itself; after a "Cancel" the button asks again.
    setTimeout(() => !context.signal.aborted && open());
    return {
        title: "Everline",
        body: [empty("heart", "Your moments are closed", "They ask for your PIN, or Face ID or fingerprint, once more.",
            button("Open moments", open, { kind: "primary", icon: "unlock" }))],
    };
}

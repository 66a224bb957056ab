// Everline: which of its screens an address means. It asks for the PIN again, as notes do: one answer opens both.
import { button, empty } from "../../ui/parts.js";
import { isContentOpen, openContent } from "../../ui/content-lock.js";
import { chosenVault, vaultChooser } from "../../ui/vault-choice.js";

/** @type {Record<string, AppScreen>} */
const screens = {
    new: async (context) => (await import("./editor.js")).editor(context, null),
    trash: async (context) => (await import("./trash.js")).trash(context),
    statistics: async (context) => (await import("./statistics.js")).statistics(context),
    map: async (context) => (await import("./map.js")).map(context),
};

/** @type {AppScreen} */
export async function moments(main) {
    if (!(await isContentOpen(main.companion))) return closed(main);
    const vault = await chosenVault(main.companion);
    const context = vault ? { ...main, companion: vault.companion } : main;
    const [first, second] = context.parts;
    if (!first) {
        const page = await (await import("./timeline.js")).timeline(context);
        return { ...page, body: [await vaultChooser(main, vault), ...page.body] };
    }
    if (screens[first]) return screens[first](context);
    if (second === "edit") return (await import("./editor.js")).editor(context, first);
    return (await import("./detail.js")).detail(context, first);
}

/** @param {Context} context @returns {Page} */
function closed(context) {
    const open = async () => {
        if (await openContent(context, "moments")) context.go(location.hash.replace(/^#\//, ""), { replace: true });
    };
    // The keys are open: what has to be read for the timeline is read while the person answers.
    context.companion.moments.list().catch(() => {});
    // Asked once by itself; after a "Cancel" the button asks again.
    setTimeout(() => !context.signal.aborted && open());
    return {
        title: "Everline",
        body: [empty("heart", "Your moments are locked", "Enter your PIN again, or use Face ID or fingerprint.",
            button("Open moments", open, { kind: "primary", icon: "unlock" }))],
    };
}

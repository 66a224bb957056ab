// Everline's screens by address. It asks for the PIN again, as notes do: one answer opens both.
import { isContentOpen, lockedContent } from "../../ui/content-lock.js";
import { chooseVault, chosenVault, leaveLocked, lockedChoice, vaultChooser } from "../../ui/vault-choice.js";

/** @type {Record<string, (context: Context, vault: Vault | null) => Promise<Page>>} */
const screens = {
    new: async (context, vault) => (await import("./editor.js")).editor(context, null, vault?.name ?? null),
    trash: async (context) => (await import("./trash.js")).trash(context),
    statistics: async (context) => (await import("./statistics.js")).statistics(context),
    map: async (context) => (await import("./map.js")).map(context),
};

/** @type {AppScreen} */
export async function moments(main) {
    if (!(await isContentOpen(main.companion))) {
        // The timeline's records are read while the person answers.
        main.companion.moments.list().catch(() => {});
        return lockedContent(main, "Everline", "moments", "heart");
    }
    // A tapped notification. A locked vault is offered above one's own moments.
    const named = main.query.get("vault");
    if (named && (await main.companion.vaults.has(named))) await chooseVault(main.companion, named);
    const vault = await chosenVault(main.companion);
    leaveLocked(main, vault, "moments");
    const context = vault ? { ...main, companion: vault.companion } : main;
    const [first, second] = context.parts;
    if (!first) {
        const page = await (await import("./timeline.js")).timeline(context);
        return { ...page, body: [await vaultChooser(main, vault), await lockedChoice(main), ...page.body] };
    }
    if (screens[first]) return screens[first](context, vault);
    if (second === "edit") return (await import("./editor.js")).editor(context, first);
    return (await import("./detail.js")).detail(context, first);
}

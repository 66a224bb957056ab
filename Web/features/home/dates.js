// Special dates on Home: those of today as a card above everything, and the next ones.
import { element } from "../../ui/element.js";
import { isContentOpen } from "../../ui/content-lock.js";
import { redrawing, whenChanged } from "../../ui/live.js";
import { banner, row, rows, section, tile } from "../../ui/parts.js";
import { occasionTitle, wholeDayName, yearsOf } from "../../ui/occasion-words.js";
import { counted } from "../../ui/words.js";

/** How many are shown, and how far ahead. */
const [most, mostDays] = [3, 60];

/**
 * Of the own vault and the shared ones.
 * @param {Context} context
 * @param {HTMLElement} today
 * @param {HTMLElement} next
 */
export async function followDates({ companion: main, signal }, today, next) {
    /** @type {Set<Companion>} */
    const followed = new Set();
    const follow = (/** @type {Companion} */ companion) => {
        if (followed.has(companion)) return;
        followed.add(companion);
        whenChanged(companion, ["dates", "keys"], update, signal);
    };
    const read = async () => {
        const isOpen = await isContentOpen(main);
        const vaults = (await main.vaults.list()).filter(({ isRevoked }) => !isRevoked);
        const all = (await Promise.all([{ name: "", companion: main }, ...vaults].map(async ({ name, companion }) => {
            follow(companion);
            return (await (await companion.dates()).occasions()).map((occasion) => ({ ...occasion, vault: name }));
        })))
            .flat().filter(({ inDays }) => inDays <= mostDays).sort((one, other) => one.inDays - other.inDays);
        return () => {
            const now = all.filter(({ inDays }) => inDays === 0);
            // Names are shown once the PIN was confirmed, as in Everline itself.
            const shown = isOpen ? now : [];
            today.replaceChildren(now.length === 0 ? "" : banner("heart", "",
                element("h2", { class: "home-banner-title" }, "Today"),
                ...shown.slice(0, 2 * most).map((occasion) =>
                    element("p", { dir: "auto" }, occasionTitle(occasion), ...details(occasion))),
                !isOpen && element("p", {}, `${counted(now.length, "special date")} in Everline.`),
                element("a", { class: "home-link", href: isOpen ? "#/moments/new" : "#/moments" },
                    isOpen ? "Write a moment" : "Open Everline")));
            const soon = isOpen ? all.filter(({ inDays }) => inDays > 0).slice(0, most) : [];
            next.replaceChildren(soon.length === 0 ? "" : section("Special dates", [rows(...soon.map((occasion) => row({
                start: tile("calendar"), title: occasionTitle(occasion), href: "#/settings/everline",
                note: [wholeDayName(occasion.day), yearsOf(occasion), occasion.vault].filter(Boolean).join(" · "),
            })))]));
        };
    };
    const update = redrawing(read, signal);
    main.vaults.addEventListener("changed", update, { signal });
    // Opened again on another day.
    document.addEventListener("visibilitychange", () => !document.hidden && update(), { signal });
    await update();
}

/** @param {import("../../formats/special-date.js").Occasion & { vault: string }} occasion */
const details = (occasion) => {
    const text = [yearsOf(occasion), occasion.vault].filter(Boolean).join(" · ");
    return text ? [" ", element("span", { class: "soft", dir: "auto" }, text)] : [];
};

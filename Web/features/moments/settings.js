// Everline's own settings: the day that two people count from, special dates, and files.
import { element } from "../../ui/element.js";
import { isContentOpen, lockedContent } from "../../ui/content-lock.js";
import { live } from "../../ui/live.js";
import { button, card, section } from "../../ui/parts.js";
import { ofChosenVault } from "../../ui/vault-choice.js";
import { sentenceOf } from "../../ui/words.js";
import { datesSection } from "./settings-dates.js";
import { fileLinks } from "./settings-links.js";

const address = "settings/everline";

/** @type {SettingsPage} */
export async function everline(main) {
    if (!(await isContentOpen(main.companion))) {
        return { title: "Everline", body: [...lockedContent(main, "Everline", "moments", "heart").body, fileLinks()] };
    }
    return ofVault(main);
}

const ofVault = ofChosenVault(address, async (context, vault) => {
    const { companion, signal } = context;
    const together = togetherSection(context, vault);
    const dates = datesSection(context);
    await live(companion, ["dates"], async () => {
        const found = await (await companion.dates()).list();
        return () => {
            together.show(found.together?.day ?? null);
            dates.show(found);
        };
    }, signal);
    return { title: "Everline", body: [together.element, dates.element, fileLinks()] };
});

/** @param {Context} context @param {Vault | null} vault */
function togetherSection({ companion, signal }, vault) {
    const status = element("p", { class: "section-foot", role: "status" });
    const day = element("input", { class: "input", type: "date", min: "1900-01-01", max: "9999-12-30" });
    let isTyped = false;
    day.addEventListener("input", () => (isTyped = true));
    const remove = button("Stop counting days", () => keep(null), { wide: true, hidden: true });
    /** @param {string | null} since */
    const keep = async (since) => {
        try {
            await (await companion.dates()).setTogether(since);
            if (signal.aborted) return;
            isTyped = false;
            show(since);
            status.textContent = since === null ? "Counting was turned off." : "Saved.";
        } catch (error) {
            if (!signal.aborted) status.textContent = sentenceOf(error);
        }
    };
    /** @param {string | null} since */
    const show = (since) => {
        remove.hidden = since === null;
        if (!isTyped) day.value = since ?? "";
    };
    const set = () => {
        if (day.value && day.validity.valid) return keep(day.value);
        status.textContent = "Choose the day you count from.";
        day.focus();
    };
    return {
        show,
        element: section("Days together", [
            card(element("label", { class: "field" },
                element("span", { class: "field-label" }, "Together since"), day),
                element("p", { class: "soft note" }, "The number is shown in Statistics. ",
                    companion.isLocal ? "" : vault ? "All members of this vault see the same day."
                        : "All your devices show the same day.")),
            button("Save day", set, { kind: "primary", wide: true }), remove, status]),
    };
}
